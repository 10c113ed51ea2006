"""How login servers learn where characters are."""

from __future__ import annotations

from emu.link.messages import ZoneUpdate
from emu.world.population.atlas import read_atlas
from emu.world.registration.registry import CharacterLocations
from tests.support.running.processes import presence, present

ISLE, ANTONICA, NOWHERE = 325, 12, 9999


def test_each_change_of_zone_is_sent_once_and_again_after_leaving() -> None:
    here, reported = presence(), list[ZoneUpdate]()
    CharacterLocations(here, read_atlas(), reported.append)
    here.entered(present(101, 5, ISLE), lambda: None)
    here.seen(5, away=True)
    here.entered(present(101, 5, NOWHERE), lambda: None)
    here.entered(present(101, 5, ANTONICA), lambda: None)
    here.left(5)
    here.entered(present(101, 5, ANTONICA), lambda: None)
    isle = ZoneUpdate(101, 5, ISLE, "tutorial_island02")
    antonica = ZoneUpdate(101, 5, ANTONICA, "antonica")
    assert reported == [isle, antonica, antonica]
