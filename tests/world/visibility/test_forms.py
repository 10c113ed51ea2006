"""Forms of ghosts: which versions have one, and what words mean there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError, StructValueError, UnknownVersion
from emu.world.visibility import forms
from emu.world.visibility.fields import position_fields
from emu.world.visibility.forms import Remembered, read_rules
from emu.world_stream.ghosts import PARTS, POSITION
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import form
from tests.support.world.zone_clients import player


@pytest.mark.parametrize(("version", "sizes"), [(546, (88, 78, 1089)), (561, (88, 72, 1070))])
def test_sizes_are_those_of_the_wire(version: int, sizes: tuple[int, ...]) -> None:
    """docs/protocol/world/spawns.md#create-ghost: 1255 and 1230 bytes in all."""
    assert form(version).sizes == sizes


def test_a_version_between_two_forms_has_none() -> None:
    with pytest.raises(UnknownVersion):
        read_rules().for_version(550)


def test_bits_of_several_words_join() -> None:
    assert form(561).status(frozenset(("npc", "merchant", "no such word"))) == {
        "activity_status": 0x12
    }


@pytest.mark.parametrize("text", ["form = 3", "[[form]]\nfirst = 1", "[[form]]\nlazt = 1", "x ="])
def test_a_damaged_table_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ghosts.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"ghosts\.toml"):
        read_rules(path)


@given(
    version=st.sampled_from((546, 561, 562, 927, 1096, 1208, 57080, 60114, 64753)),
    numbers=st.tuples(*[st.floats(-9e5, 9e5, width=32)] * 3),
    speeds=st.tuples(*[st.integers(-0x8000, 0x7FFF)] * 3),
)
def test_the_quick_way_to_encode_a_position_makes_the_same_bytes(
    version: int, numbers: tuple[float, float, float], speeds: tuple[int, int, int]
) -> None:
    one = form(version)
    spawn = player(3)
    spawn.position = Position(*numbers, 77.5, 12)
    fields = position_fields(spawn, one.dialect.world_rules.ghost_size_unit)
    if one.has_whole_size:
        fields["pos_size"] = int(fields["pos_size"])
    names = ("pos_speed", "pos_side_speed", "pos_vert_speed")
    fields |= dict(zip(names, speeds, strict=True))
    assert one.encode_position(fields) == one.encode(PARTS[POSITION], fields)


def test_a_number_that_does_not_fit_a_position_is_named() -> None:
    fields = position_fields(player(3)) | {"pos_grid_id": -1}
    with pytest.raises(StructValueError, match="pos_grid_id"):
        form(60114).encode_position(fields)


def test_what_nobody_else_has_is_not_remembered() -> None:
    made = Remembered(from_second=True)
    first, second = made.get("own", lambda: bytes([1])), made.get("own", lambda: bytes([2]))
    assert (first, second, made.get("own", lambda: bytes([3]))) == (b"\1", b"\2", b"\2")
    usual = Remembered()
    assert usual.get("own", lambda: b"1") == usual.get("own", lambda: b"2") == b"1"


@pytest.mark.parametrize("from_second", [False, True])
def test_no_more_is_remembered_than_the_limit(
    monkeypatch: pytest.MonkeyPatch, *, from_second: bool
) -> None:
    monkeypatch.setattr(forms, "MOST_REMEMBERED", 10)
    made = Remembered(from_second=from_second)
    for number in range(95):
        for _ in range(2):
            made.get(number, bytes)
        made.get(-number, bytes)
    assert len(made._made) <= 10
    assert len(made._asked or ()) <= 10
