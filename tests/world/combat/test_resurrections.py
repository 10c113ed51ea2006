"""Resurrection by window. Source: EQ2Emulator's texts and commands."""

from emu.world.combat.falls import AWAKE
from emu.world.combat.resurrections import NOBODY_ASKS
from emu.world.minds.harm import CORPSE
from tests.support.world.fights import HERE, Fight


def dead() -> Fight:
    fight = Fight()
    crab = fight.creature()
    fight.harness.parts.minds.harm.kill(fight.player.zone, fight.player.spawn, crab)
    return fight


def offer(fight: Fight, **values: float) -> bool:
    return fight.harness.parts.combat.resurrections.offer(
        fight.player, "Borvik", "Revive", **({"health": 50.0, "power": 25.0} | values),  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_dead_player_is_asked_and_lives_where_it_lies() -> None:
    fight = dead()
    assert offer(fight)
    window = fight.client.decoded("WS_ChoiceWindow")[-1]
    assert window["text"] == "Borvik would like to cast 'Revive' on you. Do you accept?"
    assert not offer(fight)
    assert fight.client.types("accept_resurrection 77") == [NOBODY_ASKS]
    fight.client.types(window["accept_command"])
    sheet = fight.player.spawn.sheet
    assert (sheet.health.current, sheet.power.current) == (51, 26)
    assert CORPSE not in fight.player.spawn.words
    assert fight.player.position == HERE
    assert AWAKE in fight.texts()
    assert fight.client.types("accept_resurrection") == [NOBODY_ASKS]


def test_a_resurrection_can_be_refused_and_ends_by_itself() -> None:
    fight = dead()
    assert offer(fight)
    fight.client.types("decline_resurrection 1")
    assert offer(fight)
    fight.run(61.0)
    assert fight.client.types("accept_resurrection") == [NOBODY_ASKS]
    assert CORPSE in fight.player.spawn.words


def test_the_living_are_not_asked() -> None:
    fight = Fight()
    assert not offer(fight)


def test_an_offer_ends_when_the_player_lives_again_in_another_way() -> None:
    fight = dead()
    assert offer(fight)
    fight.client.types("revive")
    fight.harness.parts.minds.harm.kill(fight.player.zone, fight.player.spawn, None)
    assert fight.client.types("accept_resurrection 1") == [NOBODY_ASKS]
    assert fight.player.spawn.hp_percent == 0
    assert offer(fight)
