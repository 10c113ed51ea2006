"""Options and ids of the imports of EQ2Emulator's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from emu.store.eq2emu_character import BuiltInWorld
from emu.store.eq2emu_world import ContinuedWorld, OldWorld
from emu.store.store import LoginStore
from emu.times import Moment


@dataclass(slots=True)
class Ids:
    """Ids of the dump -> ids of the store.

    If the dump contains a table, only its ids are valid. If it lacks the table, its ids are those
    of existing accounts and worlds in the store.
    """

    store: LoginStore
    accounts: dict[int, int] = field(default_factory=dict)
    worlds: dict[int, int] = field(default_factory=dict)
    characters: dict[int, int] = field(default_factory=dict)
    sources: dict[int, ContinuedWorld] = field(default_factory=dict)
    """Worlds of the dump that the built-in world continues, by their ids in the dump."""
    complete: set[int] = field(default_factory=set)
    """Characters of the dump that need no further rows: the built-in world has them."""

    def account(self, wanted: int) -> int:
        """Return an account's id in the store. Raises `ValueError`."""
        if wanted in self.accounts:
            return self.accounts[wanted]
        if self.accounts or self.store.accounts.get(wanted) is None:
            raise ValueError(f"its account {wanted} was not imported")
        return wanted

    def world(self, wanted: int) -> int:
        """Return a world's id in the store. Raises `ValueError`."""
        if wanted in self.worlds:
            return self.worlds[wanted]
        if self.worlds or self.store.worlds.get(wanted) is None:
            raise ValueError(f"its world {wanted} was not imported")
        return wanted

    def character(self, wanted: int) -> int:
        """Return the row id of a character. Raises `ValueError`."""
        if wanted not in self.characters:
            raise ValueError(f"its character {wanted} was not imported")
        return self.characters[wanted]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import."""

    clean_name: Callable[[str], str]
    """Returns an account name in the form to store, or raises `ValueError`."""
    moment: Moment
    renumber: bool = False
    """Give a new id to a row whose id belongs to another name in the store."""
    old_worlds: Sequence[OldWorld] = ()
    """The worlds whose characters continue in the built-in world."""
    built_in: BuiltInWorld | None = None
    """The built-in world; needed for `old_worlds`."""

    def continues(self, world: str) -> bool:
        """Return whether the characters of a world continue in the built-in world."""
        return any(old.name.casefold() == world.casefold() for old in self.old_worlds)
