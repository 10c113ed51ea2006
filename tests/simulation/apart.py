"""Runs of the simulation in processes of their own, which are copies of a process that is ready.

What is the same in all runs is read and made once: modules, structs, tables of opcodes, the empty
databases and the content. A process ends with its run, and removes nothing from its memory.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from tests.simulation.plan import MOST_VERSIONS, Plan
from tests.simulation.simulation import Report, simulate

FIRST_RUNS = tuple(
    Plan(seed, minutes=0.1, clients=MOST_VERSIONS, nodes=1, faults=()) for seed in (0, 16, 25)
)
"""Short runs with all versions of clients, after which a process has read what runs read."""


def simulate_apart(
    plans: Sequence[Plan], processes: int = 1, *, keeps_trace: bool = False
) -> Iterator[Report]:
    """Carry out each plan in a process of its own, and yield the reports as they come.

    `processes` of them are carried out at the same time. One plan alone, or a system that cannot
    copy a process, needs no other process.
    """
    if len(plans) < 2 or not hasattr(os, "fork"):
        for plan in plans:
            yield simulate(plan, keeps_trace=keeps_trace)
        return
    for first in FIRST_RUNS:
        simulate(first)
    # The collector would write into the memory that the processes share.
    gc.freeze()
    running: dict[Connection, tuple[Plan, ForkProcess]] = {}
    left = list(reversed(plans))
    try:
        while left or running:
            while left and len(running) < processes:
                plan = left.pop()
                ours, process = _begun(plan, keeps_trace=keeps_trace)
                running[ours] = plan, process
            for connection in wait([*running]):
                assert isinstance(connection, Connection)
                yield _ended(connection, *running.pop(connection))
    finally:
        for connection, (_, process) in running.items():
            process.kill()
            process.join()
            connection.close()
        gc.unfreeze()


def _begun(plan: Plan, *, keeps_trace: bool) -> tuple[Connection, ForkProcess]:
    """Begin a run; return where its report arrives, and its process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_carry_out, args=(plan, theirs, keeps_trace))
    process.start()
    theirs.close()
    return ours, process


def _carry_out(plan: Plan, connection: Connection, keeps_trace: bool) -> None:
    connection.send(simulate(plan, keeps_trace=keeps_trace, ends_process=True))
    connection.close()
    # Nothing has to be removed in order: the system takes the memory back.
    os._exit(0)


def _ended(connection: Connection, plan: Plan, process: ForkProcess) -> Report:
    """Return the report of a process that has sent one, or has ended."""
    report = Report(plan, ["process at the end: it has ended without a report"])
    with suppress(EOFError):
        report = connection.recv()
    connection.close()
    process.join()
    return report
