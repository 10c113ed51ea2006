"""The diary of a client that plays: what happened, when, at which level, with how many coins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DiaryEntry:
    """One line of a diary."""

    seconds: float
    """Since the beginning."""
    kind: str
    """What it is about, for example ``zone``, ``level``, ``quest``, ``kill`` or ``thing``."""
    text: str
    level: int
    coins: int
    """The copper that the character carries."""

    def line(self) -> str:
        """Return it for people."""
        minutes, seconds = divmod(int(self.seconds), 60)
        return (
            f"{minutes:4}:{seconds:02}  level {self.level:2}  {self.coins:6} c"
            f"  {self.kind:6} {self.text}"
        )

    def record(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "seconds": round(self.seconds, 1), "kind": self.kind, "text": self.text,
            "level": self.level, "coins": self.coins,
        }  # fmt: skip


class Diary:
    """The entries so far; `on_entry` is called with each new one."""

    def __init__(self, on_entry: Callable[[DiaryEntry], None] = lambda _entry: None) -> None:
        self.entries: list[DiaryEntry] = []
        self.counts: Counter[str] = Counter()
        """How many entries there are of each kind."""
        self._on_entry = on_entry

    def add(self, entry: DiaryEntry) -> None:
        """Add an entry."""
        self.entries.append(entry)
        self.counts[entry.kind] += 1
        self._on_entry(entry)
