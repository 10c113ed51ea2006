"""EQ2Emulator's recorded messages, where they are at hand: decoded and encoded again.

Each update of ghosts is made anew from what was read of it; the bytes have to be the recorded ones.
"""

from __future__ import annotations

import pytest

from emu.opcodes import shipped_tables
from emu.structs.packed import oversized, pack_stream, read_client_cmds, read_oversized, xor
from emu.world_stream.ghosts import (  # fmt: skip
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    DESTROY_GHOST,
    FOOTERS,
    INFO,
    POSITION,
    SECTIONS,
    UPDATE_GHOST,
    GhostReader,
)
from tests.support.files.recordings import recording
from tests.support.world.ghost_views import dialect

RECORDINGS = [(546, "546-zonein-alone", 27), (561, "561-two-players", 646)]


def commands(version: int, name: str):
    """Yield (client, command's name, payload) of one recording."""
    _, rows = recording(name)
    table = shipped_tables().for_version(version)
    for row in rows:
        if row["k"] == "app" and row["name"] == "OP_ClientCmdMsg":
            for one in read_client_cmds(bytes.fromhex(row["hex"]), version):
                yield row["c"], table.name(one.opcode), one.payload


def written(update) -> bytes:
    sections = dict.fromkeys(SECTIONS, b"")
    for part, index, before, now in update.entries:
        sections[part] += oversized(index) + pack_stream(xor(before, now), reverse=True)
    reported = b"".join(oversized(len(sections[part])) + sections[part] for part in SECTIONS)
    return update.time.to_bytes(4, "little") + reported


@pytest.mark.parametrize(("version", "name", "count"), RECORDINGS)
def test_every_update_is_read_and_written_byte_for_byte(version, name, count) -> None:
    readers: dict[str, GhostReader] = {}
    created, updates, moved = set(), 0, 0
    for client, command, payload in commands(version, name):
        reader = readers.setdefault(client, GhostReader(dialect(version)))
        if command in FOOTERS:
            reader.create(command, payload)
            created.add(command)
        elif command == DESTROY_GHOST:
            index, _ = read_oversized(payload, 0)
            assert index in reader.ghosts
            reader.destroy(index)
        elif command == UPDATE_GHOST:
            update = reader.update(payload)
            assert written(update) == payload
            updates += 1
            moved += any(one.part == POSITION and one.before != one.now for one in update.entries)
    assert created == {CREATE_GHOST, CREATE_SIGN, CREATE_WIDGET}
    assert updates == count
    assert version == 546 or moved > 10


def test_the_two_players_end_as_they_were_seen() -> None:
    reader = GhostReader(dialect(561))
    for client, command, payload in commands(561, "561-two-players"):
        if client != "A":
            continue
        if command in FOOTERS:
            reader.create(command, payload)
        elif command == UPDATE_GHOST:
            reader.update(payload)
    infos = [reader.part_fields(INFO, ghost.parts[INFO]) for ghost in reader.ghosts.values()]
    assert {"Cestra", "Dorwin", "Guard Vexel"} <= {info["name"] for info in infos}
