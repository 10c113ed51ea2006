"""How passwords are stored and compared: Argon2id PHC strings, EQ2Emulator's hashes until upgraded.

Pure functions over bytes; slow on purpose, so callers run them in a worker thread. Salt is an
argument. A password is the raw bytes that the client sent; the command line gives UTF-8.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, replace

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from emu.login.accounts.settings import PasswordConfig

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
