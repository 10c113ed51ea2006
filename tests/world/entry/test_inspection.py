"""The window that shows another player, read byte by byte."""

from __future__ import annotations

import struct

import pytest

from emu.world.actors.sheet import FieldKind
from tests.support.world.worlds import WorldHarness


def short(data: bytes, at: int) -> tuple[int, int]:
    """Return a number with a short form below 127, and where it ends."""
    if data[at] == 127:
        return struct.unpack_from("<h", data, at + 1)[0], at + 3
    return data[at], at + 1


DEFENSE = {546: 3 + 4, 561: 3 + 4, 1208: 6 + 5, 57080: 7 + 4, 60114: 7 + 4}
"""Bytes between power and attributes."""
RESISTANCES = {546: 9 + 21, 561: 9 + 21, 1208: 8 + 2 + 30, 57080: 8 + 2 + 30, 60114: 8 + 2 + 30}
TAIL = {
    546: (0, 22, 61), 561: (0, 22, 61), 1208: (2 + 1, 0, 0), 57080: (2 + 1, 0, 0),
    60114: (6, 50, 160),
}  # fmt: skip
"""Bytes behind the biography, then number and length of the slots."""


@pytest.mark.parametrize("version", [546, 561, 1208, 57080, 60114])
def test_the_window_has_the_other_players_values(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version, name="Aldana")
    harness.stand(6, name="Borvik", level=30, race=3, gender=2, class_=7)
    harness.run(0.5)
    assert one.types("/inspect_player Borvik") == ["Borvik, level 30"]
    (data,) = [body for name, body in one.log if name == "OP_InspectPlayerMsg"]
    assert data[:8] == b"\0\6Borvik"
    assert list(data[8:13]) == [3, 2, 30, 30, 7]
    at = 15
    form = "<iii" if version < 57048 else "<qqq"
    assert struct.unpack_from(form, data, at) == (1920, 1920, 1920)
    at += struct.calcsize(form)
    assert struct.unpack_from("<iii", data, at) == (2014, 2014, 2014)
    at += 12 + DEFENSE[version]
    for _ in range(5):
        value, at = short(data, at)
        assert (value, data[at]) == (20, 20)
        at += 1
    at += RESISTANCES[version]
    assert struct.unpack_from("<H", data, at) == (511,)
    at += 2 + 511
    skipped, slots, size = TAIL[version]
    at += skipped
    empty = data[at : at + size]
    assert data[at:] == empty * slots
    if slots:
        assert empty[13 if version < 562 else 16 :][:2] == b"\xff\xff"


def test_the_window_shows_mitigation_and_resistances(harness: WorldHarness) -> None:
    """Recorded in items-546-deal: mitigation 8, each resistance 3, and the same as base."""
    one = harness.stand(5, 546, name="Aldana")
    two = harness.stand(6, name="Borvik")
    assert two.player is not None
    two.player.spawn.sheet.set("cur_mitigation", FieldKind.UNSIGNED, 8)
    harness.run(0.5)
    one.types("/inspect_player Borvik")
    window = one.decoded("WS_InspectPlayer")[-1]
    assert (window["mitigation"], window["heat_resist"]) == (8, 3)
    assert (window["magic_resist"], window["magic_resist_base"]) == (3, 3)
