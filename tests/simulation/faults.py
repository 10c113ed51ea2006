"""The faults of a run, drawn from its seed.

Each is drawn from its own number, so that leaving one out does not change the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.simulation.network import Weather
from tests.simulation.plan import FAULTS

if TYPE_CHECKING:
    from tests.simulation.people import Person
    from tests.simulation.plan import Plan
    from tests.simulation.servers import SimulatedServer
    from tests.simulation.simulation import Simulation

PER_MINUTE = 1.2
"""Faults that begin in a minute, on average."""


@dataclass
class FaultPlan:
    """One fault: its kind, its time, and how long it lasts."""

    number: int
    kind: str
    at: float
    lasts: float
    seed: str
    has_begun: bool = False

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

    _undo: Callable[[], object] = lambda: None


Undo = Callable[[], object]


def _nothing() -> None:
    pass


def drawn(plan: Plan, simulation: Simulation) -> list[FaultPlan]:
    """Return the faults of a plan, in the order of their numbers."""
    del simulation
    if not plan.faults:
        return []
    found = []
    for number in range(round(plan.minutes * PER_MINUTE)):
        seed = f"{plan.seed} fault {number}"
        chance = random.Random(seed)
        kind = chance.choice(FAULTS)
        at = 12.0 + max(1.0, plan.seconds - 20.0) * chance.random()
        lasts = chance.choice((1.0, 4.0, 10.0, 25.0, 60.0)) * (0.5 + chance.random())
        if kind in plan.faults:
            found.append(FaultPlan(number, kind, at, lasts, f"{seed} does"))
    return found


def _worlds(simulation: Simulation, chance: random.Random) -> SimulatedServer | None:
    up = [one for one in simulation.servers if one.is_up]
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


KINDS: dict[str, Callable[[Simulation, random.Random, FaultPlan], Undo]] = {
    "loss": _loss,
    "cut": _cut,
    "ports": _ports,
    "clients": _clients,
}
for _later in ("kill", "power", "stop", "still", "drain", "database", "answers", "slow", "full",
               "bus", "clock", "reload", "ban", "rank"):  # fmt: skip
    KINDS.setdefault(_later, lambda _simulation, _chance, _fault: _nothing)
