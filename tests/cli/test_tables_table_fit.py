"""Which columns fit, and how wide."""

from hypothesis import given
from hypothesis import strategies as st

from emu.cli.tables import EDGES, GAP, fit

NAME = "OP_ServerPlayCharacterRequestMsg"


def shown(space: int, *lines: tuple[str, ...], **rules) -> dict[str, int]:
    header = ("id", "name", "remark", "when")
    return fit(header, [header, *lines], space, **rules)


def test_what_fits_stays_as_it_is() -> None:
    assert shown(80, ("1", NAME, "a remark", "now")) == {
        "id": 2, "name": 32, "remark": 8, "when": 4,
    }  # fmt: skip


def test_a_remark_folds_between_words_before_anything_goes() -> None:
    widths = shown(80, ("1", NAME, "several words " * 9, "now"))
    assert list(widths) == ["id", "name", "remark", "when"]
    assert sum(widths.values()) + 3 * GAP + EDGES == 80
    assert widths["name"] == len(NAME)


def test_the_least_important_goes_first_and_then_the_right() -> None:
    line = ("1", NAME, "unbreakable-remark", "2026-11-21T20:00:00Z")
    assert list(shown(70, line)) == ["id", "name", "remark"]
    assert list(shown(70, line, least=("remark",))) == ["id", "name", "when"]
    assert list(shown(40, line)) == ["id", "name"]


def test_without_folding_what_is_too_wide_goes() -> None:
    assert list(shown(80, ("1", NAME, "several words " * 9, "now"), fold=False)) == ["id", "name"]


def test_a_name_wider_than_the_terminal_folds() -> None:
    assert shown(20, ("1", NAME, "", "")) == {"name": 18}


def test_a_table_without_a_name_keeps_its_first_column() -> None:
    header = ("kind", "text")
    assert list(fit(header, [header, ("a" * 30, "b" * 30)], 34)) == ["kind"]


words = st.text(st.sampled_from("ab \u754c"), max_size=60)


@given(st.lists(st.tuples(words, words, words, words), max_size=5), st.integers(3, 200))
def test_nothing_is_ever_wider_than_the_terminal(lines, space: int) -> None:
    widths = shown(space, *lines)
    assert "name" in widths
    assert sum(widths.values()) + GAP * (len(widths) - 1) + EDGES <= max(space, EDGES + 1)
    assert all(width > 0 for width in widths.values())


def test_a_long_text_folds_beside_what_it_is_about() -> None:
    header = ("severity", "code", "range", "message")
    line = ("warning", "shared-number", "540-546", "some words to read " * 12)
    assert list(fit(header, [header, line], 80, least=("code",))) == list(header)
    narrow = fit(header, [header, line], 40, least=("code",))
    assert list(narrow) == ["severity", "range", "message"]
