"""Login checks: passwords, bans, and limits on password attempts.

An attempt is paid for before the password is compared, and a right password gets the price back.
An account has a large budget of its own at each address from which it has logged in before: at that
of its last login, and at others since the start of the server. Nothing else draws on it, so a
neighbour who guesses from the same address does not lock its player out. Any other attempt draws on
the budget of its address, and on one of the account: a small one for each address, or, when that is
empty, one that all other addresses share. Names without an account are treated like wrong
passwords, in budgets and in time.

A recently verified password is accepted at once. Any other password waits for a turn of its
address. Account, budgets and the client's interest may change during that wait, so they are read
again afterwards.

This module implements `Authenticator`. Clocks, threads and randomness are arguments.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from emu.errors import DuplicateName, LimitExceeded, StoreError
from emu.gather import both
from emu.limits.addresses import address_key
from emu.limits.rates import Allowance, Throttle
from emu.login.names import account_name, is_new_name
from emu.login.passwords import (
    MAX_PASSWORD,
    SALT_SIZE,
    AccountConfig,
    GuessConfig,
    VerifiedPasswords,
    check_password,
    hash_password,
    password_fault,
)
from emu.login.ports import AccountStore, LoginGranted, LoginRefusal, LoginRefusalReason
from emu.login.shared import GuessScope, SharedGuesses
from emu.model import Account
from emu.processes.ports import BusMember
from emu.times import Clock, Moment, Monotonic


class Guess:
    """One paid password attempt."""

    __slots__ = ("_paid",)

    def __init__(self, paid: list[tuple[Throttle, Hashable]]) -> None:
        self._paid = paid

    def give_back(self, now: Monotonic) -> None:
        """Return the price: the password was right, or could not be compared."""
        # Both budgets were charged in `take`, so both get their price back.
        for throttle, key in self._paid:
            throttle.give_back(key, now)


def name_digest(name: str) -> bytes:
    """Return what stands for an account name in budgets, equal for names that differ in case only.

    A digest, because other processes get it, and players type passwords into the wrong field.
    """
    # The same folding as in the stores: otherwise "Bob" and "BOB" would be two budgets of one
    # account.
    return hashlib.blake2b(name.casefold().encode(), digest_size=16).digest()


MOST_LOGINS: Final = 100_000
"""Pairs of account and address whose logins are remembered."""
SEARCHES: Final = Allowance(burst=60, refill=0.1)
"""Accounts that are read for an address which has no more attempts."""


class GuessLimits:
    """The budgets for password attempts. Names are compared without regard to case."""

    __slots__ = ("_addresses", "_known", "_logins", "_new", "_others", "_searches")

    def __init__(self, config: GuessConfig) -> None:
        self._logins: OrderedDict[tuple[bytes, str], None] = OrderedDict()
        """Account and address of the logins since the start, the latest last."""
        self._searches = Throttle(SEARCHES)
        self._addresses = Throttle(config.from_address)
        self._known = Throttle(config.from_known)
        self._new = Throttle(config.from_new)
        self._others = Throttle(config.from_others)

    def remember_login(self, name: str, source: str) -> None:
        """Note that an account has logged in from an address."""
        key = name_digest(name), source
        self._logins[key] = None
        self._logins.move_to_end(key)
        if len(self._logins) > MOST_LOGINS:
            self._logins.popitem(last=False)

    def has_logged_in(self, name: str, source: str) -> bool:
        """Return whether an account has logged in from an address since the start."""
        return (name_digest(name), source) in self._logins

    def allows(self, name: str, source: str, now: Monotonic, *, known: bool) -> bool:
        """Return whether `take` would succeed; take nothing."""
        budgets = self._budgets(name_digest(name), source, known)
        return (known or self._addresses.allows(source, now)) and any(
            throttle.allows(key, now) for throttle, key in budgets
        )

    def take(self, name: str, source: str, now: Monotonic, *, known: bool) -> Guess | None:
        """Pay for an attempt.

        Return None and take nothing when the address or the account has no more.

        `known` is whether the account has logged in from this source before.
        """
        budgets = self._budgets(name_digest(name), source, known)
        if known:
            # Its own budget alone: others who guess from the same address do not use it up.
            [(throttle, key)] = budgets
            return Guess([(throttle, key)]) if throttle.take(key, now) else None
        # The address pays first: a flood from one address must not use up the budget that all other
        # addresses of an account share.
        if not self._addresses.take(source, now):
            return None
        for throttle, key in budgets:
            if throttle.take(key, now):
                return Guess([(self._addresses, source), (throttle, key)])
        # An attempt that is not made costs nothing.
        self._addresses.give_back(source, now)
        return None

    def allows_search(self, name: str, source: str, now: Monotonic) -> bool:
        """Return whether the account of an attempt is read from the store.

        An address without attempts may have an account that has logged in from it before. Few such
        accounts are searched for: a flood must cause few queries.
        """
        return (
            self._addresses.allows(source, now)
            or self.has_logged_in(name, source)
            or self._searches.take(source, now)
        )

    def charge_address(self, source: str, now: Monotonic) -> None:
        """Charge an address for an attempt that is refused before the account is read."""
        self._addresses.charge(source, now)

    def charge(self, name: bytes, source: str, now: Monotonic, *, known: bool) -> None:
        """Charge an attempt that another login server has checked; `name` is a `name_digest`."""
        if not known:
            self._addresses.charge(source, now)
        *others, (last, key) = self._budgets(name, source, known)
        # The same budget as there: both have charged the same attempts.
        if not any(throttle.take(one, now) for throttle, one in others):
            last.charge(key, now)

    def _budgets(
        self, name: bytes, source: str, known: bool
    ) -> tuple[tuple[Throttle, Hashable], ...]:
        if known:
            return ((self._known, (name, source)),)
        return ((self._new, (name, source)), (self._others, name))


TRIAL_TIME: Final = 10.0
"""Seconds between the announcement of a trial login and the login."""


class TrialLogins:
    """Logins that an operator announces in order to test an account, and that change nothing.

    The store does not record them, and the account's player keeps its session.
    """

    def __init__(self) -> None:
        self._until: dict[str, Monotonic] = {}

    def expect(self, name: str, now: Monotonic) -> None:
        """Let the next login of an account be a trial, for `TRIAL_TIME`."""
        # Expired announcements are dropped here, so no timer is needed for them.
        live = {one: until for one, until in self._until.items() if until > now}
        self._until = live | {name.casefold(): Monotonic(now + TRIAL_TIME)}

    def is_expected(self, name: str, now: Monotonic) -> bool:
        """Return whether the next login of an account is a trial."""
        return self._until.get(name.casefold(), now) > now

    def use_trial(self, name: str, now: Monotonic) -> bool:
        """Return whether this login is a trial; the next one is not."""
        is_trial = self.is_expected(name, now)
        self._until.pop(name.casefold(), None)
        return is_trial


T = TypeVar("T")


class PasswordWork(Protocol):
    """Worker threads for slow password calls, shared fairly between addresses."""

    def turn(self, source: str, wanted: Callable[[], bool], /) -> AbstractAsyncContextManager[bool]:
        """Return a turn for ``async with``; its value is whether the turn had to wait.

        Turns rotate by `source`, the address of the attempt. Raises `LimitExceeded` instead of
        giving a turn when too many wait already or when `wanted` returns False at the time of the
        turn.
        """

    def run(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Run one slow call in a worker thread, within a turn."""


@dataclass(frozen=True, slots=True)
class _LoginAttempt:
    """One login request during its check."""

    name: str
    password: bytes
    source: str
    """The address in the form that limits use: an IPv6 address counts as its /64 network."""


AccountRule = Callable[[Account | None, Moment], Awaitable[LoginRefusalReason | None]]
"""Returns why an account may not log in although its password is right, or None.

A rule that reads a store reads it for a missing account, too, so that the work is the same.
"""


async def may_log_in(account: Account | None, moment: Moment) -> LoginRefusalReason | None:
    """Return why an account may not log in, or None."""
    if account is not None and not account.enabled:
        return LoginRefusalReason.DISABLED
    if account is not None and account.is_banned(moment):
        return LoginRefusalReason.BANNED
    return None


class AccountService:
    """Checks logins against the account store; implements `Authenticator`."""

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
        rule: AccountRule = may_log_in,
        member: BusMember | None = None,
        scope: GuessScope = GuessScope.PLAYERS,
    ) -> None:
        """Create the service over its collaborators.

        `workers` runs slow calls in threads. `random_bytes` must be fit for secrets. `start` runs a
        coroutine whose result is not awaited. `rule` decides about accounts whose password is
        right. `member` is this process among several login servers, which share the budgets of one
        `scope`.
        """
        self._rule = rule
        self.config = config = config or AccountConfig()
        self._store = store
        self._workers = workers
        self._is_address_banned = is_address_banned
        self._random_bytes = random_bytes
        self._start = start
        self._clock = clock
        # The key lives only in this process, so a stolen copy of the memory's hashes is useless
        # after a restart.
        self._remembered = VerifiedPasswords(random_bytes(32), config.memory, config.remembered)
        self._guesses = GuessLimits(config.guesses)
        self._shared_guesses = SharedGuesses(member, scope, self._charge) if member else None
        self._creations = Throttle(config.creations)
        self.trials = TrialLogins()

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
        """Check a name and the raw bytes of a password, as `Authenticator` specifies.

        Raises `StoreError` when the store fails.
        """
        try:
            name = account_name(name)
        except ValueError:
            return LoginRefusal(LoginRefusalReason.NAME_NOT_ALLOWED)
        # An IPv6 user owns a whole /64 network, so a limit for each address would limit nothing.
        attempt = _LoginAttempt(name, password, address_key(address))
        # Before the store is read, so that a flood from one address costs no query.
        if not self._guesses.allows_search(name, attempt.source, now):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        # Such a password can never be right, so nothing is read for it; the address pays all the
        # same.
        if not 0 < len(password) <= MAX_PASSWORD:
            self._guesses.charge_address(attempt.source, now)
            return LoginRefusal(LoginRefusalReason.BAD_PASSWORD)
        is_banned, account = await both(
            self._is_address_banned(address, self._clock.moment()), self._store.find_account(name)
        )
        # Before anything that depends on the account: a banned address must not learn which names
        # exist.
        if is_banned:
            return LoginRefusal(LoginRefusalReason.ADDRESS_BANNED)
        return await self._decide(attempt, account, wanted)

    async def remember_login(
        self, account: Account, address: str, version: int, moment: Moment
    ) -> None:
        """Store the time, address and client version of an account's login.

        Raises `StoreError` when the store fails.
        """
        self._guesses.remember_login(account.name, address_key(address))
        await self._store.record_login(account.id, address, version, moment)

    async def _decide(
        self, attempt: _LoginAttempt, account: Account | None, wanted: Callable[[], bool]
    ) -> LoginGranted | LoginRefusal:
        """Check the password against the cache, or against the hash in a turn."""
        # Only a check. The attempt is paid for below, after the cache, so that returning players
        # pay nothing.
        if not self._allows(attempt, account):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        guess = None
        if account is not None:
            # A cached password is compared without a turn. Otherwise all players who return after a
            # restart of their world would wait for a slow hash each.
            is_right = self._remembered.check(account, attempt.password, self._clock.now())
            if is_right:
                return await self._admit(account)
            # False is not final: the password may have been changed since. Only the stored hash
            # decides.
            if is_right is not None:
                # Pay now, not in the turn: an attacker may send many attempts in parallel.
                guess = self._pay(attempt, account)
        outcome: LoginGranted | LoginRefusal | str
        try:
            async with self._workers.turn(self._line(attempt, account), wanted) as has_waited:
                if has_waited:  # The account may have changed during the wait.
                    account = await self._store.find_account(attempt.name)
                # Again, because the wait for the turn may have been long enough for the account to
                # be created or changed.
                if account is None and self._may_create(attempt):
                    outcome = await self._hash_new(attempt)
                elif (guess := guess or self._pay(attempt, account)) is None:
                    outcome = LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
                else:
                    outcome = await self._check(attempt, account, guess)
        except (LimitExceeded, MemoryError):
            # The password was not compared, so the attempt was none.
            if guess is not None:
                guess.give_back(self._clock.now())
            return LoginRefusal(LoginRefusalReason.BUSY)
        return await self._add(attempt, outcome, wanted) if isinstance(outcome, str) else outcome

    async def _check(
        self, attempt: _LoginAttempt, account: Account | None, guess: Guess
    ) -> LoginGranted | LoginRefusal:
        """Compare the password with the account's hash.

        A right one gets the price of the attempt back.

        Raises `MemoryError` when there is not enough for the hash.
        """
        if account is not None and self._remembered.check(
            account, attempt.password, self._clock.now()
        ):
            guess.give_back(self._clock.now())  # An earlier turn verified the same password.
            return await self._admit(account)
        # A missing account is hashed too: the time must not reveal which names exist.
        stored = account.password if account is not None else None
        # A fresh salt for each check, because a check may end with a new hash that needs one.
        salt = self._random_bytes(SALT_SIZE)
        is_discreet = self.config.is_discreet
        call = partial(
            check_password, attempt.password, stored, salt, self.config.passwords,
            upgrades=not is_discreet,
        )  # fmt: skip
        checked = await self._workers.run(call)
        # The rule runs for wrong passwords and missing accounts, too: otherwise its time would
        # reveal them.
        refusal = await self._rule(account, self._clock.moment())
        if account is None or not checked.right:
            self._publish_guess(attempt, account)
            # The client is sent one code for both; only the log distinguishes them.
            return LoginRefusal(self._reason_against(attempt, account))
        # A discreet check keeps the price. Budgets would otherwise reveal that the password was
        # right.
        if refusal is not None and is_discreet:
            self._publish_guess(attempt, account)
            return LoginRefusal(refusal)
        guess.give_back(self._clock.now())
        self._remembered.remember(account, attempt.password, self._clock.now())
        is_trial = self.trials.is_expected(attempt.name, self._clock.now())
        if checked.replacement is not None and not is_trial:
            # Nobody waits for the new hash: the login must not wait for a write of the database.
            self._start(self._replace_hash(attempt, account, checked.replacement))
        return LoginGranted(account) if refusal is None else LoginRefusal(refusal)

    def _may_create(self, attempt: _LoginAttempt) -> bool:
        """Return whether an account may be created for an unknown name, which must be in NFKC.

        A password that is too short is checked like a wrong one.
        """
        config = self.config
        return (
            config.auto_create
            and is_new_name(attempt.name)
            and not password_fault(attempt.password, config.shortest_password)
        )

    def _reason_against(
        self, attempt: _LoginAttempt, account: Account | None
    ) -> LoginRefusalReason:
        """Return the reason for the log after a failed check."""
        if account is not None:
            return LoginRefusalReason.BAD_PASSWORD
        if self.config.auto_create and not is_new_name(attempt.name):
            return LoginRefusalReason.NAME_NOT_ALLOWED
        if self.config.auto_create:
            return LoginRefusalReason.PASSWORD_NOT_ALLOWED
        return LoginRefusalReason.NO_SUCH_ACCOUNT

    async def _replace_hash(
        self, attempt: _LoginAttempt, account: Account, replacement: str
    ) -> None:
        """Store a new hash of a verified password, unless the password has changed meanwhile.

        A store that cannot write does not stop the login. The next login tries again, and
        `remember_login` meets and reports the same failure.
        """
        try:
            # Only while the old hash is still stored. Otherwise the upgrade could undo a change of
            # the password.
            replaced = await self._store.set_password(account.id, replacement, account.password)
        except StoreError:
            return
        if replaced:
            renewed = replace(account, password=replacement)
            self._remembered.remember(renewed, attempt.password, self._clock.now())

    async def _hash_new(self, attempt: _LoginAttempt) -> str | LoginRefusal:
        """Return the hash for a new account.

        Raises `MemoryError` when there is not enough for it.
        """
        if not self._creations.take(attempt.source, self._clock.now()):
            return LoginRefusal(LoginRefusalReason.TOO_MANY_ATTEMPTS)
        salt = self._random_bytes(SALT_SIZE)
        try:
            return await self._workers.run(
                partial(hash_password, attempt.password, salt, self.config.passwords)
            )
        except MemoryError:
            self._creations.give_back(attempt.source, self._clock.now())
            raise

    async def _add(
        self, attempt: _LoginAttempt, hashed: str, wanted: Callable[[], bool]
    ) -> LoginGranted | LoginRefusal:
        """Add an account.

        If another login added it first, treat this as a login to that account.
        """
        try:
            account = await self._store.add_account(attempt.name, hashed, self._clock.moment())
        except DuplicateName:
            self._creations.give_back(attempt.source, self._clock.now())
            # The other login may have used another password, so the check starts again with its
            # account.
            return await self._decide(attempt, await self._store.find_account(attempt.name), wanted)
        except StoreError:
            self._creations.give_back(attempt.source, self._clock.now())
            raise
        self._remembered.remember(account, attempt.password, self._clock.now())
        return LoginGranted(account)

    def _pay(self, attempt: _LoginAttempt, account: Account | None) -> Guess | None:
        known = self._is_known(account, attempt.source)
        return self._guesses.take(attempt.name, attempt.source, self._clock.now(), known=known)

    def _publish_guess(self, attempt: _LoginAttempt, account: Account | None) -> None:
        """Let the other login servers charge an attempt that keeps its price."""
        if self._shared_guesses is not None:
            known = self._is_known(account, attempt.source)
            self._shared_guesses.publish(name_digest(attempt.name), attempt.source, known)

    def _charge(self, name: bytes, source: str, known: bool) -> None:
        self._guesses.charge(name, source, self._clock.now(), known=known)

    def _allows(self, attempt: _LoginAttempt, account: Account | None) -> bool:
        known = self._is_known(account, attempt.source)
        return self._guesses.allows(attempt.name, attempt.source, self._clock.now(), known=known)

    def _line(self, attempt: _LoginAttempt, account: Account | None) -> str:
        """Return the line in which an attempt waits: those of one line take turns with others.

        An account has a line of its own at an address that it has logged in from before.
        """
        if self._is_known(account, attempt.source):
            return f"{attempt.source} {name_digest(attempt.name).hex()}"
        return attempt.source

    def _is_known(self, account: Account | None, source: str) -> bool:
        """Return whether the account has logged in from this source before."""
        # A discreet check treats all addresses alike, so its budgets do not reveal where a player
        # logs in.
        if account is None or self.config.is_discreet:
            return False
        return source == address_key(account.last_address) or self._guesses.has_logged_in(
            account.name, source
        )

    async def _admit(self, account: Account) -> LoginGranted | LoginRefusal:
        """Accept a verified password, unless the account may not log in."""
        refusal = await self._rule(account, self._clock.moment())
        return LoginGranted(account) if refusal is None else LoginRefusal(refusal)
