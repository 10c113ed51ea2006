"""Measures the CPU time of each test, and names the tests that use too much in a report.

CPU time says more than a clock: it hardly changes with the machine's other work. It is that of the
process and of all processes that a test started, whether these have ended or still run. What a
shared fixture takes counts for the first test that uses it. A database server that runs anyway is
not counted. What a process uses during a short test counts for the next test that is not short.
"""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

BUDGET = 1.0
"""CPU seconds that a test may use; the report names those that use more."""

FILE_BUDGET = 6.0
"""CPU seconds that the tests of a file may use together."""

SHORT = 0.02
"""Seconds of a phase of a test after which processes are not looked at.

Reading what the processes of a browser have used takes 2 ms, more than most tests take.
"""

LONGEST_LIST = 15
_TICKS = os.sysconf("SC_CLK_TCK")


_adopted: list[int] = []


def adopt(process: int) -> None:
    """Count a process and those below it as if this process had started it."""
    _adopted.append(process)


def descendants_seconds() -> float:
    """Return the CPU time of the processes below this one since they started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = [*_children("self"), *_adopted]
    return ended.ru_utime + ended.ru_stime + sum(map(_with_descendants, running))


def _with_descendants(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ends meanwhile
        return 0.0
    # Fields 14 to 17 of proc(5): user and system time of the process and of its ended children.
    own = sum(map(int, fields[11:15])) / _TICKS
    return own + sum(map(_with_descendants, _children(process)))


def _children(process: int | str) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208  # called twice a test
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    except OSError:  # it ends meanwhile, or the system is no Linux
        pass
    return found


def cpu_seconds(report: pytest.TestReport) -> float:
    """Return what `Costs` has written into a report."""
    return float(getattr(report, "cpu_seconds", 0.0))


class Costs:
    """The plugin: each process measures its tests, and the first one reports."""

    def __init__(self, listed: Path | None) -> None:
        """Write all figures into a file as well, if one is named."""
        self._listed = listed
        self._own = 0.0
        self._others = 0.0
        self._collecting = 0.0
        self._by_test: defaultdict[str, float] = defaultdict(float)

    def start(self) -> None:
        """Count from now on: what was used before belongs to no test of this process."""
        self._own, self._others = time.process_time(), descendants_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write into each report what its phase has used."""
        report = yield
        own = time.process_time()
        used, self._own = own - self._own, own
        if report.duration >= SHORT:
            others = descendants_seconds()
            # The time of a process is lost when a parent ends it that waits for no children.
            used, self._others = used + max(0.0, others - self._others), others
        vars(report)["cpu_seconds"] = used
        return report

    def pytest_collection_finish(self) -> None:
        """Note what was used before the first test: imports and collection."""
        self.start()
        self._collecting = self._own + self._others

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what a phase of a test has used."""
        self._by_test[report.nodeid] += cpu_seconds(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests and files above their budgets."""
        by_file: defaultdict[str, float] = defaultdict(float)
        for test, seconds in self._by_test.items():
            by_file[test.partition("::")[0]] += seconds
        tests, collecting = sum(by_file.values()), self._collecting
        lines = [
            f"{tests:.0f} s in tests, {collecting:.0f} s for imports and collection",
            *_above(self._by_test, BUDGET, "test"),
            *_above(by_file, FILE_BUDGET, "file"),
        ]
        terminalreporter.section("CPU time")
        for line in lines:
            terminalreporter.line(line)
        if self._listed is not None:
            ordered = sorted(self._by_test.items(), key=lambda each: -each[1])
            text = "".join(f"{seconds:.4f} {test}\n" for test, seconds in ordered)
            self._listed.write_text(text, encoding="utf-8")


def _above(costs: dict[str, float], budget: float, what: str) -> list[str]:
    above = sorted(((seconds, name) for name, seconds in costs.items() if seconds > budget))[::-1]
    if not above:
        return []
    lines = [f"{len(above)} above {budget:g} s for a {what}:"]
    lines += [f"  {seconds:6.2f} s  {name}" for seconds, name in above[:LONGEST_LIST]]
    return lines
