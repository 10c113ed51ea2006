"""Who may log in: account names, passwords, bans, and how often anybody may try a password.

EQ2Emulator copies names into 32 bytes without looking (docs/protocol/login.md#account): longer ones
are refused here, never cut.

A guess is paid for before the password is looked at, and a right one gets its price back. Every
guess costs its address. For the account it costs the address's own budget for that account, which
is large where the account logged in from last and small anywhere else, and when a small one is
spent, one that all strangers share. So whoever guesses from one address, or from many, keeps
nobody out who knows the password. Names nobody has are treated like any other.

Implements `Authenticator` over the account store and worker threads that are handed in. Knows no
client and no message; clocks, threads and randomness are arguments.

A password that was right a short while ago is known again at once. Any other is checked in a turn
of its address, and what is true of the account, of the budgets for guesses and of who still waits
is attempt when the turn has come, not when it was attempt for. Names nobody has are treated like
wrong passwords all along, in budgets and in time spent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from emu.errors import DuplicateName, LimitExceeded, StoreError
from emu.limits.addresses import address_key
from emu.limits.rates import Throttle
from emu.login.passwords import (
    MAX_PASSWORD,
    SALT_SIZE,
    AccountConfig,
    GuessConfig,
    VerifiedPasswords,
    check_password,
    hash_password,
)
from emu.login.ports import AccountStore, LoginGranted, LoginRefusal, LoginRefusalReason
from emu.model import Account
from emu.times import Clock, Moment, Monotonic

MAX_NAME = 31
"""Longest account name in bytes of UTF-8."""

_REFUSED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def account_name(text: str) -> str:
    """Return a name without spaces around it and in Unicode's composed form (NFC).

    Raises `ValueError` saying what is wrong when it is empty, longer than `MAX_NAME` bytes, or has
    characters that cannot be seen.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise ValueError("a name must not be empty")
    if not _REFUSED.isdisjoint(map(unicodedata.category, name)):
        raise ValueError("a name must not have characters that cannot be seen")
    if len(name.encode()) > MAX_NAME:
        raise ValueError(f"a name must not be longer than {MAX_NAME} bytes")
    return name


class Guess:
    """A guess that is paid for."""

    __slots__ = ("_paid",)

    def __init__(self, paid: list[tuple[Throttle, Hashable]]) -> None:
        self._paid = paid

    def give_back(self, now: Monotonic) -> None:
        """Return the price: the password was right, or could not be checked."""
        for throttle, key in self._paid:
            throttle.give_back(key, now)


class GuessLimits:
    """Every budget there is. Names are compared without regard to case."""

    __slots__ = ("_addresses", "_known", "_new", "_others")

    def __init__(self, config: GuessConfig) -> None:
        self._addresses = Throttle(config.from_address)
        self._known = Throttle(config.from_known)
        self._new = Throttle(config.from_new)
        self._others = Throttle(config.from_others)

    def allows(self, name: str, source: str, now: Monotonic, *, known: bool) -> bool:
        """Say whether `take` would succeed; nothing is taken."""
        return self._addresses.allows(source, now) and any(
            throttle.allows(key, now) for throttle, key in self._budgets(name, source, known)
        )

    def take(self, name: str, source: str, now: Monotonic, *, known: bool) -> Guess | None:
        """Pay for a guess; None, with nothing taken, when the address or the account has no more.

        `known` is whether the account logged in from this source last.
        """
        if not self._addresses.take(source, now):
            return None
        for throttle, key in self._budgets(name, source, known):
            if throttle.take(key, now):
                return Guess([(self._addresses, source), (throttle, key)])
        self._addresses.give_back(source, now)
        return None

    def allows_address(self, source: str, now: Monotonic) -> bool:
        """Say whether an address has a guess left, for whatever name."""
        return self._addresses.allows(source, now)

    def charge_address(self, source: str, now: Monotonic) -> None:
        """Have an address pay for what could not even be looked up."""
        self._addresses.charge(source, now)

    def _budgets(
        self, name: str, source: str, known: bool
    ) -> tuple[tuple[Throttle, Hashable], ...]:
        folded = name.casefold()
        if known:
            return ((self._known, (folded, source)),)
        return ((self._new, (folded, source)), (self._others, folded))


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
class _LoginAttempt:
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
    ) -> LoginGranted | LoginRefusal:
        """Check a name and a password's raw bytes; `Authenticator` says what comes back.

        Raises `StoreError` when the store fails.
        """
        try:
            name = account_name(name)
        except ValueError:
            return LoginRefusal(LoginRefusalReason.NAME_NOT_ALLOWED)
        attempt = _LoginAttempt(name, password, address_key(address), now)
        if not self._guesses.allows_address(attempt.source, now):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        if not 0 < len(password) <= MAX_PASSWORD:
            self._guesses.charge_address(attempt.source, now)
            return LoginRefusal(LoginRefusalReason.BAD_PASSWORD)
        if await self._is_address_banned(address, self._clock.moment()):
            return LoginRefusal(LoginRefusalReason.ADDRESS_BANNED)
        account = await self._store.find_account(name)
        verdict = await self._decide(attempt, account, wanted)
        if isinstance(verdict, LoginRefusal):
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
        self, attempt: _LoginAttempt, account: Account | None, wanted: Callable[[], bool]
    ) -> LoginGranted | LoginRefusal:
        """Say whether the password is right: from memory, or in a turn of the address."""
        if not self._allows(attempt, account):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        guess = None
        if account is not None and self._remembered.has(account, attempt.now):
            if self._remembered.matches(account, attempt.password, attempt.now):
                return LoginGranted(account)
            guess = self._pay(
                attempt, account
            )  # for the look, and at once: others come in parallel
        outcome: LoginGranted | LoginRefusal | str
        try:
            async with self._workers.turn(attempt.source, wanted) as has_waited:
                if has_waited:  # the account may be another by now
                    account = await self._store.find_account(attempt.name)
                if account is None and self.config.auto_create:
                    outcome = await self._hash_new(attempt)
                elif (guess := guess or self._pay(attempt, account)) is None:
                    outcome = LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
                else:
                    outcome = await self._check(attempt, account, guess)
        except (LimitExceeded, MemoryError):
            if guess is not None:
                guess.give_back(attempt.now)
            return LoginRefusal(LoginRefusalReason.BUSY)
        return await self._add(attempt, outcome, wanted) if isinstance(outcome, str) else outcome

    async def _check(
        self, attempt: _LoginAttempt, account: Account | None, guess: Guess
    ) -> LoginGranted | LoginRefusal:
        """Compare the password with the account's; a right one gets the guess's price back.

        Raises `MemoryError` when there is none for the hash.
        """
        if account is not None and self._remembered.matches(account, attempt.password, attempt.now):
            guess.give_back(attempt.now)  # an earlier turn was for the same password
            return LoginGranted(account)
        stored = account.password if account is not None else None
        salt = self._random_bytes(SALT_SIZE)
        call = partial(check_password, attempt.password, stored, salt, self.config.passwords)
        checked = await self._workers.run(call)
        if account is None or not checked.right:
            # The client is sent one code for both; only the log tells them apart.
            is_missing = account is None
            return LoginRefusal(
                LoginRefusalReason.NO_SUCH_ACCOUNT
                if is_missing
                else LoginRefusalReason.BAD_PASSWORD
            )
        guess.give_back(attempt.now)
        self._remembered.remember(account, attempt.password, attempt.now)
        if checked.replacement is not None:
            self._start(self._replace_hash(attempt, account, checked.replacement))
        return LoginGranted(account)

    async def _replace_hash(
        self, attempt: _LoginAttempt, account: Account, replacement: str
    ) -> None:
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
            self._remembered.remember(renewed, attempt.password, attempt.now)

    async def _hash_new(self, attempt: _LoginAttempt) -> str | LoginRefusal:
        """Return the hash for an account that is to be made.

        Raises `MemoryError` when there is none for it.
        """
        if not self._creations.take(attempt.source, attempt.now):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        salt = self._random_bytes(SALT_SIZE)
        try:
            return await self._workers.run(
                partial(hash_password, attempt.password, salt, self.config.passwords)
            )
        except MemoryError:
            self._creations.give_back(attempt.source, attempt.now)
            raise

    async def _add(
        self, attempt: _LoginAttempt, hashed: str, wanted: Callable[[], bool]
    ) -> LoginGranted | LoginRefusal:
        """Make an account; when somebody else was quicker it is a login like any other."""
        try:
            account = await self._store.add_account(attempt.name, hashed, self._clock.moment())
        except DuplicateName:
            self._creations.give_back(attempt.source, attempt.now)
            return await self._decide(attempt, await self._store.find_account(attempt.name), wanted)
        except StoreError:
            self._creations.give_back(attempt.source, attempt.now)
            raise
        self._remembered.remember(account, attempt.password, attempt.now)
        return LoginGranted(account)

    def _pay(self, attempt: _LoginAttempt, account: Account | None) -> Guess | None:
        known = _known(account, attempt.source)
        return self._guesses.take(attempt.name, attempt.source, attempt.now, known=known)

    def _allows(self, attempt: _LoginAttempt, account: Account | None) -> bool:
        known = _known(account, attempt.source)
        return self._guesses.allows(attempt.name, attempt.source, attempt.now, known=known)


def _admit(account: Account, moment: Moment) -> LoginGranted | LoginRefusal:
    """Let somebody in whose password was right, unless the account may not log in."""
    if not account.enabled:
        return LoginRefusal(LoginRefusalReason.DISABLED)
    if account.is_banned(moment):
        return LoginRefusal(LoginRefusalReason.BANNED)
    return LoginGranted(account)
