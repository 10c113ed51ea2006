"""Things that strangers can make happen again and again: told once, then counted.

A line for each refusal would let whoever guesses passwords fill a disk. The first of an account
and address is news, and so is another reason; further ones, and those of an account or address that
had much news already, are only counted until `take_counts` is asked for them, once a minute or so.
Memory is bounded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_NEWS = 256
"""Lines between two times of counting."""
MOST_NEWS_OF_ONE = 8
"""Of them about one account, or one address."""
MOST_NEWS_OF_BOTH = 3
"""Of them about one account and address, each with another reason."""
MOST_REASONS = 6
"""Reasons counted apart for one account and address; some quote what somebody sent."""
OTHER_REASONS = "other reasons"


@dataclass(slots=True)
class Repeated:
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

    __slots__ = ("_accounts", "_addresses", "_found", "_news")

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Repeated] = {}
        self._addresses: Counter[str] = Counter()
        self._accounts: Counter[str] = Counter()
        self._news = 0

    def is_news(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Say whether this is to be told now; if not, it is counted. `account` may be empty."""
        account = account.casefold()
        known = self._found.get((kind, account, address))
        if known is None:
            wider = self._wider(kind, account, address)
            key = wider or (kind, account, address)
            known = self._found.setdefault(key, Repeated(*key))
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

    def _is_another(self, known: Repeated, reason: str) -> bool:
        """Say whether a reason is worth telling of somebody who had another one before."""
        fresh = reason not in known.told and 0 < len(known.told) < MOST_NEWS_OF_BOTH
        return fresh and self._news < MOST_NEWS

    def take_counts(self) -> list[Repeated]:
        """Return what came again since the last call, and begin anew."""
        found = [one for one in self._found.values() if one.count]
        self._found.clear()
        self._addresses.clear()
        self._accounts.clear()
        self._news = 0
        return found

    def _wider(self, kind: str, account: str, address: str) -> tuple[str, str, str] | None:
        """Return under what to count something new; None when it is to be told."""
        if self._addresses[address] >= MOST_NEWS_OF_ONE:
            return kind, "", address
        if self._accounts[account] >= MOST_NEWS_OF_ONE:
            return kind, account, ""
        return (kind, "", "") if self._news >= MOST_NEWS else None
