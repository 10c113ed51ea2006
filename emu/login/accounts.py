"""Who may log in: names, passwords, bans, and how fast anybody may guess.

Implements `Authenticator` over the account store and worker threads that are handed in. Knows no
client and no message; clocks, threads and randomness are arguments.

Guessing is slowed by token buckets of two kinds: one for each address, and one for each account. A
try from the address an account logged in from last has a bucket of its own, so that strangers who
guess cannot keep a player out. Names nobody has are treated like wrong passwords all along, in
buckets and in time spent.
"""

from __future__ import annotations

import hmac
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Protocol, TypeVar

from emu.errors import DuplicateName, LimitExceeded
from emu.limits.addresses import address_key
from emu.limits.throttle import Allowance, Throttle
from emu.login.account_names import account_name
from emu.login.passwords import (
    MAX_PASSWORD,
    SALT_SIZE,
    Checked,
    PasswordConfig,
    check_password,
    hash_password,
)
from emu.login.ports import Account, AccountStore, Admitted, Refused

T = TypeVar("T")

WRONG_FOR_ACCOUNT = Allowance(burst=10, refill=20.0)
WRONG_FROM_ADDRESS = Allowance(burst=30, refill=4.0)
MADE_FROM_ADDRESS = Allowance(burst=20, refill=60.0)


class PasswordRun(Protocol):
    """Runs a slow call elsewhere; raises `LimitExceeded` when too many wait already."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one call."""


@dataclass(frozen=True, slots=True)
class AccountConfig:
    """Everything tunable about logging in; times are seconds."""

    auto_create: bool = False
    """Make an account when an unknown name logs in."""
    passwords: PasswordConfig = field(default_factory=PasswordConfig)
    memory: float = 900.0
    """How long a verified password is remembered; 0 is never."""
    remembered: int = 50_000
    """Verified passwords remembered at once."""
    per_account: Allowance = WRONG_FOR_ACCOUNT
    """Wrong passwords for one account."""
    per_address: Allowance = WRONG_FROM_ADDRESS
    """Wrong passwords and unknown names from one address (IPv6: from one /64 network)."""
    creations: Allowance = MADE_FROM_ADDRESS
    """Accounts made from one address."""
    checks_per_address: int = 128
    """Passwords of one address that are checked or wait for it at once."""


class AccountService:
    """Decides whether somebody may log in."""

    def __init__(
        self,
        store: AccountStore,
        *,
        run: PasswordRun,
        is_address_banned: Callable[[str, float], Awaitable[bool]],
        random_bytes: Callable[[int], bytes],
        config: AccountConfig | None = None,
    ) -> None:
        """Join the service to its outside.

        `run` carries slow calls out in worker threads; `random_bytes` must be fit for secrets.
        """
        self.config = config = config or AccountConfig()
        self._store = store
        self._run = run
        self._is_address_banned = is_address_banned
        self._random_bytes = random_bytes
        self._remembered = VerifiedPasswords(random_bytes(32), config.memory, config.remembered)
        self._accounts = Throttle(config.per_account)
        self._addresses = Throttle(config.per_address)
        self._creations = Throttle(config.creations)
        self._checking: Counter[str] = Counter()

    async def authenticate(
        self,
        name: str,
        password: bytes,
        address: str,
        version: int,  # noqa: ARG002  # another implementation may let in by version
        now: float,
    ) -> Admitted | Refused:
        """Check a name and a password's raw bytes; `Authenticator` says what comes back.

        Raises `StoreError` when the store fails.
        """
        try:
            name = account_name(name)
        except ValueError:
            return Refused("name not allowed")
        source = address_key(address)
        if not self._addresses.allows(source, now):
            return Refused("too many attempts")
        if not 0 < len(password) <= MAX_PASSWORD:
            self._addresses.charge(source, now)
            return Refused("bad password")
        if await self._is_address_banned(address, now):
            return Refused("address banned")
        account = await self._store.find_account(name)
        if account is None and self.config.auto_create:
            return await self._create(name, password, address, now)
        verdict = await self._verify(account, name, password, source, now)
        if isinstance(verdict, Refused):
            return verdict
        return _admit(verdict.account, now)

    async def remember_login(
        self, account: Account, address: str, version: int, now: float
    ) -> None:
        """Store when, from where and with which client version an account logged in.

        Raises `StoreError` when the store fails.
        """
        await self._store.record_login(account.id, address, version, now)

    async def _verify(
        self, account: Account | None, name: str, password: bytes, source: str, now: float
    ) -> Admitted | Refused:
        bucket: tuple[str, ...] = (name.casefold(),)
        if account is not None and source == address_key(account.last_address):
            bucket = (*bucket, source)
        if not self._accounts.take(bucket, now):  # taken before the check: guesses come in parallel
            return Refused("too many attempts")
        if account is not None and self._remembered.matches(account, password, now):
            self._accounts.give_back(bucket, now)
            return Admitted(account)
        checked = await self._check(account, password, source)
        if checked is None:
            self._accounts.give_back(bucket, now)
            return Refused("busy")
        if account is None or not checked.right:
            self._addresses.charge(source, now)
            return Refused("no such account" if account is None else "bad password")
        self._accounts.give_back(bucket, now)
        if checked.replacement is not None:
            await self._store.set_password(account.id, checked.replacement, account.password)
        else:
            self._remembered.remember(account, password, now)
        return Admitted(account)

    async def _check(self, account: Account | None, password: bytes, source: str) -> Checked | None:
        """Check a password in a worker thread; None when too many wait."""
        stored = account.password if account is not None else None
        salt = self._random_bytes(SALT_SIZE)
        return await self._in_worker(
            partial(check_password, password, stored, salt, self.config.passwords), source
        )

    async def _create(
        self, name: str, password: bytes, address: str, now: float
    ) -> Admitted | Refused:
        source = address_key(address)
        if not self._creations.take(source, now):
            return Refused("too many attempts")
        salt = self._random_bytes(SALT_SIZE)
        hashed = await self._in_worker(
            partial(hash_password, password, salt, self.config.passwords), source
        )
        if hashed is None:
            self._creations.give_back(source, now)
            return Refused("busy")
        try:
            account = await self._store.add_account(name, hashed, now)
        except DuplicateName:  # somebody else was quicker: now it is a login like any other
            self._creations.give_back(source, now)
            account_now = await self._store.find_account(name)
            verdict = await self._verify(account_now, name, password, source, now)
            if isinstance(verdict, Refused):
                return verdict
            account = verdict.account
        else:
            self._remembered.remember(account, password, now)
        return _admit(account, now)

    async def _in_worker(self, call: Callable[[], T], source: str) -> T | None:
        if self._checking[source] >= self.config.checks_per_address:
            return None
        self._checking[source] += 1
        try:
            return await self._run(call)
        except LimitExceeded:
            return None
        finally:
            self._checking[source] -= 1
            if not self._checking[source]:
                del self._checking[source]


def _admit(account: Account, now: float) -> Admitted | Refused:
    """Let somebody in whose password was right, unless the account may not log in."""
    if not account.enabled:
        return Refused("disabled")
    if account.banned_until is not None and now < account.banned_until:
        return Refused("banned")
    return Admitted(account)


class VerifiedPasswords:
    """Passwords that were right a short while ago, as hashes under a key of this process.

    A hash covers the stored password too, so that a change of the password ends the memory of the
    old one. Saves a player who comes back the slow hash; nothing of it is ever written.
    """

    __slots__ = ("_entries", "_key", "_lifetime", "_most")

    def __init__(self, key: bytes, lifetime: float, most: int) -> None:
        self._key = key
        self._lifetime = lifetime
        self._most = most
        self._entries: OrderedDict[int, tuple[bytes, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def remember(self, account: Account, password: bytes, now: float) -> None:
        """Remember that this password was right."""
        if self._lifetime <= 0:
            return
        self._entries[account.id] = (self._hash(account, password), now + self._lifetime)
        self._entries.move_to_end(account.id)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def matches(self, account: Account, password: bytes, now: float) -> bool:
        """Say whether this very password was right not long ago. False means: not known."""
        entry = self._entries.get(account.id)
        if entry is None:
            return False
        known, expires = entry
        if now >= expires:
            del self._entries[account.id]
            return False
        return hmac.compare_digest(known, self._hash(account, password))

    def _hash(self, account: Account, password: bytes) -> bytes:
        stored = account.password.encode()
        head = account.id.to_bytes(8, "big") + len(stored).to_bytes(4, "big")
        # BLAKE2's own keyed mode: a tenth of what OpenSSL takes to set an HMAC up.
        return blake2b(head + stored + password, key=self._key, digest_size=32).digest()
