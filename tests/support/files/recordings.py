"""Files of EQ2Emulator that some machines have; tests that need them skip without.

Three variables name their folders (docs/contributing/tests.md#variables). Without a variable, the
folder ``shared/data`` beside the checkout is tried.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

_BESIDE_THE_CHECKOUT = Path(__file__).parents[4] / "shared" / "data"


def folder_of(variable: str, below: str) -> Path:
    """Return the folder that a variable names, or one beside the checkout; it may not exist."""
    return Path(os.environ.get(variable) or _BESIDE_THE_CHECKOUT / below)


RECORDINGS = folder_of("EMU_RECORDINGS", "recordings")
DUMPS = folder_of("EMU_DUMPS", "eq2emu/sql")
STRUCT_FILES = folder_of("EMU_STRUCT_FILES", "eq2emu/structs")

needs_dumps = pytest.mark.skipif(
    not DUMPS.is_dir(), reason="no dumps of EQ2Emulator on this machine (EMU_DUMPS)"
)


def recording(name: str) -> tuple[bytes, list[dict[str, Any]]]:
    """Return a recorded capture (gzip) and what was written down beside it; skip when absent."""
    capture = RECORDINGS / f"{name}.pcap.gz"
    if not capture.exists():
        pytest.skip(f"no recording {name}.pcap.gz on this machine (EMU_RECORDINGS)")
    with gzip.open(RECORDINGS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return capture.read_bytes(), rows


def recorded_rows(name: str) -> list[dict[str, Any]]:
    """Return what was written down of a session; skip when absent."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no recording {path.name} on this machine (EMU_RECORDINGS)")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
