"""The repositories that the server's commands need, and the events of administration sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from emu.audit import AuditedAct, AuditQuestion, OperatorNote
from emu.commands import Caller
from emu.model import Account, RosterEntry, WorldCharacter
from emu.times import Moment


class AccountAdministration(Protocol):
    """Accounts, for operators. All methods raise `StoreError`."""

    async def every(self) -> Sequence[Account]:
        """Return all accounts, sorted by name."""

    async def find_account(self, name: str) -> Account | None:
        """Return the account of a name; case does not matter."""

    async def add_account(self, name: str, password: str, created: Moment) -> Account:
        """Add an account; `password` is a PHC string. Raises `DuplicateName`."""

    async def set_password(self, account_id: int, password: str) -> bool:
        """Replace the password hash."""

    async def set_enabled(self, account_id: int, enabled: bool) -> None:
        """Enable or disable an account. A disabled account cannot log in."""

    async def ban(self, account_id: int, until: Moment | None, reason: str) -> None:
        """Ban an account until a moment (``math.inf``: for ever), or lift its ban with None."""


class AuditStore(Protocol):
    """The acts of operators. All methods raise `StoreError`."""

    async def add_act(self, act: AuditedAct, oldest: Moment) -> None:
        """Store an act, and remove acts from before `oldest`."""

    async def find(self, question: AuditQuestion) -> Sequence[AuditedAct]:
        """Return the acts that a question chooses, the newest first."""


class NoteStore(Protocol):
    """Notes of operators about accounts. All methods raise `StoreError`."""

    async def add_note(self, note: OperatorNote) -> int:
        """Store a note and return its number. Raises `CommandError` above the limit."""

    async def of_account(self, account_id: int) -> Sequence[OperatorNote]:
        """Return the notes about an account, the newest first."""

    async def remove(self, note_id: int) -> OperatorNote | None:
        """Remove a note and return it; None if there is none."""


class CharacterList(Protocol):
    """The characters of all worlds. All methods raise `StoreError`."""

    async def every(self) -> Sequence[RosterEntry]:
        """Return all characters, deleted ones too, sorted by name."""

    async def delete(self, entry: RosterEntry) -> None:
        """Mark an entry of `every` as deleted."""

    async def restore(self, entry: RosterEntry) -> None:
        """Restore a deleted character. Raises `DuplicateName` if its name is taken."""


class CharacterRanks(Protocol):
    """Ranks of the built-in world's characters."""

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character, or None if there is none or it is deleted."""

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Change a character's rank."""

    async def authority_of(self, account_id: int) -> int:
        """Return the rank that protects an account: the highest of its characters' ranks."""


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A command line to run. The session sends no other until its `answered` is called."""

    caller: Caller
    line: str


@dataclass(frozen=True, slots=True)
class UserAuthenticated:
    """The peer has logged in as a user."""

    name: str


@dataclass(frozen=True, slots=True)
class LoginFailed:
    """A password was wrong."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over; the last event.

    `reason` is one of few fixed texts, fit for a metric label.
    """

    reason: str
