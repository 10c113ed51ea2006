"""Recordings of EQ2Emulator that some machines have; tests that want them skip without."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

_BESIDE_THE_CHECKOUT = Path(__file__).parents[4] / "shared"


def recording(name: str) -> tuple[bytes, list[dict[str, Any]]]:
    """Return a recorded capture (gzip) and what was written down beside it; skip when absent.

    The folder with the recordings is EMU_RECORDINGS, or lies beside the checkout.
    """
    folder = Path(os.environ.get("EMU_RECORDINGS", _BESIDE_THE_CHECKOUT / "data" / "recordings"))
    capture = folder / f"{name}.pcap.gz"
    if not capture.exists():
        pytest.skip(f"no recording {name}.pcap.gz on this machine (EMU_RECORDINGS)")
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return capture.read_bytes(), rows
