"""What a running EQ2Emulator world packed, packed again: where its recordings are at hand.

The recordings are no part of the project; what must hold without them is shown with vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from emu.structs import shipped_catalog
from emu.structs.packed import (
    pack,
    pack_counted,
    read_client_cmds,
    unpack,
    unpack_counted,
    write_client_cmd,
)
from tests.support.files.recordings import recording

RECORDINGS = {546: "546-zonein-alone", 561: "561-two-players"}
CATALOG = shipped_catalog()
GHOSTS = {"OP_EqCreateGhostCmd", "OP_EqCreateWidgetCmd", "OP_EqCreateSignWidgetCmd"}
RECORD_SIZES = {"OP_UpdateSkillBookMsg": (21, 1), "OP_UpdateInventoryMsg": (110, 1)}
"""Bytes of a record, and behind all of them."""


class Recorded(NamedTuple):
    """One message: its name (a command has its own) and its body."""

    name: str
    body: bytes


def messages(version: int) -> Iterator[Recorded]:
    """Yield the recorded messages, commands of OP_ClientCmdMsg one by one."""
    _, rows = recording(RECORDINGS[version])
    for row in rows:
        if row["k"] != "app":
            continue
        name, body = row["name"], bytes.fromhex(row["hex"])
        if name == "OP_ClientCmdMsg":
            (command,) = read_client_cmds(body, version)
            assert command.opcode == row["sub"]
            assert write_client_cmd(command.opcode, command.payload, version) == body
            name, body = row["subname"], command.payload
        yield Recorded(name, body)


@pytest.mark.parametrize(("version", "size"), [(546, 1255), (561, 1230)])
def test_bodies_of_ghosts(version: int, size: int) -> None:
    header = CATALOG.layout("WS_SpawnStruct_Header", version)
    seen = set()
    for name, body in messages(version):
        if name not in GHOSTS:
            continue
        head, start = header.decode_prefix(body)
        raw, end = unpack(body, size, version, start)
        assert header.encode(head) == body[:start]
        assert pack(raw, version) == body[start:end]
        seen.add(name)
    assert seen == GHOSTS


@pytest.mark.parametrize("version", RECORDINGS)
def test_books_and_inventories(version: int) -> None:
    seen = set()
    for name, body in messages(version):
        if name in RECORD_SIZES:
            record, tail = RECORD_SIZES[name]
            count, records, behind = unpack_counted(body, record, tail, version)
            assert pack_counted(count, records, behind, version) == body
            seen.add(name)
    assert seen == RECORD_SIZES.keys()
