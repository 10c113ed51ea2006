import pytest

from emu.admin.ogp.elements import bit
from emu.admin.ogp.fields import (
    ADD_ON_FIELDS,
    DIALECTS,
    TEAM_FIELDS,
    V91,
    V94,
    AddOnFlag,
    PlayerFlag,
    all_flags,
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_flags_and_names_are_single(dialect) -> None:
    for table in (dialect.server, dialect.players, TEAM_FIELDS, ADD_ON_FIELDS):
        assert all_flags(table).bit_count() == len(table)
        assert len({field.name for field in table}) == len(table)


def first_bits(*counts: int) -> int:
    """Return the flags of the first so many bits of each byte."""
    return sum(bit(byte, one) for byte, count in enumerate(counts) for one in range(count))


def test_the_tables_have_the_bits_of_the_text() -> None:
    assert all_flags(V91.server) == all_flags(V94.server) == first_bits(4, 5, 4)
    assert all_flags(V91.players) == all_flags(V94.players) == first_bits(6, 6, 6, 1)
    assert all_flags(TEAM_FIELDS) == first_bits(6)
    assert all_flags(ADD_ON_FIELDS) == first_bits(4)


def test_the_later_version_has_its_name_and_maps_elsewhere() -> None:
    places = [{field.name: field.flag for field in one.server} for one in DIALECTS]
    moved = [name for name in places[0] if places[0][name] != places[1][name]]
    assert set(moved) == {"mod", "host_name", "map", "next_map", "game_type", "game_mode"}


def test_flags_have_the_bits_of_the_text() -> None:
    """A peer of another program reads these numbers."""
    assert [flag.value for flag in AddOnFlag] == [bit(0, number) for number in range(4)]
    assert [flag.value for flag in PlayerFlag] == [
        bit(0, 0),
        bit(0, 1),
        bit(0, 2),
        bit(1, 0),
        bit(1, 1),
    ]
