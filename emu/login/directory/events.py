"""What the world directory reports to its operator; worded like every other login event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from emu.login.events import LoginEvent


@dataclass(frozen=True, slots=True)
class WorldRegistered(LoginEvent):
    """A world server registered."""

    template: ClassVar[str] = "world {name} ({world_id}) registered from {address}, {version}"
    name: str
    world_id: int
    version: str


@dataclass(frozen=True, slots=True)
class WorldRefused(LoginEvent):
    """A world server may not register; `account` is the link account it named."""

    level: ClassVar[str] = "warn"
    template: ClassVar[str] = "world account {account} from {address} refused: {reason}"
    repeats: ClassVar[str] = "worlds refused"
    account: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorldLeft(LoginEvent):
    """A registered world's link is down."""

    template: ClassVar[str] = "world {name} ({world_id}) at {address} is gone: {reason}"
    name: str
    world_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class StoreFailed(LoginEvent):
    """The store failed for something about a world: a report of it is lost, or a check undone."""

    level: ClassVar[str] = "warn"
    template: ClassVar[str] = "the store failed for world {world_id} at {address}: {reason}"
    repeats: ClassVar[str] = "faults"
    world_id: int
    reason: str
