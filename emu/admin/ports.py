"""What the server's commands need of a store, and the events of administration sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from emu.commands import Caller
from emu.model import Account, RosterEntry, WorldCharacter
from emu.times import Moment


class AccountAdministration(Protocol):
    """Accounts as those who run the server see them. All raise `StoreError`."""

    async def every(self) -> Sequence[Account]:
        """Return all accounts by name."""

    async def find_account(self, name: str) -> Account | None:
        """Look an account up by name, without regard to case."""

    async def add_account(self, name: str, password: str, created: Moment) -> Account:
        """Add an account; `password` is a PHC string. Raises `DuplicateName`."""

    async def set_password(self, account_id: int, password: str) -> bool:
        """Replace the password hash."""

    async def set_enabled(self, account_id: int, enabled: bool) -> None:
        """Let an account log in, or not."""

    async def ban(self, account_id: int, until: Moment | None, reason: str) -> None:
        """Ban an account until a moment (``math.inf``: for ever), or lift its ban with None."""


class CharacterList(Protocol):
    """All characters, whatever world they are of. All raise `StoreError`."""

    async def every(self) -> Sequence[RosterEntry]:
        """Return all characters by name, deleted ones too."""

    async def delete(self, entry: RosterEntry) -> None:
        """Mark one of `every` deleted."""

    async def restore(self, entry: RosterEntry) -> None:
        """Bring a deleted one back. Raises `DuplicateName` when its name was taken."""


class CharacterRanks(Protocol):
    """Ranks of the built-in world's characters."""

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank."""

    async def authority_of(self, account_id: int) -> int:
        """Return the rank that protects an account: the highest of its characters'."""


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A line is to be run; the session waits for its `answered` and takes no other meanwhile."""

    caller: Caller
    line: str


@dataclass(frozen=True, slots=True)
class UserAuthenticated:
    """Somebody has proven to be a user."""

    name: str


@dataclass(frozen=True, slots=True)
class LoginFailed:
    """A password was wrong."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over; comes last. `reason` is a short fixed text, fit to be counted by."""

    reason: str
