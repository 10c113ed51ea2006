"""Targets of casts: groups, areas, encounters, the dead."""

from pathlib import Path
from typing import Any

import pytest

from emu.spells.kinds import SpellKind, SpellTarget, SpellTier
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import LivingSpell
from emu.world.spells.targets import ENCOUNTER_BACKDROP, Aim
from tests.support.world.spell_scenes import SpellScene

TIER = SpellTier(range=25.0, radius=10.0)


def friendly(target: SpellTarget, **values: object) -> SpellKind:
    return SpellKind(1, "x", target=target, is_friendly=True, **values)  # type: ignore[arg-type]


def grouped(scene: SpellScene) -> tuple[Spawn, Spawn]:
    friend = scene.friend()
    scene.client.types("invite Borvik")
    scene.harness.world.groups.table.accept(friend.id, scene.harness.now)
    return scene.player.spawn, friend.spawn


def test_a_group_is_reached_where_it_is(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    own, friend = grouped(scene)
    find = scene.spells.targets
    aim = find.aim(scene.zone, scene.player.spawn, friendly(SpellTarget.GROUP), TIER, None)
    assert set(aim.targets) == {own, friend}
    single = find.aim(scene.zone, scene.player.spawn, friendly(SpellTarget.ONE), TIER, friend)
    assert single.targets == (friend,)
    alone = find.aim(scene.zone, scene.player.spawn, friendly(SpellTarget.SELF), TIER, friend)
    assert alone.targets == (own,)


def test_who_is_not_in_it_gets_no_spell_of_a_group(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    friend = scene.friend().spawn
    kind = friendly(SpellTarget.ONE, only_group=True)
    aim = scene.spells.targets.aim(scene.zone, scene.player.spawn, kind, TIER, friend)
    assert aim.targets == (scene.player.spawn,)


def test_areas_take_the_nearest(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    crabs = [scene.creature(f"crab {at}", away=2.0 + at) for at in range(4)]
    far = scene.creature("far", away=60.0)
    tier = SpellTier(radius=15.0, most_targets=3)
    kind = SpellKind(1, "x", target=SpellTarget.ONE)
    find = scene.spells.targets
    for most in (1, 3):  # whom an area reaches is found at the end of the cast
        area = SpellTier(radius=15.0, most_targets=most)
        assert find.aim(scene.zone, scene.player.spawn, kind, area, None) == (
            scene.player.spawn, (), "",
        )  # fmt: skip
    found = find.around(scene.zone, scene.player.spawn, kind, tier, crabs[3])
    assert found[0] is crabs[3]
    assert len(found) == 3
    assert far not in found


def test_the_dead_are_for_other_spells(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    friend, find = scene.friend().spawn, scene.spells.targets
    kind = friendly(SpellTarget.CORPSE)
    assert find.aim(scene.zone, scene.player.spawn, kind, TIER, friend).error == "target_not_dead"
    scene.harness.minds.harm.take_health(scene.zone, friend, None, 100_000)
    assert find.aim(scene.zone, scene.player.spawn, kind, TIER, friend).targets == (friend,)
    assert find.aim(scene.zone, scene.player.spawn, kind, TIER, None).error == "no_fit_target"
    # Recorded (fight-1208-priest-a): a body is no enemy, and no friend.
    harmful = SpellKind(1, "x", target=SpellTarget.ONE)
    helpful = SpellKind(2, "x", target=SpellTarget.ONE, is_friendly=True)
    crab = scene.creature()
    scene.harness.minds.harm.kill(scene.zone, crab, None)
    assert find.aim(scene.zone, scene.player.spawn, harmful, TIER, crab).error == "not_an_enemy"
    assert find.aim(scene.zone, scene.player.spawn, helpful, TIER, crab).error == "not_a_friend"
    dead = find.aim(scene.zone, scene.player.spawn, helpful, TIER, friend)
    assert dead.error == "target_dead"


def test_a_spell_for_pets_reaches_all_of_them(tmp_path: Path) -> None:
    """Target type 3 (eq2-spells.md 4)."""
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    pets = [scene.creature(f"pet {at}") for at in range(2)]
    scene.spells.company.owners.update(dict.fromkeys(pets, scene.player.spawn))
    aim = scene.spells.targets.aim(
        scene.zone, scene.player.spawn, friendly(SpellTarget.OWN_PET), TIER, None
    )
    assert aim.targets == tuple(pets)


def test_a_creature_reaches_those_of_a_group_within_its_range(tmp_path: Path) -> None:
    """A hostile spell of a creature on a group (eq2-spells.md 4)."""
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path)
    own, friend = grouped(scene)
    crab = scene.creature(away=20.0)
    kind = SpellKind(1, "x", target=SpellTarget.ONE, is_group=True)
    near, far = SpellTier(range=30.0), SpellTier(range=10.0)
    find = scene.spells.targets
    assert set(find.aim(scene.zone, crab, kind, near, scene.player.spawn).targets) == {own, friend}
    assert find.aim(scene.zone, crab, kind, far, scene.player.spawn).targets == (own,)


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path)


ONE = SpellKind(1, "x", target=SpellTarget.ONE)


def aim(scene: SpellScene, kind: SpellKind, target: Spawn | None, caster: Any = None) -> Aim:
    caster = caster or scene.player.spawn
    return scene.spells.targets.aim(scene.zone, caster, kind, TIER, target)


def test_a_friendly_spell_at_a_foe_helps_whom_the_foe_fights(scene: SpellScene) -> None:
    own, friend, crab = scene.player.spawn, scene.friend().spawn, scene.creature()
    kind = friendly(SpellTarget.ONE)
    assert aim(scene, kind, crab).targets == (own,)
    crab.target_id = friend.id
    assert aim(scene, kind, crab).targets == (friend,)
    assert aim(scene, friendly(SpellTarget.ONE, only_group=True), crab).targets == (own,)
    crab.target_id = scene.creature().id
    assert aim(scene, kind, crab).targets == (own,)
    assert aim(scene, kind, None).targets == (own,)


def test_a_spell_for_the_group_of_another_player(scene: SpellScene) -> None:
    friend = scene.friend()
    kind = friendly(SpellTarget.OTHER_GROUP)
    assert aim(scene, kind, friend.spawn) == (friend.spawn, (friend.spawn,), "")
    for target in (None, scene.creature()):
        assert aim(scene, kind, target) == (None, (), "no_fit_target")


def test_a_group_has_its_pets_and_none_of_its_dead(scene: SpellScene) -> None:
    own, friend = grouped(scene)
    pet = scene.creature("a pet")
    scene.spells.company.owners[pet] = friend
    kind = friendly(SpellTarget.GROUP)
    assert set(aim(scene, kind, None).targets) == {own, friend, pet}
    scene.harness.minds.harm.kill(scene.zone, friend, None)
    assert aim(scene, kind, None).targets == (own,)


def test_a_harmful_spell_at_a_friend_goes_to_the_friends_enemy(scene: SpellScene) -> None:
    friend, crab = scene.friend(), scene.creature()
    assert aim(scene, ONE, friend.spawn) == (None, (), "not_an_enemy")
    friend.set_target(scene.player.spawn)
    assert aim(scene, ONE, friend.spawn) == (None, (), "not_an_enemy")
    friend.set_target(crab)
    assert aim(scene, ONE, friend.spawn) == (crab, (crab,), "")
    assert aim(scene, ONE, None) == (None, (), "not_an_enemy")
    deer = scene.creature("a deer", attackable=False)
    assert aim(scene, ONE, deer) == (deer, (), "not_an_enemy")


def test_a_target_that_is_not_there_any_more_is_none(scene: SpellScene) -> None:
    crab = scene.creature()
    scene.zone.remove(crab, scene.harness.now)
    assert aim(scene, ONE, crab) == (None, (), "not_an_enemy")


def test_an_encounter_is_reached_as_a_whole_by_spells_on_groups(scene: SpellScene) -> None:
    standing = scene.standing("")._replace(group=7)
    crabs = [scene.creature(f"crab {at}", away=2.0 + at) for at in range(3)]
    for one in crabs:
        scene.spells.company.appeared(scene.zone, one, standing)
    scene.harness.minds.harm.kill(scene.zone, crabs[2], None)
    assert aim(scene, ONE, crabs[0]).targets == (crabs[0],)
    for kind in (
        SpellKind(1, "x", target=SpellTarget.ONE, is_group=True),
        SpellKind(1, "x", target=SpellTarget.GROUP), SpellKind(1, "x", target=SpellTarget.RAID),
        SpellKind(1, "x", target=SpellTarget.ONE, backdrop=ENCOUNTER_BACKDROP),
    ):  # fmt: skip
        assert aim(scene, kind, crabs[0]).targets == tuple(crabs[:2])


def test_creatures_help_creatures(scene: SpellScene) -> None:
    crab, other = scene.creature(), scene.creature("another")
    kind = friendly(SpellTarget.ONE)
    assert aim(scene, kind, other, crab).targets == (other,)
    assert aim(scene, kind, scene.player.spawn, crab).targets == (crab,)


def test_who_is_gone_or_dead_at_the_end_of_a_cast_is_left_out(scene: SpellScene) -> None:
    def left(*targets: Spawn, is_free: bool = False) -> tuple[str | None, list[Spawn]]:
        spell = LivingSpell(ONE, TIER, scene.zone, scene.player.spawn, targets=[*targets])
        spell.is_free = is_free
        return scene.spells.targets.gather(spell), spell.targets

    crab, dead, deer = scene.creature(), scene.creature(), scene.creature(attackable=False)
    scene.harness.minds.harm.kill(scene.zone, dead, None)
    assert left(crab, dead) == (None, [crab])
    assert left(dead) == ("target_dead", [])
    assert left(deer) == ("not_an_enemy", [])
    assert left(deer, is_free=True) == (None, [deer])
    assert left() == (None, [])
    pet = scene.creature("a pet", attackable=False)
    scene.spells.company.owners[pet] = scene.player.spawn
    assert left(pet) == (None, [pet])


def test_an_area_is_gathered_around_the_caster_when_the_cast_ends(scene: SpellScene) -> None:
    near, far = scene.creature(), scene.creature("far", away=60.0)
    tier = SpellTier(radius=15.0, most_targets=3)
    spell = LivingSpell(ONE, tier, scene.zone, scene.player.spawn)
    assert scene.spells.targets.gather(spell) is None
    assert spell.targets == [near]
    scene.zone.remove(near, scene.harness.now)
    assert scene.spells.targets.gather(spell) == "none_in_range"
    assert far not in spell.targets
