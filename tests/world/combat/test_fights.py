"""Auto attack: who strikes whom, when, and what those who look on are shown."""

from dataclasses import replace

import pytest

from emu.world.actors.player import DEAD
from emu.world.actors.sheet import FieldKind
from emu.world.combat.fights import STARTED, STOPPED
from emu.world.combat.figures import PRIMARY
from emu.world.events import BlowLanded, Cast
from tests.support.world.fights import HERE, Fight

FIVE = (546, 561, 1096, 1208, 60114)


def test_a_player_strikes_its_target_until_it_stops() -> None:
    fight = Fight()
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(10.0)
    own = [one for one in fight.blows() if one[:4] == b"\x01\0\0\0"]
    # Bare hands strike each 2 s, the first time at once.
    assert len(own) in (5, 6)
    assert crab.sheet.health.current < 100_000
    fight.client.types("autoattack 0")
    struck = len(fight.blows())
    fight.harness.parts.combat.fights.rest(crab)
    fight.run(10.0)
    assert len(fight.blows()) == struck
    assert [one for one in fight.texts() if "fighting" in one] == [STARTED, STOPPED]


@pytest.mark.parametrize(("version", "color"), [(546, 56), (561, 56), (1096, 60), (1208, 60)])
def test_the_color_of_the_line_is_as_recorded(version: int, color: int) -> None:
    """Recorded: fight-VERSION-melee-a."""
    fight = Fight(version)
    fight.client.types("autoattack 1")
    assert fight.client.decoded("WS_DisplayText")[-1]["color"] == color


def test_nobody_strikes_out_of_reach() -> None:
    fight = Fight()
    crab = fight.creature(at=HERE._replace(x=30.0))
    fight.attack(crab)
    fight.run(5.0)
    assert fight.blows() == []
    fight.put(fight.client, HERE._replace(x=27.0))
    fight.run(0.5)
    assert fight.blows()


def test_no_friend_is_struck() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    friend = fight.creature("Brannoc", attackable=False)
    fight.attack(friend)
    fight.run(3.0)
    fight.attack(fight.of(other).spawn)
    fight.run(3.0)
    assert fight.blows() == []


def test_the_target_of_a_friend_is_struck() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    crab = fight.creature()
    fight.of(other).set_target(crab)
    fight.attack(fight.of(other).spawn)
    fight.run(0.5)
    assert fight.blows()


def test_a_friend_may_find_an_enemy_later() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    crab = fight.creature()
    fight.attack(fight.of(other).spawn)
    fight.run(3.0)
    assert fight.blows() == []
    fight.of(other).set_target(crab)
    fight.run(2.0)
    assert fight.blows()


def test_a_target_that_is_free_again_is_struck() -> None:
    fight = Fight()
    crab = fight.creature(attackable=False)
    fight.attack(crab)
    fight.run(3.0)
    assert fight.blows() == []
    crab.set_visibility(attackable=True)
    fight.run(2.0)
    assert fight.blows()


def test_a_locked_encounter_is_left_alone() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    crab = fight.creature()
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(0.5)
    fight.attack(crab, other)
    fight.run(4.0)
    index = fight.of(fight.client).index_of(fight.of(other).spawn)
    assert index is not None
    assert not [one for one in fight.blows() if one[:4] == index.to_bytes(4, "little")]


def test_a_dead_player_cannot_attack() -> None:
    fight = Fight()
    crab = fight.creature()
    fight.harness.parts.minds.harm.kill(fight.player.zone, fight.player.spawn, crab)
    fight.attack(crab)
    assert fight.texts()[-1] == DEAD
    fight.run(5.0)
    assert fight.blows() == []


@pytest.mark.parametrize("version", FIVE)
def test_onlookers_see_both_fight(version: int) -> None:
    fight = Fight()
    watcher = fight.stand(6, "Borvik", version)
    crab = fight.creature()
    crab.sheet.health.fill(1000)
    fight.attack(crab)
    fight.run(30.0)
    shown = watcher.fields_of("a crab")
    percent = crab.sheet.health.percent
    assert percent < 100
    assert shown["hp_remaining"] == 100 ^ percent
    bits = {546: ("auto_attack", 1), 561: ("activity_status", 0x4000)}
    name, bit = bits.get(version, ("activity_status", 0x8000))
    assert shown[name] & bit
    assert watcher.fields_of("Aldana")[name] & bit


@pytest.mark.slow
def test_a_parry_can_be_answered() -> None:
    fight = Fight(seed=3)
    crab = fight.creature()
    crab.sheet.health.fill(1_000_000)
    player = fight.player.spawn
    player.sheet.health.fill(1_000_000)
    player.sheet.set("parry", FieldKind.FRACTION, 70.0)
    fight.put(fight.client, HERE._replace(heading=HERE.heading_to(crab.position)))
    fight.attack(crab)
    fight.run(600.0)
    results = {one[12] for one in fight.blows()}
    # Recorded up to 561: 0 hit, 1 miss, 2 dodge; 3 parry and 4 riposte are EQ2Emulator's.
    assert results >= {0, 1, 3, 4}


@pytest.mark.parametrize("version", [546, 60114])
def test_who_is_struck_without_a_target_targets_its_foe(version: int) -> None:
    """Recorded in fight-546-death-a at 4.7484 s: OP_EqUpdateTargetCmd right before the blow."""
    fight = Fight(version)
    crab = fight.creature(level=1)
    before = len(fight.client.log)
    fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, fight.player.spawn, 5)
    fight.run(1.0)
    names = ("OP_EqUpdateTargetCmd", "OP_EqHearCombatCmd")
    seen = [one for one in fight.client.log[before:] if one[0] in names]
    index = fight.player.index_of(crab)
    assert index is not None
    assert [name for name, _ in seen[:2]] == list(names)
    # The 2006 client reads no byte behind the number (client-546-study.md 8).
    assert seen[0][1] == index.to_bytes(4, "little") + (b"\0" if version > 561 else b"")
    assert fight.player.target is crab
    fight.run(5.0)
    assert len([one for one in fight.client.log if one[0] == names[0]]) == 1


def struck_by(fight: Fight) -> list[bytes]:
    """Return the blows of the player itself, whose number is 1 for its client."""
    return [one for one in fight.blows() if one[:4] == (1).to_bytes(4, "little")]


@pytest.mark.parametrize("how", ["is struck", "command", "order", "script"])
def test_auto_attack_without_a_target_strikes_the_one_that_comes(how: str) -> None:
    """eq2-combat.md 4.1: `autoattack 1` also without a target; swings begin in reach."""
    fight = Fight()
    fight.player.spawn.sheet.health.fill(100_000)
    fight.client.types("autoattack 1")
    fight.run(1.0)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    if how == "is struck":
        fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, fight.player.spawn, 5)
    elif how == "command":
        fight.client.types("target a crab")
    else:
        fight.player.set_target(crab)
    if how == "order":
        assert fight.client.types("autoattack 1") == []
    fight.run(4.0)
    assert fight.player.target is crab
    assert struck_by(fight)


def test_who_has_a_target_keeps_it() -> None:
    fight = Fight()
    crab, other = fight.creature(level=1), fight.creature("a rat", level=1)
    fight.player.set_target(other)
    fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, fight.player.spawn, 5)
    fight.run(3.0)
    assert fight.player.target is other


@pytest.mark.parametrize(
    ("class_", "strikes"),
    [(0, True), (1, True), (3, True), (11, False), (13, False), (21, False), (31, True)],
)
def test_fighters_and_scouts_strike_whom_their_spells_harm(class_: int, strikes: bool) -> None:
    """Recorded for a mage, kept off for the classes 11 to 30 (eq2-spells.md 3)."""
    fight = Fight(class_=class_)
    crab = fight.creature()
    fight.player.set_target(crab)
    event = Cast(
        fight.player, zone=fight.player.zone, spawn=fight.player.spawn, foe=crab, spell_id=1,
        tier=1, is_harmful=True,
    )  # fmt: skip
    fight.harness.world.events.publish(replace(event, is_harmful=False))
    fight.harness.world.events.publish(replace(event, has_landed=False))
    assert not fight.harness.parts.combat.fights.is_attacking(fight.player.spawn)
    fight.harness.world.events.publish(event)
    assert fight.harness.parts.combat.fights.is_attacking(fight.player.spawn) is strikes
    assert STARTED not in fight.texts()
    # Recorded in real-spells-546-mage: who strikes by a spell reads nothing at the order.
    assert fight.client.types("autoattack 1") == ([] if strikes else [STARTED])
    fight.client.types("autoattack 0")
    fight.harness.world.events.publish(event)
    fight.run(1.0)
    assert bool([one for one in fight.blows() if one[:4] == b"\x01\0\0\0"]) is strikes


@pytest.mark.parametrize("version", [546, 561])
def test_the_sheet_shows_auto_attack(version: int) -> None:
    """Fields that EQ2Emulator leaves empty (eq2-combat.md 2.2)."""
    fight = Fight(version)
    sheets, fights = fight.harness.parts.sheets, fight.harness.parts.combat.fights

    def shown() -> list[object]:
        fields = sheets.fields(fight.player)
        return [fields.get(name, 0) for name in ("auto_attack", "ranged_auto_attack")]

    assert shown() == [0, 0]
    for order, expected in (("1", [1, 0]), ("0", [0, 0]), ("2", [0, 1])):
        before = len(fight.client.log)
        fight.client.types(f"autoattack {order}")
        fight.run(0.5)
        assert shown() == expected
        # Each switch changes the sheet, which the client is sent once.
        names = [name for name, _ in fight.client.log[before:]]
        sent = [name for name in names if name == "OP_UpdateCharacterSheetMsg"]
        assert len(sent) == 1
    fights.rest(fight.player.spawn)
    assert shown() == [0, 0]


@pytest.mark.parametrize("is_player", [True, False])
@pytest.mark.parametrize(("points", "low"), [(1, 100), (50, 3)])
def test_settings_say_what_strength_adds(is_player: bool, points: int, low: int) -> None:
    """The rules StrengthOther and StrengthNPC (eq2-real-content.md 3)."""
    fight = Fight()
    crab, own, world = fight.creature(), fight.player.spawn, fight.harness.world
    names = ("strength_points", "creature_strength_points")
    own_name, other_name = names if is_player else reversed(names)
    world.rules = replace(world.rules, **{own_name: points, other_name: 10_000})
    striker, victim = (own, crab) if is_player else (crab, own)
    striker.sheet.set("str", FieldKind.FRACTION, 100.0)
    victim.sheet.health.fill(100_000)
    dealt: list[int] = []
    world.events.subscribe(BlowLanded, lambda one: dealt.append(one.damage))
    for _ in range(30):
        fight.harness.parts.combat.fights.blow(fight.player.zone, striker, victim, PRIMARY)
    assert dealt
    assert low <= min(dealt) <= max(dealt) < low + 10
