"""The check keys of an endpoint, handed out without being remembered.

Sources: docs/protocol/transport.md#check, docs/protocol/transport.md#setup.

`KeyedCheckKeys` makes them of the address and a secret, as SYN cookies are made: whoever shows one
has received what was sent to that address, and the endpoint need not have kept a word about it.
`FixedCheckKey` gives everybody the same, as EQ2Emulator does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from hashlib import blake2b
from typing import Final, Protocol

from emu.times import Monotonic

_KEY_SIZE: Final = 4
_SECRET_SIZE: Final = 16


class CheckKeys(Protocol):
    """What an endpoint asks for check keys."""

    @property
    def are_public(self) -> bool:
        """Whether strangers know them, so that a valid check proves nothing about the sender."""

    def current(self, address: Hashable, max_length: int, before: int, now: Monotonic) -> int:
        """Return the key (u32) for a SessionRequest of an address.

        `max_length` is the one that is answered, `before` the key of the session that the address
        has, 0 for none: the two never have the same.
        """

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield every key that `current` may have returned for the same lately."""


class FixedCheckKey:
    """One key for all."""

    are_public = True

    def __init__(self, key: int) -> None:
        self._key = key

    def current(self, _address: Hashable, _max_length: int, _before: int, _now: Monotonic) -> int:
        """Return the key."""
        return self._key

    def accepted(
        self, _address: Hashable, _max_length: int, _before: int, _now: Monotonic
    ) -> Iterator[int]:
        """Yield the key."""
        yield self._key


class KeyedCheckKeys:
    """A keyed hash of the address; the secret changes every `lifetime` seconds.

    The secret before the current one is still accepted. `random_bytes(count)` must be
    unpredictable.
    """

    are_public = False

    def __init__(self, random_bytes: Callable[[int], bytes], lifetime: float) -> None:
        self._random_bytes = random_bytes
        self._lifetime = lifetime
        self._secret = self._earlier = b""
        self._changes_at = 0.0

    def current(self, address: Hashable, max_length: int, before: int, now: Monotonic) -> int:
        """Return the key under the current secret."""
        if not self._secret or now >= self._changes_at:
            self._change_secret(now)
        return _keyed(self._secret, address, max_length, before)

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield the key under the current secret and the one before."""
        yield self.current(address, max_length, before, now)
        yield _keyed(self._earlier, address, max_length, before)

    def _change_secret(self, now: Monotonic) -> None:
        fresh = self._random_bytes(_SECRET_SIZE)
        is_recent = self._secret and now < self._changes_at + self._lifetime
        self._earlier = self._secret if is_recent else fresh
        self._secret = fresh
        self._changes_at = now + self._lifetime


def _keyed(secret: bytes, address: Hashable, max_length: int, before: int) -> int:
    text = f"{address!r} {max_length} {before}".encode()
    return int.from_bytes(blake2b(text, key=secret, digest_size=_KEY_SIZE).digest(), "big")
