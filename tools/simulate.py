"""Simulates the whole server from seeds: login, nodes, database, bus, network and players.

    python -m tools.simulate --seed 7
    python -m tools.simulate --seeds 1..500 --clients 12 --minutes 10
    python -m tools.simulate --seed 7 --until 42.5 --trace
    python -m tools.simulate --seed 7 --shrink
    python -m tools.simulate --daily
    python -m tools.simulate --planted dead-strike,harvest-twice

A seed is one run, and the same run again gives the same hash. A run that fails prints the command
that repeats it.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime

from tests.simulation.acts import ACTS
from tests.simulation.apart import simulate_apart
from tests.simulation.plan import FAULTS, Plan
from tests.simulation.planted import PLANTS, cells
from tests.simulation.shrink import Shrinker
from tests.simulation.simulation import Report, simulate
from tests.support.flushing import skip_flushes

FIXED, NEW = 10, 30
"""Seeds of `--daily`."""
MOST_SEEDS = 500
"""Seeds in which a planted fault has to be found."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m tools.simulate", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    seeds = made.add_mutually_exclusive_group(required=True)
    seeds.add_argument("--seed", type=int, help="one run")
    seeds.add_argument("--seeds", metavar="A..B", type=_range, help="a run for each of them")
    seeds.add_argument(
        "--daily", metavar="DATE", nargs="?", type=date.fromisoformat,
        const=datetime.now(UTC).date(),
        help=f"{FIXED} fixed seeds and {NEW} of a day, today by default; short runs",
    )  # fmt: skip
    seeds.add_argument(
        "--planted", metavar="LIST", nargs="?", type=_plants, const=tuple(PLANTS),
        help="print the rows of planted faults, all by default: seeds tried, and players needed",
    )  # fmt: skip
    made.add_argument("--minutes", type=float, help="how long people act; 10 by default")
    made.add_argument("--clients", type=int, help="people who play; 12 by default")
    made.add_argument("--nodes", type=int, choices=(1, 2, 3, 4), help="nodes that run zones")
    made.add_argument(
        "--faults", type=_faults, default=FAULTS, metavar="LIST",
        help=f"kinds of faults, or none: {','.join(FAULTS)}",
    )  # fmt: skip
    made.add_argument(
        "--acts",
        type=_acts,
        default=(),
        metavar="LIST",
        help="what people do; everything by default",
    )
    made.add_argument("--processes", type=int, default=1, help="runs at the same time")
    made.add_argument("--until", type=float, metavar="T", help="stop after T virtual seconds")
    made.add_argument("--trace", action="store_true", help="print what happens")
    made.add_argument("--shrink", action="store_true", help="find a smaller run that fails")
    made.add_argument(
        "--plant", choices=tuple(PLANTS), default="", help="plant a fault; stop when it is found"
    )
    made.add_argument("--without-people", type=_numbers, default=frozenset(), metavar="LIST")
    made.add_argument("--without-faults", type=_numbers, default=frozenset(), metavar="LIST")
    return made


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first), int(last) + 1)


def _faults(text: str) -> tuple[str, ...]:
    chosen = () if text == "none" else tuple(text.split(","))
    for one in chosen:
        if one not in FAULTS:
            raise argparse.ArgumentTypeError(f"{one} is no kind of fault: {', '.join(FAULTS)}")
    return chosen


def _acts(text: str) -> tuple[str, ...]:
    known, chosen = {act.name for act in ACTS}, tuple(text.split(","))
    for one in chosen:
        if one not in known:
            raise argparse.ArgumentTypeError(f"{one} is no act: {', '.join(sorted(known))}")
    return chosen


def _plants(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    for one in chosen:
        if one not in PLANTS:
            raise argparse.ArgumentTypeError(f"{one} is no planted fault: {', '.join(PLANTS)}")
    return chosen


def _numbers(text: str) -> frozenset[int]:
    return frozenset(map(int, text.split(",")))


def daily_seeds(day: date) -> list[int]:
    """Return the seeds of a day: always the same ones, and new ones."""
    first = day.toordinal() * NEW
    return [*range(FIXED), *range(first, first + NEW)]


def plans(options: argparse.Namespace) -> list[Plan]:
    """Return the runs that a command line asks for."""
    minutes, clients = 10.0, 12
    if options.daily is not None:
        minutes, clients = 1.0, 4
        seeds = daily_seeds(options.daily)
    else:
        seeds = [options.seed] if options.seeds is None else [*options.seeds]
    minutes, clients = options.minutes or minutes, options.clients or clients
    return [
        Plan(
            seed, minutes, clients, options.nodes, options.faults, options.until,
            acts=options.acts, plant=options.plant, without_people=options.without_people,
            without_faults=options.without_faults,
        )
        for seed in seeds
    ]  # fmt: skip


def line_of(report: Report) -> str:
    """Return one line about a run."""
    return (
        f"seed {report.plan.seed}: {'right' if report.is_right else 'WRONG'},"
        f" {report.digest}, {report.plan.world_nodes} nodes, {report.entered} entries,"
        f" {sum(report.acts.values())} acts, {report.events} events,"
        f" {report.cpu_seconds:.2f} s of CPU time"
    )


def row_of(name: str) -> list[str]:
    """Find a planted fault, shrink the run that did, and return its row of the table."""
    for seed in range(1, MOST_SEEDS + 1):
        report = simulate(PLANTS[name].run.changed(seed=seed, plant=name))
        if not report.is_right:
            found = Shrinker(report).shrink().plan
            return [*cells(name), str(seed), str(found.clients - len(found.without_people))]
    return [*cells(name), f"not in {MOST_SEEDS}", "-"]


def read_words(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line."""
    return parser().parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the plans; return 1 if one of them found a problem."""
    options = read_words(arguments)
    if options.planted is not None:
        for name in options.planted:
            print(f"| {' | '.join(row_of(name))} |", flush=True)
        return 0
    failed = 0
    for report in simulate_apart(plans(options), options.processes, keeps_trace=options.trace):
        if options.trace:
            print("\n".join(report.trace))
        print(line_of(report), flush=True)
        if not report.is_right:
            failed += 1
            for problem in report.problems:
                print(f"  {problem}")
            print(f"  again: {report.plan.words()}", flush=True)
            if options.shrink:
                smaller = Shrinker(report, lambda words: print(f"  smaller: {words}", flush=True))
                found = smaller.shrink()
                print(f"  smallest, after {smaller.runs} runs: {found.plan.words()}")
                for problem in found.problems:
                    print(f"    {problem}")
            if options.plant:
                break
    return 1 if failed else 0


if __name__ == "__main__":
    # The simulated disk sees each flush, and the real one need not. All that is imported stays: to
    # look through it again and again would take a fifth of the CPU time.
    skip_flushes()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.exit(main(sys.argv[1:]))
