"""Many clients at once: the behavior of each, and the measurements of all.

The Twisted side is `emu.net.client.swarm`. A `Bot` handles the events of its client and its own
timer. Randomness comes from a function that returns a number from 0 to 1.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from emu.client.hunting import THINK, Hunter
from emu.client.world import Place, WorldClientCore, WorldPhase
from emu.client.world.events import Appeared, Updated, Vanished, WorldEvent
from emu.client.world.surroundings import RUNNING_SPEED, place_of
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world_stream.ghosts import POSITION


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the value that `percent` of all values do not exceed, or None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    # 100 percent would otherwise select the place behind the last value.
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class SwarmFigures:
    """Counters and measurements in seconds; `report` converts them to milliseconds."""

    clients: int
    logins_ok: int = 0
    logins_failed: int = 0
    lost: int = 0
    """Sessions that ended before their client left."""
    logins: list[float] = field(default_factory=list)
    """From the first datagram to the login server to standing in the zone."""
    entries: list[float] = field(default_factory=list)
    """From showing the world key to the end of the initial messages."""
    round_trips: list[float] = field(default_factory=list)
    """Smoothed round trips to the world, sampled while the clients play."""
    delays: list[float] = field(default_factory=list)
    """From a step of one client to its arrival at another."""
    packets: int = 0
    """Datagrams of all world sessions, both directions."""
    bytes: int = 0
    blows: int = 0
    """Blows that the clients have dealt and taken."""
    kills: int = 0
    deaths: int = 0
    messages: int = 0
    """Application messages received while packets and bytes were counted."""
    seconds: float = 0.0
    """How long packets and bytes were counted."""

    def report(self) -> dict[str, float | int | None]:
        """Return the figures for programs: counts, milliseconds, and rates per second.

        A percentile without values is None.
        """
        # Without a measurement the counters are zero as well, so any divisor will do.
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
            "sight_ms_p50": _milliseconds(self.delays, 50),
            "sight_ms_p99": _milliseconds(self.delays, 99),
            "packets_per_s": round(self.packets / span, 1),
            "bytes_per_s": round(self.bytes / span, 1),
            "messages": self.messages,
            "blows": self.blows,
            "kills": self.kills,
            "deaths": self.deaths,
        }


def _milliseconds(values: Sequence[float], percent: float) -> float | None:
    value = percentile(values, percent)
    return None if value is None else round(value * 1000, 2)


REMEMBERED: Final = 32
"""Steps that a bot keeps for the bots that watch it: eight seconds of them."""
SAME_PLACE: Final = 0.01
"""Greatest distance, in world units, between the sent and the received place of one step."""


@dataclass(frozen=True, slots=True)
class BotHabits:
    """The habits of bots. Times in seconds, distances in world units."""

    radius: float = 20.0
    """How far a bot walks from where it entered."""
    speed: float = RUNNING_SPEED
    rest: float = 0.5
    """Longest time between two walks."""
    talk: float = 20.0
    """Average time between two chat messages; 0 is never."""
    fights: bool = False
    """Whether bots fight creatures within `radius` instead of walking at random."""


class Bot:
    """The behavior of one client of a swarm in a zone."""

    __slots__ = (
        "_chance", "_habits", "_home", "_steps", "_talk_at", "_walk_at", "_watched",
        "_watched_ghost", "core", "delays", "hunter",
    )  # fmt: skip

    def __init__(
        self, core: WorldClientCore, habits: BotHabits, chance: Callable[[], float], now: Monotonic
    ) -> None:
        """Begin at the client's place."""
        self.core = core
        self._habits = habits
        self._chance = chance
        self._home = core.place
        self._steps: deque[tuple[float, Place]] = deque(maxlen=REMEMBERED)
        # Random first times, so that the bots do not all act in the same moment.
        self._walk_at = now + habits.rest * chance()
        self._talk_at = now + habits.talk * chance() if habits.talk else math.inf
        self.hunter = Hunter(core, habits.radius) if habits.fights else None
        """Its fights; None if it walks at random."""
        self._watched: Bot | None = None
        self._watched_ghost: int | None = None
        self.delays: list[float] = []
        """Seconds from each step of the watched bot to its arrival here."""

    def watch(self, other: Bot) -> None:
        """Measure how long the steps of another bot take to arrive here."""
        self._watched = other
        seen = self.core.surroundings
        self._watched_ghost = seen.find(other.core.character) if seen is not None else None

    # Time.

    def get_timer(self) -> Monotonic:
        """Return when `handle_timer` is due."""
        return Monotonic(min(self._walk_at, self._talk_at))

    def handle_timer(self, now: Monotonic) -> None:
        """Walk or talk, if it is time."""
        if self.core.phase is not WorldPhase.STANDING:
            # While the zone changes nothing can be sent; the bot tries again in a second.
            self._walk_at = now + 1.0
            self._talk_at = max(self._talk_at, now + 1.0)
            return
        if now >= self._walk_at:
            if self.hunter is None:
                self._walk(now)
            else:
                self._walk_at = now + THINK * (0.5 + self._chance())
                self.hunter.think(now)
        if now >= self._talk_at:
            # 0.5 to 1.5 times the setting, so that the setting is the average.
            self._talk_at = now + self._habits.talk * (0.5 + self._chance())
            self._talk()

    def stepped(self, now: Monotonic) -> None:
        """Store the client's own place; call it after the client's timer was handled."""
        place = self.core.place
        # A bot that stands still stores nothing, so each stored place has one time.
        if not self._steps or self._steps[-1][1] != place:
            self._steps.append((now, place))

    def _walk(self, now: Monotonic) -> None:
        habits, home = self._habits, self._home
        angle = math.tau * self._chance()
        # The square root spreads the goals evenly over the circle; without it they crowd at its
        # center.
        way = habits.radius * math.sqrt(self._chance())
        goal = Place(home.x + way * math.cos(angle), home.y, home.z + way * math.sin(angle))
        try:
            self.core.walk_to(*goal[:3], now, habits.speed)
        except CommandError:
            self._walk_at = math.inf  # It is unknown how this version walks.
            return
        needs = self.core.place.distance_to(goal) / habits.speed
        self._walk_at = now + needs + habits.rest * self._chance()

    def _talk(self) -> None:
        try:
            self.core.command(f"/say I am {self.core.character}")
        except CommandError:
            self._talk_at = math.inf  # The world does not have the command.

    # Received steps.

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        if self.hunter is not None:
            self.hunter.handle_event(event)
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
        """Find the step that was received; the latest at its place counts."""
        seen = self.core.surroundings
        if position is None or seen is None or self._watched is None:
            return
        place = place_of(seen.part_fields(POSITION, position))
        for moment, step in reversed(self._watched._steps):  # noqa: SLF001  # its own kind
            if step.distance_to(place) < SAME_PLACE:
                self.delays.append(now - moment)
                return
