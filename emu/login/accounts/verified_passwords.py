"""Passwords that were right a short while ago, as hashes under a key of this process.

A hash covers the stored password too, so that a change of the password ends the memory of the old
one. Saves a player who comes back the slow hash; nothing of it is ever written.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from hashlib import blake2b

from emu.model import Account
from emu.times import Monotonic


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
