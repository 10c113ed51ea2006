import stat
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.net.logs import logger
from emu.net.trace import TraceFile

CLIENT, SERVER = ("127.0.0.1", 40000), ("127.0.0.1", 9100)


def test_a_trace_is_private_and_grows_by_sections(tmp_path: Path) -> None:
    path = tmp_path / "t.pcapng"
    for _ in range(2):
        trace = TraceFile(path, 10_000, logger("test"))
        trace.key(7, 0x33624702, bytes(8))
        trace.datagram(1.0, CLIENT, SERVER, b"\x00\x06")
        trace.close()
    data = path.read_bytes()
    assert data.count(bytes.fromhex("0a0d0d0a")) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_trace_ends_at_its_limit_and_the_server_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "t.pcapng"
    trace = TraceFile(path, 400, logger("test"))
    for _ in range(100):
        trace.datagram(1.0, CLIENT, SERVER, bytes(50))
    trace.key(1, 2, bytes(8))
    assert 0 < path.stat().st_size <= 400
    trace.close()


def test_a_full_disk_ends_the_trace_only() -> None:
    trace = TraceFile(Path("/dev/full"), 10_000, logger("test"))
    trace.datagram(1.0, CLIENT, SERVER, b"x")
    trace.close()


def test_a_file_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"see \[trace\] file"):
        TraceFile(tmp_path / "no" / "t.pcapng", 10_000, logger("test"))


def test_a_trace_that_ends_in_half_a_record_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "t.pcapng"
    trace = TraceFile(path, 10_000, logger("test"))
    trace.datagram(1.0, CLIENT, SERVER, b"hello")
    trace.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    TraceFile(path, 10_000, logger("test")).close()
    assert (tmp_path / "t.pcapng.cut").read_bytes() == whole[:-7]
    assert path.read_bytes() == whole[: len(path.read_bytes())]
    path.write_bytes(b"abc")
    TraceFile(path, 10_000, logger("test")).close()
    assert (tmp_path / "t.pcapng.cut").read_bytes() == b"abc"
