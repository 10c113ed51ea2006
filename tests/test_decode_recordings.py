from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from emu.structs.packed import write_client_cmd
from tools import decode_recordings

DEATH = bytes.fromhex("220200000100000000")
"""real-fight-546-QueensColony-fighter, line 5811."""


def test_messages_are_counted_by_version_and_the_worst_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"k": "meta", "c": "a", "ver": 546},
        {"k": "mark", "c": "a", "n": "it begins"},
        *(
            {"k": "app", "c": "a", "d": "s2c", "op": 50, "hex": write_client_cmd(*one, 546).hex()}
            for one in ((435, DEATH), (435, DEATH[:-1]), (435, DEATH))
        ),
    ]
    with gzip.open(tmp_path / "fight.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert decode_recordings.main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "546: 2 of 3 decode whole, 66.7 %"
    assert "1 OP_EqHearDeathCmd: WS_HearDeath 1, field blow_type" in lines[1]
    assert "(fight.jsonl.gz:4)" in lines[1]
    assert lines[-1] == "all: 2 of 3, 66.7 %"
