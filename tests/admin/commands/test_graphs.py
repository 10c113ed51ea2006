"""The command that shows the graphs."""

from __future__ import annotations

import pytest

from emu.admin.commands import graphs
from emu.admin.graphs import History
from emu.times import Moment
from tests.support.admin.commanding import CommandBench


@pytest.fixture
def history() -> History:
    return History()


@pytest.fixture
def bench(history: History) -> CommandBench:
    return CommandBench(graphs.COMMANDS.commands(history))


def test_the_newest_and_the_highest_values_are_listed(
    bench: CommandBench, history: History
) -> None:
    for at, players in enumerate((5, 12, 7)):
        history.add_sample({"players": players, "sent": 1.5}, Moment(1000.0 + 10 * at))
    assert bench.run("graphs").lines == (
        "Players, in the world: 7 now, 12 at most players",
        "Traffic with clients, sent: 1.5 now, 1.5 at most KiB/s",
    )
    assert bench.run("graphs day").lines[0] == "Players, in the world: 12 now, 12 at most players"
    assert bench.run("graphs day").data["step"] == 240.0


def test_nothing_is_measured_at_first(bench: CommandBench) -> None:
    assert bench.run("graphs").lines == ("nothing is measured yet",)
    assert not bench.run("graphs year").ok
