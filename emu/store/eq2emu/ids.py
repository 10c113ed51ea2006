"""Whom the dump's numbers mean here: accounts, worlds and characters, noted as rows are taken."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from emu.store import accounts, worlds


@dataclass(slots=True)
class Ids:
    """Number in the dump -> number here.

    A dump that has a table tells who its numbers are, and only those count; one that lacks the
    table means accounts and worlds that are here already, under the same numbers.
    """

    connection: sqlite3.Connection
    accounts: dict[int, int] = field(default_factory=dict)
    worlds: dict[int, int] = field(default_factory=dict)
    characters: dict[int, int] = field(default_factory=dict)

    def account(self, wanted: int) -> int:
        """Return an account's id here. Raises `ValueError`."""
        if wanted in self.accounts:
            return self.accounts[wanted]
        if self.accounts or accounts.get(self.connection, wanted) is None:
            raise ValueError(f"its account {wanted} was not brought over")
        return wanted

    def world(self, wanted: int) -> int:
        """Return a world's id here. Raises `ValueError`."""
        if wanted in self.worlds:
            return self.worlds[wanted]
        if self.worlds or worlds.get(self.connection, wanted) is None:
            raise ValueError(f"its world {wanted} was not brought over")
        return wanted

    def character(self, wanted: int) -> int:
        """Return the row of a character. Raises `ValueError`."""
        if wanted not in self.characters:
            raise ValueError(f"its character {wanted} was not brought over")
        return self.characters[wanted]
