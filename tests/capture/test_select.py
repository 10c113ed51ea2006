"""Selecting messages of a capture by name, number, direction and session."""

from __future__ import annotations

import pytest

from emu.capture.messages import CapturedCommand
from emu.capture.select import MessageSelection, read_selection, session_label
from emu.errors import CommandError
from tests.support.files.captured import captured_message

KNOWN = ("OP_LoginReplyMsg", "OP_ClientCmdMsg", "OP_EqHearChatCmd", "OP_ChatTellUserMsg")
SAID = CapturedCommand(300, "OP_EqHearChatCmd", b"said", {})
MADE = CapturedCommand(413, None, b"made", None, "why")


def selected(*words, **changes):
    return read_selection(words, KNOWN).select(captured_message(**changes))


@pytest.mark.parametrize(
    ("words", "is_selected"),
    [
        ((), True),
        (("OP_LoginReplyMsg",), True),
        (("op_login*",), True),
        (("OP_*Chat*",), False),
        (("OP_*Chat*", "op_login*"), True),
        (("4",), True),
        (("5",), False),
        (("5", "OP_Login*"), True),
        (("to-client",), True),
        (("to-server",), False),
        (("to-server", "to-client"), True),
        (("to-server", "OP_Login*"), False),
        (("session=7",), True),
        (("session=0x00000007",), True),
        (("session=00000008",), False),
        (("session=10.0.0.1:40001",), True),
        (("session=10.0.0.1:40001", "session=8", "to-client", "4"), True),
        (("unknown",), False),
    ],
)
def test_a_message_must_match_one_of_each_kind(words, is_selected):
    assert (selected(*words) is not None) == is_selected


def test_commands_are_selected_by_their_own_names_and_numbers():
    changes = {"name": "OP_ClientCmdMsg", "opcode": 50, "commands": (SAID, MADE)}
    whole = selected("OP_Client*", **changes)
    assert whole is not None
    assert whole.commands == (SAID, MADE)
    for words, commands in {
        ("OP_*Chat*",): (SAID,),
        ("413",): (MADE,),
        ("unknown",): (MADE,),
        ("413", "OP_*Chat*"): (SAID, MADE),
    }.items():
        found = selected(*words, **changes)
        assert found is not None
        assert found.commands == commands
    assert selected("OP_*Chat*", "to-server", **changes) is None


def test_a_message_without_a_name_is_unknown():
    assert selected("unknown", name=None) is not None
    assert selected("OP_*", name=None) is None


def test_a_session_from_before_the_capture_is_named_by_its_client():
    message = captured_message(session_id=None)
    assert session_label(message) == "10.0.0.1:40001"
    assert selected("session=10.0.0.1:40001", session_id=None) is not None
    assert session_label(captured_message(session_id=0x5352F60F)) == "5352f60f"


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("OP_LoginRepliMsg", "did you mean OP_LoginReplyMsg?"),
        ("chat", "did you mean '*chat*'?"),
        ("OP_Zzzzz", "try a pattern"),
        ("session=xyz", "is no session"),
        ("session=", "is no session"),
    ],
)
def test_a_word_that_selects_nothing_is_refused(word, text):
    with pytest.raises(CommandError) as caught:
        read_selection([word], KNOWN)
    assert text in str(caught.value)


def test_an_empty_selection_selects_everything():
    message = captured_message()
    assert MessageSelection().select(message) is message
