"""Friends and ignored ones of one character: names, bounded. Knows no client and no store."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

from emu.errors import CommandError

MOST_NAMES: Final = 100
LONGEST_NAME: Final = 64


class Relation(enum.IntEnum):
    """Types of ChatRelationship on the wire (docs/protocol/world/entering.md#order)."""

    FRIEND = 0
    IGNORED = 2


class Relations:
    """Whom a character knows; names are compared without regard to case."""

    __slots__ = ("_names",)

    def __init__(self, rows: Iterable[tuple[Relation, str]] = ()) -> None:
        self._names: dict[Relation, dict[str, str]] = {kind: {} for kind in Relation}
        for kind, name in rows:
            self._names[kind][name.casefold()] = name

    def names(self, kind: Relation) -> list[str]:
        """Return the names of one kind, in the order they were added."""
        return list(self._names[kind].values())

    def rows(self) -> list[tuple[Relation, str]]:
        """Return everything, to be stored."""
        return [(kind, name) for kind in Relation for name in self.names(kind)]

    def knows(self, kind: Relation, name: str) -> bool:
        """Say whether somebody is a friend, or ignored."""
        return name.casefold() in self._names[kind]

    def add(self, kind: Relation, name: str) -> None:
        """Add a name. Raises `CommandError` when it is there, or there are too many."""
        names = self._names[kind]
        if len(name) > LONGEST_NAME:
            raise CommandError(f"no name has more than {LONGEST_NAME} letters")
        if name.casefold() in names:
            raise CommandError(f"{names[name.casefold()]} is on the list already")
        if len(names) >= MOST_NAMES:
            raise CommandError(f"the list holds {MOST_NAMES} names at most")
        names[name.casefold()] = name

    def remove(self, kind: Relation, name: str) -> str:
        """Take a name off; returns it as it stood there. Raises `CommandError`."""
        found = self._names[kind].pop(name.casefold(), None)
        if found is None:
            raise CommandError(f"{name} is not on the list")
        return found
