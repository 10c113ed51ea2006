"""The desk: lets people in who have a rank, and runs what they want as commands.

Accounts are the players'; the rank of an account is the highest of its characters'. Who an account
is and what it may is asked anew for every request: a session whose account is banned, has lost its
rank or has another password is over. Knows no socket and no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final, Protocol

from emu.admin.web.desk.actions import ACTIONS, action_named, line_of
from emu.admin.web.desk.bodies import Fields
from emu.admin.web.desk.events import SignedIn, SignedOut, SignInRefused
from emu.admin.web.desk.refusals import (
    BUSY,
    FORBIDDEN,
    NOT_SIGNED_IN,
    TOO_MANY,
    RequestRefused,
)
from emu.admin.web.desk.sessions import Sessions, WebSession
from emu.admin.web.desk.sign_ins import SOON, SignIns
from emu.commands import Caller, Registry, Reply
from emu.commands.ranks import GUIDE
from emu.errors import CommandError
from emu.model import Account
from emu.times import Clock

ORIGIN: Final = "web"
LEAST_RANK: Final = GUIDE
LONGEST_NAME: Final = 64
UPGRADE: Final = 10.0
"""Seconds after signing in within which the stored hash may be replaced by one of today's cost."""
WRONG: Final = "name or password are wrong, or the account may not act here"
"""The same for all of these, so that nobody learns which names there are and which have a rank."""


class Accounts(Protocol):
    """What the desk asks of accounts. All raise `StoreError`."""

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | str:
        """Return the account when the password is right and it may log in, else why not.

        ``busy`` and ``too many attempts`` say that nothing was looked at. `wanted` says whether
        anybody still waits for the answer.
        """

    async def find(self, name: str) -> Account | None:
        """Look an account up by name."""

    async def rank_of(self, account_id: int) -> int:
        """Return the highest rank of an account's characters; below 0 it is banned."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody who is signed in, with the rank that the account has now."""

    session: WebSession
    rank: int
    address: str

    @property
    def caller(self) -> Caller:
        """Who the commands are told calls."""
        return Caller(self.session.name, self.rank, f"{ORIGIN} {self.address}")


class Desk:
    """Signs people in and out and carries out what they want."""

    def __init__(
        self,
        accounts: Accounts,
        registry: Registry,
        sessions: Sessions,
        sign_ins: SignIns,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
        tell: Callable[[object], None],
    ) -> None:
        """`pause` waits for so many seconds; `tell` takes the events of `emu.admin.web.desk`."""
        self._accounts = accounts
        self._registry = registry
        self._sessions = sessions
        self._sign_ins = sign_ins
        self._clock = clock
        self._pause = pause
        self._tell = tell
        self.counters: Counter[str] = Counter()
        """Requests turned away, by reason; whoever answers them counts."""

    async def sign_in(
        self, fields: Fields, address: str, wanted: Callable[[], bool]
    ) -> tuple[str, Seat]:
        """Let somebody in; returns the token for the cookie. Raises `RequestRefused`, `StoreError`.

        The fields are `name` and `password`.
        """
        name, password = fields.get("name", ""), fields.get("password", "")
        with self._sign_ins.trying(address, self._clock.now()):
            found = await self._accounts.verify(name[:LONGEST_NAME], password, address, wanted)
            if found in ("busy", "too many attempts"):
                code = BUSY if found == "busy" else TOO_MANY
                raise RequestRefused(code, str(found), "try again in a moment", wait=SOON)
            rank = await self._accounts.rank_of(found.id) if isinstance(found, Account) else 0
            if isinstance(found, str) or rank < LEAST_RANK:
                reason = found if isinstance(found, str) else "no rank"
                self._tell(SignInRefused(address, reason))
                now = self._clock.now()
                await self._pause(self._sign_ins.failed(address, name[:LONGEST_NAME], now))
                raise RequestRefused(FORBIDDEN, "wrong password", WRONG)
        self._sign_ins.succeeded(address, name)
        token, session = self._sessions.begin(found, self._clock.now())
        self._tell(SignedIn(found.name, address, rank))
        return token, Seat(session, rank, address)

    async def seat(self, token: str, address: str) -> Seat | None:
        """Return whose a token is and what rank they have now; None for nobody's.

        Raises `StoreError`. Looking does not keep a session alive.
        """
        now = self._clock.now()
        session = self._sessions.find(token, now)
        if session is None:
            return None
        account = await self._accounts.find(session.name)
        rank = await self._accounts.rank_of(session.account_id)
        reason = self._why_over(session, account, rank)
        if reason:
            self._sessions.end(session)
            self._tell(SignedOut(session.name, reason))
            return None
        return Seat(session, rank, address)

    async def visitor(self, token: str, csrf: str, address: str) -> Seat:
        """Return who wants to change something. Raises `RequestRefused`, `StoreError`."""
        seat = await self.seat(token, address)
        if seat is None:
            raise RequestRefused(NOT_SIGNED_IN, "not signed in", "sign in first")
        if not compare_digest(seat.session.csrf.encode(), csrf.encode("utf-8", "replace")):
            raise RequestRefused(FORBIDDEN, "wrong token", "this did not come from the page")
        seat.session.used = self._clock.now()
        return seat

    def sign_out(self, seat: Seat) -> None:
        """End a session."""
        self._sessions.end(seat.session)
        self._tell(SignedOut(seat.session.name, "by itself"))

    async def act(self, seat: Seat, name: str, fields: Fields) -> Reply:
        """Carry out an action by its name; what goes wrong with it is a reply that is not `ok`.

        Raises `RequestRefused` when it is not known, badly asked for, or above the rank.
        """
        line = line_of(action_named(name), fields)
        if name not in self.allowed(seat):
            # Run all the same: the registry refuses it, and tells of the attempt.
            reply = await self._registry.run(seat.caller, line, self._clock.now())
            raise RequestRefused(FORBIDDEN, "rank too low", reply.text)
        return await self._registry.run(seat.caller, line, self._clock.now())

    def allowed(self, seat: Seat) -> list[str]:
        """Return the names of the actions that somebody may carry out."""
        return [name for name, action in ACTIONS.items() if self._may(seat.rank, action.command)]

    def shown(self, seat: Seat) -> dict[str, Any]:
        """Return what the page is told of who is signed in."""
        return {
            "name": seat.session.name,
            "rank": seat.rank,
            "csrf": seat.session.csrf,
            "actions": self.allowed(seat),
        }

    def _may(self, rank: int, command: str) -> bool:
        try:
            found, _ = self._registry.resolve(command)
        except CommandError:
            return False
        return rank >= found.rank

    def _why_over(self, session: WebSession, account: Account | None, rank: int) -> str:
        """Return why a session is over, and empty text when it is not."""
        if account is None or account.id != session.account_id:
            return "the account is gone"
        if not account.enabled or account.is_banned(self._clock.moment()) or rank < 0:
            return "the account may not log in"
        if rank < LEAST_RANK:
            return "the account has no rank any more"
        if account.password != session.password:
            if self._clock.now() - session.begun > UPGRADE:
                return "the account has another password"
            session.password = account.password
        return ""
