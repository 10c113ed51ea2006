"""Errors by version, texts of spells, and what viewers are sent of them."""

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.spells.shows import error_code, filled, send_to, show_heal
from emu.world_stream.movement import Position
from tests.support.world.fights import HERE, Fight


# Recorded: 546 and 561 10 11 17 40 44 55, 1096 11 58 72, 1208 11 59 72 73, 60114 11 60 74.
@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("interrupted", (10, 10, 11, 11, 11)),
        ("stronger_there", (11, 11, 13, 13, 13)),
        ("target_dead", (17, 17, 20, 20, 20)),
        ("cannot_prepare", (40, 40, 54, 55, 56)),
        ("too_far", (44, 44, 58, 59, 60)),
        ("not_a_friend", (54, 54, 71, 72, 73)),
        ("not_an_enemy", (55, 55, 72, 73, 74)),
    ],
)
def test_errors_have_numbers_of_their_version(name: str, numbers: tuple[int, ...]) -> None:
    assert tuple(error_code(name, one) for one in (546, 561, 1096, 1208, 60114)) == numbers


def test_names_stand_in_texts() -> None:
    caster, target = (
        Spawn(at, SpawnKind.NPC, name, Position(0, 0, 0, 0))
        for at, name in enumerate(("Aldana", "a crab"))
    )
    assert (
        filled("%c casts on %t; %T falls", caster, target) == "Aldana casts on a crab; a crab falls"
    )


def test_only_onlookers_may_be_shown_a_heal_a_moment_later() -> None:
    fight = Fight()
    friend, onlooker = fight.stand(6, "Borvik"), fight.stand(7, "Corvin")
    sides = fight.player.spawn, fight.of(friend).spawn
    show_heal(fight.player.zone, sides, "Minor Healing", 5)
    clients = (fight.client, friend, onlooker)
    assert [len(one.decoded("WS_HearHeal")) for one in clients] == [1, 1, 1]
    assert [one.sent_later for one in clients] == [0, 0, 1]


CAST: dict[str, float] = {"spell_id": 5, "visual": 6, "seconds": 1.0, "level": 1, "tier": 1}


def test_a_viewer_is_sent_its_own_numbers_of_those_whom_it_sees() -> None:
    fight = Fight()
    crab, far = fight.creature(), fight.creature("a far crab", HERE._replace(x=600.0))
    fight.run(1.0)
    (viewer,) = fight.player.zone.observers(crab)
    own = fight.player.spawn
    assert send_to(viewer, crab, (own, far), "WS_HearSpellCast", **CAST)
    assert send_to(viewer, crab, (far,), "WS_HearSpellCast", **CAST)
    both, nobody = fight.client.decoded("WS_HearSpellCast")
    index = fight.player.index_of
    assert (both["spawn_id"], both["target_array"]) == (index(crab), [{"target": index(own)}])
    assert (nobody["spawn_id"], nobody["target_array"]) == (index(crab), [])
    show_heal(fight.player.zone, (own, crab), "Mend", 7)
    (heal,) = fight.client.decoded("WS_HearHeal")
    assert (heal["caster"], heal["target"], heal["heal_amt"]) == (index(own), index(crab), 7)


def test_nothing_is_shown_without_the_caster_or_the_only_target() -> None:
    fight = Fight()
    crab, far = fight.creature(), fight.creature("a far crab", HERE._replace(x=600.0))
    fight.run(1.0)
    (viewer,) = fight.player.zone.observers(crab)
    before = len(fight.client.names)
    assert not send_to(viewer, far, (crab,), "WS_HearSpellCast", **CAST)
    heal = {"heal_amt": 7, "spellname": "Mend", "type": 0, "unknown2": 1}
    assert not send_to(viewer, crab, (far,), "WS_HearHeal", inner="", **heal)
    assert len(fight.client.names) == before
