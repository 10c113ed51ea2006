"""Verbs that take time: what players see and hear, and what breaks them off."""

import struct
from pathlib import Path

import pytest

from emu.world.actors.player import PlayerDeadline
from emu.world.actors.spawn import Spawn
from emu.world.population.atlas import read_atlas
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness
from tests.support.world.zone_files import write_zones, zone_text

THINGS = """
[[spawn]]
kind = "object"
name = "a chest"
place = [2.0, 2.0, 3.0]
verbs = [
  { name = "Say it", command = "hail", cast_time = 2.0, visual = 35 },
  { name = "At once", command = "hail", visual = 36 },
]

[[spawn]]
kind = "object"
name = "a lever"
place = [60.0, 2.0, 3.0]
verbs = [{ name = "Pull", command = "hail", distance = 5.0, error = "Your arms are short." }]

[[spawn]]
kind = "object"
name = "a stone"
place = [2.0, 2.0, 2.0]
verbs = [{ name = "Hail", cast_time = 3.0 }]
"""


@pytest.fixture
def harness(tmp_path: Path) -> WorldHarness:
    files = {"mine": zone_text(900, "Mine", THINGS), "other": zone_text(901, "Other")}
    return WorldHarness(atlas=read_atlas(write_zones(tmp_path, **files)))


def spawn_of(client: Client, name: str) -> Spawn:
    (spawn,) = [one for one in client.player.zone if one.name == name]
    return spawn


def uses(client: Client, name: str, verb: str) -> None:
    index = client.player.index_of(spawn_of(client, name))
    assert index is not None
    body = struct.pack("<IH", index, len(verb)) + verb.encode()
    client.say("OP_EntityVerbsVerbMsg", body)


def interruptions(client: Client) -> int:
    return sum(row["text"] == "Interrupted!" for row in client.decoded("WS_DisplayText"))


def said(client: Client) -> list[str]:
    return [text for _, _, text in client.hears()]


@pytest.mark.parametrize("version", [546, 561])
def test_a_verb_takes_effect_after_its_time(harness: WorldHarness, version: int) -> None:
    client, other = harness.stand(1, version, zone_id=900), harness.stand(2, zone_id=900)
    uses(client, "a chest", "Say it")
    shown = other.decoded("WS_HearSpellCast")[-1]
    assert (shown["visual"], shown["seconds"]) == (35, 2.0)
    assert shown["spawn_id"] == other.player.index_of(client.player.spawn)
    chest = other.player.index_of(spawn_of(client, "a chest"))
    assert [one["target"] for one in shown["target_array"]] == [chest]
    harness.run(1.9)
    assert said(client) == []
    client.player.set_target(None)
    harness.run(0.2)
    assert said(client) == ["Hail, a chest"]
    harness.run(5.0)
    assert said(client) == []
    assert interruptions(client) == 0


def test_a_verb_without_a_time_takes_effect_at_once(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    uses(client, "a chest", "At once")
    assert client.decoded("WS_HearSpellCast")[-1]["visual"] == 36
    assert said(client) == ["Hail, a chest"]


def test_moving_breaks_it_off(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    x, y, z = client.player.position[:3]
    uses(client, "a chest", "Say it")
    harness.run(1.0)
    client.walk(x + 0.4, y, z)
    assert interruptions(client) == 0
    harness.run(0.5)
    client.walk(x + 0.8, y, z)
    assert interruptions(client) == 1
    harness.run(5.0)
    assert said(client) == []
    assert interruptions(client) == 1


def test_another_verb_breaks_it_off_and_the_same_does_not(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    uses(client, "a chest", "Say it")
    harness.run(1.0)
    uses(client, "a chest", "Say it")
    assert interruptions(client) == 0
    uses(client, "a stone", "Hail")
    assert interruptions(client) == 1
    harness.run(2.5)
    assert said(client) == []
    harness.run(1.0)
    assert said(client) == ["Hail, a stone"]


def test_what_is_gone_or_far_at_the_end_is_not_used(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    uses(client, "a chest", "Say it")
    spawn_of(client, "a chest").set_verbs(())
    harness.run(3.0)
    uses(client, "a stone", "Hail")
    client.player.teleport(Position(9.0, 2.0, 3.0), harness.now)
    harness.run(4.0)
    uses(client, "a stone", "Hail")
    client.player.zone.remove(spawn_of(client, "a stone"), harness.now)
    harness.run(4.0)
    assert said(client) == []
    assert interruptions(client) == 3


def test_a_player_who_changes_the_zone_may_use_it_again(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    uses(client, "a stone", "Hail")
    harness.world.players.deadlines.forget(client.player, PlayerDeadline)
    uses(client, "a stone", "Hail")
    harness.run(3.5)
    assert said(client) == ["Hail, a stone"]


def test_the_verb_says_itself_that_it_is_too_far_away(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    uses(client, "a lever", "Pull")
    assert client.decoded("WS_DisplayText")[-1]["text"] == "Your arms are short."
