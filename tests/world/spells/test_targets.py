"""Targets of casts: groups, areas, encounters, the dead."""

from pathlib import Path

import pytest

from emu.spells.kinds import SpellKind, SpellTarget, SpellTier
from tests.support.world.spell_scenes import SpellScene

TIER = SpellTier(range=25.0, radius=10.0)


def friendly(target: SpellTarget, **values: object) -> SpellKind:
    return SpellKind(1, "x", target=target, is_friendly=True, **values)  # type: ignore[arg-type]


def grouped(scene: SpellScene) -> tuple[object, object]:
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
    single = find.aim(scene.zone, scene.player.spawn, friendly(SpellTarget.ONE), TIER, friend)  # type: ignore[arg-type]
    assert single.targets == (friend,)
    alone = find.aim(scene.zone, scene.player.spawn, friendly(SpellTarget.SELF), TIER, friend)  # type: ignore[arg-type]
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
