import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.elements import WIDE, ColorChange, Name, Numbers91, pull_name, push_name
from emu.admin.reader import Reader
from emu.errors import MalformedMessage

NUMBERS = Numbers91()
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)


@st.composite
def names(draw) -> Name:
    """Return a name whose colors stand in order."""
    places = sorted(draw(st.lists(st.integers(0, 70000), max_size=6)))
    return Name(draw(TEXTS), tuple(draw(change_at(place)) for place in places))


def change_at(place: int):
    narrow = st.integers(0, 0xFF).filter(lambda value: value not in WIDE)
    wide = st.builds(
        ColorChange, st.just(place), st.sampled_from(list(WIDE)), st.integers(0, 0xFFFF)
    )
    return st.one_of(wide, narrow.map(lambda value: ColorChange(place, value)))


def test_positions_are_given_from_the_last_one_on() -> None:
    name = Name("Qeynos", (ColorChange(0, 0x0A), ColorChange(3, 0x90, 0xF800)))
    wire = push_name(name, NUMBERS, colored=True)
    assert wire == b"Qeynos\0" + bytes.fromhex("06 000a 0390 00f8")
    assert push_name(name, NUMBERS, colored=False) == b"Qeynos\0"


@given(names())
def test_a_name_comes_back(name: Name) -> None:
    reader = Reader(push_name(name, NUMBERS, colored=True) + b"!")
    assert pull_name(reader, NUMBERS, colored=True) == name
    assert reader.rest() == b"!"


@pytest.mark.parametrize("wire", ["4100 05 000a", "4100 03 000a03", "4100 03 009000"])
def test_colors_that_are_cut_off_are_refused(wire: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_name(Reader(bytes.fromhex(wire)), NUMBERS, colored=True)
