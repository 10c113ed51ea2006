import pytest

from emu.world.population.files import check_appearance, check_texts, check_words


def test_appearance_that_fits_is_accepted() -> None:
    looks = {"model_type": 134, "skin_color": [1, 2, 3], "gender": 1, "body_size": 10}
    assert check_appearance(looks) == looks


@pytest.mark.parametrize(
    ("looks", "reported"),
    [
        ({"model_tpye": 1}, "there is no appearance field 'model_tpye'"),
        ({"model_type": 70_000}, "model_type does not fit"),
        ({"model_type": "human"}, "model_type does not fit"),
        ({"skin_color": [1, 2, 300]}, "skin_color does not fit"),
        ({"model_type": []}, "model_type does not fit"),
        ({"gender": 1.5}, "gender does not fit"),
    ],
)
def test_appearance_that_cannot_be_sent_is_refused(looks: dict, reported: str) -> None:
    with pytest.raises(ValueError, match=reported):
        check_appearance(looks)


def test_texts_have_space_for_so_many_bytes() -> None:
    check_texts(name="x" * 64, last_name="", guild="\N{LATIN SMALL LETTER E WITH ACUTE}" * 20)
    for text in ("x" * 65, "\N{LATIN SMALL LETTER E WITH ACUTE}" * 33):
        with pytest.raises(ValueError, match="name does not fit"):
            check_texts(name=text)
    with pytest.raises(ValueError, match="name has control characters"):
        check_texts(name="a\nb")


def test_words_are_those_of_the_table_of_ghosts() -> None:
    assert check_words(["merchant", "afk"]) == {"merchant", "afk"}
    with pytest.raises(ValueError, match="unknown word 'marchent'; use"):
        check_words(["marchent"])
    with pytest.raises(ValueError, match="unknown word 5"):
        check_words([5])
