"""The operators' dashboard: admits people with a rank, and runs their actions as commands.

A request passes `gate` (where it comes from), `bodies` (what it says), `sign_ins` or `sessions`
(who it is) and `actions` (what is wanted); `desk` joins them to accounts and commands. What is
turned away is a `refusals.RequestRefused`. Knows no socket, no clock and no HTTP library.

Accounts are the players'; the rank of an account is the highest of its characters'. Who an account
is and what it may is asked anew for every request: a session whose account is banned, has lost its
rank or has another password is over. Knows no socket and no clock.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final, Protocol

from emu.admin.web.requests import Fields
from emu.admin.web.sessions import (
    BAD_REQUEST,
    BUSY,
    FORBIDDEN,
    NOT_FOUND,
    NOT_SIGNED_IN,
    SOON,
    TOO_MANY,
    RequestRefused,
    Sessions,
    SignedIn,
    SignedOut,
    SignInRefused,
    SignIns,
    WebSession,
)
from emu.commands import Caller, Registry, Reply
from emu.commands.registry import GUIDE, one_line
from emu.errors import CommandError
from emu.model import Account
from emu.times import Clock

WORD: Final = r"[^\s\"']{1,64}"
NUMBER: Final = "[0-9]{1,9}"
SPAN: Final = "[0-9]{1,5}[mhdw]|ever"
TEXT: Final = ".{1,500}"


@dataclass(frozen=True, slots=True)
class ActionField:
    """One argument of a command. `default` stands in when it is left out; None: it must not be."""

    name: str
    about: str
    pattern: str = WORD
    default: str | None = None


@dataclass(frozen=True, slots=True)
class DashboardAction:
    """An action; the fields are in the order of the command's arguments, a text comes last."""

    command: str
    about: str
    fields: tuple[ActionField, ...] = ()


PLAYER: Final = ActionField("player", "name of somebody in the world")
REASON: Final = ActionField("reason", "why", TEXT, default="")
LASTING: Final = ActionField("lasting", "90m, 12h, 7d, 2w or ever", SPAN, default="ever")
ACTIONS: Final[Mapping[str, DashboardAction]] = {
    "kick": DashboardAction("kick", "Send a player away.", (PLAYER, REASON)),
    "ban": DashboardAction("character ban", "Keep the account of a character out.",
                  (ActionField("player", "name of a character"), LASTING, REASON)),
    "unban": DashboardAction("account unban", "Let a banned account in again.",
                    (ActionField("account", "name of the account"),)),
    "mute": DashboardAction("mute", "Let a player not speak for a while.",
                   (PLAYER, ActionField("minutes", "for how long", NUMBER, default="10"), REASON)),
    "unmute": DashboardAction("unmute", "Let a player speak again.", (PLAYER,)),
    "broadcast": DashboardAction("broadcast", "Show everybody a line of text.",
                        (ActionField("text", "what everybody reads", TEXT),)),
    "lock": DashboardAction("lock", "Let only those in who keep order."),
    "unlock": DashboardAction("unlock", "Let everybody in."),
    "shutdown": DashboardAction("shutdown", "Stop the server after some seconds.",
                       (ActionField("seconds", "from now", NUMBER, default="30"),)),
    "cancel": DashboardAction("cancel", "Take a shutdown back."),
}  # fmt: skip
"""By the last part of the address."""


def action_named(name: str) -> DashboardAction:
    """Return an action. Raises `RequestRefused`."""
    if name not in ACTIONS:
        raise RequestRefused(NOT_FOUND, "no such action", "there is no such action")
    return ACTIONS[name]


def line_of(action: DashboardAction, fields: Fields) -> str:
    """Return the command's line. Raises `RequestRefused` that names the field that is wrong."""
    known = {field.name for field in action.fields}
    for name in fields:
        if name not in known:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{name}: there is no such field")
    words = [_word(field, one_line(fields.get(field.name, ""))) for field in action.fields]
    return " ".join([action.command, *words]).strip()


def _word(field: ActionField, value: str) -> str:
    if not value:
        if field.default is None:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{field.name} is missing")
        return field.default
    if re.fullmatch(field.pattern, value) is None:
        raise RequestRefused(
            BAD_REQUEST, "bad field", f"{field.name}: {value[:40]!r} is not {field.about}"
        )
    return value


ORIGIN: Final = "web"
LEAST_RANK: Final = GUIDE
LONGEST_NAME: Final = 64
UPGRADE: Final = 10.0
"""Seconds after signing in within which the stored hash may be replaced by one of today's cost."""
WRONG: Final = "name or password are wrong, or the account may not act here"
"""The same for all of these, so that nobody learns which names there are and which have a rank."""


class DashboardAccounts(Protocol):
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
class SignedInUser:
    """Somebody who is signed in, with the rank that the account has now."""

    session: WebSession
    rank: int
    address: str

    @property
    def caller(self) -> Caller:
        """Who the commands are told calls."""
        return Caller(
            self.session.name, self.rank, f"{ORIGIN} {self.address}",
            account_id=self.session.account_id,
        )  # fmt: skip


class Dashboard:
    """Signs people in and out and carries out what they want."""

    def __init__(
        self,
        accounts: DashboardAccounts,
        registry: Registry,
        sessions: Sessions,
        sign_ins: SignIns,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
        tell: Callable[[object], None],
    ) -> None:
        """Take the collaborators; `pause` waits for seconds, and `tell` takes events."""
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
    ) -> tuple[str, SignedInUser]:
        """Let somebody in; returns the token for the cookie. Raises `RequestRefused`, `StoreError`.

        The fields are `name` and `password`.
        """
        name, password = fields.get("name", ""), fields.get("password", "")
        with self._sign_ins.trying(address, self._clock.now()):
            with self._sign_ins.looked_at(address, self._clock.now()):
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
        return token, SignedInUser(session, rank, address)

    @property
    def signed_in(self) -> int:
        """How many sessions there are."""
        return len(self._sessions)

    def has_session(self, token: str) -> bool:
        """Say whether a token is of a session that is not over; its account is not looked at."""
        return self._sessions.find(token, self._clock.now()) is not None

    async def review(self) -> None:
        """End the sessions of accounts that may act no more. Raises `StoreError`."""
        for session in self._sessions.every():
            await self._rank(session)

    async def seat(self, token: str, address: str) -> SignedInUser | None:
        """Return whose a token is and what rank they have now; None for nobody's.

        Raises `StoreError`. Looking does not keep a session alive.
        """
        now = self._clock.now()
        session = self._sessions.find(token, now)
        if session is None:
            return None
        rank = await self._rank(session)
        return None if rank is None else SignedInUser(session, rank, address)

    async def _rank(self, session: WebSession) -> int | None:
        """Return the rank of a session's account; None when that ends the session."""
        account = await self._accounts.find(session.name)
        rank = await self._accounts.rank_of(session.account_id)
        reason = self._why_over(session, account, rank)
        if not reason:
            return rank
        self._sessions.end(session)
        self._tell(SignedOut(session.name, reason))
        return None

    async def visitor(self, token: str, csrf: str, address: str) -> SignedInUser:
        """Return who wants to change something. Raises `RequestRefused`, `StoreError`."""
        seat = await self.seat(token, address)
        if seat is None:
            raise RequestRefused(NOT_SIGNED_IN, "not signed in", "sign in first")
        if not compare_digest(seat.session.csrf.encode(), csrf.encode("utf-8", "replace")):
            raise RequestRefused(FORBIDDEN, "wrong token", "this did not come from the page")
        seat.session.used = self._clock.now()
        return seat

    def sign_out(self, seat: SignedInUser) -> None:
        """End a session."""
        self._sessions.end(seat.session)
        self._tell(SignedOut(seat.session.name, "by itself"))

    async def act(self, seat: SignedInUser, name: str, fields: Fields) -> Reply:
        """Carry out an action by its name; what goes wrong with it is a reply that is not `ok`.

        Raises `RequestRefused` when it is not known, badly asked for, or above the rank.
        """
        line = line_of(action_named(name), fields)
        if name not in self.allowed(seat):
            # Run all the same: the registry refuses it, and tells of the attempt.
            reply = await self._registry.run(seat.caller, line, self._clock.now())
            raise RequestRefused(FORBIDDEN, "rank too low", reply.text)
        return await self._registry.run(seat.caller, line, self._clock.now())

    def allowed(self, seat: SignedInUser) -> list[str]:
        """Return the names of the actions that somebody may carry out."""
        return [name for name, action in ACTIONS.items() if self._may(seat.rank, action.command)]

    def shown(self, seat: SignedInUser) -> dict[str, Any]:
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
