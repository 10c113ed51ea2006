"""The page on which players register and change their passwords: limits, texts and events.

Attempts in progress are limited for each address. A wrong invite code, a wrong name and a wrong
password are failures: each is answered later, and after some the address is refused for a while
(`emu.admin.web.sessions`). The time of an answer does not reveal what was wrong. Sans-IO.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, Protocol

from emu.admin.web.requests import Fields
from emu.admin.web.sessions import BAD_REQUEST, SOON, PasswordPage, RequestRefused, SignIns
from emu.model import Account
from emu.times import Clock

LONGEST_NAME: Final = 64


class AccountAction(StrEnum):
    """What players do; the values are the last components of the paths."""

    REGISTER = "register"
    PASSWORD = "password"  # noqa: S105  # a path


@dataclass(frozen=True, slots=True)
class ActionDenial:
    """A refused request: the HTTP status, the reason for logs, and the text for the player.

    `is_failure`: the request had a wrong code, name or password.
    """

    code: int
    reason: str
    text: str
    is_failure: bool = False


class PlayerAccounts(Protocol):
    """The accounts, as the page needs them. All methods raise `StoreError`."""

    async def register(
        self, name: str, password: str, code: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        """Create an account; `wanted` returns whether the client still waits."""

    async def change_password(
        self, name: str, present: str, new: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        """Replace a password whose present one is given."""


@dataclass(frozen=True, slots=True)
class AccountRegistered:
    """A player has registered an account."""

    template: ClassVar[str] = "account {name} was registered from {address}"
    kind: ClassVar[str] = "accounts registered"
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class PasswordChanged:
    """A player has changed a password."""

    template: ClassVar[str] = "the player of account {name} changed its password from {address}"
    kind: ClassVar[str] = "passwords changed"
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class AccountActionRefused:
    """A refused request, without the name: players sometimes type the password into that field."""

    action: AccountAction
    address: str
    reason: str


EVENTS: Final[Mapping[AccountAction, type[AccountRegistered | PasswordChanged]]] = {
    AccountAction.REGISTER: AccountRegistered,
    AccountAction.PASSWORD: PasswordChanged,
}
DONE: Final = {
    AccountAction.REGISTER: "The account {name} is ready. Log in with it in the game.",
    AccountAction.PASSWORD: "The password of {name} is changed.",
}
FIELDS: Final[Mapping[AccountAction, frozenset[str]]] = {
    AccountAction.REGISTER: frozenset(("name", "password", "repeat", "code")),
    AccountAction.PASSWORD: frozenset(("name", "present", "password", "repeat")),
}


class AccountPage(PasswordPage):
    """Carries out what players request on the page."""

    def __init__(
        self,
        accounts: PlayerAccounts,
        sign_ins: SignIns,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
        report: Callable[[object], None],
    ) -> None:
        """`pause` waits for some seconds; `report` is called with events."""
        super().__init__(sign_ins, clock=clock, pause=pause, report=report)
        self._accounts = accounts

    async def act(
        self, action: AccountAction, fields: Fields, address: str, wanted: Callable[[], bool]
    ) -> str:
        """Carry out a request; return the text for the player.

        Raises `RequestRefused` and `StoreError`.
        """
        # Unknown fields are refused, so that a mistyped name is not ignored.
        for name in fields:
            if name not in FIELDS[action]:
                raise RequestRefused(BAD_REQUEST, "bad field", f"There is no field {name}.")
        # Before anything is paid or hashed.
        if fields.get("password", "") != fields.get("repeat", ""):
            raise RequestRefused(BAD_REQUEST, "passwords differ", "The two passwords differ.")
        begun = self._clock.now()
        with self._sign_ins.trying(address, begun):
            with self._sign_ins.looked_at(address, begun):
                done = await self._carry_out(action, fields, address, wanted)
            if isinstance(done, ActionDenial):
                self._report(AccountActionRefused(action, address, done.reason))
                # Failures are counted; a busy server is not the player's fault.
                if done.is_failure:
                    await self._note_failure(address, fields.get("name", "")[:LONGEST_NAME], begun)
                raise RequestRefused(done.code, done.reason, done.text, wait=_wait(done))
        # After the `with`: the address may try again when the answer is sent.
        event = EVENTS[action](done.name, address)
        self.counters[event.kind] += 1
        self._report(event)
        return DONE[action].format(name=done.name)

    async def _carry_out(
        self, action: AccountAction, fields: Fields, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        # Cut before it is used as a key of the limits.
        name = fields.get("name", "")[:LONGEST_NAME]
        password = fields.get("password", "")
        if action is AccountAction.REGISTER:
            code = fields.get("code", "")
            return await self._accounts.register(name, password, code, address, wanted)
        present = fields.get("present", "")
        return await self._accounts.change_password(name, present, password, address, wanted)


def _wait(denial: ActionDenial) -> float:
    """Return the seconds after which a retry can work, 0 for unknown."""
    # Only these codes mean that the same request can work later.
    return SOON if denial.code >= 429 else 0.0
