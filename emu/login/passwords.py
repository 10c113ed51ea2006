"""How passwords are stored and compared: Argon2id, and EQ2Emulator's hashes until upgraded.

Passwords that were right a short while ago are remembered as hashes under a key of this process.

Pure functions over bytes; slow on purpose, so callers run them in a worker thread. Salt is an
argument. A password is the raw bytes that the client sent; the command line gives UTF-8.

A hash covers the stored password too, so that a change of the password ends the memory of the old
one. Saves a player who comes back the slow hash; nothing of it is ever written.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from emu.limits.rates import Allowance
from emu.model import Account
from emu.times import Monotonic

FROM_ADDRESS = Allowance(burst=30, refill=4.0)
FROM_KNOWN = Allowance(burst=10, refill=20.0)
FROM_NEW = Allowance(burst=3, refill=300.0)
FROM_OTHERS = Allowance(burst=10, refill=20.0)
MADE_FROM_ADDRESS = Allowance(burst=20, refill=60.0)


@dataclass(frozen=True, slots=True)
class PasswordConfig:
    """What one hash costs."""

    memory_cost: int = 19456
    """KiB of memory.

    The default is OWASP's Argon2id setting of 19 MiB, 2 passes and 1 lane. It takes 1/7 of the time
    and 3/10 of the memory of 64 MiB and 3 passes, so that a crowd which comes back after a restart
    is in seven times as soon.
    """
    iterations: int = 2
    lanes: int = 1
    hash_size: int = 32
    """Bytes of the hash itself."""


@dataclass(frozen=True, slots=True)
class GuessConfig:
    """Wrong passwords that are let pass at once, and how soon one more is."""

    from_address: Allowance = FROM_ADDRESS
    """From one address (IPv6: one /64 network), for whatever name."""
    from_known: Allowance = FROM_KNOWN
    """For one account, from the address it logged in from last."""
    from_new: Allowance = FROM_NEW
    """For one account, from any other address, each."""
    from_others: Allowance = FROM_OTHERS
    """For one account, from all other addresses together, beyond what each has of its own."""


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
    guesses: GuessConfig = field(default_factory=GuessConfig)
    creations: Allowance = MADE_FROM_ADDRESS
    """Accounts made from one address."""


MAX_PASSWORD = 255
"""Longest password in bytes."""
SALT_SIZE = 16

_PHC = re.compile(
    r"\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,8})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
_SHA512 = re.compile(r"[0-9a-fA-F]{128}")


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a password was right, and the hash that should replace the stored one, if any."""

    right: bool
    replacement: str | None = None


def hash_password(password: bytes, salt: bytes, config: PasswordConfig) -> str:
    """Return the PHC string of a password; `salt` is `SALT_SIZE` random bytes."""
    return _argon2(salt, config).derive_phc_encoded(password)


def check_password(
    password: bytes, stored: str | None, salt: bytes, config: PasswordConfig
) -> Checked:
    """Compare a password with a stored hash, in constant time; None is an account that is missing.

    Missing accounts, and hashes of other kinds or of a lower cost, take as long as a PHC string of
    the present parameters, so that the time tells nobody which names exist. (After the cost was
    lowered, hashes of the higher one take longer until their owners have logged in.) A right
    password whose hash is old, or of other parameters, gives a replacement made with `salt`. What
    is no hash at all never matches. Raises `MemoryError` when Argon2 gets no memory.
    """
    if stored is None or not is_phc(stored):
        return _check_without_argon2(password, stored, salt, config)
    try:
        Argon2id.verify_phc_encoded(password, stored)
    except (InvalidKey, ValueError):
        _make_up_for_cost(password, stored, salt, config)
        return Checked(right=False)
    if _parameters(stored) == (config.memory_cost, config.iterations, config.lanes):
        return Checked(right=True)
    return Checked(right=True, replacement=hash_password(password, salt, config))


def is_phc(stored: str) -> bool:
    """Say whether this is an Argon2id PHC string."""
    return _PHC.fullmatch(stored) is not None


def is_eq2emulator_hash(stored: str) -> bool:
    """Say whether this is a hash of EQ2Emulator's account table.

    Source: docs/protocol/login.md#account.
    """
    return _SHA512.fullmatch(stored) is not None


def eq2emulator_hash(password: bytes) -> str:
    """Return what EQ2Emulator stores: SHA-512 as 128 lower-case hex digits, no salt."""
    return hashlib.sha512(password).hexdigest()


def _check_without_argon2(
    password: bytes, stored: str | None, salt: bytes, config: PasswordConfig
) -> Checked:
    fresh = hash_password(password, salt, config)
    if stored is None or not is_eq2emulator_hash(stored):
        return Checked(right=False)
    if not hmac.compare_digest(stored.lower(), eq2emulator_hash(password)):
        return Checked(right=False)
    return Checked(right=True, replacement=fresh)


def _make_up_for_cost(password: bytes, stored: str, salt: bytes, config: PasswordConfig) -> None:
    """Spend what a hash of a lower cost has saved; Argon2's time goes with KiB times passes."""
    memory, passes, _ = _parameters(stored) or (0, 0, 0)
    missing = config.memory_cost * config.iterations - memory * passes
    least = 8 * config.lanes
    if missing >= least * config.iterations:
        rest = replace(config, memory_cost=missing // config.iterations)
        hash_password(password, salt, rest)


def _argon2(salt: bytes, config: PasswordConfig) -> Argon2id:
    return Argon2id(
        salt=salt,
        length=config.hash_size,
        iterations=config.iterations,
        lanes=config.lanes,
        memory_cost=config.memory_cost,
    )


def _parameters(stored: str) -> tuple[int, int, int] | None:
    match = _PHC.fullmatch(stored)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


class VerifiedPasswords:
    """Remembers one password of an account for `lifetime` seconds, and `most` accounts."""

    __slots__ = ("_entries", "_key", "_lifetime", "_most")

    def __init__(self, key: bytes, lifetime: float, most: int) -> None:
        self._key = key
        self._lifetime = lifetime
        self._most = most
        self._entries: OrderedDict[int, tuple[bytes, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def remember(self, account: Account, password: bytes, now: Monotonic) -> None:
        """Remember that this password was right."""
        if self._lifetime <= 0:
            return
        self._entries[account.id] = (self._hash(account, password), now + self._lifetime)
        self._entries.move_to_end(account.id)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def has(self, account: Account, now: Monotonic) -> bool:
        """Say whether a password of this account is remembered, whichever."""
        entry = self._entries.get(account.id)
        if entry is None:
            return False
        if now >= entry[1]:
            del self._entries[account.id]
            return False
        return True

    def matches(self, account: Account, password: bytes, now: Monotonic) -> bool:
        """Say whether this very password was right not long ago. False means: not known."""
        if not self.has(account, now):
            return False
        known, _ = self._entries[account.id]
        return hmac.compare_digest(known, self._hash(account, password))

    def _hash(self, account: Account, password: bytes) -> bytes:
        stored = account.password.encode()
        head = len(stored).to_bytes(4, "big")
        # BLAKE2's own keyed mode: a tenth of what OpenSSL takes to set an HMAC up.
        return blake2b(head + stored + password, key=self._key, digest_size=32).digest()
