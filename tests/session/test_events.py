"""Events are plain, unchanging values."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from emu.session import CloseReason, Event, Message, SessionClosed


def test_every_event_is_frozen_and_small():
    for kind in get_args(Event):
        assert dataclasses.is_dataclass(kind)
        assert not kind.__dictoffset__


def test_a_message_compares_by_value_and_cannot_be_changed():
    message = Message(1, b"payload")
    assert message == Message(1, b"payload")
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.opcode = 2


def test_close_reasons_are_words():
    assert all(isinstance(reason, str) for reason in CloseReason)
    assert SessionClosed("closed by peer") == SessionClosed(CloseReason.PEER)
