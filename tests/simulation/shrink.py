"""Finds a smaller run that still fails: fewer minutes, people and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.simulation.faults import drawn
from tests.simulation.plan import Plan
from tests.simulation.simulation import Report, simulate

MOST_RUNS = 80
"""Runs for one shrinking."""


def kinds(report: Report) -> set[str]:
    """Return the names of the auditors that have found something."""
    return {problem.partition(" at ")[0] for problem in report.problems}


class Shrinker:
    """Shrinks one failing plan."""

    def __init__(
        self, report: Report, said: Callable[[str], object] = lambda _line: None,
        run: Callable[[Plan], Report] = simulate,
    ) -> None:  # fmt: skip
        self.best = report
        self.runs = 0
        self._wanted = kinds(report)
        self._said = said
        self._run = run

    def shrink(self) -> Report:
        """Try smaller plans until none of them fails, and return the smallest that does."""
        is_smaller = True
        while is_smaller and self.runs < MOST_RUNS:
            is_smaller = False
            for plan in self._smaller(self.best.plan):
                if self.runs >= MOST_RUNS:
                    break
                self.runs += 1
                report = self._run(plan)
                if self._wanted & kinds(report):
                    self.best = report
                    self._said(plan.words())
                    is_smaller = True
                    break
        return self.best

    @staticmethod
    def _smaller(plan: Plan) -> Iterator[Plan]:
        """Yield smaller plans, the much smaller ones first."""
        people = [one for one in range(plan.clients) if one not in plan.without_people]
        faults = [one.number for one in drawn(plan) if one.number not in plan.without_faults]
        for some in _parts(people, (2, 4)):
            yield _without(plan, some, [])
        for some in _parts(faults, (1, 2, 4)):
            yield _without(plan, [], some)
        for share in (0.25, 0.5, 0.75):
            if plan.minutes * share >= 0.25:
                yield plan.changed(minutes=round(plan.minutes * share, 2))
        if len(people) > 1:
            for one in people:
                yield _without(plan, [one], [])
        for one in faults:
            yield _without(plan, [], [one])


def _parts(numbers: list[int], counts: Sequence[int]) -> Iterator[list[int]]:
    """Yield halves, quarters and so on of some numbers, as far as they have more than one."""
    for count in counts:
        size = len(numbers) // count
        if size > 1:
            for first in range(0, len(numbers), size):
                yield numbers[first : first + size]


def _without(plan: Plan, people: list[int], faults: list[int]) -> Plan:
    left_out = plan.without_people | set(people)
    if len(left_out) >= plan.clients:
        left_out = plan.without_people
    return plan.changed(without_people=left_out, without_faults=plan.without_faults | set(faults))
