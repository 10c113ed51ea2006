"""The five paths of `tools.bench.hops`: which turns of the server belong to each, and the aims."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from tools.bench.hops_server import Turn

STEP_IN = "step, to world state"
STEP_OUT = "step, to observer"
SAY = "say"
KICK = "RCON kick"
LOGIN = "login"
AIMS = {
    STEP_IN: (20, None),
    STEP_OUT: (20, None),
    SAY: (25, None),
    KICK: (25, None),
    LOGIN: (45, 600),
}
"""Files, and calls where there is an aim for them."""
ACTOR, WATCHER, VICTIM, VISITOR = range(4)
"""Numbers of the accounts and characters that the players use."""
PASSWORD = "sekret"
SETTLE = 1.0
"""Seconds after which everything is acknowledged and stored."""
CALM = 3.0
"""Seconds for what the last player to enter brings to the others."""


@dataclass(frozen=True)
class Hops:
    """What one round of a path called: (file, function) in the order of the calls."""

    calls: list[tuple[str, str]]

    @property
    def visits(self) -> list[str]:
        """The files in order, each as often as a call enters it from another one."""
        return [file for file, _ in groupby(file for file, _ in self.calls)]

    @property
    def files(self) -> list[str]:
        """Each file once, in the order of the first call."""
        return list(dict.fromkeys(self.visits))

    @property
    def reentries(self) -> int:
        """How many times a call enters a file that was left before."""
        return len(self.visits) - len(self.files)


def step_in(turns: list[Turn]) -> Hops:
    """Take the turn that reads the datagram."""
    return hops_of(turns[: first_read(turns) + 1])


def step_out(turns: list[Turn]) -> Hops:
    """Take what follows that turn, up to the first turn that sends."""
    after = turns[first_read(turns) + 1 :]
    until = next((number for number, turn in enumerate(after) if turn["sent"]), None)
    if until is None:
        raise SystemExit("no datagram went to the observer")
    return hops_of(after[: until + 1])


def until_sent(turns: list[Turn]) -> Hops:
    """Take all up to the last turn that sends; after that, only acknowledgements arrive."""
    sent = [number for number, turn in enumerate(turns) if turn["sent"]]
    return hops_of(turns[: sent[-1] + 1] if sent else turns)


def hops_of(turns: list[Turn]) -> Hops:
    """Join turns."""
    return Hops([(file, name) for turn in turns for file, name in turn["calls"]])


def first_read(turns: list[Turn]) -> int:
    """Return the number of the first turn that reads a datagram."""
    for number, turn in enumerate(turns):
        if turn["received"]:
            return number
    raise SystemExit("the server read no datagram")


def files_of(turn: Turn) -> frozenset[str]:
    """Return the files of a turn."""
    return frozenset(file for file, _ in turn["calls"])
