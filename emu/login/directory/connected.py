"""A world that is connected, and the link by which it is."""

from __future__ import annotations

from typing import Protocol

from emu.link.messages import LinkMessage
from emu.login.directory.pending import PendingAnswers
from emu.model import RegisteredWorld, WorldEntry
from emu.times import Monotonic


class WorldLink(Protocol):
    """One link to a world, as the directory uses it; what it sends leaves by itself."""

    @property
    def address(self) -> str:
        """The world's IP address."""

    @property
    def closed(self) -> bool:
        """True once the link is over."""

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; does nothing on a closed link."""

    def accept(self, now: Monotonic) -> None:
        """Let the world in."""

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send a fatal error and end the link."""

    def close(self, reason: str, now: Monotonic) -> None:
        """End the link without a word."""


class ConnectedWorld:
    """A world that is registered and connected."""

    __slots__ = ("creates", "entry", "link", "plays", "recorded_at", "status", "world")

    def __init__(
        self, link: WorldLink, world: RegisteredWorld, entry: WorldEntry, limit: int
    ) -> None:
        self.link = link
        self.world = world
        self.entry = entry
        self.status = 0
        self.recorded_at = float("-inf")
        self.plays: PendingAnswers[tuple[int, int]] = PendingAnswers(limit)
        self.creates: PendingAnswers[int] = PendingAnswers(limit)
