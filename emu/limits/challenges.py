"""Challenges: numbers that prove that somebody receives what is sent to its address.

Whoever asks is given a number, and asks again with it; only then may an answer be larger than its
question. Nothing is kept for those who ask: the number is made of a secret, the address and the
time, so a flood of invented addresses leaves nothing behind.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from emu.times import Monotonic

PERIOD: Final = 30.0
"""Seconds for which one number is given; it is taken in this period and the next."""
ANY_PORT: Final = 0
"""For challenges that hold for an address, whatever port it asks from."""
_BITS: Final = 0x7FFFFFFF
"""Numbers have 31 bits: some clients read them signed, and take a negative one for a failure."""


class Challenges:
    """Gives and takes numbers of 31 bits, never 0."""

    __slots__ = ("_begun",)

    def __init__(self, secret: bytes) -> None:
        """`secret` are 16 to 64 random bytes that nobody else knows."""
        # What all numbers of one period have in common is digested once.
        self._begun = lru_cache(maxsize=4)(
            lambda period: blake2b(b"%d " % period, key=secret, digest_size=4)
        )

    def issue(self, host: str, port: int, now: Monotonic) -> int:
        """Return the number for an address, from 1 to 0x7FFFFFFF."""
        return self._number(host, port, int(now // PERIOD))

    def accepts(self, number: int, host: str, port: int, now: Monotonic) -> bool:
        """Say whether a number was given to this address lately."""
        period = int(now // PERIOD)
        return number == self._number(host, port, period) or number == self._number(
            host, port, period - 1
        )

    def _number(self, host: str, port: int, period: int) -> int:
        digest = self._begun(period).copy()
        digest.update(f"{host} {port}".encode())
        return int.from_bytes(digest.digest(), "little") & _BITS or 1
