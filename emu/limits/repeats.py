"""Events that a sender can repeat at will: reported once, then counted.

A line for each refusal would let whoever guesses passwords fill a disk. The first of an account
and address is news, and so is another reason; further ones, and those of an account or address that
had much news already, are only counted until `take_counts` is asked for them, once a minute or so.
Memory is bounded.

They are how a new client version shows what it wants. A client here is whatever its service tells
apart, best an account with its client version, so that coming back tells nothing again.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

MOST_NEWS = 256
"""Lines between two times of counting."""
MOST_NEWS_OF_ONE = 8
"""Of them about one account, or one address."""
MOST_NEWS_OF_BOTH = 3
"""Of them about one account and address, each with another reason."""
MOST_ORDINARY_OF_ACCOUNT = 10
"""Lines about ordinary acts of one account, of one kind, between two times of counting."""
MOST_ORDINARY_OF_ADDRESS = 200
"""The same of an address, which may be that of many players."""
MOST_REASONS = 6
"""Reasons counted apart for one account and address; some quote what somebody sent."""
OTHER_REASONS = "other reasons"


@dataclass(slots=True)
class RepeatedEvent:
    """What came again: `account` or `address` is empty for several of them."""

    kind: str
    account: str
    address: str
    reasons: Counter[str] = field(default_factory=Counter)
    told: set[str] = field(default_factory=set)
    """Reasons that were news."""

    @property
    def count(self) -> int:
        """How often."""
        return self.reasons.total()


class Repeats:
    """Decides what is news, and counts the rest."""

    __slots__ = ("_accounts", "_addresses", "_found", "_news", "_ordinary")

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], RepeatedEvent] = {}
        self._addresses: Counter[str] = Counter()
        self._accounts: Counter[str] = Counter()
        self._ordinary: Counter[tuple[str, str, str]] = Counter()
        self._news = 0

    def is_within_rate(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Say whether an ordinary act (somebody entered) is to be told; if not, it is counted.

        It is told as long as neither the account nor the address exceeds its number of lines.
        `account` or `address` may be empty.
        """
        account = account.casefold()
        for key, most in (
            ((kind, account, ""), MOST_ORDINARY_OF_ACCOUNT),
            ((kind, "", address), MOST_ORDINARY_OF_ADDRESS),
        ):
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
        """Say whether this is to be told now; if not, it is counted. `account` may be empty."""
        account = account.casefold()
        known = self._found.get((kind, account, address))
        if known is None:
            wider = self._wider(kind, account, address)
            key = wider or (kind, account, address)
            known = self._found.setdefault(key, RepeatedEvent(*key))
            news = wider is None
            if news:
                self._addresses[address] += 1
                self._accounts[account] += bool(account)
        else:
            news = self._is_another(known, reason)
        if news:
            known.told.add(reason)
            self._news += 1
            return True
        full = len(known.reasons) >= MOST_REASONS and reason not in known.reasons
        known.reasons[OTHER_REASONS if full else reason] += 1
        return False

    def _is_another(self, known: RepeatedEvent, reason: str) -> bool:
        """Say whether a reason is worth telling of somebody who had another one before."""
        fresh = reason not in known.told and 0 < len(known.told) < MOST_NEWS_OF_BOTH
        return fresh and self._news < MOST_NEWS

    def take_counts(self) -> list[RepeatedEvent]:
        """Return what came again since the last call, and begin anew."""
        found = [one for one in self._found.values() if one.count]
        self._found.clear()
        self._addresses.clear()
        self._accounts.clear()
        self._ordinary.clear()
        self._news = 0
        return found

    def _wider(self, kind: str, account: str, address: str) -> tuple[str, str, str] | None:
        """Return under what to count something new; None when it is to be told."""
        if self._addresses[address] >= MOST_NEWS_OF_ONE:
            return kind, "", address
        if self._accounts[account] >= MOST_NEWS_OF_ONE:
            return kind, account, ""
        return (kind, "", "") if self._news >= MOST_NEWS else None


MOST_CLIENTS: Final = 4096
"""Clients that are remembered; the one silent for longest is forgotten."""
MOST_OPCODES: Final = 64
"""Opcodes of one client that are told of; a client that sends more of them is making them up."""
FIRST_BYTES: Final = 16
"""Bytes of a message that are shown."""


class UnknownMessages:
    """Remembers which opcode of which client was told of."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: OrderedDict[Hashable, set[int]] = OrderedDict()

    def is_new(self, client: Hashable, opcode: int) -> bool:
        """Say whether this opcode of this client is to be told of, and remember it."""
        told = self._told.setdefault(client, set())
        self._told.move_to_end(client)
        if len(self._told) > MOST_CLIENTS:
            self._told.popitem(last=False)
        if opcode in told or len(told) >= MOST_OPCODES:
            return False
        told.add(opcode)
        return True


def first_bytes(body: bytes) -> str:
    """Return the beginning of a message as hexadecimal digits, with dots where it goes on."""
    return body[:FIRST_BYTES].hex(" ") + (" ..." if len(body) > FIRST_BYTES else "")
