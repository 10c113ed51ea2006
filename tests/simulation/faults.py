"""The faults of a run, drawn from its seed.

Each is drawn from its own number, so that leaving one out does not change the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from emu.commands import Reply
from tests.simulation.network import Weather
from tests.simulation.plan import VERSIONS
from tests.simulation.servers import WORLD_PORT

if TYPE_CHECKING:
    from tests.simulation.people import Person
    from tests.simulation.plan import Plan
    from tests.simulation.servers import SimulatedServer
    from tests.simulation.simulation import Simulation

PER_MINUTE = 2.0
"""Faults that begin in a minute."""
OFTEN = {"kill": 3, "clients": 2, "database": 2}
"""How many times as often as the others some kinds are drawn."""
COMES_AFTER = 3.0
"""Seconds after a ban in which the person comes to the world who has a key from before it."""
FIRST_FAULT = 12.0
"""Seconds after which the first one may begin."""


Undo = Callable[[], object]


def _nothing() -> None:
    pass


@dataclass
class FaultPlan:
    """One fault: its kind, its time, and how long it lasts."""

    number: int
    kind: str
    at: float
    lasts: float
    seed: str
    has_begun: bool = False

    @property
    def ended(self) -> float:
        """The time of the end, in seconds since the beginning."""
        return self.at + self.lasts

    def __str__(self) -> str:
        return f"{self.number}: {self.kind} at {self.at:.1f} s for {self.lasts:.1f} s"

    def begin(self, simulation: Simulation) -> None:
        """Begin, and plan the end."""
        if simulation.is_healing:
            return
        self.has_begun = True
        simulation.timeline.note("fault", self)
        undo = KINDS[self.kind](simulation, random.Random(self.seed), self)
        self._undo = undo
        simulation.timeline.call(None, self.lasts, self.end, simulation)

    def end(self, simulation: Simulation) -> None:
        """End; a second call does nothing."""
        if self.has_begun:
            self.has_begun = False
            simulation.timeline.note("end of fault", self.number)
            self._undo()
            # What a report keeps of a fault has no hold of its run.
            self._undo = _nothing

    _undo: Callable[[], object] = _nothing


def drawn(plan: Plan) -> list[FaultPlan]:
    """Return the faults of a plan, in the order of their numbers."""
    if not plan.faults:
        return []
    found = []
    for number in range(round(plan.minutes * PER_MINUTE)):
        seed = f"{plan.seed} fault {number}"
        chance = random.Random(seed)
        kind = chance.choice([one for one in plan.faults for _ in range(OFTEN.get(one, 1))])
        # By the number alone: a shorter run has the first faults of a longer one.
        at = FIRST_FAULT + (number + chance.random()) * 60.0 / PER_MINUTE
        lasts = chance.choice((1.0, 4.0, 10.0, 25.0, 60.0)) * (0.5 + chance.random())
        found.append(FaultPlan(number, kind, at, lasts, f"{seed} does"))
    return found


def _server(simulation: Simulation, chance: random.Random) -> SimulatedServer | None:
    """Return a process that runs."""
    up = [one for one in simulation.servers if one.is_up and one.server is not None]
    return chance.choice(up) if up else None


# -- network --------------------------------------------------------------------------------------


def _loss(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    network = simulation.network
    network.usual = Weather(
        loss=0.25 * chance.random(), doubled=0.1 * chance.random(), late=0.3 * chance.random(),
        delay=0.01 + 0.2 * chance.random(),
    )  # fmt: skip

    def undo() -> None:
        network.usual = Weather()

    return undo


def _cut(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    if not simulation.people:
        return _nothing
    host = chance.choice(simulation.people).host
    which = chance.choice(("up", "down", "both"))
    simulation.network.weather[host] = Weather(is_up_cut=which != "down", is_down_cut=which != "up")
    return lambda: simulation.network.weather.pop(host, None)


def _ports(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    for person in simulation.people:
        if chance.random() < 0.5:
            simulation.network.change_port(person.host)
    return _nothing


def _clients(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Kill clients at any moment, also while they enter."""
    for person in simulation.people:
        if chance.random() < 0.4:
            simulation.timeline.call(None, 3.0 * chance.random(), _crash, person, chance.random())
    return _nothing


def _crash(person: Person, back: float) -> None:
    for program in person.programs:
        program.crash()
    person.note("is cut off by a crash")
    person.plan_start(1 + 30 * back)


def _versions(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Let people come back with a client of another version, while they are link-dead or inside."""
    for person in simulation.people:
        if chance.random() < 0.4:
            version, delay = chance.choice(VERSIONS), 3.0 * chance.random()
            simulation.timeline.call(None, delay, _other_client, person, version, chance.random())
    return _nothing


def _other_client(person: Person, version: int, back: float) -> None:
    person.version = version
    person.note("has a client of", version)
    if back < 0.5 and person.wants_to_play:
        # The earlier session goes on until this one takes its place.
        person.start(person.host)
    else:
        _crash(person, (back - 0.5) / 5)


# -- processes ------------------------------------------------------------------------------------


def _kill(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Kill a process before one of its next events; it is started again later."""
    if chance.random() < 0.5:
        return _when_confirmed(simulation, lambda server: server.kill())
    server = _server(simulation, chance)
    if server is None or server.reactor is None:
        return _nothing
    reactor = server.reactor
    server.is_kept_down = True

    def kill() -> None:
        if server.reactor is reactor:
            server.kill()

    reactor.kill_at = (reactor.events + chance.randint(0, 400), kill)

    def start() -> None:
        reactor.kill_at = None
        _start_again(simulation, server)

    return start


def _when_confirmed(simulation: Simulation, end: Callable[[SimulatedServer], object]) -> Undo:
    """End the process that shows a result next, as soon as a client reads that."""
    ended: list[SimulatedServer] = []

    def confirmed(server: SimulatedServer) -> None:
        simulation.on_confirmation = None
        ended.append(server)
        server.is_kept_down = True
        end(server)

    simulation.on_confirmation = confirmed

    def undo() -> None:
        simulation.on_confirmation = None
        for server in ended:
            _start_again(simulation, server)

    return undo


def _start_again(simulation: Simulation, server: SimulatedServer) -> None:
    server.is_kept_down = False
    simulation.start_server(server)


def _power(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Cut the power of a machine: files lose what was not flushed to the disk."""
    if chance.random() < 0.7:
        return _when_confirmed(simulation, lambda server: server.cut_power())
    server = _server(simulation, chance)
    if server is None:
        return _nothing
    server.is_kept_down = True
    server.cut_power()
    return partial(_start_again, simulation, server)


def _stop(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    server = _server(simulation, chance)
    if server is None:
        return _nothing
    server.is_kept_down = True
    # What cannot be stored at a stop goes into the spool.
    connect: Undo = _nothing
    if chance.random() < 0.5:
        connect = _disconnect(simulation, server)
        # The last deaths are not stored then.
        simulation.unsure_of_deaths()
    server.stop()

    def start() -> None:
        # A stop that is still under way is ended, as systemd does after its patience.
        server.kill()
        connect()
        _start_again(simulation, server)

    return start


def _still(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    server = _server(simulation, chance)
    if server is None or server.reactor is None:
        return _nothing
    reactor = server.reactor
    reactor.stand_still()
    return reactor.go_on


def _drain(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    nodes = [one for one in simulation.servers[1:] if one.is_up]
    if not nodes:
        return _nothing
    name = chance.choice(nodes).name
    simulation.console(f"drain {name}")
    return lambda: simulation.console(f"resume {name}")


# -- the database ---------------------------------------------------------------------------------


def _database(simulation: Simulation, chance: random.Random, fault: FaultPlan) -> Undo:
    """Let the server of the database be away, or let another program lock the file."""
    database = simulation.database
    if database is None:
        fault.lasts = min(fault.lasts, 8.0)
        return simulation.servers[0].lock_file()
    if chance.random() < 0.5:
        database.is_away = True
        return partial(setattr, database, "is_away", False)
    name = chance.choice(simulation.servers).name
    database.cut_off.add(name)
    return lambda: database.cut_off.discard(name)


def _disconnect(simulation: Simulation, server: SimulatedServer) -> Undo:
    """Let one process not reach its database."""
    database = simulation.database
    if database is None:
        return server.lock_file()
    database.cut_off.add(server.name)
    return lambda: database.cut_off.discard(server.name)


def _answers(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Break connections to the database, before a transaction and after its commit."""
    database = simulation.database
    if database is None:
        return _nothing
    database.breaks, database.loses = 0.1 * chance.random(), 0.3 * chance.random()

    def undo() -> None:
        database.breaks = database.loses = 0.0

    return undo


def _slow(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    server = _server(simulation, chance)
    if server is None or server.reactor is None:
        return _nothing
    machine = server.reactor.machine
    machine.slowness = chance.choice((0.1, 0.5, 2.0, 4.0))
    return partial(setattr, machine, "slowness", server.slowness)


def _full(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    return simulation.servers[0].fail_disk(chance)


# -- the rest -------------------------------------------------------------------------------------


def _bus(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    broker = simulation.broker
    if broker is None:
        return _nothing
    roll = chance.random()
    if roll < 0.3:
        broker.is_away = True
        return partial(setattr, broker, "is_away", False)
    if roll < 0.6:
        name = chance.choice(simulation.servers).name
        broker.cut_off.add(name)
        return lambda: broker.cut_off.discard(name)
    broker.loss, broker.doubled = 0.3 * chance.random(), 0.3 * chance.random()
    broker.late = 0.3 * chance.random()

    def undo() -> None:
        broker.loss = broker.doubled = broker.late = 0.0

    return undo


def _clock(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    server = _server(simulation, chance)
    if server is None or server.reactor is None:
        return _nothing
    reactor = server.reactor
    reactor.clock_error = chance.choice((-3600.0, -30.0, -1.0, 1.0, 30.0, 3600.0))
    # By such a clock the time of a return may have come, or an earlier death is a late one.
    simulation.deaths.clear()
    return partial(setattr, reactor, "clock_error", 0.0)


def _reload(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    server = _server(simulation, chance)
    if server is not None and server.server is not None:
        simulation.start_coroutine(server.server.reload())
    return _nothing


def _ban(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    """Ban an account while its person enters, or at another moment."""
    if not simulation.people:
        return _nothing
    person = chance.choice(simulation.people)
    at, way = 4.0 * chance.random(), (person.host, WORLD_PORT)
    if chance.random() < 0.5:
        _crash(person, 0.0)
        # Its next client has its key before the ban, and comes to the world after it.
        simulation.network.shut.add(way)
        simulation.timeline.call(None, at + COMES_AFTER, simulation.network.shut.discard, way)
    is_lifted = False

    def ban() -> None:
        if not is_lifted:
            simulation.console(f"account ban {person.account} 1h spam", banned)

    def banned(reply: Reply) -> None:
        # A slow database answers when the ban has been lifted already.
        if not is_lifted:
            person.banned(reply)

    def lift() -> None:
        nonlocal is_lifted
        is_lifted = True
        simulation.network.shut.discard(way)
        person.unbanned()
        simulation.console(f"account unban {person.account}")

    simulation.timeline.call(None, at, ban)
    return lift


def _rank(simulation: Simulation, chance: random.Random, _fault: FaultPlan) -> Undo:
    if not simulation.people:
        return _nothing
    person = chance.choice(simulation.people)
    rank = chance.choice(("player", "guide", "gamemaster", "admin"))
    simulation.console(f"character rank {person.name} {rank}")
    return _nothing


KINDS: Mapping[str, Callable[[Simulation, random.Random, FaultPlan], Undo]] = {
    "loss": _loss, "cut": _cut, "ports": _ports, "clients": _clients, "kill": _kill,
    "power": _power, "stop": _stop, "still": _still, "drain": _drain, "database": _database,
    "answers": _answers, "slow": _slow, "full": _full, "bus": _bus, "clock": _clock,
    "reload": _reload, "ban": _ban, "rank": _rank, "versions": _versions,
}  # fmt: skip
