"""World sessions of EQ2Emulator, where they are at hand: every message is read and written back."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from emu.errors import MalformedMessage
from emu.opcodes import shipped_tables
from emu.structs import StructLayout, shipped_catalog
from emu.structs.packed import (
    DeltaBase,
    pack,
    read_client_cmds,
    unpack,
    unpack_counted,
    unpack_stream,
    write_client_cmd,
)
from tests.support.files.recordings import recording

CATALOG = shipped_catalog()
RECORD_SIZES = {
    "OP_UpdateSkillBookMsg": (21, 1), "OP_UpdateSpellBookMsg": (27, 0),
    "OP_UpdateInventoryMsg": (110, 1), "OP_UpdateRecipeBookMsg": (12, 0),
}  # fmt: skip
FOOTERS = {
    "OP_EqCreateGhostCmd": None, "OP_EqCreateWidgetCmd": "WS_WidgetSpawnStruct_Footer",
    "OP_EqCreateSignWidgetCmd": "WS_SignWidgetSpawnStruct_Footer",
}  # fmt: skip
WITHOUT_STRUCT = {"OP_EqUpdateGhostCmd"}
"""Ghost updates are lists of packed deltas: tests/world_stream reads them."""


class Reader:
    """Reads the messages of one recording in their order."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.seen: Counter[str] = Counter()
        self.names: set[str] = set()
        self._bases: dict[tuple[Any, str], DeltaBase] = {}

    def read(self, client: Any, name: str, body: bytes) -> None:
        self.seen[name] += 1
        if name in FOOTERS:
            self._spawn(name, body)
        elif name == "OP_UpdateCharacterSheetMsg":
            self._sheet(client, name, body)
        elif name == "OP_PredictionUpdateMsg":
            self._prediction(client, name, body)
        elif name in RECORD_SIZES:
            self._book(name, body)
        elif body or name != "OP_DoneLoadingZoneResourcesMsg":
            self._plain(name, body)

    def _layout(self, name: str) -> StructLayout:
        return CATALOG.layout(name, self.version)

    def _plain(self, name: str, body: bytes) -> None:
        if name == "OP_LoginByNumRequestMsg":
            layouts = [self._layout("LoginByNumRequest")]
        else:
            layouts = list(CATALOG.for_opcode(name, self.version))
        if name == "OP_LoginReplyMsg":
            layouts = [found for found in layouts if found.name == "LS_LoginResponse"]
        assert any(_is_whole(layout, body) for layout in layouts), name

    def _spawn(self, name: str, body: bytes) -> None:
        header, at = self._layout("WS_SpawnStruct_Header").decode_prefix(body)
        assert header["index"] == header["spawn_id"]
        layout = self._layout("WS_SpawnStruct")
        whole, at = unpack(body, layout.empty_size(), self.version, at)
        fields = layout.decode(whole)
        assert layout.encode(fields) == whole
        self.names.add(fields["info"]["name"])
        footer = FOOTERS[name]
        if footer is None:
            assert at == len(body)
        else:
            self._layout(footer).decode(body[at:])

    def _base(self, client: Any, name: str, size: int) -> DeltaBase:
        return self._bases.setdefault((client, name), DeltaBase(size))

    def _sheet(self, client: Any, name: str, body: bytes) -> None:
        layout = self._layout("WS_CharacterSheet")
        delta, end = unpack(body, layout.empty_size(), self.version)
        assert end == len(body)
        assert pack(delta, self.version) == body
        fields = layout.decode(self._base(client, name, layout.empty_size()).decode(delta))
        assert (fields["guild_status"], fields["bind_zone"]) == (888888, "None")
        assert fields["breath"] == 30.0
        self.names.add(fields["character_name"])

    def _prediction(self, client: Any, name: str, body: bytes) -> None:
        packed = self._layout("WS_PredictionUpdateMsg").decode(body)["packed"].encode("latin-1")
        layout = self._layout("Player_Update")
        delta, end = unpack_stream(packed, layout.empty_size(), reverse=True)
        assert end == len(packed)
        fields = layout.decode(self._base(client, name, layout.empty_size()).decode(delta))
        assert fields["grid_location"] == 1234
        assert fields["speed"] in {0.0, 4.5}
        assert fields["y"] == pytest.approx(-7.97)

    def _book(self, name: str, body: bytes) -> None:
        size, tail_size = RECORD_SIZES[name]
        count, records, tail = unpack_counted(body, size, tail_size, self.version)
        (layout,) = CATALOG.for_opcode(name, self.version)
        fields = layout.decode(body[:2] + bytes(4) + records + tail)
        if name == "OP_UpdateInventoryMsg" and any(records):
            assert [item["index"] for item in fields["item_array"]] == list(range(count))


def _is_whole(layout: StructLayout, body: bytes) -> bool:
    try:
        return layout.encode(layout.decode(body)) == body
    except MalformedMessage:
        return False


@pytest.mark.parametrize(
    ("name", "version", "names"),
    [
        ("546-zonein-alone", 546, {"Aldana", "Guard Vexel"}),
        ("561-two-players", 561, {"Cestra", "Dorwin"}),
    ],
)
def test_every_message_of_a_recording_is_read(name: str, version: int, names: set[str]) -> None:
    _, rows = recording(name)
    table = shipped_tables().for_version(version)
    reader = Reader(version)
    for row in rows:
        if row["k"] != "app":
            continue
        body = bytes.fromhex(row["hex"])
        opcode = table.name(row["op"]) or row["name"]
        if opcode != "OP_ClientCmdMsg":
            messages = [(opcode, body)]
        else:
            commands = read_client_cmds(body, version)
            assert b"".join(write_client_cmd(*one, version) for one in commands) == body
            messages = [(table.name(one.opcode) or row["subname"], one.payload) for one in commands]
        for message, payload in messages:
            if message not in WITHOUT_STRUCT:
                reader.read(row.get("c"), message, payload)
    assert names <= reader.names
    assert len(reader.seen) > 25
