"""Recorded character sheets of newer clients decode to named fields and encode to the same bytes.

EQ2Emulator sends the sheet of 561 to all clients below 60114. The recordings are not part of the
project (docs/contributing/tests.md#variables).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.dialects import Dialect
from emu.structs.packed import pack, xor
from emu.world_stream.deltas import StateReader
from emu.world_stream.stream import SHEET_STRUCT
from tests.support.world.ghost_views import dialect

FOLDER = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "recordings"
RECORDINGS = Path(os.environ.get("EMU_RECORDINGS", FOLDER))
SENT = {1096: 561, 1208: 561, 57080: 561, 60114: 60114, 64659: 60114, 64753: 60114}
"""For each recorded client version, the version whose sheet it was sent."""


def sheets(version: int) -> Iterator[bytes]:
    path = RECORDINGS / f"{version}-zonein-alone.jsonl.gz"
    if not path.exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["k"] == "app" and row["d"] == "s2c" and row["name"] == "UpdateCharacterSheet":
                yield bytes.fromhex(row["hex"])


@pytest.mark.parametrize("version", SENT)
def test_recorded_sheets_decode_and_encode_to_the_same_bytes(version: int) -> None:
    layouts: Dialect = dialect(SENT[version])
    reader = StateReader(layouts.layout(SHEET_STRUCT), version)
    before = bytes(reader.size)
    bodies = list(sheets(version))
    assert bodies
    for body in bodies:
        now = reader.read_message(body).now
        fields = reader.layout.decode(now)
        assert fields["character_name"].startswith("Aldana")
        assert (fields["race"], fields["gender"], fields["level"]) == (9, 1, 1)
        again = reader.layout.encode(fields)
        assert again == now
        assert pack(xor(again, before), version) == body
        before = now
