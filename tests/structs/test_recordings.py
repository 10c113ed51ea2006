"""Messages of a running EQ2Emulator world, where its recordings are at hand.

They are no part of the project, so what must hold without them is shown with vectors elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from emu.errors import MalformedMessage
from emu.structs import Layout, shipped_catalog
from emu.structs.client_cmd import read_client_cmds, write_client_cmd
from emu.structs.packed import DeltaBase, pack, pack_counted, unpack, unpack_counted
from tests.support.recordings import recording

RECORDINGS = {546: "546-zonein-alone", 561: "561-two-players"}
CATALOG = shipped_catalog()
PACKED = {
    "OP_UpdateCharacterSheetMsg", "OP_UpdateSkillBookMsg", "OP_UpdateInventoryMsg",
    "OP_UpdateSpellBookMsg",
}  # fmt: skip
GHOSTS = {
    "OP_EqCreateGhostCmd": None,
    "OP_EqCreateWidgetCmd": "WS_WidgetSpawnStruct_Footer",
    "OP_EqCreateSignWidgetCmd": "WS_SignWidgetSpawnStruct_Footer",
}
RECORD_SIZES = {"OP_UpdateSkillBookMsg": (21, 1), "OP_UpdateInventoryMsg": (110, 1)}
"""Bytes of a record, and behind all of them."""


class Recorded(NamedTuple):
    """One message: who received it, its name (a command's own name), and its body."""

    client: int
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
        yield Recorded(row["c"], name, body)


def _makes_the_way(layout: Layout, body: bytes) -> bool:
    """Tell whether a body is one of this layout, which then must give it back."""
    try:
        values = layout.decode(body)
    except MalformedMessage:  # two structs of one message, as for OP_LoginReplyMsg
        return False
    assert layout.encode(values) == body
    return True


@pytest.mark.parametrize("version", RECORDINGS)
def test_every_message_with_a_struct_makes_the_way_and_back(version: int) -> None:
    seen = set()
    for _, name, body in messages(version):
        layouts = CATALOG.for_opcode(name, version)
        if name == "OP_LoginByNumRequestMsg":
            layouts = [CATALOG.layout("LoginByNumRequest", version)]
        if not layouts or name in PACKED:
            continue
        assert any(_makes_the_way(layout, body) for layout in layouts), name
        seen.add(name)
    assert len(seen) >= 15


@pytest.mark.parametrize(("version", "size"), [(546, 4897), (561, 4908)])
def test_character_sheets_unpack_to_one_another(version: int, size: int) -> None:
    layout = CATALOG.layout("WS_CharacterSheet", version)
    bases: dict[int, DeltaBase] = defaultdict(lambda: DeltaBase(size))
    names = set()
    for client, name, body in messages(version):
        if name == "OP_UpdateCharacterSheetMsg":
            delta, end = unpack(body, size, version)
            assert end == len(body)
            assert pack(delta, version) == body
            sheet = layout.decode(bases[client].decode(delta))
            names.add(sheet["character_name"])
            assert sheet["guild_status"] == 888_888
            assert sheet["house_zone"] == sheet["bind_zone"] == "None"
    assert len(names) == len(bases) >= 1


@pytest.mark.parametrize(("version", "size"), [(546, 1255), (561, 1230)])
def test_ghosts_are_header_packed_body_and_footer(version: int, size: int) -> None:
    header = CATALOG.layout("WS_SpawnStruct_Header", version)
    spawn = CATALOG.layout("WS_SpawnStruct", version)
    seen = set()
    for _, name, body in messages(version):
        if name not in GHOSTS:
            continue
        head, start = header.decode_prefix(body)
        raw, end = unpack(body, size, version, start)
        assert header.encode(head) == body[:start]
        assert pack(raw, version) == body[start:end]
        assert spawn.encode(spawn.decode(raw)) == raw
        footer = GHOSTS[name]
        if footer is None:
            assert end == len(body)
        else:
            layout = CATALOG.layout(footer, version)
            assert layout.encode(layout.decode(body[end:])) == body[end:]
        seen.add(name)
    assert seen == GHOSTS.keys()


@pytest.mark.parametrize("version", RECORDINGS)
def test_books_and_inventory_are_count_packets(version: int) -> None:
    seen = set()
    for _, name, body in messages(version):
        if name in RECORD_SIZES:
            record, tail = RECORD_SIZES[name]
            count, records, behind = unpack_counted(body, record, tail, version)
            assert pack_counted(count, records, behind, version) == body
            seen.add(name)
    assert seen == RECORD_SIZES.keys()
