"""Many clients at once: what each of them does, and what all of them measured.

The Twisted side is `emu.net.client.swarm`.

Sans-IO: it lives from the events of its client and from being asked what is due. Chance comes from
outside, a function that returns a number from 0 to 1.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from emu.client.world import Place, WorldClientCore, WorldPhase
from emu.client.world.events import Appeared, Updated, Vanished, WorldEvent
from emu.client.world.surroundings import RUNNING_SPEED, place_of
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world_stream.ghosts import POSITION


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the value that so many percent of all do not exceed, None when there are none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class Figures:
    """Counters and measurements; seconds until they are reported as milliseconds."""

    clients: int
    logins_ok: int = 0
    logins_failed: int = 0
    lost: int = 0
    """Sessions that ended before their client wanted to leave."""
    logins: list[float] = field(default_factory=list)
    """From the first datagram to the login server to standing in the zone."""
    entries: list[float] = field(default_factory=list)
    """From showing the world's key to having been sent all that is near."""
    round_trips: list[float] = field(default_factory=list)
    """Smoothed round trips to the world, sampled while the clients play."""
    sights: list[float] = field(default_factory=list)
    """From a step that one client makes to another's being told of it."""
    packets: int = 0
    """Datagrams of all world sessions, both directions."""
    bytes: int = 0
    messages: int = 0
    """Application messages that came while packets and bytes were counted."""
    seconds: float = 0.0
    """How long packets and bytes were counted."""

    def report(self) -> dict[str, float | int | None]:
        """Return the figures for programs: counts, milliseconds, and what went by in a second.

        A percentile of nothing is None.
        """
        span = self.seconds or 1.0
        return {
            "clients": self.clients,
            "logins_ok": self.logins_ok,
            "logins_failed": self.logins_failed,
            "lost": self.lost,
            "login_ms_p50": _milliseconds(self.logins, 50),
            "login_ms_p99": _milliseconds(self.logins, 99),
            "entering_ms_p50": _milliseconds(self.entries, 50),
            "entering_ms_p99": _milliseconds(self.entries, 99),
            "rtt_ms_p50": _milliseconds(self.round_trips, 50),
            "rtt_ms_p99": _milliseconds(self.round_trips, 99),
            "sight_ms_p50": _milliseconds(self.sights, 50),
            "sight_ms_p99": _milliseconds(self.sights, 99),
            "packets_per_s": round(self.packets / span, 1),
            "bytes_per_s": round(self.bytes / span, 1),
            "messages": self.messages,
        }


def _milliseconds(values: Sequence[float], percent: float) -> float | None:
    value = percentile(values, percent)
    return None if value is None else round(value * 1000, 2)


REMEMBERED: Final = 32
"""Steps that a bot remembers for those who watch it: eight seconds of them."""
SAME_PLACE: Final = 0.01
"""World units between what was said and what was seen of the same step."""


@dataclass(frozen=True, slots=True)
class BotHabits:
    """What bots do. Times in seconds, distances in world units."""

    radius: float = 20.0
    """How far from where it came in a bot walks."""
    speed: float = RUNNING_SPEED
    rest: float = 0.5
    """How long it stands, at most, before it walks on."""
    talk: float = 20.0
    """How long, about, between two things it says; 0 is never."""


class Bot:
    """What one client of a swarm does while it stands in a zone."""

    __slots__ = (
        "_chance", "_habits", "_home", "_steps", "_talk_at", "_walk_at", "_watched",
        "_watched_ghost", "core", "sights",
    )  # fmt: skip

    def __init__(
        self, core: WorldClientCore, habits: BotHabits, chance: Callable[[], float], now: Monotonic
    ) -> None:
        """Begin where the client stands."""
        self.core = core
        self._habits = habits
        self._chance = chance
        self._home = core.place
        self._steps: deque[tuple[float, Place]] = deque(maxlen=REMEMBERED)
        self._walk_at = now + habits.rest * chance()
        self._talk_at = now + habits.talk * chance() if habits.talk else math.inf
        self._watched: Bot | None = None
        self._watched_ghost: int | None = None
        self.sights: list[float] = []
        """Seconds from each step of the watched one to its being seen here."""

    def watch(self, other: Bot) -> None:
        """Measure how long it takes to see another's steps."""
        self._watched = other
        seen = self.core.surroundings
        self._watched_ghost = seen.find(other.core.character) if seen is not None else None

    # time

    def get_timer(self) -> Monotonic:
        """Return when `handle_timer` wants to be called."""
        return Monotonic(min(self._walk_at, self._talk_at))

    def handle_timer(self, now: Monotonic) -> None:
        """Walk on, or say something."""
        if self.core.stage is not WorldPhase.STANDING:
            self._walk_at = now + 1.0
            self._talk_at = max(self._talk_at, now + 1.0)
            return
        if now >= self._walk_at:
            self._walk(now)
        if now >= self._talk_at:
            self._talk_at = now + self._habits.talk * (0.5 + self._chance())
            self._talk()

    def stepped(self, now: Monotonic) -> None:
        """Remember where the client says it is; to be called when its time was handled."""
        place = self.core.place
        if not self._steps or self._steps[-1][1] != place:
            self._steps.append((now, place))

    def _walk(self, now: Monotonic) -> None:
        habits, home = self._habits, self._home
        angle = math.tau * self._chance()
        way = habits.radius * math.sqrt(self._chance())
        goal = Place(home.x + way * math.cos(angle), home.y, home.z + way * math.sin(angle))
        try:
            self.core.walk_to(*goal[:3], now, habits.speed)
        except CommandError:
            self._walk_at = math.inf  # nobody knows how its version walks
            return
        needs = self.core.place.distance_to(goal) / habits.speed
        self._walk_at = now + needs + habits.rest * self._chance()

    def _talk(self) -> None:
        try:
            self.core.command(f"/say I am {self.core.character}")
        except CommandError:
            self._talk_at = math.inf  # a world without the command

    # sight

    def take(self, event: WorldEvent, now: Monotonic) -> None:
        """Take what happened to the client."""
        if self._watched is None:
            return
        match event:
            case Updated(_, entries):
                for entry in entries:
                    if entry.ghost == self._watched_ghost and entry.part == POSITION:
                        self._see(entry.now, now)
            case Appeared(index, name) if name == self._watched.core.character:
                self._watched_ghost = index
            case Vanished(index) if index == self._watched_ghost:
                self._watched_ghost = None

    def _see(self, position: bytes | None, now: Monotonic) -> None:
        """Find the step that was seen; the latest at its place counts."""
        seen = self.core.surroundings
        if position is None or seen is None or self._watched is None:
            return
        place = place_of(seen.part_fields(POSITION, position))
        for moment, step in reversed(self._watched._steps):  # noqa: SLF001  # its own kind
            if step.distance_to(place) < SAME_PLACE:
                self.sights.append(now - moment)
                return
