"""The minds of creatures that fight: whom they attack, help and hunt, and when they give up."""

from pathlib import Path
from typing import Any

from emu.content.file import Entry, Placement, Template
from emu.content.standing import Standing
from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.rules.stance import Encounter
from emu.world.actors.sheet import FieldKind, SpellMarks
from emu.world.actors.spawn import Spawn
from emu.world.combat.creatures import NO_REWARD, Creatures
from emu.world.combat.fights import COMBAT
from emu.world.combat.figures import shared_hate
from emu.world.events import FightOver, Hated, MayCast, Provoked
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.world.fights import HERE, Fight
from tests.support.world.worlds import HarnessContent

FIERCE = 1
"""A faction that attacks everybody."""


def far(x: float) -> Position:
    return HERE._replace(x=x)


def strong(fight: Fight) -> None:
    fight.player.spawn.sheet.health.fill(1_000_000)


def fights(fight: Fight, spawn: Spawn) -> bool:
    return fight.harness.parts.combat.creatures.is_fighting(spawn)


def test_who_is_struck_strikes_back() -> None:
    fight = Fight()
    strong(fight)
    crab = fight.creature()
    crab.sheet.health.fill(100_000)
    provoked: list[Provoked] = []
    fight.harness.world.events.subscribe(Provoked, provoked.append)
    fight.attack(crab)
    fight.run(10.0)
    index = fight.player.index_of(crab)
    assert index is not None
    assert [one for one in fight.blows() if one[:4] == index.to_bytes(4, "little")]
    assert crab.target_id == fight.player.spawn.id
    assert [one.foe for one in provoked] == [fight.player.spawn]
    assert list(crab.mind.fighters) == [fight.player.spawn]


def test_the_first_blow_and_damage_make_hate() -> None:
    fight = Fight()
    crab = fight.creature()
    fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, fight.player.spawn, 3)
    assert crab.mind.hates == {fight.player.spawn: 53}
    fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, fight.player.spawn, 0)
    assert crab.mind.hates == {fight.player.spawn: 53}


def test_fierce_creatures_attack_on_sight() -> None:
    fight = Fight()
    strong(fight)
    wolf = fight.creature("a wolf", far(12.0), faction=FIERCE)
    fight.run(5.0)
    assert not fights(fight, wolf)
    fight.put(fight.client, HERE._replace(x=3.0))
    fight.run(8.0)
    assert fights(fight, wolf)
    assert fight.blows()


def test_weak_hidden_and_friendly_ones_do_not_attack() -> None:
    fight = Fight(level=20)
    strong(fight)
    weak = fight.creature("a rat", level=1, faction=FIERCE)
    calm = fight.creature("a deer", level=20, faction=5)
    fight.run(5.0)
    assert not fights(fight, weak)
    assert not fights(fight, calm)
    fight.player.spawn.set_visibility(hidden=True)
    wolf = fight.creature("a wolf", level=20, faction=FIERCE)
    fight.run(5.0)
    assert not fights(fight, wolf)


def test_its_kind_helps() -> None:
    fight = Fight()
    strong(fight)
    first = fight.creature("a wolf", far(8.0), faction=FIERCE)
    second = fight.creature("a wolf", far(24.0), faction=FIERCE)
    third = fight.creature("a bear", far(24.0), faction=FIERCE)
    distant = fight.creature("a wolf", far(60.0), faction=FIERCE)
    fight.run(3.0)
    assert fights(fight, first)
    assert fights(fight, second)
    assert not fights(fight, third)
    assert not fights(fight, distant)
    fight.run(10.0)
    assert fight.player.spawn.position.distance_to(second.position) < 8.0


def grouped(fight: Fight, *spawns: Spawn) -> None:
    """Put creatures into one group, as the content file does."""
    creatures = fight.harness.parts.combat.creatures
    zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
    placement = Placement(**zeros)
    template = Template(1, "npcs", {}, {}, {}, ())
    entry = Entry(1, 1, template.id, 100.0, 0, "")
    standing = Standing(placement, entry, template, 0.0, 0.0, 0.0, 1, 32, None, group=7)
    for spawn in spawns:
        creatures.appeared(fight.player.zone, spawn, standing)


def test_hate_without_a_blow_locks_a_creature_and_calls_its_group() -> None:
    """eq2-spells.md 3: hostile on NPC makes an encounter; 7: an attacked group gets hate."""
    fight = Fight()
    first, second = fight.creature("a wolf", far(8.0)), fight.creature("a wolf", far(12.0))
    grouped(fight, first, second)
    own, amounts = fight.player.spawn, fight.harness.parts.spells.amounts
    amounts.hate(fight.player.zone, first, own, 10)
    assert first.mind.encounter is Encounter.LOCKED
    assert own in second.mind.hates
    assert second.mind.encounter is Encounter.LOCKED
    assert fights(fight, second)


def test_a_pet_and_its_former_group_leave_each_other_alone() -> None:
    fight = Fight()
    charmed, other = fight.creature("a wolf", far(8.0)), fight.creature("a wolf", far(12.0))
    bear = fight.creature("a bear", far(10.0))
    grouped(fight, charmed, other)
    zone, creatures = fight.player.zone, fight.harness.parts.combat.creatures
    charmed.mind.has_master = True
    creatures.hate(zone, charmed, bear, 10)
    assert not fights(fight, other)
    creatures.ended(zone)
    grouped(fight, charmed, other)
    creatures.hate(zone, other, fight.player.spawn, 10)
    assert not fights(fight, charmed)


def test_who_runs_far_away_is_left() -> None:
    fight = Fight()
    strong(fight)
    crab = fight.creature("a crab", far(5.0))
    crab.sheet.health.fill(1000)
    ended: list[FightOver] = []
    fight.harness.world.events.subscribe(FightOver, ended.append)
    fight.attack(crab)
    fight.run(3.0)
    fight.client.types("autoattack 0")
    hurt = crab.sheet.health.current
    fight.put(fight.client, HERE._replace(x=60.0))
    fight.run(4.0)
    assert crab.position.x > 20.0
    fight.put(fight.client, HERE._replace(x=150.0))
    fight.run(2.0)
    assert NO_REWARD.format(name="a crab") in fight.texts()
    assert crab.mind.hates == {}
    assert len(ended) == 1
    assert COMBAT not in crab.words | fight.player.spawn.words
    assert crab.sheet.health.current >= hurt
    fight.run(30.0)
    assert crab.position.distance_to(HERE._replace(x=5.0)) < 3.0
    assert crab.sheet.health.current == 1000
    assert crab.mind.encounter is Encounter.FREE
    assert not fights(fight, crab)
    assert crab.mind.left_from is None


def test_who_is_dead_thinks_no_more() -> None:
    fight = Fight()
    strong(fight)
    crab = fight.creature()
    fight.attack(crab)
    fight.run(1.0)
    assert fights(fight, crab)
    fight.harness.minds.harm.kill(fight.player.zone, crab, fight.player.spawn)
    assert not fights(fight, crab)
    assert not fights(fight, fight.player.spawn)
    assert not fight.harness.parts.combat.creatures._thoughts


def test_a_player_who_leaves_is_forgotten() -> None:
    fight = Fight()
    strong(fight)
    fight.stand(6, "Borvik")
    crab = fight.creature()
    crab.sheet.health.fill(1000)
    fight.attack(crab)
    fight.run(3.0)
    fight.harness.service.closed(fight.player, fight.client, "the test cuts it", fight.harness.now)
    fight.run(200.0)
    assert crab.mind.hates == {}
    assert COMBAT not in crab.words


def test_idle_creatures_have_no_deadline() -> None:
    fight = Fight()
    timetable = fight.harness.parts.timetable
    before = timetable._heap.live
    for number in range(50):
        fight.creature(f"crab {number}", far(float(number)))
    assert timetable._heap.live <= before + 1  # the tick of the zone


def test_taunts_and_shared_hate() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    borvik = fight.of(other).spawn
    wolf = fight.creature("a wolf")
    wolf.sheet.health.fill(100_000)
    creatures, zone = fight.harness.parts.combat.creatures, fight.player.zone
    creatures.hate(zone, wolf, fight.player.spawn, 100)
    creatures.hate(zone, wolf, borvik, 300)
    assert wolf.mind.most_hated() is borvik
    # Four fifths of what Aldana earns go to Borvik.
    marks = fight.player.spawn.sheet.spells = SpellMarks()
    marks.threat = borvik, 80.0
    before = dict(wolf.mind.hates)
    creatures.hate(zone, wolf, fight.player.spawn, 1000)
    assert wolf.mind.hates[borvik] - before[borvik] == 800
    assert wolf.mind.hates[fight.player.spawn] - before[fight.player.spawn] == 200
    marks.threat = None
    creatures.hate(zone, wolf, fight.player.spawn, 1000)
    assert wolf.mind.most_hated() is fight.player.spawn


def test_blows_share_their_hate_as_well() -> None:
    # Source: eq2-spells.md 7, "threat transfer ... wanted the share".
    fight = Fight()
    borvik = fight.of(fight.stand(6, "Borvik")).spawn
    wolf, own = fight.creature("a wolf"), fight.player.spawn
    wolf.sheet.health.fill(100_000)
    own.sheet.spells = SpellMarks()
    own.sheet.spells.threat = borvik, 50.0
    fight.harness.minds.harm.take_health(fight.player.zone, wolf, own, 1000)
    # A first blow makes 50 more.
    assert wolf.mind.hates == {own: 525, borvik: 525}


def test_nobody_takes_hate_who_is_dead_or_elsewhere() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    borvik, own = fight.of(other).spawn, fight.player.spawn
    own.sheet.spells = SpellMarks()
    own.sheet.spells.threat = borvik, 50.0
    zone = fight.player.zone
    assert shared_hate(zone, own, 100) == ((own, 50), (borvik, 50))
    assert shared_hate(zone, own, -100) == ((own, -100),)
    own.sheet.spells.threat = own, 50.0
    assert shared_hate(zone, own, 100) == ((own, 100),)
    own.sheet.spells.threat = borvik, 50.0
    fight.harness.minds.harm.kill(zone, borvik, None)
    assert shared_hate(zone, own, 100) == ((own, 100),)
    fight.harness.departures.remove(fight.of(other), "quit", fight.harness.now)
    borvik.sheet.health.fill(100)
    assert shared_hate(zone, own, 100) == ((own, 100),)


def test_what_is_worn_changes_hate() -> None:
    fight = Fight()
    wolf = fight.creature("a wolf")
    fight.player.spawn.sheet.set("hate_mod", FieldKind.FRACTION, 50.0)
    fight.harness.parts.combat.creatures.hate(
        fight.player.zone, wolf, fight.player.spawn, 100
    )  # fmt: skip
    assert wolf.mind.hates[fight.player.spawn] == 150


def test_a_held_creature_stays_but_strikes_who_is_near() -> None:
    fight = Fight()
    wolf = fight.creature("a wolf", at=HERE._replace(x=12.0))
    wolf.sheet.health.fill(100_000)
    fight.player.spawn.sheet.health.fill(100_000)
    creatures = fight.harness.parts.combat.creatures
    creatures.hold(wolf, on=True)
    creatures.hate(fight.player.zone, wolf, fight.player.spawn, 100)
    fight.run(5.0)
    assert wolf.position.x == 12.0
    assert fight.blows() == []
    fight.put(fight.client, HERE._replace(x=10.0))
    fight.run(5.0)
    assert fight.blows()
    fight.put(fight.client, HERE)
    creatures.hold(wolf, on=False)
    fight.run(5.0)
    assert wolf.position.x < 6.0


def hunted() -> tuple[Fight, Creatures, Spawn]:
    """Return a fight in which a wolf hunts the player, and neither is soon dead."""
    fight = Fight()
    strong(fight)
    wolf = fight.creature("a wolf", far(5.0))
    wolf.sheet.health.fill(100_000)
    creatures = fight.harness.parts.combat.creatures
    creatures.hate(fight.player.zone, wolf, fight.player.spawn, 100)
    return fight, creatures, wolf


def test_a_held_creature_that_gives_up_goes_back_when_it_is_free() -> None:
    fight, creatures, wolf = hunted()
    fight.put(fight.client, far(30.0))
    fight.run(2.5)
    creatures.hold(wolf, on=True)
    at = wolf.position
    assert at.x > 8.0
    fight.put(fight.client, far(300.0))
    fight.run(20.0)
    assert wolf.position == at
    creatures.hold(wolf, on=False)
    fight.run(1.0)
    assert 5.0 < wolf.position.x < at.x
    fight.run(10.0)
    assert wolf.position.distance_to(far(5.0)) < 3.0
    assert not fights(fight, wolf)


def test_a_creature_on_its_way_back_can_be_held() -> None:
    fight, creatures, wolf = hunted()
    fight.put(fight.client, far(60.0))
    fight.run(5.0)
    fight.put(fight.client, far(300.0))
    fight.run(1.5)
    creatures.hold(wolf, on=True)
    at = wolf.position
    assert at.x > 10.0
    creatures.hate(fight.player.zone, wolf, fight.player.spawn, 100)
    fight.run(3.0)
    assert wolf.position.distance_to(at) < 0.5


def test_a_zone_that_ends_leaves_no_controlled_creature() -> None:
    fight = Fight()
    wolf, creatures = fight.creature("a wolf"), fight.harness.parts.combat.creatures
    creatures.hold(wolf, on=True)
    creatures.scare(wolf, on=True)
    creatures.ended(fight.player.zone)
    assert not creatures._held | creatures._scared


def test_a_scared_creature_runs_away_and_comes_again(tmp_path: Path) -> None:
    """eq2-maps.md: fear picks a random point of the mesh; without a mesh nobody flees."""
    fight = Fight(content=HarnessContent(maps=lambda: MapFolder(tmp_path / "maps")))
    zone = fight.player.zone
    import_maps(write_maps(tmp_path / "source", zone.definition.file), tmp_path / "maps")
    strong(fight)
    fight.put(fight.client, Position(10.0, 0.0, 2.0))
    wolf = fight.creature("a wolf", Position(11.0, 0.0, 2.0))
    wolf.sheet.health.fill(100_000)
    creatures = fight.harness.parts.combat.creatures
    creatures.hate(zone, wolf, fight.player.spawn, 100)
    fight.run(2.0)
    creatures.scare(wolf, on=True)
    farthest = 0.0
    for _ in range(20):
        fight.run(0.5)
        farthest = max(farthest, wolf.position.distance_to(fight.player.position))
    assert farthest > 4.0
    assert fights(fight, wolf)
    creatures.scare(wolf, on=False)
    fight.run(10.0)
    assert wolf.position.distance_to(fight.player.position) < 4.0


def test_a_listener_lets_a_creature_cast_instead_of_striking() -> None:
    fight = Fight()
    wolf = fight.creature("a wolf")
    fight.player.spawn.sheet.health.fill(100_000)
    asked: list[MayCast] = []

    def cast(event: MayCast) -> None:
        asked.append(event)
        event.pauses.append(5.0)

    fight.harness.world.events.subscribe(MayCast, cast)
    fight.harness.parts.combat.creatures.hate(
        fight.player.zone, wolf, fight.player.spawn, 100
    )  # fmt: skip
    fight.run(4.0)
    assert asked
    assert asked[0].foe is fight.player.spawn
    assert fight.blows() == []


def test_the_fights_of_a_zone_end_with_it() -> None:
    fight = Fight()
    strong(fight)
    crab = fight.creature("a crab", far(5.0))
    crab.sheet.health.fill(1000)
    fight.attack(crab)
    fight.run(3.0)
    creatures = fight.harness.parts.combat.creatures
    assert fights(fight, crab)
    creatures.ended(fight.player.zone)
    assert not fights(fight, crab)
    at = crab.position
    fight.run(5.0)
    assert crab.position == at


def test_nobody_is_in_a_fight_any_more_whom_a_script_lets_be_forgotten() -> None:
    """Scripts end hate without a word to fights (ClearHate), as charms do."""
    fight = Fight()
    strong(fight)
    crab = fight.creature()
    fight.attack(crab)
    fight.run(3.0)
    fight.client.types("autoattack 0")
    assert COMBAT in fight.player.spawn.words
    crab.mind.hates.clear()
    fight.run(2.0)
    assert COMBAT not in fight.player.spawn.words
    assert not fights(fight, fight.player.spawn)


def test_a_creature_that_its_script_kills_at_once_leaves_nobody_in_a_fight() -> None:
    fight = Fight()
    crab, zone = fight.creature(), fight.player.zone
    harm = fight.harness.minds.harm
    fight.harness.world.events.subscribe(Provoked, lambda one: harm.kill(zone, one.spawn, None))
    fight.harness.parts.combat.creatures.hate(zone, crab, fight.player.spawn, 10)
    assert crab.hp_percent == 0
    assert COMBAT not in fight.player.spawn.words
    assert not fights(fight, fight.player.spawn)


def test_creatures_whose_scripts_call_each_other_are_provoked_once_each() -> None:
    # As the pirates of the community's content do: `aggro` of each lets all of them attack.
    fight = Fight()
    strong(fight)
    crabs = [fight.creature(at=HERE._replace(x=2.0 * number)) for number in range(3)]
    provoked: list[Spawn] = []
    events, foe = fight.harness.world.events, fight.player.spawn

    def call(event: Provoked) -> None:
        provoked.append(event.spawn)
        for crab in crabs:
            crab.mind.add_hate(foe, 100, crab.position)
            events.publish(Hated(zone=event.zone, spawn=crab, foe=foe))

    events.subscribe(Provoked, call)
    fight.attack(crabs[0])
    fight.run(2.0)
    assert sorted(one.id for one in provoked) == sorted(one.id for one in crabs)
    assert all(fights(fight, crab) for crab in crabs)
