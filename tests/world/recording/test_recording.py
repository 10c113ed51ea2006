"""The lines of a recording, and reading them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from emu.errors import FileFormatError
from emu.world.recording.recording import (
    Header,
    PlayerSnapshot,
    Recording,
    SpawnSnapshot,
    ZoneSnapshot,
    merged,
    read_recording,
)
from emu.world.recording.ring import InputEntry
from tests.support.world.world_fakes import world_character

HEADER = Header(12, 0, "antonica", 100.0, 9.5, 1e9, "ab", 3, "cd", 4, 1, False, "bug 1")
PLAYER = PlayerSnapshot(world_character(5), (), 546, is_hidden=False, is_inside=True, stands=True)
SPAWN = SpawnSnapshot(7, "a wolf", 1.5, 2.0, 3.0, 90.0, 40, 10)


def recording(*entries: tuple[bool, InputEntry], snapshot: ZoneSnapshot | None = None) -> Recording:
    return Recording(HEADER, snapshot, entries)


def test_a_recording_is_read_as_it_was_written() -> None:
    made = recording(
        (True, InputEntry(1, 100.25, "enter", (PLAYER,), [100.25, 100.2500001])),
        (False, InputEntry(2, 100.5, "answer", ("mail.find 5", (1, "a"), None))),
        (True, InputEntry(3, 101.0, "message", (5, "OP_SitMsg", b"\1"))),
        snapshot=ZoneSnapshot((PLAYER,), (SPAWN,)),
    )
    found = read_recording(made.lines())
    assert found.header == HEADER
    assert found.snapshot == made.snapshot
    shown = [(own, one.now, one.kind, one.data, one.readings) for own, one in found.entries]
    assert shown == [(own, one.now, one.kind, one.data, one.readings) for own, one in made.entries]


def test_where_a_player_came_from_may_be_missing() -> None:
    """Recordings of earlier versions have six values of a player."""
    player = replace(PLAYER, is_from_node=True)
    made = list(recording(snapshot=ZoneSnapshot((player,), ())).lines())
    assert read_recording(made).snapshot == ZoneSnapshot((player,), ())
    rows = json.loads(made[1])
    del rows["players"][0][6:]
    found = read_recording([made[0], json.dumps(rows)]).snapshot
    assert found == ZoneSnapshot((PLAYER,), ())


def test_the_entries_of_a_turn_become_one() -> None:
    turns = [
        (True, InputEntry(1, 1.0, "turn", (7,), [1.0, 1.2])),
        (False, InputEntry(2, 1.0, "turn", (7,), [1.1])),
        (True, InputEntry(3, 2.0, "turn", (8,), [2.0])),
    ]  # fmt: skip
    found = merged(turns)
    assert [(own, one.data, one.readings) for own, one in found] == [
        (True, (7,), [1.0, 1.1, 1.2]), (True, (8,), [2.0]),
    ]  # fmt: skip


def _without_kind(lines: list[str]) -> list[str]:
    head = json.loads(lines[0])
    del head["kind"]
    return [json.dumps(head), *lines[1:]]


@pytest.mark.parametrize(
    "damage",
    [
        lambda _lines: [],
        lambda lines: ["{", *lines],
        lambda lines: ["[]", *lines],
        _without_kind,
        lambda lines: [lines[0].replace('"format":1', '"format":99'), *lines[1:]],
        lambda lines: [lines[0].replace("zone_id", "zone"), *lines[1:]],
        lambda lines: [lines[0], '{"players":[[1]],"spawns":[]}', *lines[2:]],
        lambda lines: [lines[0], '{"players":[],"spawns":[[1]]}', *lines[2:]],
        lambda lines: [*lines, "[1]"],
        lambda lines: [*lines, '[true,"late","turn",[1],[]]'],
    ],
)
def test_a_damaged_recording_is_refused(damage: Any) -> None:
    lines = list(recording((True, InputEntry(1, 100.0, "turn", (1,)))).lines())
    with pytest.raises(FileFormatError):
        read_recording(damage(lines))
