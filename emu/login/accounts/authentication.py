"""Who may log in: names, passwords, bans, and how fast anybody may guess.

Implements `Authenticator` over the account store and worker threads that are handed in. Knows no
client and no message; clocks, threads and randomness are arguments.

A password that was right a short while ago is known again at once. Any other is checked in a turn
of its address, and what is true of the account, of the budgets for guesses and of who still waits
is asked when the turn has come, not when it was asked for. Names nobody has are treated like wrong
passwords all along, in budgets and in time spent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from emu.errors import DuplicateName, LimitExceeded, StoreError
from emu.limits.addresses import address_key
from emu.limits.throttle import Throttle
from emu.login.accounts.guesses import Guess, GuessLimits
from emu.login.accounts.names import account_name
from emu.login.accounts.passwords import MAX_PASSWORD, SALT_SIZE, check_password, hash_password
from emu.login.accounts.settings import AccountConfig
from emu.login.accounts.verified_passwords import VerifiedPasswords
from emu.login.ports import AccountStore, Admitted, Refused
from emu.model import Account
from emu.times import Clock, Moment, Monotonic

T = TypeVar("T")


class PasswordWork(Protocol):
    """Where slow calls are carried out, and whose turn it is."""

    def turn(self, source: str, wanted: Callable[[], bool], /) -> AbstractAsyncContextManager[bool]:
        """Return a turn to wait for with ``async with``; its value is whether it had to wait.

        `source` is the address that asks, for turns go round by address. The turn never comes, and
        `LimitExceeded` is raised, when too many wait already or `wanted` says no when it is due.
        """

    def run(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one slow call within a turn."""


@dataclass(frozen=True, slots=True)
class _Try:
    """Somebody who wants in."""

    name: str
    password: bytes
    source: str
    """Whom the address stands for."""
    now: Monotonic


def _known(account: Account | None, source: str) -> bool:
    """Say whether an account logged in from this source last."""
    return account is not None and source == address_key(account.last_address)


class AccountService:
    """Decides whether somebody may log in."""

    def __init__(
        self,
        store: AccountStore,
        *,
        workers: PasswordWork,
        is_address_banned: Callable[[str, Moment], Awaitable[bool]],
        random_bytes: Callable[[int], bytes],
        start: Callable[[Coroutine[Any, Any, None]], object],
        clock: Clock,
        config: AccountConfig | None = None,
    ) -> None:
        """Join the service to its outside.

        `workers` carries slow calls out in threads; `random_bytes` must be fit for secrets; `start`
        runs a coroutine to its end for which nobody waits.
        """
        self.config = config = config or AccountConfig()
        self._store = store
        self._workers = workers
        self._is_address_banned = is_address_banned
        self._random_bytes = random_bytes
        self._start = start
        self._clock = clock
        self._remembered = VerifiedPasswords(random_bytes(32), config.memory, config.remembered)
        self._guesses = GuessLimits(config.guesses)
        self._creations = Throttle(config.creations)

    async def authenticate(
        self,
        name: str,
        password: bytes,
        address: str,
        version: int,  # noqa: ARG002  # another implementation may let in by version
        now: Monotonic,
        *,
        wanted: Callable[[], bool],
    ) -> Admitted | Refused:
        """Check a name and a password's raw bytes; `Authenticator` says what comes back.

        Raises `StoreError` when the store fails.
        """
        try:
            name = account_name(name)
        except ValueError:
            return Refused("name not allowed")
        asked = _Try(name, password, address_key(address), now)
        if not self._guesses.allows_address(asked.source, now):
            return Refused("too many attempts")
        if not 0 < len(password) <= MAX_PASSWORD:
            self._guesses.charge_address(asked.source, now)
            return Refused("bad password")
        if await self._is_address_banned(address, self._clock.moment()):
            return Refused("address banned")
        account = await self._store.find_account(name)
        verdict = await self._decide(asked, account, wanted)
        if isinstance(verdict, Refused):
            return verdict
        return _admit(verdict.account, self._clock.moment())

    async def remember_login(
        self, account: Account, address: str, version: int, moment: Moment
    ) -> None:
        """Store when, from where and with which client version an account logged in.

        Raises `StoreError` when the store fails.
        """
        await self._store.record_login(account.id, address, version, moment)

    async def _decide(
        self, asked: _Try, account: Account | None, wanted: Callable[[], bool]
    ) -> Admitted | Refused:
        """Say whether the password is right: from memory, or in a turn of the address."""
        if not self._allows(asked, account):
            return Refused("too many attempts")
        guess = None
        if account is not None and self._remembered.has(account, asked.now):
            if self._remembered.matches(account, asked.password, asked.now):
                return Admitted(account)
            guess = self._pay(asked, account)  # for the look, and at once: others come in parallel
        outcome: Admitted | Refused | str
        try:
            async with self._workers.turn(asked.source, wanted) as has_waited:
                if has_waited:  # the account may be another by now
                    account = await self._store.find_account(asked.name)
                if account is None and self.config.auto_create:
                    outcome = await self._hash_new(asked)
                elif (guess := guess or self._pay(asked, account)) is None:
                    outcome = Refused("too many attempts")
                else:
                    outcome = await self._check(asked, account, guess)
        except (LimitExceeded, MemoryError):
            if guess is not None:
                guess.give_back(asked.now)
            return Refused("busy")
        return await self._add(asked, outcome, wanted) if isinstance(outcome, str) else outcome

    async def _check(
        self, asked: _Try, account: Account | None, guess: Guess
    ) -> Admitted | Refused:
        """Compare the password with the account's; a right one gets the guess's price back.

        Raises `MemoryError` when there is none for the hash.
        """
        if account is not None and self._remembered.matches(account, asked.password, asked.now):
            guess.give_back(asked.now)  # an earlier turn was for the same password
            return Admitted(account)
        stored = account.password if account is not None else None
        salt = self._random_bytes(SALT_SIZE)
        call = partial(check_password, asked.password, stored, salt, self.config.passwords)
        checked = await self._workers.run(call)
        if account is None or not checked.right:
            return Refused("no such account" if account is None else "bad password")
        guess.give_back(asked.now)
        self._remembered.remember(account, asked.password, asked.now)
        if checked.replacement is not None:
            self._start(self._replace_hash(asked, account, checked.replacement))
        return Admitted(account)

    async def _replace_hash(self, asked: _Try, account: Account, replacement: str) -> None:
        """Store a new hash of a password that was right, unless it was changed meanwhile.

        A store that cannot write keeps nobody out: the next login tries again, and the login that
        is to be remembered meets the same failure and reports it.
        """
        try:
            replaced = await self._store.set_password(account.id, replacement, account.password)
        except StoreError:
            return
        if replaced:
            renewed = replace(account, password=replacement)
            self._remembered.remember(renewed, asked.password, asked.now)

    async def _hash_new(self, asked: _Try) -> str | Refused:
        """Return the hash for an account that is to be made.

        Raises `MemoryError` when there is none for it.
        """
        if not self._creations.take(asked.source, asked.now):
            return Refused("too many attempts")
        salt = self._random_bytes(SALT_SIZE)
        try:
            return await self._workers.run(
                partial(hash_password, asked.password, salt, self.config.passwords)
            )
        except MemoryError:
            self._creations.give_back(asked.source, asked.now)
            raise

    async def _add(
        self, asked: _Try, hashed: str, wanted: Callable[[], bool]
    ) -> Admitted | Refused:
        """Make an account; when somebody else was quicker it is a login like any other."""
        try:
            account = await self._store.add_account(asked.name, hashed, self._clock.moment())
        except DuplicateName:
            self._creations.give_back(asked.source, asked.now)
            return await self._decide(asked, await self._store.find_account(asked.name), wanted)
        except StoreError:
            self._creations.give_back(asked.source, asked.now)
            raise
        self._remembered.remember(account, asked.password, asked.now)
        return Admitted(account)

    def _pay(self, asked: _Try, account: Account | None) -> Guess | None:
        known = _known(account, asked.source)
        return self._guesses.take(asked.name, asked.source, asked.now, known=known)

    def _allows(self, asked: _Try, account: Account | None) -> bool:
        known = _known(account, asked.source)
        return self._guesses.allows(asked.name, asked.source, asked.now, known=known)


def _admit(account: Account, moment: Moment) -> Admitted | Refused:
    """Let somebody in whose password was right, unless the account may not log in."""
    if not account.enabled:
        return Refused("disabled")
    if account.is_banned(moment):
        return Refused("banned")
    return Admitted(account)
