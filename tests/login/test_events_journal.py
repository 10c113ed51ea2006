from __future__ import annotations

from emu.login.events import UNKNOWN, LoginLog, MessageDropped, ServiceFault, UnknownMessage
from tests.support.login.login_fakes import Events

HERE = "192.0.2.1"


def test_dropped_messages_are_counted_by_reason() -> None:
    events = Events()
    journal = LoginLog(events)
    journal.dropped(HERE, "tester", "OP_Some", "message out of order")
    journal.fault(HERE, "tester", "the disk is full")
    assert [type(event) for event in events] == [MessageDropped, ServiceFault]
    assert journal.counters == {"message out of order": 1, "service fault": 1}


def test_an_unknown_message_is_logged_once_for_each_account_version_and_opcode() -> None:
    events = Events()
    journal = LoginLog(events)
    for account, version, opcode in [("a", 546, 9), ("a", 546, 9), ("b", 546, 9), ("b", 546, 10)]:
        journal.unknown(UnknownMessage(HERE, account, version, opcode, "", 3, "01 02 03"))
    assert [(event.account, event.opcode) for event in events] == [("a", 9), ("b", 9), ("b", 10)]  # type: ignore[attr-defined]
    assert journal.counters == {UNKNOWN: 4}
