"""Viewers above 561: names are outside of the info part, and each viewer has its own target."""

from __future__ import annotations

import pytest

from emu.times import Monotonic
from emu.world.zones.zone import Zone
from tests.support.world.zone_clients import ZoneClient, player, run_ticks
from tests.support.world.zone_files import definition

NOBODY = 0xFFFFFFFF


def scene(version: int) -> tuple[Zone, ZoneClient, ZoneClient]:
    zone = Zone(definition(325))
    first, second = ZoneClient(player(1), version), ZoneClient(player(2, 5.0), version)
    first.enter(zone, Monotonic(0.0))
    second.enter(zone, Monotonic(0.0))
    run_ticks(zone, Monotonic(0.0), 3.0)
    return zone, first, second


def target_of(client: ZoneClient, name: str) -> int:
    (found,) = [
        fields["target_id"]
        for fields in map(client.view.fields, client.view.indexes)
        if fields["name"] == name
    ]
    return int(found)


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 57080, 60114, 64753])
def test_each_viewer_is_sent_its_own_index_of_a_target(version: int) -> None:
    zone, first, second = scene(version)
    second.spawn.set_target(first.spawn)
    run_ticks(zone, Monotonic(3.0), 4.0)
    assert target_of(first, "Player2") == NOBODY - 1  # the viewer itself
    index = second.viewer.interest.index_of(first.spawn) if second.viewer else None
    assert index is not None
    assert target_of(second, "Player2") == NOBODY - index
    second.spawn.set_target(None)
    run_ticks(zone, Monotonic(4.0), 5.0)
    assert target_of(first, "Player2") == NOBODY


@pytest.mark.parametrize("version", [546, 60114])
def test_a_target_that_comes_later_is_shown_then(version: int) -> None:
    zone, first, second = scene(version)
    late = player(3, 8.0)
    second.spawn.set_target(late)
    run_ticks(zone, Monotonic(3.0), 4.0)
    assert target_of(first, "Player2") == NOBODY
    zone.add_spawn(late, Monotonic(4.0))
    run_ticks(zone, Monotonic(4.0), 7.0)
    assert first.viewer is not None
    index = first.viewer.interest.index_of(late)
    assert index is not None
    assert target_of(first, "Player2") == NOBODY - index


@pytest.mark.parametrize("version", [546, 60114])
def test_a_target_that_goes_and_comes_back_has_its_new_index(version: int) -> None:
    zone, first, second = scene(version)
    target = player(3, 8.0)
    zone.add_spawn(target, Monotonic(3.0))
    second.spawn.set_target(target)
    run_ticks(zone, Monotonic(3.0), 4.0)
    assert target_of(first, "Player2") != NOBODY
    zone.remove(target, Monotonic(4.0))
    run_ticks(zone, Monotonic(4.0), 5.0)
    assert target_of(first, "Player2") == NOBODY
    zone.add_spawn(target, Monotonic(5.0))
    run_ticks(zone, Monotonic(5.0), 7.0)
    assert first.viewer is not None
    index = first.viewer.interest.index_of(target)
    assert index is not None
    assert target_of(first, "Player2") == NOBODY - index


@pytest.mark.parametrize("version", [562, 1096, 60114])
def test_new_names_are_an_update_of_the_title(version: int) -> None:
    zone, first, second = scene(version)
    first.commands.clear()
    second.spawn.set_info(prefix="Captain", suffix="the Bold")
    run_ticks(zone, Monotonic(3.0), 4.0)
    assert first.commands == ["OP_UpdateTitleCmd"]
    first.commands.clear()
    second.spawn.set_info(level=9)
    run_ticks(zone, Monotonic(4.0), 5.0)
    assert first.commands == ["OP_EqUpdateGhostCmd"]
