from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, StructValueError
from emu.structs.packed import ClientCmd, read_client_cmds, write_client_cmd

RECORDED = {
    # docs/protocol/world/recorded.md#update-ghost: an idle ghost update of 546
    417: "12000000 ffa101 325c0300 00 08 0258 0358 0458 0758 00",
}
COMMANDS = st.lists(
    st.builds(ClientCmd, st.integers(0, 0xFFFF), st.binary(max_size=400)), max_size=5
)


def test_a_recorded_command_both_ways() -> None:
    body = bytes.fromhex(RECORDED[417])
    (command,) = read_client_cmds(body, 546)
    assert command.opcode == 417
    assert command.payload == body[7:]
    assert write_client_cmd(417, body[7:], 546) == body


@pytest.mark.parametrize(
    ("version", "payload", "head"),
    [
        (375, 1, "04000000ff9b01"), (374, 1, "04ff9b01"), (374, 251, "feff9b01"),
        (374, 252, "ffff00ff9b01"), (283, 600, "ff5b02ff9b01"), (546, 600, "5b020000ff9b01"),
    ],
)  # fmt: skip
def test_sizes_are_short_up_to_374(version: int, payload: int, head: str) -> None:
    body = write_client_cmd(411, bytes(payload), version)
    assert body == bytes.fromhex(head) + bytes(payload)
    assert read_client_cmds(body, version) == [(411, bytes(payload))]


@given(commands=COMMANDS, version=st.sampled_from([1, 374, 375, 546, 60114]))
def test_commands_stand_in_a_row(commands: list[ClientCmd], version: int) -> None:
    body = b"".join(write_client_cmd(*command, version) for command in commands)
    assert read_client_cmds(body, version) == commands


def test_an_opcode_of_one_byte_is_read_as_well() -> None:
    assert read_client_cmds(bytes.fromhex("02000000 0507"), 546) == [(5, b"\x07")]


@pytest.mark.parametrize(
    ("version", "body"),
    [(546, "0300"), (546, "00000000"), (546, "02000000ff9b01"), (546, "04000000ff9b01"),
     (546, "ffffffffff9b01"), (374, "00"), (374, "02ff9b"), (374, "ff03"), (374, "05ff9b01")],
)  # fmt: skip
def test_sizes_that_do_not_fit_are_malformed(version: int, body: str) -> None:
    with pytest.raises(MalformedMessage):
        read_client_cmds(bytes.fromhex(body), version)


@given(body=st.binary(max_size=60), version=st.sampled_from([374, 546]))
def test_garbage_is_commands_or_malformed(body: bytes, version: int) -> None:
    try:
        commands = read_client_cmds(body, version)
    except MalformedMessage:
        return
    assert sum(len(payload) for _, payload in commands) <= len(body)


EXAMINE = 637
"""OP_EqExamineInfoCmd of 1208."""


def test_an_examine_window_has_its_plain_size_as_most_recorded_ones() -> None:
    # 411 of 437 recorded windows of 1096, 1208 and 60114 have it, all those of things among them.
    body = write_client_cmd(EXAMINE, bytes(10), 1208)
    assert body == bytes.fromhex("0d000000 ff7d02") + bytes(10)
    other = write_client_cmd(589, b"chat", 1208)
    assert read_client_cmds(body + other + body, 1208, examine_info=EXAMINE) == [
        (EXAMINE, bytes(10)), (589, b"chat"), (EXAMINE, bytes(10)),
    ]  # fmt: skip


EFFECT_WINDOW = "010000000000fe4c0502ba190001000000050000000000000000000000"
"""A whole window: fight-1208-priest-a, line 957, where its size is 55."""
SPELL_WINDOW = "000000000100fe4483bead0100"
"""The begin of one: line 1252, with a size of 585 for 584 bytes."""


@pytest.mark.parametrize(
    ("extra", "payload"), [(lambda n: n - 9, EFFECT_WINDOW), (lambda _: 1, SPELL_WINDOW)]
)
def test_the_two_wrong_sizes_of_recorded_windows_are_read(extra, payload) -> None:
    # 10 recorded windows of effects have the size 2n-9, 16 of spells have n+1.
    window = bytes.fromhex("ff7d02" + payload)
    size = len(window) + extra(len(window))
    chat = write_client_cmd(589, b"chat", 1208)
    found = read_client_cmds(chat + size.to_bytes(4, "little") + window, 1208, examine_info=EXAMINE)
    assert found == [(589, b"chat"), (EXAMINE, bytes.fromhex(payload))]


@pytest.mark.parametrize("version", [374, 546, 561])
def test_item_windows_of_old_clients_carry_their_size(version: int) -> None:
    body = write_client_cmd(463, bytes(10), version)
    assert read_client_cmds(body, version, examine_info=463) == [(463, bytes(10))]


@given(payload=st.binary(max_size=400))
def test_examine_windows_of_any_length_make_the_way_and_back(payload: bytes) -> None:
    body = write_client_cmd(EXAMINE, payload, 562)
    assert read_client_cmds(body, 562, examine_info=EXAMINE) == [(EXAMINE, payload)]


@pytest.mark.parametrize(
    "body", ["10000000 ff7d02" + "00" * 10, "12000000 ff7d02" + "00" * 10, "00000000 ff7d02"]
)
def test_sizes_that_no_item_window_has_are_malformed(body: str) -> None:
    with pytest.raises(MalformedMessage):
        read_client_cmds(bytes.fromhex(body), 1208, examine_info=EXAMINE)


@pytest.mark.parametrize("opcode", [-1, 65_536])
def test_an_opcode_must_fit(opcode: int) -> None:
    with pytest.raises(StructValueError):
        write_client_cmd(opcode, b"", 546)


def test_old_clients_take_no_command_above_64_kibibytes() -> None:
    assert len(write_client_cmd(411, bytes(65_532), 374)) == 65_538
    with pytest.raises(StructValueError, match="too long"):
        write_client_cmd(411, bytes(65_533), 374)
    assert len(write_client_cmd(411, bytes(65_533), 546)) == 65_540
