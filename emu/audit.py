"""An act of an operator, as the audit keeps it: who did what to whom, by which way, and why.

`emu.store.audit` stores the acts, docs/guides/operating.md describes them for operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.times import Moment

LONGEST_TEXT: Final = 500
"""Characters of each text of an act; the rest is cut off."""


class AuditedAct(NamedTuple):
    """One act of an operator, also one that the server has refused."""

    moment: Moment
    who: str
    """The character, account, RCON user, key of GGMP, or user of the operating system."""
    way: str
    """How the act came: ``game``, ``console``, ``rcon``, ``web`` or ``ggmp`` and an address;
    ``emu`` for the command line."""
    command: str
    """The command's name, for example ``account ban``."""
    subject: str
    """The changed thing: its kind and, unless there is only one, its name: ``account alice``."""
    before: str
    """The old value; empty where the command has none."""
    after: str
    """The new value; empty where the command has none."""
    reason: str
    result: str
    """The first line of the answer."""
    ok: bool
    """False for an act that was refused or failed."""

    @property
    def kind(self) -> str:
        """The kind of the subject."""
        return self.subject.partition(" ")[0]

    @property
    def name(self) -> str:
        """The name of the subject; empty where its kind is enough."""
        return self.subject.partition(" ")[2]


class Change(NamedTuple):
    """The old and the new value of what a command has changed."""

    before: str = ""
    after: str = ""


UNCHANGED: Final = Change()
"""The change of a command that has no old and new value."""

SANCTIONS: Final = frozenset((
    "ban", "unban", "mute", "unmute", "character ban", "character rank",
    "account ban", "account unban", "account password", "account enable", "account disable",
    "account remove", "account address ban", "account address unban",
))  # fmt: skip
"""The names of the commands, in the server or of the `emu` program, that change a ban, a mute, a
rank or a password, or lock an account: the webhook reports them."""


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """The acts that are asked for; empty texts choose all."""

    who: str = ""
    """The beginning of the operator's name."""
    subject: str = ""
    """A kind, a name, or both: ``account``, ``alice``, ``account alice``."""
    command: str = ""
    """The beginning of a command's name."""
    since: Moment | None = None
    limit: int = 100


MOST_NOTES: Final = 200
"""Notes about one account."""


class OperatorNote(NamedTuple):
    """What an operator has written down about an account."""

    account_id: int
    moment: Moment
    who: str
    """The operator."""
    text: str
    id: int = 0
    """The store assigns it."""
