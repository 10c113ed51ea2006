"""Messages that EQ2Emulator's C++ world server was recorded to send, read and written again."""

from __future__ import annotations

import json
from pathlib import Path

from emu.structs import shipped_catalog

VECTORS = Path(__file__).parent.parent / "vectors" / "recorded-structs.jsonl"
"""One message in each line: its struct, version and bytes, the values, and the recording."""


def test_recorded_messages_have_these_values_and_are_written_as_they_came() -> None:
    catalog = shipped_catalog()
    rows = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    for row in rows:
        layout = catalog.layout(row["struct"], row["version"])
        data = bytes.fromhex(row["hex"])
        assert layout.decode(data) == row["fields"], row["source"]
        assert layout.encode(row["fields"], strict=True) == data, row["source"]
    assert len({row["struct"] for row in rows}) > 10
