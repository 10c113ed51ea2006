"""The death of players: window, refused acts, way back, debt."""

import struct

import attrs
import pytest

from emu.model import FULL
from emu.world.actors.player import DEAD
from emu.world.actors.spawn import Verb
from emu.world.combat.falls import AWAKE
from emu.world.combat.shards import RECOVER
from emu.world.events import Revived, Used, VerbChosen
from emu.world.minds.harm import CORPSE
from emu.world.zones.definitions import Atlas, ReviveRow
from emu.world_stream.movement import Position
from tests.support.world.fights import Fight

FIVE = (546, 561, 1096, 1208, 60114)


def fall(fight: Fight) -> None:
    crab = fight.creature()
    fight.harness.parts.minds.harm.kill(fight.player.zone, fight.player.spawn, crab)


def after_death(fight: Fight) -> list[str]:
    names = fight.client.names
    first = names.index("OP_EqShowDeathWindowCmd") - 4
    return [one for one in names[first:] if "Ghost" not in one]


@pytest.mark.parametrize("version", FIVE)
def test_a_death_is_shown_in_the_recorded_order(version: int) -> None:
    """Recorded: fight-546-death-a, fight-1208-death-a, fight-60114-death-a."""
    fight = Fight(version)
    fall(fight)
    flags = "OP_UpdateClientPredFlagsMsg" if version <= 561 else "OP_ChangeServerControlFlagMsg"
    assert after_death(fight)[:5] == [
        flags, flags, "OP_EqUpdateTargetCmd", "OP_EqShowDeathWindowCmd", "OP_EqHearDeathCmd",
    ]  # fmt: skip
    assert CORPSE in fight.player.spawn.words
    assert fight.player.spawn.sheet.health.current == 0
    assert fight.player.spawn.sheet.power.current == 0
    window = fight.client.decoded("WS_DeathWindow")[-1]
    assert [one["zone_name"] for one in window["location_array"]] == ["Isle of Refuge"]
    assert [one["location_id"] for one in window["location_array"]] == [0xFFFFFFFF]


def with_points(fight: Fight, *rows: ReviveRow) -> None:
    """Let the zone's file have revive points, as after a reload."""
    atlas = fight.harness.atlas
    zones = [attrs.evolve(one, revive=rows) if one.id == 325 else one for one in atlas]
    atlas.replace(Atlas(zones, {}, atlas.starts))
    fight.player.zone.definition = fight.harness.zones.definition(325)


@pytest.mark.parametrize("version", FIVE)
def test_a_death_without_a_content_file_from_the_window_to_the_shard(version: int) -> None:
    """The rules are those of a world with content: docs/protocol/world/fights.md#death."""
    fight = Fight(version)
    camp = Position(40.0, 0.0, 9.0, 90.0)
    with_points(
        fight, ReviveRow("Camp", camp), ReviveRow("Far Camp", camp._replace(x=900.0)),
        ReviveRow("Antonica", None, "Antonica", always=True), ReviveRow("Nowhere", zone="nowhere"),
    )  # fmt: skip
    fall(fight)
    rows = fight.client.decoded("WS_DeathWindow")[-1]["location_array"]
    assert [(one["location_id"], one["zone_name"], one["location_name"]) for one in rows] == [
        (1, "Isle of Refuge", "Camp"), (3, "Antonica", "Antonica"),
    ]  # fmt: skip
    assert rows[0]["distance"] == pytest.approx(41.0)
    assert fight.client.types("select_junction 2") == ["there is no such place to return to"]
    fight.client.types("select_junction 1")
    assert fight.player.position[:3] == pytest.approx(camp[:3], abs=0.01)
    assert "Reviving in Isle of Refuge at Camp." in fight.texts()
    assert fight.player.character.experience_debt == 500
    fight.run(1.0)
    shard = next(one for one in fight.player.zone if one.name == "Aldana's spirit shard")
    number = fight.player.index_of(shard)
    assert number is not None
    fight.put(fight.client, shard.position)
    text = RECOVER.encode()
    fight.client.say("OP_EntityVerbsVerbMsg", struct.pack("<IH", number, len(text)) + text)
    assert fight.player.character.experience_debt == 50


def test_the_way_back() -> None:
    fight = Fight()
    revived: list[Revived] = []
    fight.harness.world.events.subscribe(Revived, revived.append)
    fall(fight)
    assert fight.client.types("revive 77") == ["there is no such place to return to"]
    assert not revived
    assert CORPSE in fight.player.spawn.words
    fight.client.types("revive")
    assert CORPSE not in fight.player.spawn.words
    assert [one.player for one in revived] == [fight.player]
    health = fight.player.spawn.sheet.health
    assert health.current == health.most
    assert AWAKE in fight.texts()
    assert fight.client.decoded("WS_Resurrected") == [{"unknown": 0}]
    safe: Position = fight.player.zone.definition.safe
    assert fight.player.position.distance_to(safe) < 1.0
    assert fight.client.types("revive") == ["you are not dead"]


@pytest.mark.parametrize("number", ["4294967295", "-1"])
def test_the_window_leads_to_the_safe_place(number: str) -> None:
    fight = Fight()
    fall(fight)
    assert fight.client.types("select_junction here") == ["point: 'here' is not a whole number"]
    assert fight.client.types(f"select_junction {number}") == [
        AWAKE, "Reviving in Isle of Refuge at Zone Safe Point.",
    ]  # fmt: skip
    assert CORPSE not in fight.player.spawn.words


@pytest.mark.parametrize("is_gone", [True, False])
def test_who_may_not_go_to_its_point_any_more_wakes_at_the_safe_place(is_gone: bool) -> None:
    fight = Fight()
    with_points(fight, ReviveRow("Antonica", None, "Antonica", always=True))
    fight.put(fight.client, Position(60.0, 0.0, 9.0))
    fall(fight)
    atlas, other = fight.harness.atlas, fight.harness.zones.table.get(12)
    assert other is not None
    zones = [one for one in atlas if one.id != 12]
    if not is_gone:
        zones.append(attrs.evolve(other, min_level=20))
    atlas.replace(Atlas(zones, {}, atlas.starts))
    fight.client.types("revive")
    fight.run(1.0)
    assert fight.player.spawn.hp_percent == 100
    assert fight.player.position[:3] == fight.player.zone.definition.safe[:3]


def test_deaths_cost_experience() -> None:
    fight = Fight()
    fall(fight)
    assert fight.player.character.experience_debt == 500
    fight.client.types("select_junction 4294967295")
    fight.harness.run(5.0)
    assert fight.harness.store.rows[5].experience_debt == 500
    fight.harness.parts.combat.rewards.give(fight.player, 100, fight.harness.now)
    # Half a percent of 600 points is 3.
    assert fight.player.character.experience_debt == 0
    assert fight.player.character.experience == 97


def test_who_leaves_dead_is_dead_at_the_next_entry() -> None:
    fight = Fight()
    fall(fight)
    fight.harness.service.closed(fight.player, fight.client, "the test cuts it", fight.harness.now)
    fight.run(200.0)
    assert fight.harness.store.rows[5].health == 0
    again = fight.harness.stand(5)
    assert again.player is not None
    assert again.player.spawn.hp_percent == 0
    assert CORPSE in again.player.spawn.words
    assert again.decoded("WS_DeathWindow")
    assert again.types("autoattack 1") == [DEAD]
    again.types("revive")
    assert again.player.spawn.sheet.health.percent == 100
    assert CORPSE not in again.player.spawn.words
    fight.harness.run(5.0)
    assert fight.harness.store.rows[5].health == FULL


def test_health_is_kept_over_a_logout() -> None:
    fight = Fight()
    fight.player.spawn.sheet.health.set_current(30)
    fight.player.spawn.sheet.power.set_current(20)
    fight.harness.service.closed(fight.player, fight.client, "the test cuts it", fight.harness.now)
    fight.run(200.0)
    again = fight.harness.stand(5)
    assert again.player is not None
    sheet = again.player.spawn.sheet
    assert (sheet.health.current, sheet.power.current) == (30, 20)


def test_creatures_leave_a_dead_player() -> None:
    fight = Fight()
    wolf = fight.creature("a wolf", faction=1)
    fight.run(3.0)
    assert fight.player.spawn in wolf.mind.hates
    fall(fight)
    fight.run(2.0)
    assert wolf.mind.hates == {}


def test_the_dead_use_nothing() -> None:
    """Recorded of orders and casts (fight-546-death-a); a verb could lead a dead one elsewhere."""
    fight = Fight()
    chest, events = fight.creature("a chest"), fight.harness.world.events
    uses: list[Used] = []
    events.subscribe(Used, uses.append)
    fall(fight)
    choice = VerbChosen(fight.player, chest, Verb("open", 10.0, ""), fight.harness.now)
    events.publish(choice)
    assert uses == []
    assert fight.texts()[-1] == DEAD
    fight.client.types("revive")
    events.publish(choice)
    assert len(uses) == 1
