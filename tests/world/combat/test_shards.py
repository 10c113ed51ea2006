"""Spirit shards: where they stand, who recovers them, and what they give back.

Recorded: fight-546-death-a (name, look, default verb); the share is EQ2Emulator's rule.
"""

import struct
from dataclasses import replace

import pytest

from emu.shards import MOST_SHARDS
from emu.world.actors.spawn import Spawn
from emu.world.combat.shards import OTHERS, RECOVER, RECOVERED
from tests.support.world.fights import HERE, Fight
from tests.support.world.worlds import Client

NAME = "Aldana's spirit shard"


def fall(fight: Fight) -> None:
    crab = fight.creature()
    fight.harness.parts.minds.harm.kill(fight.player.zone, fight.player.spawn, crab)
    fight.client.types("revive")
    fight.put(fight.client, HERE)
    fight.run(1.0)


def shards(fight: Fight) -> list[Spawn]:
    return [one for one in fight.player.zone.near(HERE, 50.0) if one.name == NAME]


def recover(fight: Fight, client: Client | None = None) -> None:
    client = client or fight.client
    (spawn, *_) = shards(fight)
    index = fight.of(client).index_of(spawn)
    assert index is not None
    text = RECOVER.encode()
    client.say("OP_EntityVerbsVerbMsg", struct.pack("<IH", index, len(text)) + text)
    fight.run(0.2)


def test_a_shard_looks_as_recorded_and_gives_most_of_the_debt_back() -> None:
    fight = Fight()
    fall(fight)
    shown = fight.client.fields_of(NAME)
    assert (shown["visual_state"], shown["hp_remaining"], shown["corpse"]) == (6193, 100, 1)
    assert shown["level"] == fight.player.spawn.level
    assert fight.player.character.experience_debt == 500
    recover(fight)
    assert RECOVERED in fight.texts()
    assert fight.player.character.experience_debt == 50
    assert shards(fight) == []
    assert fight.player.character.shards == ()


def test_only_its_owner_recovers_it() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    fall(fight)
    recover(fight, other)
    assert fight.texts(other)[-1] == OTHERS
    assert len(shards(fight)) == 1


def test_it_stands_again_when_its_owner_comes_back() -> None:
    fight = Fight()
    fall(fight)
    fight.harness.run(5.0)
    fight.harness.service.closed(fight.player, fight.client, "the test cuts it", fight.harness.now)
    fight.run(200.0)
    again = fight.harness.stand(5)
    assert again.player is not None
    fight.client, fight.player = again, again.player
    fight.put(again, HERE)
    fight.run(1.0)
    assert len(shards(fight)) == 1
    recover(fight)
    assert shards(fight) == []


def test_a_shard_is_stored_with_its_debt_in_one_save() -> None:
    fight = Fight()
    fall(fight)
    fight.run(1.0)
    row = fight.harness.store.rows[5]
    (shard,) = row.shards
    assert (row.experience_debt, shard.debt, shard.number) == (500, 500, 1)
    assert (shard.x, shard.y, shard.z) == pytest.approx(HERE[:3])
    assert shard.made == pytest.approx(fight.harness.moment, abs=5.0)
    recover(fight)
    fight.run(1.0)
    row = fight.harness.store.rows[5]
    assert (row.experience_debt, row.shards) == (50, ())


def test_the_first_of_too_many_goes() -> None:
    fight = Fight()
    for _ in range(MOST_SHARDS + 2):
        fall(fight)
    assert len(shards(fight)) == MOST_SHARDS
    numbers = [one.number for one in fight.player.character.shards]
    assert numbers == list(range(3, MOST_SHARDS + 3))


def test_a_world_without_shards_leaves_none() -> None:
    fight = Fight()
    fight.harness.world.rules = replace(fight.harness.world.rules, spirit_shards=False)
    fall(fight)
    assert shards(fight) == []
