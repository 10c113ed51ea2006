"""Writes the list of the tests that `make quick` leaves out for their CPU time: tests/costly.txt.

``python -m tools.costly_tests TIMES...`` reads files of `pytest --cpu-times`. Several runs are
better than one: a collection of garbage makes any test expensive, but not in each run.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from tests.support.costly import LISTED, function_of

LIMIT = 3.0
"""A listed test uses more than so many times the mean CPU time of all tests."""

HEADER = """\
# Tests that `make quick` leaves out, because each uses more than {limit:g} times the mean CPU time.
# Written by `python -m tools.costly_tests`; names of tests that are gone have no effect.
"""


def main() -> None:
    """Read the command line, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=Path, nargs="+", help="files of `pytest --cpu-times`")
    found = costly([read(path) for path in parser.parse_args().times])
    lines = "".join(f"{name}\n" for name in found)
    LISTED.write_text(HEADER.format(limit=LIMIT) + lines, encoding="utf-8")
    print(f"{len(found)} tests in {LISTED}")


def read(path: Path) -> dict[str, float]:
    """Return the CPU seconds of each test in a file of `pytest --cpu-times`."""
    lines = (line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: float(seconds) for seconds, name in lines}


def costly(runs: list[dict[str, float]]) -> list[str]:
    """Return the functions whose cases use too much in each run that has them, in order.

    The tests are those of the first run. The cheapest function of a file stays, so that
    `make quick` tries every module; the tests of the project as a whole stay, because any change
    can break their rules.
    """
    least = {name: min(run[name] for run in runs if name in run) for name in runs[0]}
    limit = LIMIT * sum(least.values()) / len(least)
    cases = defaultdict(list)
    for name, seconds in least.items():
        if name.startswith("tests/test_"):
            continue
        cases[function_of(name)].append(seconds)
    by_file = defaultdict(list)
    for function, seconds_of in cases.items():
        by_file[function.partition("::")[0]].append((sum(seconds_of) / len(seconds_of), function))
    return sorted(
        function
        for functions in by_file.values()
        for seconds, function in sorted(functions)[1:]
        if seconds > limit
    )


if __name__ == "__main__":
    main()
