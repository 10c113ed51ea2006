"""Accounts on several login servers: who is logged in, and wrong passwords.

An account has one session at most, whichever login server it is at: the later login ends the
earlier session. Each login server has a table of its sessions (`emu.processes.tables`), so a lost
note is noticed. A wrong password at one login server draws on the account's and the address'
budgets at all of them. The bus never carries a password; account names that were tried travel as
digests, because players type passwords into the wrong field.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final

from emu.mailbox import Spawn
from emu.processes.ports import BusMember, Note
from emu.processes.tables import SharedTable, Values
from emu.times import UNKNOWN, Moment

LOGINS: Final = "login"
"""The topic of the table of sessions."""
GUESS: Final = "login_guess"
"""The topic of a wrong password: ``scope``, ``name``, ``source`` and ``known`` of `WrongPassword`.
"""
LATER: Final = 0.001
"""Seconds by which a login is later than the one that it replaces."""


class GuessScope(enum.StrEnum):
    """The kinds of logins that have budgets of their own."""

    PLAYERS = "players"
    STAFF = "staff"
    REGISTRATION = "registration"


_Since = tuple[float, str]
"""When a session began and the name of its process, which decides between equal times."""


class SharedLogins:
    """The accounts that are logged in, at all login servers.

    `replaced` is called with account and process when an account has logged in at another login
    server later than here; it ends the session. `spawn` starts a coroutine. Call `tick` every
    `emu.processes.tables.DIGEST` seconds where there are other processes.
    """

    def __init__(
        self,
        member: BusMember,
        moment: Callable[[], Moment],
        *,
        replaced: Callable[[int, str], None],
        spawn: Spawn,
    ) -> None:
        self._process = member.name
        self._moment = moment
        self._replaced = replaced
        self._own: dict[int, _Since] = {}
        self._table: SharedTable[float] = SharedTable(
            member.bus, LOGINS, member.name, run=member.run, read=_since, changed=self._heard,
            spawn=spawn,
        )  # fmt: skip

    def __contains__(self, account_id: object) -> bool:
        """Return whether an account is logged in at another login server."""
        return isinstance(account_id, int) and any(self._table.holders(account_id))

    def began(self, account_id: int) -> None:
        """Note that an account has logged in here."""
        # A session that is known here is earlier, even if the clock of its machine is ahead.
        known = [since + LATER for _, since in self._table.holders(account_id)]
        since = max([self._moment(), *known])
        self._own[account_id] = since, self._process
        self._table.put(account_id, {"since": since})

    def ended(self, account_id: int) -> None:
        """Note that the session of an account is over here."""
        if self._own.pop(account_id, None) is not None:
            self._table.drop(account_id)

    def tick(self) -> None:
        """Publish what the others need in order to notice what they have missed."""
        self._table.tick()

    def _heard(self, process: str, account_id: int, since: float | None) -> None:
        own = self._own.get(account_id)
        if own is None or since is None or own > (since, process):
            return
        self.ended(account_id)
        self._replaced(account_id, process)


def _since(values: Values) -> float:
    return Moment(float(values["since"] or UNKNOWN))


class SharedGuesses:
    """Publishes the wrong passwords of this process, and passes on those of the others.

    `scope` distinguishes kinds of logins that have budgets of their own. `charge` gets the digest
    of the name, the source, and whether the source is known for the account.
    """

    def __init__(
        self, member: BusMember, scope: GuessScope, charge: Callable[[bytes, str, bool], None]
    ) -> None:
        self._member = member
        self._scope = scope
        self._charge = charge
        member.bus.subscribe(GUESS, self._heard)

    def publish(self, name: bytes, source: str, known: bool) -> None:
        """Publish a wrong password of this process."""
        note: Note = {
            "process": self._member.name, "scope": self._scope, "name": name, "source": source,
            "known": known,
        }  # fmt: skip
        self._member.bus.publish(GUESS, note)

    def _heard(self, note: Note) -> None:
        name = note["name"]
        if note["process"] == self._member.name or note["scope"] != self._scope:
            return
        if isinstance(name, bytes):
            self._charge(name, str(note["source"]), bool(note["known"]))
