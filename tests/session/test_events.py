"""Events are plain values."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from emu.session import CloseReason, Event, Message, SessionClosed


def test_every_event_is_small():
    for kind in get_args(Event):
        assert dataclasses.is_dataclass(kind)
        assert not kind.__dictoffset__


def test_a_message_compares_by_value():
    assert Message(1, b"payload") == Message(1, b"payload")
    assert len({Message(1, b"payload"), Message(1, b"payload"), Message(2, b"payload")}) == 2


def test_an_event_cannot_be_changed():
    closed = SessionClosed("closed by peer")
    with pytest.raises(dataclasses.FrozenInstanceError):
        closed.reason = "never"  # type: ignore[misc]


def test_close_reasons_are_words():
    assert all(isinstance(reason, str) for reason in CloseReason)
    assert SessionClosed("closed by peer") == SessionClosed(CloseReason.PEER)
