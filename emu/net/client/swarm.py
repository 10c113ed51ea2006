"""Many clients on the reactor: they enter one after the other, play for a while, and leave."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final

from twisted.internet.defer import Deferred, DeferredList, gatherResults

from emu.client import Credentials
from emu.client.flow import STEP_TIMEOUT, Entrance
from emu.client.swarm import Bot, BotHabits, SwarmFigures
from emu.client.world import WorldPhase
from emu.client.world.events import WorldEvent
from emu.config import Address
from emu.errors import EmuError
from emu.net.client.world_connection import ClientWorldConnection, enter_world, world_messages
from emu.net.scheduler import Scheduler, Timed, Timer
from emu.opcodes import OpcodeTables
from emu.session import Session
from emu.times import Monotonic

SAMPLE: Final = 1.0
"""Seconds between two samples of round trips and counters."""
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class SwarmPlan:
    """The plan of a swarm. Times in seconds."""

    clients: int
    address: Address
    seconds: float
    user_prefix: str
    password: str = field(repr=False)
    first: int = 0
    """Number of the first client: two swarms with the same prefix can use different accounts."""
    versions: Sequence[int] = (546,)
    """Client versions, assigned in turn."""
    rate: float = 20.0
    """Clients that start to enter per second."""
    at_once: int = 20
    """Clients that may be entering at the same time."""
    watchers: int | None = None
    """Clients that decode ghosts; None is all of them."""
    timeout: float = STEP_TIMEOUT
    habits: BotHabits = field(default_factory=BotHabits)


class _Member:
    """One bot on its connection."""

    def __init__(self, swarm: Swarm, client: ClientWorldConnection, bot: Bot) -> None:
        self._swarm = swarm
        self.client = client
        self.bot = bot
        self.counted = (0, 0, 0)
        self._timer: Timer[Timed] = Timer(self)
        client.on_event = self._event
        self._arm()

    @property
    def is_over(self) -> bool:
        return self.client.core.phase is WorldPhase.CLOSED

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the bot's timer; called by the scheduler."""
        if not self.is_over:
            self.client.act(lambda _core: self.bot.handle_timer(now))
            self._arm()

    def rest(self) -> None:
        """Stop the bot's timer."""
        self._swarm.scheduler.drop(self._timer)

    def _arm(self) -> None:
        self._swarm.scheduler.arm(self._timer, self.bot.get_timer())

    def _event(self, event: WorldEvent) -> None:
        self.bot.handle_event(event, self._swarm.scheduler.now())

    def measure(self) -> tuple[float | None, int, int, int]:
        """Return the round trip; then packets, bytes and received messages since the last call."""
        statistics = self.client.core.session.statistics()
        packets = statistics.datagrams_received + statistics.datagrams_sent
        size = statistics.bytes_received + statistics.bytes_sent
        counted = (packets, size, statistics.messages_received)
        (one, two, three), self.counted = self.counted, counted
        return statistics.smoothed_round_trip, packets - one, size - two, counted[2] - three


class Swarm:
    """A swarm; `progress` is called with the figures every second and after every login."""

    def __init__(
        self,
        reactor: Any,
        plan: SwarmPlan,
        *,
        tables: OpcodeTables | None = None,
        progress: Callable[[SwarmFigures, int], None] = lambda _figures, _playing: None,
    ) -> None:
        self.scheduler = Scheduler(reactor)
        self.figures = SwarmFigures(plan.clients)
        self.failures: dict[str, int] = {}
        """Why clients could not enter, with their number."""
        self._reactor = reactor
        self._plan = plan
        self._progress = progress
        self._messages = {one: world_messages(one, tables) for one in set(plan.versions)}
        self._tables = tables
        self._members: list[_Member] = []
        self._chance = random.Random()  # noqa: S311  # where bots walk is no secret

    async def run(self) -> SwarmFigures:
        """Run the plan and return the measurements."""
        await self.come()
        await self.stay()
        await self.leave()
        return self.figures

    async def come(self) -> None:
        """Let all clients enter, and start their bots."""
        plan, coming = self._plan, list[Deferred[None]]()
        for number in range(plan.first, plan.first + plan.clients):
            # A server that is slow must not get more clients at the same time.
            waiting = [one for one in coming if not one.called]
            if len(waiting) >= plan.at_once:
                await DeferredList(waiting, fireOnOneCallback=True, fireOnOneErrback=True)
            coming.append(Deferred.fromCoroutine(self._enter(number)))
            await self.scheduler.pause(1 / plan.rate)
        await gatherResults(coming, consumeErrors=True)
        self._pair_watchers()

    async def _enter(self, number: int) -> None:
        plan = self._plan
        version = plan.versions[number % len(plan.versions)]
        entrance = Entrance(
            Credentials(f"{plan.user_prefix}{number:05}", plan.password),
            character_name(plan.user_prefix, number),
            create=True,
            version=version,
            interface=own_address(plan.address.host, number),
            reads_ghosts=plan.watchers is None or number - plan.first < plan.watchers,
        )
        began = self.scheduler.now()
        try:
            client = await enter_world(
                self._reactor, plan.address.host, plan.address.port, entrance,
                timeout=plan.timeout, messages=self._messages[version], tables=self._tables,
                make_session=Session.client,  # A crowd must not cost more than real clients.
            )  # fmt: skip
        except EmuError as error:
            self.figures.logins_failed += 1
            self.failures[str(error)] = self.failures.get(str(error), 0) + 1
        else:
            now = self.scheduler.now()
            self.figures.logins_ok += 1
            self.figures.logins.append(now - began)
            if client.core.entering is not None:
                self.figures.entries.append(client.core.entering)
            bot = Bot(client.core, plan.habits, self._chance.random, now)
            client.on_step = bot.stepped
            self._members.append(_Member(self, client, bot))
        self._report_progress()

    def _pair_watchers(self) -> None:
        """Let each client with ghosts watch the nearest other, which it receives."""
        for member in self._members:
            if member.client.core.surroundings is None:
                continue
            others = [one for one in self._members if one is not member]
            here = member.client.core.place
            if others:
                nearest = min(others, key=lambda one: here.distance_to(one.client.core.place))
                member.bot.watch(nearest.bot)

    async def stay(self) -> None:
        """Let the bots play for the planned time, and measure."""
        for member in self._members:
            member.measure()  # Start the counters anew.
        began = self.scheduler.now()
        end = began + self._plan.seconds
        while (now := self.scheduler.now()) < end:
            await self.scheduler.pause(min(SAMPLE, end - now))
            self._sample()
            self.figures.seconds = self.scheduler.now() - began
            self._report_progress()
        self.note_lost()

    def note_lost(self) -> None:
        """Count the sessions that have ended; call it before the clients leave."""
        self.figures.lost = sum(member.is_over for member in self._members)

    def _sample(self) -> None:
        figures = self.figures
        for member in self._members:
            trip, packets, size, messages = member.measure()
            figures.packets += packets
            figures.bytes += size
            figures.messages += messages
            # The last round trip of a session that has ended would be counted every second.
            if trip is not None and not member.is_over:
                figures.round_trips.append(trip)
            figures.delays += member.bot.delays
            member.bot.delays.clear()
        hunters = [one.bot.hunter for one in self._members if one.bot.hunter is not None]
        figures.blows = sum(one.blows + one.taken for one in hunters)
        figures.kills = sum(one.kills for one in hunters)
        figures.deaths = sum(one.deaths for one in hunters)

    async def leave(self) -> None:
        """Let all of them leave the world and close their sockets."""
        for member in self._members:
            member.rest()
        await gatherResults(
            # All at once: one by one, each would wait for the end of its session.
            [Deferred.fromCoroutine(member.client.leave()) for member in self._members],
            consumeErrors=True,
        )

    def _report_progress(self) -> None:
        self._progress(self.figures, sum(not member.is_over for member in self._members))


def character_name(prefix: str, number: int) -> str:
    """Return a name of letters only, as names must be: the prefix's, then the number's."""
    digits = ""
    # Four letters are enough for 456,976 clients.
    for _ in range(4):
        number, digit = divmod(number, len(LETTERS))
        digits = LETTERS[digit] + digits
    kept = "".join(letter for letter in prefix if letter.isascii() and letter.isalpha())
    return (kept[:10] + digits).capitalize()


def own_address(host: str, number: int) -> str:
    """Return the address that a client sends from; for a server on loopback, one of its own.

    Servers limit what one address may have, and clients of a swarm should not count as one.
    """
    try:
        is_loopback = ip_address(host).is_loopback and ":" not in host
    except ValueError:
        is_loopback = False
    return f"127.2.{number >> 8 & 255}.{number & 255}" if is_loopback else ""
