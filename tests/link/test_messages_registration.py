from __future__ import annotations

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.link.messages import LSFatalError, LSInfo, LSStatus
from emu.link.settings import hash_link_password


def padded(value: bytes, size: int) -> bytes:
    return value + bytes(size - len(value))


def test_ls_info_has_the_recorded_shape() -> None:
    # the recorded LSInfo of an EQ2Emulator world: every field at its offset, 832 bytes
    digest = hash_link_password("secret")
    raw = (
        padded(b"TestLabs", 201)
        + padded(b"127.0.0.1", 250)
        + padded(b"testlabs", 31)
        + padded(digest.encode(), 256)
        + padded(b"0.5.0", 25)
        + padded(b"0.9.9-Nebula", 64)
        + bytes.fromhex("00531d0100")
    )
    info = LSInfo("TestLabs", "127.0.0.1", "testlabs", digest)
    assert info.encode() == raw
    assert len(raw) == 832
    assert LSInfo.decode(raw) == info
    assert info.database_version == 73043


def test_the_password_hash_is_not_in_the_text_form() -> None:
    assert "hunter2" not in repr(LSInfo("Name", "host", "account", "hunter2"))


def test_ls_status_is_thirteen_bytes() -> None:
    # recorded: up, nobody in, level 50
    raw = bytes.fromhex("01000000000000000000000032")
    assert LSStatus.decode(raw) == LSStatus(1, 0, 0, 50)
    assert LSStatus(-2, 3, 2, 80).encode() == bytes.fromhex("feffffff030000000200000050")
    with pytest.raises(MalformedMessage, match="wrong size of LSStatus"):
        LSStatus.decode(raw + b"\0")


def test_a_fatal_error_may_lack_its_zero_byte() -> None:
    assert LSFatalError("Bad password").encode() == b"Bad password\0"
    assert LSFatalError.decode(b"Bad password") == LSFatalError("Bad password")
    with pytest.raises(MalformedMessage):
        LSFatalError.decode(bytes(2000))
    with pytest.raises(StructValueError):
        LSFatalError("x" * 2000).encode()
