"""The errors of scripts: where they happen, how often, and who is shown them in the game.

Source: docs/guides/lua.md#errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from emu.errors import ScriptError
from emu.times import Monotonic

MOST_PLACES: Final = 500
"""Places with an error that are kept; errors of further places are only counted together."""
LONGEST_TEXT: Final = 300
SHOWN_FOR: Final = 60.0
"""Seconds for which a game master who asks is shown the errors."""


@dataclass(slots=True)
class ScriptFault:
    """One place of a script with an error."""

    file: str
    line: int
    event: str
    spawn: str
    """Whose event it was when the error came first."""
    text: str
    count: int = 1

    def row(self) -> dict[str, Any]:
        """Return the fault as a row of a table."""
        return {
            "file": self.file, "line": self.line, "event": self.event, "spawn": self.spawn,
            "text": self.text, "count": self.count,
        }  # fmt: skip

    def __str__(self) -> str:
        """Return the fault as a line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        of = f" of {self.spawn}" if self.spawn else ""
        return f"{place}: {self.text} (in {self.event}{of})"


@dataclass(slots=True)
class ScriptErrors:
    """The errors of a world's scripts since the start, or since the last `reload scripts`."""

    total: int = 0
    switched_off: list[str] = field(default_factory=list)
    """Files that are switched off."""
    _faults: dict[tuple[str, int, str], ScriptFault] = field(default_factory=dict)
    _asked: dict[int, Monotonic] = field(default_factory=dict)
    """Until when a player is shown errors, by character id."""

    def add(self, error: ScriptError, event: str, spawn: str) -> tuple[ScriptFault, bool]:
        """Count an error; return its place, and whether it is the first one there."""
        self.total += 1
        key = (error.path, error.line, event)
        found = self._faults.get(key)
        if found is not None:
            found.count += 1
            return found, False
        fault = ScriptFault(*key, spawn, error.text[:LONGEST_TEXT])
        is_kept = len(self._faults) < MOST_PLACES
        if is_kept:
            self._faults[key] = fault
        return fault, is_kept

    def faults(self) -> list[ScriptFault]:
        """Return the places with an error, the most frequent ones first."""
        return sorted(self._faults.values(), key=lambda one: (-one.count, one.file, one.line))

    def summary(self) -> str:
        """Return one line about all errors; empty without one."""
        if not self.total:
            return ""
        off = f", {len(self.switched_off)} switched off" if self.switched_off else ""
        return (
            f"scripts failed {self.total} times in {len(self._faults)} places{off};"
            " `emu content errors` lists them"
        )

    def clear(self) -> None:
        """Forget all errors: the scripts are read anew."""
        self.total = 0
        self._faults.clear()
        self.switched_off.clear()

    def ask(self, player_id: int, now: Monotonic) -> None:
        """Show a player the errors for a while."""
        self._asked[player_id] = Monotonic(now + SHOWN_FOR)

    def hearers(self, now: Monotonic) -> list[int]:
        """Return the character ids of the players who are shown errors now."""
        for player_id in [one for one, until in self._asked.items() if until < now]:
            del self._asked[player_id]
        return list(self._asked)
