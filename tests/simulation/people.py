"""The people who play: each has an account, a character, and client programs.

A person acts by the weights of `tests.simulation.acts.ACTS`. It writes down what the server has
confirmed, so that an auditor can look whether that is stored.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Coroutine, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from twisted.python.failure import Failure

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import ClientWorldMessages, WorldPhase
from emu.client.world.events import (
    DeathSeen,
    GroupOffered,
    GuildOffered,
    Heard,
    LineShown,
    RevivalOffered,
    WorldEvent,
)
from emu.commands import Reply
from emu.errors import EmuError
from emu.net.client.swarm import character_name
from emu.net.client.world_connection import ClientWorldConnection, enter_world, world_messages
from emu.net.scheduler import run
from emu.session import Session
from emu.world.actors.player import Player
from emu.world.commands.context import NOT_STORED
from tests.simulation.network import SimulatedReactor

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

PASSWORD = "secret"  # of simulated people
RESULT = re.compile(r"You (created|receive|loot|buy|sell|gain|bought|sold)|Recipe: |Your share")
"""Lines after which a process is killed now and then: coins or things have moved, or will."""
STEP = 12.0
"""Seconds that a client waits for each step."""


@cache
def messages_of(version: int) -> ClientWorldMessages:
    """Return the messages of a version; they are the same for all clients."""
    return world_messages(version)


class Confirmed:
    """What the server has confirmed to one person; None is a request without an answer yet."""

    PATTERNS = (
        (re.compile(r"(\w+) is your friend now\."), "friend", True),
        (re.compile(r"(\w+) is not your friend any more\."), "friend", False),
        (re.compile(r"(\w+) is ignored now\."), "ignored", True),
        (re.compile(r"(\w+) is not ignored any more\."), "ignored", False),
    )
    SENT = re.compile(r"Your letter to (\w+) is sent\.")
    TAKEN = re.compile(r"You take (.+) out of the letter\.")

    def __init__(self) -> None:
        self.facts: dict[tuple[str, str], bool | None] = {}
        self.letters: dict[str, bool | None] = {}
        """Subjects of letters; a subject is sent once."""
        self._last: tuple[str, str] | None = None
        self._asked: Counter[tuple[str, str]] = Counter()
        """Requests without an answer."""
        self.changes = 0
        """Raised when a fact may be another one than it was."""
        self.letter_on_way = ""
        self.has_character = False

    def asks(self, kind: str, about: str) -> None:
        """Note a request whose result is unknown until it is confirmed."""
        self.facts[kind, about] = None
        self._asked[kind, about] += 1
        self.changes += 1

    def begins(self) -> None:
        """Note that a client program begins: nobody reads the answers of the one before."""
        for about in +self._asked:
            self.facts[about] = None
        self._asked.clear()
        self.changes += 1

    def known(self) -> Iterator[tuple[str, str, bool]]:
        """Yield what was confirmed, if nothing else was asked about it since."""
        for (kind, about), value in self.facts.items():
            if value is not None and not self._asked[kind, about]:
                yield kind, about, value

    def read(self, text: str) -> bool:
        """Note what a line of the server confirms; return whether it confirms anything."""
        for pattern, kind, value in self.PATTERNS:
            found = pattern.fullmatch(text)
            if found is not None:
                self.facts[kind, found[1]] = value
                self._last = (kind, found[1])
                self._asked[self._last] = max(0, self._asked[self._last] - 1)
                return True
        if text == NOT_STORED and self._last is not None:
            # The line before it is no confirmation then.
            self.facts[self._last] = None
            self.changes += 1
        if self.SENT.fullmatch(text) and self.letter_on_way:
            self.letters[self.letter_on_way] = True
            self.letter_on_way, self._last = "", None
            return True
        return False


class ClientProgram:
    """One run of a client on a person's machine."""

    def __init__(self, person: Person, host: str, number: int) -> None:
        self.person = person
        self.reactor = SimulatedReactor(
            person.simulation.network, f"{person.name}-{number}", host, person.chance
        )
        self.reactor.fault = self._fault
        self.connection: ClientWorldConnection | None = None
        self.coroutine: Coroutine[Any, Any, None] | None = None
        self.is_over = False

    def _fault(self, error: BaseException) -> None:
        self.person.simulation.report(
            "clients", f"{self.person.name}: {type(error).__name__}: {error}"
        )

    @property
    def stands(self) -> bool:
        """Whether the character stands in a zone, as this client knows."""
        return (
            not self.is_over
            and not self.reactor.is_dead
            and self.connection is not None
            and self.connection.core.phase is WorldPhase.STANDING
        )

    def crash(self) -> None:
        """End at once, as a program that is killed."""
        self.is_over = True
        if not self.reactor.is_dead:
            self.reactor.die()
            self.person.simulation.network.close_all(self.reactor)


class Person:
    """One person; made by the simulation."""

    def __init__(self, simulation: Simulation, number: int) -> None:
        self.simulation = simulation
        self.number = number
        self.name = character_name("Sim", number)
        self.account = f"person{number}"
        versions = simulation.plan.versions
        self.version = versions[number % len(versions)]
        self.host = f"10.1.{number // 200}.{number % 200 + 1}"
        self.chance = random.Random(f"{simulation.plan.seed} person {number}")
        self.is_master: bool = number % 3 == 0
        self.confirmed = Confirmed()
        self.programs: list[ClientProgram] = []
        self.wants_to_play = True
        self.acts_enabled = True
        self.runs = 0
        self.letters = 0
        self.entered = 0
        self.acted: dict[str, int] = {}
        self.group_offer: bool = False
        self.guild_offer: bool = False
        self.fighting: tuple[str, int] | None = None
        """Name and index of the creature that the person fights; None when it is dead."""
        self.is_dead: bool = False
        self.killing = ""
        """The creature that the person removes now."""
        self.has_coins = False
        self.banned_since: float | None = None
        self.lines: list[str] = []
        """The last lines that the person was shown."""

    # -- programs ---------------------------------------------------------------------------------

    @property
    def program(self) -> ClientProgram | None:
        """The newest client program that is not over."""
        for one in reversed(self.programs):
            if not one.is_over:
                return one
        return None

    def plan_start(self, delay: float) -> None:
        """Start a client program after a while, if none runs then."""
        self.simulation.timeline.call(None, delay, self._start_if_none)

    def _start_if_none(self) -> None:
        if self.wants_to_play and self.program is None:
            self.start(self.host)

    def start(self, host: str) -> ClientProgram:
        """Start a client program."""
        self.runs += 1
        program = ClientProgram(self, host, self.runs)
        self.confirmed.begins()
        self.fighting, self.is_dead = None, False
        self.programs = [one for one in self.programs if not one.is_over]
        self.programs.append(program)
        work = self._play(program)
        program.coroutine = work
        self.simulation.coroutines.append(work)
        program.reactor.callLater(0.0, run, work, lambda failure: self._failed(program, failure))
        return program

    def _failed(self, program: ClientProgram, failure: Failure) -> None:
        program.crash()
        error = failure.value
        if not isinstance(error, EmuError):
            self.simulation.report("clients", f"{self.name}: {failure.getTraceback()}")
        else:
            self.note("failed", str(error))
        self.plan_start(2 + 15 * self.chance.random())

    # -- bans -------------------------------------------------------------------------------------

    def banned(self, reply: Reply) -> None:
        """Note that the account is banned; nobody may be in the world with it from now on."""
        if reply.ok:
            self.banned_since = since = self.simulation.timeline.now
            for delay in (2.0, 3.5, 6.0, 10.0, 20.0):
                self.simulation.timeline.call(None, delay, self.simulation.audit_ban, self, since)

    def unbanned(self) -> None:
        """Note that the ban is being lifted."""
        self.banned_since = None

    def note(self, *what: object) -> None:
        """Add a line to the trace."""
        self.simulation.timeline.note(self.name, *what)

    # -- playing ----------------------------------------------------------------------------------

    async def _play(self, program: ClientProgram) -> None:
        simulation = self.simulation
        reactor = program.reactor
        entrance = Entrance(
            Credentials(self.account, PASSWORD), self.name, create=True, version=self.version
        )
        self.note("logs in")
        connection = program.connection = await enter_world(
            reactor, simulation.login_host, simulation.login_port, entrance, timeout=STEP,
            on_event=lambda event: self._heard(program, event), messages=messages_of(self.version),
            make_session=lambda: Session.client(simulation.sessions),
        )  # fmt: skip
        connection.core.walker.interval = simulation.paces.step
        self.confirmed.has_character = True
        self.entered += 1
        zone = connection.core.zone
        self.note("stands in", zone.description if zone is not None else "?")
        while connection.core.phase is not WorldPhase.CLOSED and not program.is_over:
            await connection.pause(0.5 + simulation.plan.pace * self.chance.random())
            if program.is_over:
                return
            if program.stands and self.acts_enabled:
                await self._act(program, connection)
        self.note("left")
        await connection.stop()
        program.crash()
        self.plan_start(1 + 20 * self.chance.random())

    async def _act(self, program: ClientProgram, connection: ClientWorldConnection) -> None:
        act = self.simulation.acts.choose(self)
        if act is None:
            return
        self.acted[act.name] = self.acted.get(act.name, 0) + 1
        self.note("act", act.name)
        try:
            await act.work(self, program, connection)
        except EmuError as error:
            self.note("refused", act.name, str(error))

    def player(self) -> Player | None:
        """Return the person's player, as a process has it; None if the person is not there."""
        for server in self.simulation.worlds:
            world = server.server.world if server.server is not None else None
            found = world.parts.world.players.named(self.name) if world is not None else None
            if found is not None and found.is_online:
                return found
        return None

    def others(self) -> list[Person]:
        """Return the other people."""
        return [one for one in self.simulation.people if one is not self]

    def other(self) -> Person | None:
        """Return another person, by chance."""
        others = self.others()
        return self.chance.choice(others) if others else None

    def _read(self, text: str) -> None:
        self.lines = [*self.lines[-30:], text]
        if self.confirmed.read(text):
            self.simulation.has_confirmed(self)
        elif RESULT.match(text):
            self.simulation.has_shown(self)
        if self.killing and text.startswith(f"{self.killing} is gone until"):
            self.simulation.died(self.killing)
            self.killing = ""
        self.note("reads", text)

    def _heard(self, program: ClientProgram, event: WorldEvent) -> None:
        if isinstance(event, LineShown):
            self._read(event.text)
        elif isinstance(event, Heard):
            self.note("hears", event.channel, event.speaker, event.text)
        elif isinstance(event, DeathSeen):
            if self.fighting is not None and self.fighting[1] == event.dead:
                self.simulation.died(self.fighting[0])
                self.fighting = None
            self.note("sees a death", event.dead)
        elif isinstance(event, RevivalOffered):
            self.is_dead = True
            self.note("is dead")
        elif isinstance(event, GroupOffered):
            self.group_offer = True
            self.note("is invited to a group")
        elif isinstance(event, GuildOffered):
            self.guild_offer = True
            self.note("is invited to a guild")
