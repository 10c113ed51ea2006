"""Opcodes and commands as bytes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, StructValueError
from emu.opcodes.wire import decode_commands, decode_opcode, encode_command, encode_opcode


@pytest.mark.parametrize(
    ("number", "wire"),
    [(0, "00"), (216, "d8"), (254, "fe"), (255, "ffff00"), (355, "ff6301"), (65535, "ffffff")],
)
def test_opcodes_take_one_byte_or_three(number: int, wire: str) -> None:
    """355 as FF 63 01 is from the live service (client-546-notes.md 2)."""
    assert encode_opcode(number).hex() == wire
    assert decode_opcode(bytes.fromhex(wire)) == (number, len(wire) // 2)


def test_a_recorded_ghost_update_is_one_command() -> None:
    """Size 24 counts FF, the number 417 and the payload (eq2-world.md 4.3)."""
    body = bytes.fromhex("18000000ffa10104030201000e0510b5012c40402781038303400c00")
    ((number, payload),) = decode_commands(body, 546)
    assert number == 417
    assert len(payload) == 21
    assert encode_command(417, payload, 546) == body


def test_old_clients_have_a_short_size() -> None:
    assert encode_command(300, b"ab", 374).hex() == "05ff2c016162"
    assert encode_command(300, b"ab", 375).hex() == "05000000ff2c016162"
    long = encode_command(300, bytes(400), 283)
    assert long[:3].hex() == "ff9301"
    assert list(decode_commands(long, 283)) == [(300, bytes(400))]


def test_several_commands_may_stand_in_one_message() -> None:
    body = encode_command(411, b"one", 546) + encode_command(412, b"", 546)
    assert list(decode_commands(body, 546)) == [(411, b"one"), (412, b"")]


@pytest.mark.parametrize("wire", ["", "ff", "ff01"])
def test_a_cut_opcode_is_malformed(wire: str) -> None:
    with pytest.raises(MalformedMessage):
        decode_opcode(bytes.fromhex(wire))


@pytest.mark.parametrize("wire", ["010000", "04000000ff", "ffffffff00", "02000000ff01", "00000000"])
def test_a_cut_command_is_malformed(wire: str) -> None:
    with pytest.raises(MalformedMessage):
        list(decode_commands(bytes.fromhex(wire), 546))


def test_what_does_not_fit_is_refused() -> None:
    for number in (-1, 65536):
        with pytest.raises(StructValueError):
            encode_opcode(number)
        with pytest.raises(StructValueError):
            encode_command(number, b"", 546)
    with pytest.raises(StructValueError):
        encode_command(1, bytes(65536), 283)


@given(st.integers(0, 65535), st.binary(max_size=600), st.sampled_from([283, 374, 375, 546]))
def test_commands_come_back(number: int, payload: bytes, version: int) -> None:
    assert list(decode_commands(encode_command(number, payload, version), version)) == [
        (number, payload)
    ]


@given(st.binary(max_size=60), st.sampled_from([283, 546]))
def test_any_bytes_are_commands_or_malformed(body: bytes, version: int) -> None:
    with contextlib.suppress(MalformedMessage):
        assert len(list(decode_commands(body, version))) <= len(body)
