"""The dissector on sessions recorded against EQ2Emulator (when present)."""

from __future__ import annotations

from collections import Counter

import pytest

from emu.capture.messages import opcode_ranges
from emu.capture.trace import make_dissector
from emu.opcodes import shipped_tables
from tests.support.files.recordings import recording
from tests.support.foreign.tshark import run_tshark

COLUMNS = ("eq2.op", "eq2.check.status", "eq2.app.name", "eq2.malformed", "_ws.lua.error")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "datagrams", "sessions"), [("546-zonein-alone", 96, 1), ("561-two-players", 1194, 2)]
)
def test_every_datagram_is_dissected_and_every_check_is_good(name, datagrams, sessions, tmp_path):
    capture, _ = recording(name)
    script, path = tmp_path / "eq2.lua", tmp_path / "session.pcap.gz"
    script.write_text(make_dissector(opcode_ranges(shipped_tables())))
    path.write_bytes(capture)
    columns = [word for column in COLUMNS for word in ("-e", column)]
    out = run_tshark("-r", str(path), "-T", "fields", *columns, script=script)
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == datagrams
    assert all(row[0] for row in rows)
    statuses = Counter(row[1] for row in rows)
    assert statuses == {"1": datagrams - 2 * sessions, "": 2 * sessions}
    assert [row[2] for row in rows if row[2]] == ["key request"] * sessions
    assert not any(row[3] or row[4] for row in rows)
