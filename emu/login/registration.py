"""Registration: players create their own accounts and change their own passwords.

An attempt to register is paid for before anything is read or hashed, from a budget of its address
and one of all addresses, so names cannot be listed faster than these allow. Changing a password
does the same work for a wrong name, a wrong password and a barred account. Hashes are made in
worker threads, in the turn of the address, behind a bounded queue. Clocks, threads and randomness
are arguments.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from hmac import compare_digest
from typing import Final

from emu.errors import DuplicateName, LimitExceeded
from emu.limits.addresses import address_key
from emu.limits.rates import Throttle, hourly
from emu.login.accounts import PasswordWork
from emu.login.names import new_account_name
from emu.login.passwords import SALT_SIZE, RegistrationConfig, hash_password, password_fault
from emu.login.ports import AccountStore, Authenticator, LoginGranted, LoginRefusalReason
from emu.model import Account
from emu.times import Clock, Moment

EVERYBODY: Final = "everybody"
"""The key of the budget of all addresses together."""
NO_VERSION: Final = 0
"""The client version of a request without a game client."""


class RegistrationRefusal(enum.StrEnum):
    """Why a request is refused; the values are the texts of logs and metrics."""

    NAME_NOT_ALLOWED = "name not allowed"
    PASSWORD_NOT_ALLOWED = "password not allowed"  # noqa: S105  # a reason, not a password
    WRONG_CODE = "wrong invite code"
    NAME_TAKEN = "name taken"
    WRONG_PASSWORD = "wrong name or password"  # noqa: S105  # a reason, not a password
    ADDRESS_BANNED = "address banned"
    TOO_MANY_ATTEMPTS = "too many attempts"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class RegistrationDenial:
    """A refused request; `text` explains it to the player."""

    reason: RegistrationRefusal
    text: str


_BUSY: Final = RegistrationDenial(
    RegistrationRefusal.BUSY, "The server is busy. Try again in a moment."
)
_TOO_MANY: Final = RegistrationDenial(
    RegistrationRefusal.TOO_MANY_ATTEMPTS, "There were too many attempts. Try again later."
)
_WRONG: Final = RegistrationDenial(
    RegistrationRefusal.WRONG_PASSWORD,
    "The name or the present password is wrong, or the account cannot log in.",
)
_UNCHECKED: Final = {
    LoginRefusalReason.BUSY: _BUSY,
    LoginRefusalReason.TOO_MANY_ATTEMPTS: _TOO_MANY,
}


class AccountRegistration:
    """Creates accounts for players and changes their passwords. Methods raise `StoreError`."""

    def __init__(
        self,
        store: AccountStore,
        authenticator: Authenticator,
        *,
        workers: PasswordWork,
        is_address_banned: Callable[[str, Moment], Awaitable[bool]],
        random_bytes: Callable[[int], bytes],
        clock: Clock,
        config: RegistrationConfig,
    ) -> None:
        """`authenticator` must be discreet; `random_bytes` must be fit for secrets."""
        self.config = config
        self._store = store
        self._authenticator = authenticator
        self._workers = workers
        self._is_address_banned = is_address_banned
        self._random_bytes = random_bytes
        self._clock = clock
        self._addresses = Throttle(hourly(config.per_address))
        self._all = Throttle(hourly(config.in_all))

    async def register(
        self, name: str, password: str, code: str, address: str, wanted: Callable[[], bool]
    ) -> Account | RegistrationDenial:
        """Create an account; `wanted` returns whether the client still waits."""
        try:
            name = new_account_name(name)
        except ValueError as error:
            return RegistrationDenial(RegistrationRefusal.NAME_NOT_ALLOWED, _sentence(str(error)))
        # Faults of the name and the password cost nothing: they are found without the store.
        denial = self._fault(password) or self._pay(code, address_key(address))
        if denial is not None:
            return denial
        # After the payment: a banned address must not cause reads of the store for free.
        if await self._is_address_banned(address, self._clock.moment()):
            return RegistrationDenial(
                RegistrationRefusal.ADDRESS_BANNED, "This address may not register accounts."
            )
        hashed = await self._hash(password, address, wanted)
        if hashed is None:
            # The server was busy, which is not the player's fault.
            self._give_back(address_key(address))
            return _BUSY
        try:
            return await self._store.add_account(name, hashed, self._clock.moment())
        # No price back: names can be probed only as fast as the budgets allow.
        except DuplicateName:
            return RegistrationDenial(
                RegistrationRefusal.NAME_TAKEN, "This name is taken. Choose another one."
            )

    async def change_password(
        self, name: str, present: str, new: str, address: str, wanted: Callable[[], bool]
    ) -> Account | RegistrationDenial:
        """Replace the password of an account whose present password is given."""
        denial = self._fault(new)
        if denial is not None:
            return denial
        # `authenticate` charges for a wrong password itself, so nothing is paid here.
        verdict = await self._authenticator.authenticate(
            name, _encoded(present), address, NO_VERSION, self._clock.now(), wanted=wanted
        )
        if not isinstance(verdict, LoginGranted):
            # Busy and throttled say nothing about the account. All other reasons get one text.
            return _UNCHECKED.get(verdict.reason, _WRONG)
        account = verdict.account
        hashed = await self._hash(new, address, wanted)
        # `account.password` is the hash that was verified: if it has changed since, this request is
        # too late.
        if hashed is None or not await self._store.set_password(
            account.id, hashed, account.password
        ):
            return _BUSY
        return account

    def _fault(self, password: str) -> RegistrationDenial | None:
        """Return why a password cannot be set, or None."""
        fault = password_fault(_encoded(password), self.config.shortest_password)
        if not fault:
            return None
        return RegistrationDenial(RegistrationRefusal.PASSWORD_NOT_ALLOWED, _sentence(fault))

    def _pay(self, code: str, source: str) -> RegistrationDenial | None:
        """Pay for an attempt; return why it is refused, or None.

        A wrong code draws on the budget of its address only: it must not keep out those who have
        the right one.
        """
        now = self._clock.now()
        if not self._addresses.take(source, now):
            return _TOO_MANY
        expected = self.config.invite_code
        # Constant time: the code is a secret.
        if expected and not compare_digest(_encoded(code), _encoded(expected)):
            return RegistrationDenial(
                RegistrationRefusal.WRONG_CODE, "The invite code is not right."
            )
        if not self._all.take(EVERYBODY, now):
            # The attempt was not made, so its address does not pay for it.
            self._addresses.give_back(source, now)
            return _TOO_MANY
        return None

    def _give_back(self, source: str) -> None:
        """Return the price of an attempt that the server could not carry out."""
        now = self._clock.now()
        self._addresses.give_back(source, now)
        self._all.give_back(EVERYBODY, now)

    async def _hash(self, password: str, address: str, wanted: Callable[[], bool]) -> str | None:
        """Return the hash of a password, or None if there is no turn or memory for it."""
        call = partial(
            hash_password, _encoded(password), self._random_bytes(SALT_SIZE), self.config.passwords
        )
        try:
            async with self._workers.turn(address_key(address), wanted):
                return await self._workers.run(call)
        except (LimitExceeded, MemoryError):
            return None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
