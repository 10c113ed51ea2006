"""The dashboard: operators sign in with their accounts and run actions as commands.

Accounts are the players'; the rank of an account is the highest of its characters'. Account and
rank are read again for every request: a session ends when its account is banned, loses its rank or
gets another password. A refused request raises `RequestRefused`. Sans-IO.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from types import MappingProxyType
from typing import Any, Final, Protocol

from emu.admin.web.requests import Fields
from emu.admin.web.sessions import (
    BAD_REQUEST,
    FORBIDDEN,
    NOT_FOUND,
    NOT_SIGNED_IN,
    SOON,
    PasswordPage,
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

# A quote or a blank inside of a word would change the arguments of the command line.
WORD: Final = r"[^\s\"']{1,64}"
NUMBER: Final = "[0-9]{1,9}"
SPAN: Final = "[0-9]{1,5}[mhdw]|ever"
TEXT: Final = ".{1,500}"
QUOTABLE: Final = "[^\"]{1,255}|[^']{1,255}"
STATUS_WORD: Final = "player|guide|gamemaster|admin|[0-9]{1,4}"


@dataclass(frozen=True, slots=True)
class ActionField:
    """One argument of a command. Without a `default` the field is required."""

    name: str
    about: str
    pattern: str = WORD
    default: str | None = None
    is_secret: bool = False
    """A password: it may have blanks, and reaches the command in quotation marks."""


@dataclass(frozen=True, slots=True)
class DashboardAction:
    """An action; its fields are in the order of the command's arguments, a text last."""

    command: str
    about: str
    fields: tuple[ActionField, ...] = ()
    has_data: bool = False
    """Whether the answer has the command's result as data, too."""
    most: int = 0
    """The most rows of a view; 0 for all. The answer has their whole number in `total`."""


PLAYER: Final = ActionField("player", "name of a player in the world")
PETITION: Final = ActionField("petition", "number of a petition", NUMBER)
ACCOUNT: Final = ActionField("account", "name of an account")
CHARACTER: Final = ActionField("player", "name of a character")
PASSWORD: Final = ActionField("password", "a password without one of the quotation marks", QUOTABLE,
                              is_secret=True)  # fmt: skip
REASON: Final = ActionField("reason", "why", TEXT, default="")
LASTING: Final = ActionField("lasting", "90m, 12h, 7d, 2w or ever", SPAN, default="ever")
ACTIONS: Final[Mapping[str, DashboardAction]] = {
    "kick": DashboardAction("kick", "Disconnect a player.", (PLAYER, REASON)),
    "ban": DashboardAction("character ban", "Ban the account of a character.",
                  (CHARACTER, LASTING, REASON)),
    "account-ban": DashboardAction("account ban", "Ban an account.", (ACCOUNT, LASTING, REASON)),
    "unban": DashboardAction("account unban", "Lift the ban of an account.",
                    (ACCOUNT,)),
    "account-add": DashboardAction("account add", "Add an account.", (ACCOUNT, PASSWORD)),
    "account-password": DashboardAction("account password", "Set the password of an account.",
                               (ACCOUNT, PASSWORD)),
    "enable": DashboardAction("account enable", "Enable an account.", (ACCOUNT,)),
    "disable": DashboardAction("account disable", "Disable an account.", (ACCOUNT,)),
    "rank": DashboardAction("character rank", "Change the rank of a character.",
                   (CHARACTER, ActionField("rank", "a rank", STATUS_WORD))),
    "delete": DashboardAction("character delete", "Delete a character.", (CHARACTER,)),
    "restore": DashboardAction("character restore", "Restore a character.", (CHARACTER,)),
    "mute": DashboardAction("mute", "Mute a player for some time.",
                   (PLAYER, ActionField("minutes", "for how long", NUMBER, default="10"), REASON)),
    "unmute": DashboardAction("unmute", "Unmute a player.", (PLAYER,)),
    "broadcast": DashboardAction("broadcast", "Send a text to all players.",
                        (ActionField("text", "the text", TEXT),)),
    "lock": DashboardAction("lock", "Lock the world: only game masters can enter."),
    "unlock": DashboardAction("unlock", "Unlock the world."),
    "shutdown": DashboardAction("shutdown", "Stop the server after some seconds.",
                       (ActionField("seconds", "from now", NUMBER, default="30"),)),
    "cancel": DashboardAction("cancel", "Cancel a shutdown."),
    "petitions": DashboardAction("petition list", "List petitions and reports of players.",
                      (ActionField("which", "open or closed", "open|closed", default="open"),),
                      has_data=True),
    "answer": DashboardAction("petition answer", "Answer a petition; its player sees the answer.",
                     (PETITION, ActionField("text", "the answer", TEXT))),
    "close": DashboardAction("petition close", "Close a petition.", (PETITION,)),
    "note": DashboardAction("note add", "Write a note about an account, for operators only.",
                   (ACCOUNT, ActionField("text", "the note", TEXT))),
    "unnote": DashboardAction("note remove", "Remove a note.",
                     (ActionField("number", "its number", NUMBER),)),
    "audit": DashboardAction("audit", "List what operators have changed, the newest first.",
                    (ActionField("subject", "a kind, a name or both, as account alice", TEXT,
                                 default=""),),
                    has_data=True),
}  # fmt: skip
"""The actions by the last component of their path."""


def action_named(name: str) -> DashboardAction:
    """Return an action. Raises `RequestRefused`."""
    if name not in ACTIONS:
        raise RequestRefused(NOT_FOUND, "no such action", "there is no such action")
    return ACTIONS[name]


def line_of(action: DashboardAction, fields: Fields) -> str:
    """Return the command line. Raises `RequestRefused` that names the wrong field."""
    # The fields come from a request: an unknown one is a fault of the page or a forged request.
    known = {field.name for field in action.fields}
    for name in fields:
        if name not in known:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{name}: there is no such field")
    # `one_line` removes line feeds, so that a field cannot begin a second command.
    words = [_word(field, fields.get(field.name, "")) for field in action.fields]
    while words and not words[-1]:
        words.pop()
    # An empty word before another one needs its quotation marks.
    return " ".join([action.command, *(word or '""' for word in words)])


def _word(field: ActionField, given: str) -> str:
    value = one_line(given)
    if not value:
        if field.default is None:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{field.name} is missing")
        return field.default
    # fullmatch, because a pattern that matches the beginning would let the rest through.
    if re.fullmatch(field.pattern, value) is None or (field.is_secret and value != given):
        shown = "the text" if field.is_secret else repr(value[:40])
        text = f"{field.name}: {shown} is not {field.about}"
        raise RequestRefused(BAD_REQUEST, "bad field", text)
    if field.is_secret:
        return f"'{value}'" if '"' in value else f'"{value}"'
    return value


ORIGIN: Final = "web"
LEAST_RANK: Final = GUIDE
LONGEST_NAME: Final = 64
UPGRADE: Final = 10.0
"""Seconds after a sign-in within which the password hash may be replaced by one of today's cost.

Within that time a changed hash does not end the session.
"""
WRONG: Final = "wrong name or password, or the account has no rank"
"""One text for all of these: it does not show which names exist and which have a rank."""


@dataclass(frozen=True, slots=True)
class SignInDenial:
    """Why an account is not signed in; `code` is the HTTP status of the answer."""

    reason: str
    code: int = FORBIDDEN

    @property
    def is_checked(self) -> bool:
        """Whether the password was checked, so that the attempt counts as a failure."""
        return self.code == FORBIDDEN


class DashboardAccounts(Protocol):
    """The accounts, as the dashboard needs them. All methods raise `StoreError`."""

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | SignInDenial:
        """Return the account if the password is right and it may log in, else the reason.

        `wanted` returns whether the client still waits for the answer.
        """

    async def find(self, name: str) -> Account | None:
        """Return the account of a name, or None."""

    async def rank_of(self, account_id: int) -> int:
        """Return the highest rank of an account's characters; negative if it is banned."""


@dataclass(frozen=True, slots=True)
class SignedInUser:
    """A signed-in user with its present rank."""

    session: WebSession
    rank: int
    address: str

    @property
    def caller(self) -> Caller:
        """The caller for the command registry."""
        return Caller(
            self.session.name, self.rank, f"{ORIGIN} {self.address}",
            account_id=self.session.account_id,
        )  # fmt: skip


class Dashboard(PasswordPage):
    """Signs users in and out and runs their actions."""

    def __init__(
        self,
        accounts: DashboardAccounts,
        registry: Registry,
        sessions: Sessions,
        sign_ins: SignIns,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
        report: Callable[[object], None],
        views: Mapping[str, DashboardAction] = MappingProxyType({}),
    ) -> None:
        """`pause` waits for some seconds; `report` is called with events.

        `views` are what pages read (`emu.admin.web.views`).
        """
        super().__init__(sign_ins, clock=clock, pause=pause, report=report)
        self._accounts = accounts
        self._registry = registry
        self._views = views
        self._sessions = sessions

    async def sign_in(
        self, fields: Fields, address: str, wanted: Callable[[], bool]
    ) -> tuple[str, SignedInUser]:
        """Sign a user in; return the token for the cookie. Raises `RequestRefused`, `StoreError`.

        The fields are `name` and `password`.
        """
        name, password = fields.get("name", ""), fields.get("password", "")
        begun = self._clock.now()
        with self._sign_ins.trying(address, self._clock.now()):
            with self._sign_ins.looked_at(address, self._clock.now()):
                found = await self._accounts.verify(name[:LONGEST_NAME], password, address, wanted)
            if isinstance(found, SignInDenial) and not found.is_checked:
                raise RequestRefused(found.code, found.reason, "try again in a moment", wait=SOON)
            # An account without a rank gets the same answer as a wrong password.
            rank = await self._accounts.rank_of(found.id) if isinstance(found, Account) else 0
            if isinstance(found, SignInDenial) or rank < LEAST_RANK:
                reason = found.reason if isinstance(found, SignInDenial) else "no rank"
                # The log has the real reason, the user one text for all.
                self._report(SignInRefused(address, reason))
                await self._note_failure(address, name[:LONGEST_NAME], begun)
                raise RequestRefused(FORBIDDEN, "wrong password", WRONG)
        self._sign_ins.succeeded(address, name)
        token, session = self._sessions.begin(found, self._clock.now())
        self._report(SignedIn(found.name, address, rank))
        return token, SignedInUser(session, rank, address)

    @property
    def signed_in(self) -> int:
        """The number of sessions."""
        return len(self._sessions)

    def has_session(self, token: str) -> bool:
        """Return whether a token has a session. The account is not read."""
        return self._sessions.find(token, self._clock.now()) is not None

    async def review(self) -> None:
        """End the sessions of accounts that have lost their rights. Raises `StoreError`."""
        # A copy, because sessions end in this loop.
        for session in self._sessions.every():
            await self._rank(session)

    async def user(self, token: str, address: str) -> SignedInUser | None:
        """Return the user of a token with its present rank; None without a session.

        Raises `StoreError`. The call does not keep a session alive.
        """
        now = self._clock.now()
        session = self._sessions.find(token, now)
        if session is None:
            return None
        rank = await self._rank(session)
        return None if rank is None else SignedInUser(session, rank, address)

    async def _rank(self, session: WebSession) -> int | None:
        """Return the rank of a session's account; None if the session has ended by that."""
        # By name, and then compared by id: the name may belong to a new account.
        account = await self._accounts.find(session.name)
        rank = await self._accounts.rank_of(session.account_id)
        reason = self._why_over(session, account, rank)
        if not reason:
            return rank
        self._sessions.end(session)
        self._report(SignedOut(session.name, reason))
        return None

    async def visitor(self, token: str, csrf: str, address: str) -> SignedInUser:
        """Return the user that requests a change. Raises `RequestRefused`, `StoreError`."""
        user = await self.user(token, address)
        if user is None:
            raise RequestRefused(NOT_SIGNED_IN, "not signed in", "sign in first")
        # Constant time: the token is a secret.
        if not compare_digest(user.session.csrf.encode(), csrf.encode("utf-8", "replace")):
            raise RequestRefused(FORBIDDEN, "wrong token", "the request is not from this page")
        # Only requests that change something keep a session alive, not a page that polls.
        user.session.used = self._clock.now()
        return user

    def sign_out(self, user: SignedInUser) -> None:
        """End a session."""
        self._sessions.end(user.session)
        self._report(SignedOut(user.session.name, "by itself"))

    async def act(self, user: SignedInUser, name: str, fields: Fields) -> Reply:
        """Run an action by its name; an error of the command is a reply that is not `ok`.

        Raises `RequestRefused` if the action is unknown, has wrong fields, or needs a higher rank.
        """
        line = line_of(action_named(name), fields)
        if name not in self.allowed(user):
            # The registry refuses it and reports the attempt, which must be in the log.
            reply = await self._registry.run(user.caller, line, self._clock.now())
            raise RequestRefused(FORBIDDEN, "rank too low", reply.text)
        return await self._registry.run(user.caller, line, self._clock.now())

    async def view(self, user: SignedInUser, name: str, fields: Fields) -> Reply:
        """Return what a page reads, as the reply of its command. Raises `RequestRefused`."""
        view = self._views.get(name)
        if view is None:
            raise RequestRefused(NOT_FOUND, "no such view", "there is no such view")
        if not self._may(user.rank, view.command):
            raise RequestRefused(FORBIDDEN, "rank too low", "your rank is too low for this")
        return await self._registry.run(user.caller, line_of(view, fields), self._clock.now())

    def allowed(self, user: SignedInUser) -> list[str]:
        """Return the names of the actions that a user may run."""
        return [name for name, action in ACTIONS.items() if self._may(user.rank, action.command)]

    def shown(self, user: SignedInUser) -> dict[str, Any]:
        """Return the data of a user that the page shows."""
        return {
            "name": user.session.name,
            "rank": user.rank,
            "csrf": user.session.csrf,
            "actions": self.allowed(user),
            "views": [
                one for one, view in self._views.items() if self._may(user.rank, view.command)
            ],
        }

    def _may(self, rank: int, command: str) -> bool:
        # A command may be missing, for instance in a server without a world.
        try:
            found, _ = self._registry.resolve(command)
        except CommandError:
            return False
        return rank >= found.rank

    def _why_over(self, session: WebSession, account: Account | None, rank: int) -> str:
        """Return why a session is over; empty if it is not."""
        if account is None or account.id != session.account_id:
            return "the account is gone"
        if not account.enabled or account.is_banned(self._clock.moment()) or rank < 0:
            return "the account cannot log in"
        if rank < LEAST_RANK:
            return "the account has lost its rank"
        if account.password != session.password:
            # An upgrade of the hash after the sign-in also changes the stored text.
            if self._clock.now() - session.begun > UPGRADE:
                return "the account has another password"
            # The session goes on with the new hash.
            session.password = account.password
        return ""
