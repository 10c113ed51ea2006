"""Tracking: the window of what is near, and the path to what a player chooses.

The layouts are those of EQ2Emulator's structs and, up to 561, of the client study (section 3.3,
row 323); modes, types, reach and category are numbers of EQ2Emulator's code.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.subjects.tracking import CATEGORY, MOST_LISTED, PERIOD, UNTAUGHT, Tracking
from tests.support.world.spell_scenes import SpellScene
from tests.support.world.worlds import Client, WorldHarness

SCOUT = 31


class Hunt:
    """A scout among creatures."""

    def __init__(self, version: int = 546) -> None:
        self.harness = WorldHarness()
        self.client = self.harness.stand(5, version, name="Aldana", class_=SCOUT)
        assert self.client.player is not None
        self.player = self.client.player
        found = [one for one in self.harness.parts.subjects if isinstance(one, Tracking)]
        self.tracking = found[0]

    def creature(self, name: str, away: float, *, up: float = 0.0, level: int = 1) -> Spawn:
        here = self.player.position
        at = here._replace(x=here.x + away, y=here.y + up)
        number = self.harness.world.zones.next_spawn_id()
        spawn = Spawn(number, SpawnKind.NPC, name, at, level=level)
        self.player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.3)
        return spawn

    def index(self, spawn: Spawn) -> int:
        index = self.player.index_of(spawn)
        assert index is not None
        return index

    def sent(self) -> list[bytes]:
        return [data for name, data in self.client.log if name == "OP_TrackingUpdateMsg"]

    def names(self) -> list[str]:
        """Return whom the last list names, in its order."""
        last = self.client.decoded("WS_TrackingUpdate")[-1]
        assert last["mode"] == 2
        names = {row["spawn_id"]: str(row["spawn_name"]) for row in last["spawn_array"]}
        order = sorted(last["list_order"], key=lambda row: row["list_number"])
        return [names[row["list_spawn_id"]] for row in order]

    def choose(self, number: int) -> None:
        self.client.say("OP_BeginTrackingMsg", struct.pack("<I", number))


@pytest.mark.parametrize(
    ("version", "start", "head", "stop"),
    [
        (546, "01 00 00 00", "02 01", "00 00 00 00"),
        (561, "01 00 00 00", "02 01", "00 00 00 00"),
        (1096, "01 01 00 00 00", "02 01 01", "00 01 00 00 00"),
        (60114, "01 01 00 00 00", "02 01 01", "00 01 00 00 00"),
    ],
)
def test_the_window_opens_lists_and_closes(version: int, start: str, head: str, stop: str) -> None:
    hunt = Hunt(version)
    crab = hunt.creature("a crab", 20.0)
    assert hunt.client.types("track") == []
    number = struct.pack("<I", hunt.index(crab))
    # Type 1 is a creature, color 3 is white: it has the scout's level.
    row = number + b"\6a crab" + b"\1\3"
    assert hunt.sent() == [
        bytes.fromhex(start), bytes.fromhex(head) + row + b"\0\1" + number + b"\0",
    ]  # fmt: skip
    hunt.client.types("track")
    assert hunt.sent()[2:] == [bytes.fromhex(stop)]
    hunt.harness.run(2 * PERIOD)
    assert len(hunt.sent()) == 3, "nothing more is sent"


def test_the_nearest_come_first_and_nobody_far_away_or_dead() -> None:
    hunt = Hunt()
    hunt.creature("a wolf", 60.0)
    hunt.creature("a crab", 20.0)
    hunt.creature("an eagle", 50.0, up=70.0)
    hunt.creature("a bear", 81.0)
    body = hunt.creature("a body", 5.0)
    body.vitals = body.vitals._replace(hp_percent=0)
    friend = hunt.harness.stand(6, name="Borvik").player
    assert friend is not None
    friend.spawn.move(hunt.player.position._replace(x=hunt.player.position.x + 40.0))
    hunt.harness.run(0.3)
    hunt.client.types("track")
    assert hunt.names() == ["a crab", "Borvik", "a wolf"]
    kinds = [
        row["spawn_type"] for row in hunt.client.decoded("WS_TrackingUpdate")[-1]["spawn_array"]
    ]
    assert kinds == [1, 0, 1]


def test_a_list_is_sent_again_only_when_it_has_changed() -> None:
    hunt = Hunt()
    wolf, crab = hunt.creature("a wolf", 60.0), hunt.creature("a crab", 20.0)
    hunt.client.types("track")
    hunt.harness.run(3 * PERIOD)
    assert len(hunt.sent()) == 2
    wolf.move(crab.position._replace(x=crab.position.x - 10.0))
    hunt.harness.run(PERIOD)
    assert len(hunt.sent()) == 3
    assert hunt.names() == ["a wolf", "a crab"]


def test_a_list_is_bounded() -> None:
    hunt = Hunt()
    for number in range(MOST_LISTED + 5):
        number_of = hunt.harness.world.zones.next_spawn_id()
        at = hunt.player.position._replace(x=hunt.player.position.x + 1.0 + number / 10)
        hunt.player.zone.add_spawn(
            Spawn(number_of, SpawnKind.NPC, f"crab {number}", at), hunt.harness.now
        )
    hunt.harness.run(2.0)
    hunt.client.types("track")
    assert hunt.names() == [f"crab {number}" for number in range(MOST_LISTED)]


@pytest.mark.parametrize("version", [546, 1208])
def test_who_is_chosen_has_a_waypoint_and_a_path(version: int) -> None:
    hunt = Hunt(version)
    crab, wolf = hunt.creature("a crab", 20.0), hunt.creature("a wolf", 60.0)
    hunt.client.types("track")
    hunt.choose(hunt.index(wolf))
    assert hunt.client.decoded("WS_TrackingUpdate")[-1]["mode"] == 3
    assert not hunt.tracking.is_tracking(hunt.player)
    [row] = hunt.client.decoded("WS_WaypointUpdate")[-1]["update_array"]
    assert (row["waypoint_name"], row["waypoint_category"]) == ("a wolf", CATEGORY)
    path = hunt.client.decoded("WS_GlowPath")[-1]
    assert path["waypoint_x"] == pytest.approx(wolf.position.x)
    # Once more: the path is gone, and the next choice takes the place of the first.
    hunt.client.say("OP_StopTrackingMsg")
    assert hunt.client.decoded("WS_WaypointUpdate")[-1]["num_updates"] == 0
    assert hunt.client.decoded("WS_GlowPath")[-1]["num_points"] == 0
    hunt.client.types("track")
    hunt.choose(hunt.index(crab))
    [row] = hunt.client.decoded("WS_WaypointUpdate")[-1]["update_array"]
    assert row["waypoint_name"] == "a crab"


def test_nobody_is_found_who_is_not_in_the_list() -> None:
    hunt = Hunt()
    bear = hunt.creature("a bear", 81.0)
    hunt.choose(hunt.index(bear))
    hunt.client.types("track")
    hunt.choose(hunt.index(bear))
    hunt.choose(0xFFFFFFFF)
    assert hunt.harness.world.faults.drops["tracked unknown"] == 3
    assert hunt.client.decoded("WS_GlowPath") == []
    hunt.client.say("OP_BeginTrackingMsg", b"\1")
    assert sum(hunt.player.client.drops.values()) == 1


def test_hidden_players_are_not_listed() -> None:
    hunt = Hunt()
    master = hunt.harness.stand(6, name="Borvik", admin_status=100)
    hunt.client.types("track")
    assert hunt.names() == ["Borvik"]
    master.types("hide")
    hunt.harness.run(PERIOD)
    assert hunt.names() == []


def test_a_list_of_nobody_is_not_sent() -> None:
    hunt = Hunt()
    hunt.client.types("track")
    hunt.harness.run(PERIOD)
    assert hunt.sent() == [bytes.fromhex("01 00 00 00")]


def test_only_those_who_know_how_may_track() -> None:
    harness = WorldHarness()
    fighter: Client = harness.stand(5, class_=1)
    assert fighter.types("track") == [UNTAUGHT]
    assert "OP_TrackingUpdateMsg" not in fighter.names


def test_death_and_a_way_out_of_the_zone_end_it() -> None:
    hunt = Hunt()
    hunt.creature("a crab", 20.0)
    hunt.client.types("track")
    hunt.player.spawn.vitals = hunt.player.spawn.vitals._replace(hp_percent=0)
    hunt.harness.run(PERIOD)
    assert hunt.sent()[-1] == bytes(4)
    hunt.client.types("track")
    assert hunt.sent()[-1] == bytes(4), "the dead track nobody"
    hunt.player.spawn.vitals = hunt.player.spawn.vitals._replace(hp_percent=100)
    hunt.client.types("track")
    count = len(hunt.sent())
    hunt.harness.console("kick Aldana")
    hunt.harness.run(2 * PERIOD)
    assert len(hunt.sent()) == count
    assert not hunt.tracking.is_tracking(hunt.player)


def test_a_spell_opens_the_window_of_its_caster(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path, class_=SCOUT)
    scene.script("function cast(Caster, Target) ToggleTracking(Caster) end", "Spells/Smite.lua")
    crab = scene.creature()
    scene.spells.cast_for_free(scene.player, scene.kind(110014), 1, crab)
    scene.harness.run(3.0)
    modes = [row["mode"] for row in scene.client.decoded("WS_TrackingUpdate")]
    assert modes == [1, 2]
    scene.spells.cast_for_free(scene.player, scene.kind(110014), 1, crab)
    scene.harness.run(3.0)
    assert scene.client.decoded("WS_TrackingUpdate")[-1]["mode"] == 0
