"""What one run of the simulation does, as a value that a command line can state."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, replace
from typing import Any

VERSIONS = (546, 561, 1208, 60114, 64753, 373, 562, 908, 1096, 57080)
"""The client versions of people."""
MOST_VERSIONS = 4
"""Client versions in one run: each version that sees a place has it encoded once more."""
FAULTS = (
    "loss", "cut", "ports", "clients", "kill", "power", "stop", "still", "drain", "database",
    "answers", "slow", "full", "bus", "clock", "reload", "ban", "rank", "versions",
)  # fmt: skip
"""The kinds of faults; `tests.simulation.faults` has what each does."""


@dataclass(frozen=True)
class Plan:
    """One run. The seed decides everything that is None."""

    seed: int
    minutes: float = 10.0
    clients: int = 12
    nodes: int | None = None
    """World nodes: 1 is one process on a SQLite file; more share the model of a server."""
    faults: tuple[str, ...] = FAULTS
    until: float | None = None
    """Stop after so many seconds, without the audits of the end."""
    pace: float = 12.0
    """Longest pause of a person between two acts, in seconds."""
    acts: tuple[str, ...] = ()
    """The names of what people do; nothing: everything."""
    plant: str = ""
    """The name of a planted fault."""
    without_people: frozenset[int] = frozenset()
    without_faults: frozenset[int] = frozenset()
    """Numbers of the drawn faults that do not happen."""

    @property
    def world_nodes(self) -> int:
        """Return the number of world nodes."""
        if self.nodes is not None:
            return self.nodes
        return random.Random(f"{self.seed} nodes").choice((1, 1, 2, 2, 3))

    @property
    def versions(self) -> tuple[int, ...]:
        """Return the versions of the clients, in the order of the people; these take turns."""
        return tuple(random.Random(f"{self.seed} versions").sample(VERSIONS, MOST_VERSIONS))

    @property
    def seconds(self) -> float:
        """Return how long people act."""
        return self.minutes * 60

    def words(self) -> str:
        """Return the command that repeats this run."""
        words = ["--seed", str(self.seed), "--minutes", f"{self.minutes:g}"]
        words += ["--clients", str(self.clients)]
        if self.nodes is not None:
            words += ["--nodes", str(self.nodes)]
        if self.faults != FAULTS:
            words += ["--faults", ",".join(self.faults) or "none"]
        if self.acts:
            words += ["--acts", ",".join(self.acts)]
        if self.plant:
            words += ["--plant", self.plant]
        for name, numbers in (
            ("--without-people", self.without_people), ("--without-faults", self.without_faults),
        ):  # fmt: skip
            if numbers:
                words += [name, ",".join(map(str, sorted(numbers)))]
        return "python -m tools.simulate " + shlex.join(words)

    def changed(self, **values: Any) -> Plan:
        """Return another plan."""
        return replace(self, **values)
