"""Log lines of the world for operators, and the faults that are confined to one actor.

A `WorldEvent` is one log line; events that the world's own code reacts to are in
`emu.world.events`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, TypeVarTuple

if TYPE_CHECKING:
    from emu.world.actors.player import Player


@dataclass(frozen=True, slots=True)
class WorldEvent:
    """An event; `str` and `line` return its log line."""

    level: ClassVar[str] = "info"

    @property
    def line(self) -> str:
        """Return one line for a log."""
        return str(self)


@dataclass(frozen=True, slots=True)
class PlayerEntered(WorldEvent):
    """A player stands in a zone."""

    name: str
    account_id: int
    address: str
    version: int
    zone: str

    def __str__(self) -> str:
        return f"{self.name} from {self.address}, client {self.version}, entered {self.zone}"


@dataclass(frozen=True, slots=True)
class PlayerLeft(WorldEvent):
    """A player has left the world, or is link-dead."""

    name: str
    zone: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} left {self.zone}: {self.reason}"


@dataclass(frozen=True, slots=True)
class EntryRefused(WorldEvent):
    """An account was refused entry because it enters too often."""

    account_id: int
    address: str
    reason: str

    def __str__(self) -> str:
        return f"account {self.account_id} from {self.address} may not enter: {self.reason}"


@dataclass(frozen=True, slots=True)
class Said(WorldEvent):
    """A player said something; `to` is the recipient of `/tell`."""

    level: ClassVar[str] = "debug"
    channel: str
    name: str
    text: str
    to: str = ""

    def __str__(self) -> str:
        to = f" to {self.to}" if self.to else ""
        return f"[{self.channel}] {self.name}{to}: {self.text}"


@dataclass(frozen=True, slots=True)
class PlayerRefused(WorldEvent):
    """A player's message was refused in a way that shows a fault of its client."""

    level: ClassVar[str] = "warn"
    name: str
    address: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} from {self.address}: {self.reason}"


@dataclass(frozen=True, slots=True)
class GroupsOrdered(WorldEvent):
    """Another process of the cluster orders the changes of groups from now on, or this one does."""

    process: str

    def __str__(self) -> str:
        return f"groups: the node {self.process} orders their changes"


@dataclass(frozen=True, slots=True)
class NotSaved(WorldEvent):
    """A character's state could not be stored; the server retries unless it is out of date."""

    level: ClassVar[str] = "warn"
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} is not saved: {self.reason}"


@dataclass(frozen=True, slots=True)
class NotHandled(WorldEvent):
    """A client sent a message without a handler for the first time.

    `message` is its name, empty if it has none; `begin` is its first bytes in hex.
    """

    name: str
    message: str
    address: str
    version: int
    opcode: int
    length: int
    begin: str

    def __str__(self) -> str:
        return (
            f"unknown message {self.opcode} {self.message or '(no name)'} of {self.name}"
            f" from {self.address}, client {self.version}: {self.length} bytes: {self.begin}"
        )


@dataclass(frozen=True, slots=True)
class Fault(WorldEvent):
    """A fault of the server that was confined to one actor; `error` is the exception.

    `task` is what the server was doing, one of a few fixed texts. `actor` is the name of the actor,
    empty if there is none.
    """

    level: ClassVar[str] = "error"
    task: str
    actor: str
    error: BaseException

    def __str__(self) -> str:
        whose = f" for {self.actor}" if self.actor else ""
        return f"{self.task} failed{whose}: {type(self.error).__name__}"


@dataclass(frozen=True, slots=True)
class ActorPaused(WorldEvent):
    """A zone pauses a spawn or a player's view because it failed repeatedly."""

    level: ClassVar[str] = "error"
    actor: str
    zone: str
    failures: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.actor} in {self.zone} failed {self.failures} times in a row and is paused"
            f" for {self.seconds:g} seconds"
        )


@dataclass(frozen=True, slots=True)
class ValueReplaced(WorldEvent):
    """A character's stored value is unusable; a default replaces it."""

    level: ClassVar[str] = "warn"
    name: str
    problem: str

    def __str__(self) -> str:
        return f"character {self.name}: {self.problem}; run emu doctor --repair"


@dataclass(frozen=True, slots=True)
class BehaviorSlowed(WorldEvent):
    """A behavior uses more of a core than it may; the server leaves out some of its calls."""

    level: ClassVar[str] = "warn"
    behavior: str
    whose: str
    share: float

    def __str__(self) -> str:
        return (
            f"behavior {self.behavior} of {self.whose} works more than"
            f" {self.share * 100:g} % of the time; some of its calls are left out"
        )


@dataclass(frozen=True, slots=True)
class BehaviorPaced(WorldEvent):
    """A behavior sends players more than it may; the rest is dropped and counted."""

    level: ClassVar[str] = "warn"
    behavior: str
    whose: str
    rate: float

    def __str__(self) -> str:
        return (
            f"behavior {self.behavior} of {self.whose} sends players more than"
            f" {self.rate:g} messages a second; the rest is dropped"
        )


@dataclass(frozen=True, slots=True)
class BehaviorFailed(WorldEvent):
    """A behavior could not be loaded, raised, or took too long; it is switched off."""

    level: ClassVar[str] = "error"
    behavior: str
    whose: str
    reason: str

    def __str__(self) -> str:
        if not self.behavior:
            return f"{self.whose}: not loaded: {self.reason}"
        return f"behavior {self.behavior} of {self.whose} is switched off: {self.reason}"


Ts = TypeVarTuple("Ts")


class Faults:
    """Faults of the server that are confined to one actor: counted and reported."""

    def __init__(self, report: Callable[[WorldEvent], None]) -> None:
        self.report = report
        self.counts: Counter[str] = Counter()
        """How many faults there were, by task."""
        self.drops: Counter[str] = Counter()
        """How many messages and calls had no effect, by reason."""

    def attempt(
        self,
        task: str,
        player: Player | None,
        call: Callable[[*Ts], object],
        *values: *Ts,
    ) -> bool:
        """Call a function; count and report what it raises, and return whether it returned.

        `task` names the work in the metric's label, so it contains no player's name. `player` is
        the player concerned, if there is one.
        """
        try:
            call(*values)
        except Exception as error:  # noqa: BLE001  # everything else must go on
            self.add_fault(task, player.name if player is not None else "", error)
            return False
        return True

    def add_fault(self, task: str, actor: str, error: Exception) -> None:
        """Count and report a fault; raise nothing."""
        self.counts[task] += 1
        try:
            self.report(Fault(task, actor, error))
        except Exception:  # noqa: BLE001  # there is no other place to report this
            # The metric shows it, so the fault is not lost without a trace.
            self.counts["reporting"] += 1


BUG_REPORTED: Final = "world.bug_report"
"""Topic on the bus: a player has written a bug report; the note has the fields of BugReport."""
