"""Names, fields and commands of messages in the clear."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.messages import MAX_COMMANDS, NAMELESS, CapturedCommand, split_commands
from tests.support.files.known_names import few_messages, shipped_messages


def command(number, payload, size=None):
    inner = b"\xff" + struct.pack("<H", number) + payload
    return struct.pack("<I", len(inner) if size is None else size) + inner


def old_command(number, payload):
    inner = b"\xff" + struct.pack("<H", number) + payload
    size = bytes([len(inner)]) if len(inner) < 255 else b"\xff" + struct.pack("<H", len(inner))
    return size + inner


def test_a_message_that_fits_has_fields_and_one_that_does_not_has_none():
    decoder = few_messages().session(546)
    assert decoder.decode(4, b"\1\0\0\0") == ("OP_LoginReplyMsg", {"number": 1}, None, None)
    too_long = "Reply 1, byte 4: message longer than its layout"
    assert decoder.decode(4, bytes(5)) == ("OP_LoginReplyMsg", None, None, too_long)
    no_struct = "no struct is known for it"
    assert decoder.decode(8, b"\1") == ("OP_WorldListMsg", None, None, no_struct)
    assert decoder.decode(99, b"\1") == (None, None, None, NAMELESS)


def test_without_a_covered_version_nothing_has_a_name():
    decoder = few_messages()
    for version, why in (
        (None, "the client version is not known"),
        (700, "no opcode table covers client version 700"),
    ):
        assert decoder.session(version).decode(4, b"\1\0\0\0") == (None, None, None, why)
    assert decoder.covers(546)
    assert not decoder.covers(700)


def test_a_clients_messages_begin_with_opcodes_of_its_version():
    assert few_messages().first_bytes(546) == {0, 1, 4, 8, 50, 255}
    assert few_messages().first_bytes(None) == frozenset()
    assert few_messages().first_bytes(700) == frozenset()


def test_commands_are_split_named_and_decoded():
    body = command(412, b"\2\0\0\0") + command(413, b"ghost") + command(412, b"")
    name, fields, commands, undecoded = few_messages().session(546).decode(50, body)
    assert (name, fields, undecoded) == ("OP_ClientCmdMsg", None, None)
    short = "Text 1, field number, byte 0: message shorter than its layout"
    assert commands == (
        CapturedCommand(412, "OP_EqDisplayTextCmd", b"\2\0\0\0", {"number": 2}),
        CapturedCommand(413, None, b"ghost", None, NAMELESS),
        CapturedCommand(412, "OP_EqDisplayTextCmd", b"", None, short),
    )


@pytest.mark.parametrize("length", [0, 5, 251, 252, 300])
def test_old_versions_have_shorter_sizes(length):
    body = old_command(412, bytes(length)) + old_command(9, b"x")
    assert split_commands(body, 374).commands == [(412, bytes(length)), (9, b"x")]


def test_recorded_command():
    # docs/protocol/world/entering.md#order, docs/protocol/world/recorded.md#examples:
    # EqCollectionUpdate `00 00 01`, 10 bytes with its header.
    assert split_commands(bytes.fromhex("06000000ffbc01000001"), 546) == (
        [(444, b"\0\0\1")],
        None,
    )


@pytest.mark.parametrize(
    "tail", [b"\1", b"\0\0\0\0", command(1, b"abc", 900), command(1, b"", 2), b"\xff" * 4 + b"x"]
)
def test_a_damaged_end_gives_the_commands_before_it(tail):
    commands, problem = split_commands(command(412, b"ok") + tail, 546)
    assert commands == [(412, b"ok")]
    assert problem is not None
    assert problem.startswith("command with")


def test_an_item_window_of_a_later_client_is_a_command_like_others():
    # docs/protocol/structs.md#client-cmd: the size is plain; 637 is its number at 1208.
    body = command(637, bytes(10)) + command(590, b"text")
    name, _, commands, _ = shipped_messages().session(1208).decode(58, body)
    assert name == "OP_ClientCmdMsg"
    assert [(one.opcode, one.name, one.payload) for one in commands] == [
        (637, "OP_EqExamineInfoCmd", bytes(10)),
        (590, "OP_EqDisplayTextCmd", b"text"),
    ]


def test_the_number_of_commands_is_bounded():
    body = command(1, b"") * (MAX_COMMANDS + 5)
    commands, problem = split_commands(body, 546)
    assert (len(commands), problem) == (MAX_COMMANDS, f"more than {MAX_COMMANDS} commands")


@given(st.binary(max_size=100), st.sampled_from([374, 546]))
def test_no_bytes_raise_and_nothing_is_invented(body, version):
    commands, _ = split_commands(body, version)
    assert sum(len(payload) for _, payload in commands) <= len(body)
