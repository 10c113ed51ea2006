"""What goes wrong in the login service, told to its operator and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from emu.limits.unknown_messages import UnknownMessages
from emu.login.events import LoginEvent, MessageDropped, ServiceFault, UnknownMessage

UNKNOWN = "unknown message"
"""Reason under which messages that nobody handles are counted."""


class Journal:
    """Tells events to `log`; what had no effect is counted by reason in `counters`."""

    __slots__ = ("_unknown_messages", "counters", "log")

    def __init__(self, log: Callable[[LoginEvent], None]) -> None:
        self.log = log
        self.counters: Counter[str] = Counter()
        self._unknown_messages = UnknownMessages()

    def dropped(self, address: str, account: str, message: str, reason: str) -> None:
        """Note a message that had no effect."""
        self.counters[reason] += 1
        self.log(MessageDropped(address, account, message, reason))

    def unknown(self, event: UnknownMessage) -> None:
        """Note a message that nobody handles; the first of its kind from an account is told."""
        self.counters[UNKNOWN] += 1
        if self._unknown_messages.is_new((event.account, event.version), event.opcode):
            self.log(event)

    def fault(self, address: str, account: str, reason: str) -> None:
        """Note something of ours that failed while a client was served."""
        self.counters["service fault"] += 1
        self.log(ServiceFault(address, account, reason))
