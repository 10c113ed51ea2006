"""Numbers of models: the shipped bodies, and those of a source."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from emu.appearance import Models, model_key, read_models, shipped_models
from emu.errors import FileFormatError
from tests.support.coroutines import finish

HUMAN_MAN = "ec/pc/human/human_male"


class Source:
    """Knows one hair and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        self.asked.append(set(paths))
        return {path: 2500 for path in paths if path == "accessories/hair/hair_01"}


def test_bodies_of_players_ship_with_the_project() -> None:
    bodies = shipped_models()
    assert len(bodies) == 39
    assert bodies[HUMAN_MAN] == 134
    assert bodies["ec/pc/vahshir/vahshir_female"] == 35463
    assert len(set(bodies.values())) == len(bodies)


def test_a_source_is_asked_only_for_what_does_not_ship() -> None:
    source = Source()
    models = Models(source)
    assert finish(models.numbers([HUMAN_MAN])) == {HUMAN_MAN: 134}
    assert source.asked == []
    asked = [HUMAN_MAN, "Accessories/Hair/Hair_01", "no/such/thing"]
    assert finish(models.numbers(asked)) == {HUMAN_MAN: 134, "Accessories/Hair/Hair_01": 2500}
    assert source.asked == [{"accessories/hair/hair_01", "no/such/thing"}]


def test_without_a_source_other_paths_have_no_number() -> None:
    assert finish(Models().numbers(["EC/PC/Human/Human_Male ", "x"])) == {
        "EC/PC/Human/Human_Male ": 134
    }
    assert model_key(" EC/pc ") == "ec/pc"


@pytest.mark.parametrize(
    "text", ["[human", "human = 1", "[human]\nmale = 0", "[human]\nmale = 65536", "[a]\nb = 'c'"]
)
def test_a_file_that_is_none_of_models(tmp_path: Path, text: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"models\.toml"):
        read_models(path)
