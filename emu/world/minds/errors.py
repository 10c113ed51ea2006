"""The errors of scripts and behaviors: their places, their numbers, and who is shown them.

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
    """One place of a script, or of a behavior, with an error."""

    file: str
    line: int
    event: str
    spawn: str
    """Whose event it was when the error came first."""
    text: str
    script: str
    """The file, or the behavior, whose call failed; the error may be in a module of it."""
    is_behavior: bool = False
    count: int = 1
    is_old: bool = False
    """Whether it has not come again since the script was read again."""

    def row(self) -> dict[str, Any]:
        """Return the fault as a row of a table."""
        return {
            "file": self.file, "line": self.line, "event": self.event, "spawn": self.spawn,
            "text": self.text, "count": self.count, "before_reload": self.is_old,
        }  # fmt: skip

    def __str__(self) -> str:
        """Return the fault as a line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        of = f" of {self.spawn}" if self.spawn else ""
        old = ", before the last reload" if self.is_old else ""
        return f"{place}: {self.text} (in {self.event}{of}{old})"


@dataclass(slots=True)
class ScriptErrors:
    """The errors of a world's scripts and behaviors since the start.

    After a script was read again, its errors stay until the function that had them has run without
    an error: a function may be called hours later.
    """

    old: dict[tuple[str, str], list[tuple[str, int, str]]] = field(default_factory=dict)
    """Errors from before a script was read again: keys of `_faults` by script and function."""
    _unkept: int = 0
    """Errors of places beyond `MOST_PLACES`."""
    switched_off: list[str] = field(default_factory=list)
    """Files that are switched off."""
    _faults: dict[tuple[str, int, str], ScriptFault] = field(default_factory=dict)
    _asked: dict[int, Monotonic] = field(default_factory=dict)
    """Until when a player is shown errors, by character id."""

    def count_error(
        self, error: ScriptError, event: str, spawn: str, script: str, *,
        is_behavior: bool = False,
    ) -> tuple[ScriptFault, bool]:  # fmt: skip
        """Count an error of a script's call; return its place, and whether it is the first one.

        The first one there since the script was read counts as well.
        """
        key = (error.path, error.line, event)
        found = self._faults.get(key)
        if found is not None:
            found.count += 1
            was_old, found.is_old = found.is_old, False
            return found, was_old
        fault = ScriptFault(*key, spawn, error.text[:LONGEST_TEXT], script, is_behavior=is_behavior)
        is_kept = len(self._faults) < MOST_PLACES
        if is_kept:
            self._faults[key] = fault
        else:
            self._unkept += 1
        return fault, is_kept

    def read_again(self, script: str = "") -> None:
        """Note that a script, or without a name all of them, was read again."""
        if not script:
            self._unkept = 0
            self.switched_off.clear()
        elif script in self.switched_off:
            self.switched_off.remove(script)
        for key, fault in self._faults.items():
            if not fault.is_old and script in ("", fault.script):
                fault.is_old = True
                self.old.setdefault((fault.script, fault.event), []).append(key)

    def ran(self, script: str, event: str) -> None:
        """Forget the errors of before that a function had which has run without one now."""
        for key in self.old.pop((script, event), ()):
            fault = self._faults.get(key)
            if fault is not None and fault.is_old:
                del self._faults[key]

    def faults(self) -> list[ScriptFault]:
        """Return the places with an error, the most frequent ones first."""
        return sorted(self._faults.values(), key=lambda one: (-one.count, one.file, one.line))

    def summary(self) -> str:
        """Return one line about all errors of scripts; empty without one."""
        # A behavior with an error is switched off, and has a line of its own.
        places = [one for one in self._faults.values() if not one.is_behavior]
        total = self._unkept + sum(one.count for one in places)
        if not total:
            return ""
        off = f", {len(self.switched_off)} switched off" if self.switched_off else ""
        return (
            f"scripts failed {total} times in {len(places)} places{off};"
            " `emu content errors` lists them"
        )

    def ask(self, player_id: int, now: Monotonic) -> None:
        """Show a player the errors for a while."""
        self._asked[player_id] = Monotonic(now + SHOWN_FOR)

    def hearers(self, now: Monotonic) -> list[int]:
        """Return the character ids of the players who are shown errors now."""
        for player_id in [one for one, until in self._asked.items() if until < now]:
            del self._asked[player_id]
        return list(self._asked)
