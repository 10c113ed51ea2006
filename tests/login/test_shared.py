from __future__ import annotations

import random
from typing import Any

import pytest

from emu.limits.rates import Allowance
from emu.login.passwords import GuessConfig
from emu.login.shared import SharedLogins
from emu.model import Account
from emu.processes.ports import BusMember
from emu.processes.tables import run_now
from emu.times import Moment
from tests.support.login.account_bench import Bench
from tests.support.running.lossy_bus import Network

ALICE, BOB = 101, 102


class Nodes:
    """Login servers on a network that may lose notes."""

    def __init__(self, *names: str, loses: float = 0.0) -> None:
        self.network = Network(random.Random(3))
        self.members = {name: BusMember(name, 1, self.network.bus(name)) for name in names}
        self.network.loses = loses
        self.replaced: list[tuple[str, int, str]] = []
        self.times = dict.fromkeys(names, 1000.0)
        self.logins = {name: self._logins(name) for name in names}

    def _logins(self, name: str) -> SharedLogins:
        return SharedLogins(
            self.members[name],
            lambda: Moment(self.times[name]),
            replaced=lambda account_id, process: self.replaced.append((name, account_id, process)),
            spawn=run_now,
        )

    def settle(self) -> None:
        """Let five quiet seconds pass."""
        self.network.loses = 0.0
        for one in self.logins.values():
            one.tick()
        self.network.deliver()


def test_a_later_login_at_another_node_ends_the_earlier_session() -> None:
    nodes = Nodes("east", "west")
    nodes.logins["east"].began(ALICE)
    nodes.logins["east"].began(BOB)
    nodes.network.deliver()
    assert ALICE in nodes.logins["west"]
    nodes.logins["west"].began(ALICE)
    nodes.network.deliver()
    assert nodes.replaced == [("east", ALICE, "west")]
    assert ALICE in nodes.logins["east"]
    assert ALICE not in nodes.logins["west"], "its own sessions are no others'"
    nodes.logins["west"].ended(ALICE)
    nodes.logins["west"].ended(ALICE)
    nodes.network.deliver()
    assert ALICE not in nodes.logins["east"]


def test_the_later_login_counts_although_its_clock_is_behind() -> None:
    nodes = Nodes("east", "west")
    nodes.times["west"] = 10.0
    nodes.logins["east"].began(ALICE)
    nodes.network.deliver()
    nodes.logins["west"].began(ALICE)
    nodes.network.deliver()
    assert nodes.replaced == [("east", ALICE, "west")]


def test_of_two_logins_in_the_same_instant_one_stays() -> None:
    nodes = Nodes("east", "west")
    for one in nodes.logins.values():
        one.began(ALICE)
    nodes.network.deliver()
    assert nodes.replaced == [("east", ALICE, "west")]


def test_a_lost_note_is_noticed_by_the_next_digest() -> None:
    nodes = Nodes("east", "south", "west", loses=1.0)
    for number, name in enumerate(("east", "south", "west")):
        nodes.times[name] += number
        nodes.logins[name].began(ALICE)
    nodes.network.deliver()
    assert nodes.replaced == []
    nodes.settle()
    assert sorted(name for name, _, _ in nodes.replaced) == ["east", "south"]
    assert ALICE not in nodes.logins["west"]


def guessers(*names: str, **config: Any) -> tuple[Nodes, dict[str, Bench]]:
    """Return the checks of logins at some nodes, which share one account."""
    nodes = Nodes(*names)
    guesses = GuessConfig(
        from_address=Allowance(10, 60.0), from_known=Allowance(8, 60.0),
        from_new=Allowance(3, 600.0), from_others=Allowance(4, 600.0), **config,
    )  # fmt: skip
    benches = {name: Bench(member=nodes.members[name], guesses=guesses) for name in names}
    for bench in benches.values():
        bench.store.put()
    return nodes, benches


def tried(nodes: Nodes, benches: dict[str, Bench], address: str, names: list[str]) -> int:
    """Guess at one node after the other; return how many passwords were compared."""
    count = 0
    for number in range(60):
        node = list(benches.values())[number % len(benches)]
        count += node.login(names[number % len(names)], b"wrong", address) == "bad password"
        nodes.network.deliver()
    return count


@pytest.mark.parametrize("names", [["Alice"], ["Alice", "aLICE"]])
def test_guesses_over_two_nodes_are_no_more_than_at_one(names: list[str]) -> None:
    alone = tried(*guessers("east"), "192.0.2.9", names)
    both = tried(*guessers("east", "west"), "192.0.2.9", names)
    assert 1 <= alone <= both <= 1.2 * alone


def test_guesses_from_many_addresses_share_a_budget_over_all_nodes() -> None:
    def spread(*names: str) -> int:
        nodes, benches = guessers(*names)
        return sum(tried(nodes, benches, f"192.0.2.{host}", ["Alice"]) for host in range(20))

    assert spread("east", "west") <= 1.2 * spread("east")


def test_a_right_password_is_neither_charged_nor_published() -> None:
    nodes, benches = guessers("east", "west")
    notes: list[Any] = []
    nodes.members["west"].bus.subscribe("login_guess", notes.append)
    for _ in range(30):
        assert benches["east"].login() == "admitted"
    nodes.network.deliver()
    assert notes == []
    assert tried(nodes, {"west": benches["west"]}, "192.0.2.9", ["Alice"]) > 0
    assert isinstance(benches["west"].store.put(), Account)


def test_the_bus_carries_no_name_and_no_password() -> None:
    nodes, benches = guessers("east", "west")
    notes: list[Any] = []
    nodes.members["west"].bus.subscribe("login_guess", notes.append)
    assert benches["east"].login("hunter2", b"wrong") == "no such account"
    nodes.network.deliver()
    [note] = notes
    assert "hunter2" not in str(note)
    assert "wrong" not in str(note)
