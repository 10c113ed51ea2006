"""The events of a session: in order, drops counted."""

from __future__ import annotations

import pytest

from emu.session import DatagramDropped, SessionClosed, SessionEstablished
from emu.session.events import SessionJournal


def taken(journal):
    events = []
    while (event := journal.next_event()) is not None:
        events.append(event)
    return events


def test_events_come_in_order_and_once():
    journal = SessionJournal()
    journal.events.append(SessionEstablished(7))
    journal.drop("bad check")
    assert taken(journal) == [SessionEstablished(7), DatagramDropped("bad check")]
    assert taken(journal) == []


def test_each_reason_is_reported_once_and_counted_always():
    journal = SessionJournal()
    for reason in ("bad check", "short datagram", "bad check"):
        journal.drop(reason)
    assert taken(journal) == [DatagramDropped("bad check"), DatagramDropped("short datagram")]
    assert dict(journal.drops) == {"bad check": 2, "short datagram": 1}


def test_nothing_follows_the_end_but_drops_still_count():
    journal = SessionJournal()
    journal.close("enough")
    journal.drop("session is over")
    assert taken(journal) == [SessionClosed("enough")]
    assert dict(journal.drops) == {"session is over": 1}


def test_the_counts_cannot_be_changed_from_outside():
    journal = SessionJournal()
    with pytest.raises(TypeError):
        journal.drops["bad check"] = 5
    journal.drop("bad check")
    with pytest.raises(TypeError):
        journal.drops["bad check"] = 5
