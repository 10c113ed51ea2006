"""Whom the dump's numbers mean here: accounts, worlds and characters, noted as rows are taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.store.store import LoginStore


@dataclass(slots=True)
class Ids:
    """Number in the dump -> number here.

    A dump that has a table tells who its numbers are, and only those count; one that lacks the
    table means accounts and worlds that are here already, under the same numbers.
    """

    store: LoginStore
    accounts: dict[int, int] = field(default_factory=dict)
    worlds: dict[int, int] = field(default_factory=dict)
    characters: dict[int, int] = field(default_factory=dict)

    def account(self, wanted: int) -> int:
        """Return an account's id here. Raises `ValueError`."""
        if wanted in self.accounts:
            return self.accounts[wanted]
        if self.accounts or self.store.accounts.get(wanted) is None:
            raise ValueError(f"its account {wanted} was not brought over")
        return wanted

    def world(self, wanted: int) -> int:
        """Return a world's id here. Raises `ValueError`."""
        if wanted in self.worlds:
            return self.worlds[wanted]
        if self.worlds or self.store.worlds.get(wanted) is None:
            raise ValueError(f"its world {wanted} was not brought over")
        return wanted

    def character(self, wanted: int) -> int:
        """Return the row of a character. Raises `ValueError`."""
        if wanted not in self.characters:
            raise ValueError(f"its character {wanted} was not brought over")
        return self.characters[wanted]
