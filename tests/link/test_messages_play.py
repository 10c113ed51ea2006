from __future__ import annotations

from emu.link.messages import UsertoWorldReq, UsertoWorldResp


def test_the_recorded_request_is_written_and_read() -> None:
    raw = bytes.fromhex("6500000001000000010000000700000000000000") + b"127.0.0.1".ljust(21, b"\0")
    request = UsertoWorldReq(101, 1, 1, 7, 0, "127.0.0.1")
    assert request.encode() == raw
    assert len(raw) == 41
    assert UsertoWorldReq.decode(raw) == request


def test_the_recorded_response_is_written_and_read() -> None:
    raw = (
        bytes.fromhex("650000000100000001000000c015d53f01")
        + b"127.0.0.1".ljust(80, b"\0")
        + bytes.fromhex("602400000000000007000000")
    )
    response = UsertoWorldResp(101, 1, 1, 0x3FD515C0, 1, "127.0.0.1", 9312, 0, 7)
    assert response.encode() == raw
    assert len(raw) == 109
    assert UsertoWorldResp.decode(raw) == response
