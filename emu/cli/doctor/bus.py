"""Checks of the bus of a cluster: its broker, the delay, and what this node may do there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cli.options import passing
from emu.config import Config
from emu.net.bus.trial import BusTrial, try_bus
from emu.net.parameters import in_cluster

BUS: Final = "bus"
SLOW: Final = 0.1
"""Seconds of a message from which talk between nodes becomes slow."""


def check_bus(config: Config) -> Iterator[Finding]:
    """Check the bus of a node; nothing for a process that is alone."""
    if in_cluster(config):
        yield judge_trial(try_bus(config, passing))


def judge_trial(trial: BusTrial) -> Finding:
    """Judge the message that was sent over the bus."""
    if trial.problem:
        return fail(BUS, f"{trial.broker}: {trial.problem}", trial.cure)
    text = f"a message over {trial.broker} takes {trial.delay * 1000:.1f} ms"
    if trial.delay < SLOW:
        return ok(BUS, text)
    return warn(BUS, text, "run the nodes and their broker in one place")
