"""The keyed check, against datagrams of real clients and servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emu.wire import check_of, check_start

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "session.json").read_text())


@pytest.mark.parametrize("datagram", VECTORS["checked_datagrams"])
def test_check_of_real_datagrams(datagram):
    data = bytes.fromhex(datagram)
    start = check_start(VECTORS["check_key"])
    assert check_of(data[:-2], start) == int.from_bytes(data[-2:], "big")


@pytest.mark.parametrize("datagram", VECTORS["checked_datagrams"])
def test_another_key_gives_another_check(datagram):
    data = bytes.fromhex(datagram)
    start = check_start(VECTORS["check_key"] ^ 1)
    assert check_of(data[:-2], start) != int.from_bytes(data[-2:], "big")
