"""Password hashes: Argon2id, EQ2Emulator's SHA-512, and a cache of verified passwords.

The functions are pure and slow on purpose, so callers run them in a worker thread. The salt is an
argument. A password is the raw bytes that the client sent; the command line encodes UTF-8.

The cache holds hashes under a key of this process and is never written to disk. It saves returning
players the slow hash. Its hash covers the stored password, so a change of the password empties the
entry.
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
    """The cost of one hash."""

    memory_cost: int = 19456
    """KiB of memory.

    The default is OWASP's Argon2id setting of 19 MiB, 2 passes and 1 lane. It takes 1/7 of the time
    and 3/10 of the memory of 64 MiB and 3 passes, so that all players are back seven times sooner
    after a restart.
    """
    iterations: int = 2
    lanes: int = 1
    hash_size: int = 32
    """Bytes of the hash itself."""


@dataclass(frozen=True, slots=True)
class GuessConfig:
    """Budgets for wrong passwords: how many at once, and the seconds until one more."""

    from_address: Allowance = FROM_ADDRESS
    """From one address (IPv6: one /64 network), for any name."""
    from_known: Allowance = FROM_KNOWN
    """For one account, from each address that it has logged in from before."""
    from_new: Allowance = FROM_NEW
    """For one account, from each other address."""
    from_others: Allowance = FROM_OTHERS
    """For one account, from all other addresses together, beyond the budget of each."""


@dataclass(frozen=True, slots=True)
class RegistrationConfig:
    """Settings of registration."""

    enabled: bool = False
    invite_code: str = ""
    """The code that players need to register; empty for none."""
    per_address: int = 10
    """Attempts per hour from one address (IPv6: one /64 network)."""
    in_all: int = 100
    """Attempts per hour from all addresses together."""
    passwords: PasswordConfig = field(default_factory=PasswordConfig)
    shortest_password: int = 8
    """Minimum length of a password, in characters."""


@dataclass(frozen=True, slots=True)
class AccountConfig:
    """Settings of the login check; times are seconds."""

    auto_create: bool = False
    """Create an account when an unknown name logs in."""
    passwords: PasswordConfig = field(default_factory=PasswordConfig)
    memory: float = 900.0
    """How long a verified password stays in the cache; 0 disables the cache."""
    remembered: int = 50_000
    """Accounts in the cache at once."""
    guesses: GuessConfig = field(default_factory=GuessConfig)
    creations: Allowance = MADE_FROM_ADDRESS
    """Accounts created from one address."""
    shortest_password: int = 8
    """Minimum length of a new password, in characters. Stored passwords are not affected."""
    is_discreet: bool = False
    """Do the same work for every wrong name or password, and for a right one that is refused.

    Then neither time nor budgets reveal that a password was right: no hash is upgraded, the address
    of the last login does not matter, and only an accepted login gets its price back.
    """


MAX_PASSWORD = 255
"""Longest password in bytes."""
SALT_SIZE = 16

_PHC = re.compile(
    r"\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,8})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
_SHA512 = re.compile(r"[0-9a-fA-F]{128}")


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a password is right, and the hash that should replace the stored one, if any."""

    right: bool
    replacement: str | None = None


def password_fault(password: bytes, shortest: int) -> str:
    """Return why a password cannot be set, or an empty text if it can be.

    `shortest` is the minimum number of characters. Bytes that are not UTF-8 count one each.
    """
    if not password:
        return "the password must not be empty"
    if len(password) > MAX_PASSWORD:
        return f"the password must not be longer than {MAX_PASSWORD} bytes"
    # surrogateescape makes one character of each byte that is not UTF-8.
    if len(password.decode("utf-8", "surrogateescape")) < shortest:
        return f"the password must have at least {shortest} characters"
    return ""


def hash_password(password: bytes, salt: bytes, config: PasswordConfig) -> str:
    """Return the PHC string of a password; `salt` is `SALT_SIZE` random bytes."""
    return _argon2(salt, config).derive_phc_encoded(password)


def check_password(
    password: bytes,
    stored: str | None,
    salt: bytes,
    config: PasswordConfig,
    *,
    upgrades: bool = True,
) -> Checked:
    """Compare a password with a stored hash, in constant time.

    None stands for a missing account.

    Missing accounts, and hashes of other kinds or of a lower cost, take as long as a hash of the
    present parameters, so the time does not reveal which names exist. (After the cost was lowered,
    older hashes take longer until their owners have logged in.) A right password with an old hash
    or old parameters gets a replacement made with `salt`; without `upgrades` it gets none and takes
    as long as a wrong one. A stored text that is not a hash never matches. Raises `MemoryError`
    when Argon2 gets no memory.
    """
    if stored is None or not is_phc(stored):
        checked = _check_without_argon2(password, stored, salt, config)
        return checked if upgrades else Checked(checked.right)
    try:
        Argon2id.verify_phc_encoded(password, stored)
    except (InvalidKey, ValueError):
        # A cheaper hash must not show by its time that this account exists.
        _make_up_for_cost(password, stored, salt, config)
        return Checked(right=False)
    if _parameters(stored) == (config.memory_cost, config.iterations, config.lanes):
        return Checked(right=True)
    if upgrades:
        return Checked(right=True, replacement=hash_password(password, salt, config))
    _make_up_for_cost(password, stored, salt, config)
    return Checked(right=True)


def is_phc(stored: str) -> bool:
    """Return whether this is an Argon2id PHC string."""
    return _PHC.fullmatch(stored) is not None


def is_eq2emulator_hash(stored: str) -> bool:
    """Return whether this is a hash of EQ2Emulator's account table.

    Source: docs/protocol/login.md#account.
    """
    return _SHA512.fullmatch(stored) is not None


def eq2emulator_hash(password: bytes) -> str:
    """Return EQ2Emulator's hash: SHA-512 as 128 lower-case hex digits, without salt."""
    return hashlib.sha512(password).hexdigest()


def _check_without_argon2(
    password: bytes, stored: str | None, salt: bytes, config: PasswordConfig
) -> Checked:
    # Made in every case, also for a wrong password: SHA-512 alone would be faster than Argon2 and
    # reveal the account.
    fresh = hash_password(password, salt, config)
    if stored is None or not is_eq2emulator_hash(stored):
        return Checked(right=False)
    # Constant time: a comparison that stops early shows how many letters are right.
    if not hmac.compare_digest(stored.lower(), eq2emulator_hash(password)):
        return Checked(right=False)
    return Checked(right=True, replacement=fresh)


def _make_up_for_cost(password: bytes, stored: str, salt: bytes, config: PasswordConfig) -> None:
    """Spend the time that a hash of lower cost saved; Argon2's time grows with KiB times passes."""
    memory, passes, _ = _parameters(stored) or (0, 0, 0)
    missing = config.memory_cost * config.iterations - memory * passes
    # Argon2 refuses less than 8 KiB for each lane.
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
    """A cache of verified passwords: one for each of `most` accounts, for `lifetime` seconds."""

    __slots__ = ("_entries", "_key", "_lifetime", "_most")

    def __init__(self, key: bytes, lifetime: float, most: int) -> None:
        self._key = key
        self._lifetime = lifetime
        self._most = most
        self._entries: OrderedDict[int, tuple[bytes, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def remember(self, account: Account, password: bytes, now: Monotonic) -> None:
        """Add a verified password."""
        if self._lifetime <= 0:
            return
        # Replaced, not added: only the last verified password of an account is kept.
        self._entries[account.id] = (self._hash(account, password), now + self._lifetime)
        self._entries.move_to_end(account.id)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def check(self, account: Account, password: bytes, now: Monotonic) -> bool | None:
        """Return whether the cached password of the account is this one; None without a cached one.

        False does not mean that the password is wrong: it may have changed.
        """
        entry = self._entries.get(account.id)
        if entry is None:
            return None
        known, expires = entry
        if now >= expires:
            del self._entries[account.id]
            return None
        # Constant time, as for the stored hash.
        return hmac.compare_digest(known, self._hash(account, password))

    def _hash(self, account: Account, password: bytes) -> bytes:
        stored = account.password.encode()
        # The length comes first, so that no other pair of hash and password has the same bytes.
        head = len(stored).to_bytes(4, "big")
        # BLAKE2's own keyed mode takes a tenth of the time that OpenSSL needs to set up an HMAC.
        return blake2b(head + stored + password, key=self._key, digest_size=32).digest()
