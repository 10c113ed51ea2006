"""Events that a sender can repeat at will: reported once, then counted.

One log line for each refusal would let an attacker who guesses passwords fill a disk. The first
event of an account and address is reported, and so is one with another reason. Further ones, and
those of an account or address with many reports already, are counted until `take_counts`. Memory is
bounded.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

MOST_NEWS = 256
"""The most reports between two calls of `take_counts`."""
MOST_NEWS_OF_ONE = 8
"""The most of them for one account, or one address."""
MOST_NEWS_OF_BOTH = 3
"""The most of them for one account and address, each with another reason."""
MOST_ORDINARY_OF_ACCOUNT = 10
"""The most reports of an ordinary event of one account between two calls of `take_counts`."""
MOST_ORDINARY_OF_ADDRESS = 200
"""The same for one address, which many players may share."""
MOST_REASONS = 6
"""Reasons counted separately for one account and address; some quote what a peer sent."""
OTHER_REASONS = "other reasons"


@dataclass(slots=True)
class RepeatedEvent:
    """Repetitions of an event; `account` or `address` is empty if there are several."""

    kind: str
    account: str
    address: str
    reasons: Counter[str] = field(default_factory=Counter)
    reported: set[str] = field(default_factory=set)
    """Reasons that were reported."""

    @property
    def count(self) -> int:
        """The number of repetitions."""
        return self.reasons.total()


class Repeats:
    """Decides which events are reported, and counts the others."""

    __slots__ = ("_accounts", "_addresses", "_found", "_news", "_ordinary")

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], RepeatedEvent] = {}
        self._addresses: Counter[str] = Counter()
        self._accounts: Counter[str] = Counter()
        self._ordinary: Counter[tuple[str, str, str]] = Counter()
        self._news = 0

    def is_within_rate(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Return whether to report an ordinary event, such as an entry; otherwise it is counted.

        It is reported until the account or the address exceeds its limit. `account` or `address`
        may be empty.
        """
        # Account names ignore case; otherwise each spelling would get reports of its own.
        account = account.casefold()
        for key, most in (
            ((kind, account, ""), MOST_ORDINARY_OF_ACCOUNT),
            ((kind, "", address), MOST_ORDINARY_OF_ADDRESS),
        ):
            # Without a name this key would count all senders together.
            if not (key[1] or key[2]):
                continue
            self._ordinary[key] += 1
            if self._ordinary[key] > most:
                known = self._found.setdefault(key, RepeatedEvent(*key))
                full = len(known.reasons) >= MOST_REASONS and reason not in known.reasons
                known.reasons[OTHER_REASONS if full else reason] += 1
                return False
        return True

    def is_news(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Return whether to report a refusal; otherwise it is counted. `account` may be empty."""
        account = account.casefold()
        known = self._found.get((kind, account, address))
        if known is None:
            wider = self._wider(kind, account, address)
            key = wider or (kind, account, address)
            known = self._found.setdefault(key, RepeatedEvent(*key))
            news = wider is None
            if news:
                self._addresses[address] += 1
                # An empty account stands for every sender without one, so it has no limit of its
                # own.
                self._accounts[account] += bool(account)
        else:
            news = self._is_another(known, reason)
        if news:
            known.reported.add(reason)
            self._news += 1
            return True
        full = len(known.reasons) >= MOST_REASONS and reason not in known.reasons
        known.reasons[OTHER_REASONS if full else reason] += 1
        return False

    def _is_another(self, known: RepeatedEvent, reason: str) -> bool:
        """Return whether to report another reason of an account and address."""
        # A summary of several senders has no reported reason: it only counts.
        fresh = reason not in known.reported and 0 < len(known.reported) < MOST_NEWS_OF_BOTH
        return fresh and self._news < MOST_NEWS

    def take_counts(self) -> list[RepeatedEvent]:
        """Return the repetitions since the last call, and forget them."""
        found = [one for one in self._found.values() if one.count]
        self._found.clear()
        self._addresses.clear()
        self._accounts.clear()
        self._ordinary.clear()
        self._news = 0
        return found

    def _wider(self, kind: str, account: str, address: str) -> tuple[str, str, str] | None:
        """Return the key under which a new event is counted; None if it is reported."""
        # In this order: an attacker who invents accounts is summed up by its address, and one who
        # uses many addresses by the account. Only a botnet with both loses all detail.
        if self._addresses[address] >= MOST_NEWS_OF_ONE:
            return kind, "", address
        if self._accounts[account] >= MOST_NEWS_OF_ONE:
            return kind, account, ""
        return (kind, "", "") if self._news >= MOST_NEWS else None


MOST_CLIENTS: Final = 4096
"""The most clients remembered; the least recently used one is forgotten."""
MOST_OPCODES: Final = 64
"""The most opcodes reported of one client; more than that are invented."""
FIRST_BYTES: Final = 16
"""The bytes of a message in a report."""


class UnknownMessages:
    """The unknown opcodes already reported, by client.

    Unknown messages show what a new client version needs. A client is best identified by account
    and client version, so that a reconnect reports nothing again.
    """

    __slots__ = ("_reported",)

    def __init__(self) -> None:
        self._reported: OrderedDict[Hashable, set[int]] = OrderedDict()

    def is_new(self, client: Hashable, opcode: int) -> bool:
        """Return whether to report this opcode of this client, and remember it."""
        reported = self._reported.setdefault(client, set())
        self._reported.move_to_end(client)
        if len(self._reported) > MOST_CLIENTS:
            self._reported.popitem(last=False)
        if opcode in reported or len(reported) >= MOST_OPCODES:
            return False
        reported.add(opcode)
        return True


def first_bytes(body: bytes) -> str:
    """Return the beginning of a message as hexadecimal digits, with dots if there is more."""
    return body[:FIRST_BYTES].hex(" ") + (" ..." if len(body) > FIRST_BYTES else "")
