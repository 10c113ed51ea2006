"""The simulation of the whole server: it repeats itself, and finds nothing wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.simulation.plan import Plan
from tests.simulation.simulation import simulate

pytestmark = pytest.mark.slow
SHORT = Plan(7, minutes=0.5, clients=3)


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_seed_gives_the_same_run_in_another_process(nodes: int) -> None:
    plan = SHORT.changed(nodes=nodes)
    here = simulate(plan)
    assert here.is_right, here.problems
    assert here.entered >= plan.clients
    # Another order of sets of texts must change nothing.
    there = subprocess.run(
        [sys.executable, "-m", "tools.simulate", *plan.words().split()[3:]],
        env={**os.environ, "PYTHONHASHSEED": "99"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert here.digest in there.stdout


def test_another_seed_gives_another_run() -> None:
    assert simulate(SHORT.changed(seed=8, nodes=1)).digest != simulate(SHORT).digest
