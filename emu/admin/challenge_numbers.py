"""What the responders ask of challenges."""

from __future__ import annotations

from typing import Final, Protocol

from emu.times import Monotonic

ANY_PORT: Final = 0
"""Challenges of OGP and A2S hold for an address, whatever port it asks from."""


class ChallengeNumbers(Protocol):
    """Numbers that prove an address; `emu.limits.challenges.Challenges` is one."""

    def issue(self, host: str, port: int, now: Monotonic) -> int:
        """Return the number for an address, never 0."""

    def accepts(self, number: int, host: str, port: int, now: Monotonic) -> bool:
        """Say whether a number was given to this address lately."""
