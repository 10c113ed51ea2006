"""Which changes of players are logins, and which are not."""

from __future__ import annotations

from emu.world.events import Arrived, LeftWorld
from emu.world.login_events import LoggedIn, LoggedOut
from tests.support.world.worlds import WorldHarness

ISLE, ANTONICA = 325, 12


def heard(harness: WorldHarness) -> list[str]:
    """Return a list of the names of the events that are published from now on."""
    names: list[str] = []
    for kind in (Arrived, LoggedIn, LoggedOut, LeftWorld):
        harness.world.events.subscribe(kind, lambda event: names.append(type(event).__name__))
    return names


def test_who_comes_and_goes_logs_in_and_out(harness: WorldHarness) -> None:
    names = heard(harness)
    client = harness.stand(5, admin_status=100)
    assert names == ["Arrived", "LoggedIn"]
    client.types("/zone 12")
    client = harness.stand(5)
    assert names == ["Arrived", "LoggedIn"], "a change of the zone is nothing of that"
    client.say("OP_RequestCampMsg", b"\1\1")
    assert names[2:] == ["LoggedOut", "LeftWorld"]


def test_who_goes_to_another_node_neither_logs_out_nor_in() -> None:
    here = WorldHarness(elsewhere={ANTONICA: ("192.0.2.9", 9002)})
    there = WorldHarness(beside=here, elsewhere={ISLE: ("127.0.0.1", 9001)})
    client = here.stand(5, admin_status=100)
    left, come = heard(here), heard(there)
    client.types("/zone 12")
    there.stand(5, is_zoning=True)
    here.run(120.0)
    assert (left, come) == (["LeftWorld"], ["Arrived"])


def test_a_character_that_another_node_lets_in_is_in_the_world(harness: WorldHarness) -> None:
    there = WorldHarness(beside=harness)
    harness.stand(5)
    left = heard(harness)
    there.stand(5)
    harness.run(120.0)
    assert left == ["LeftWorld"]
