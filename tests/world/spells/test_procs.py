"""Procs and wards."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emu.rules.combat import Result
from emu.spells.kinds import SpellTarget
from emu.world.events import BlowAvoided, BlowLanded, Died, Healed, Hurt
from emu.world.spells.living import WaitingCast
from emu.world.spells.procs import TAKEN, TAKEN_OFF, ProcHarm
from tests.support.world.spell_scenes import SpellScene

WARD = """
[[spell]]
id = 600
name = "Shield"
script = "Spells/Shield.lua"
target = 0
is_friendly = true
[[spell.tier]]
duration1 = 600
values = [20]
"""
SHIELD = "function cast(Caster, Target, Amount) AddWard(Amount) end"
THORNS = """
function cast(Caster, Target) AddProc(Target, 15, 100) end
function proc(Caster, Target, Type)
    ProcDamage(Caster, Target, "Thorns", 3, 5, 5)
end
"""


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path, toml=WARD)
    roll(scene, low=True)
    return scene


def roll(scene: SpellScene, *, low: bool) -> None:
    """Let each draw be the lowest number, with which all lands, or the highest one."""
    chance = SimpleNamespace(randint=lambda least, most: least if low else most)
    scene.harness.world.zones.chances._of[scene.zone] = chance  # type: ignore[assignment]


def hurt(scene: SpellScene, points: int, crab: object = None) -> int:
    harm, own = scene.harness.minds.harm, scene.player.spawn
    through = harm.through(scene.zone, own, crab, points)  # type: ignore[arg-type]
    harm.take_health(scene.zone, own, crab, through)  # type: ignore[arg-type]
    return through


def test_a_ward_takes_damage_until_it_is_used_up(scene: SpellScene) -> None:
    scene.script(SHIELD, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    assert scene.effects()
    assert hurt(scene, 15) == 0
    message = scene.client.decoded("WS_HearHeal")[-1]
    assert (message["heal_amt"], message["type"]) == (15, 2)
    # A field that EQ2Emulator leaves empty (eq2-combat.md 2.2).
    assert scene.harness.parts.sheets.fields(scene.player)["absorb"] == 5
    assert hurt(scene, 15) == 10
    assert scene.effects() == []
    assert hurt(scene, 15) == 15


def test_a_proc_answers_damage(scene: SpellScene) -> None:
    scene.script(THORNS, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    crab = scene.creature()
    hurt(scene, 10, crab)
    assert crab.sheet.health.current == 9_995
    hurt(scene, 0, crab)
    assert crab.sheet.health.current == 9_995


@pytest.mark.parametrize("kind", [-1, 15, 259])
def test_a_proc_of_an_unknown_type_harms_like_a_blow(scene: SpellScene, kind: int) -> None:
    # A script of the community passes another value as the type in its `remove`.
    crab = scene.creature()
    harm = ProcHarm("Bleeding", kind, 5, 5)
    scene.spells.procs.damage(scene.zone, scene.player.spawn, crab, harm)
    assert crab.sheet.health.current < 10_000
    assert scene.client.decoded("WS_HearSimpleDamage")[-1]["dmg_array"][0]["damage_type"] == 0


def test_a_ward_leaves_what_is_too_hard_for_it(scene: SpellScene) -> None:
    """Source: eq2-spells.md 7 (wards: 0 if that would be at least health % of the most)."""
    source = "function cast(Caster, Target) AddWard(900, 0, 0, 0, 0, 50) end"
    scene.script(source, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    half = scene.player.spawn.sheet.health.most // 2
    assert hurt(scene, half - 1) == 0
    assert hurt(scene, half) == half


@pytest.mark.parametrize("keep", [0, 1])
def test_a_ward_ends_after_its_blows(scene: SpellScene, keep: int) -> None:
    """Source: eq2-spells.md 7 (wards: hit count, then it ends)."""
    source = f"function cast(Caster, Target) AddWard(900, {keep}, 0, 0, 0, 0, 0, 2) end"
    scene.script(source, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    assert [hurt(scene, 5) for _ in range(3)] == [0, 0, 5]
    assert bool(scene.effects()) is bool(keep)


def test_a_ward_for_any_number_of_blows_takes_them_beside_a_proc_with_a_count(
    scene: SpellScene,
) -> None:
    source = "function cast(Caster, Target) AddWard(900) SetSpellTriggerCount(4, 1) end"
    scene.script(source, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    (spell,) = scene.effects()
    assert spell.triggers == 4
    assert [hurt(scene, 5) for _ in range(3)] == [0, 0, 0]


@pytest.mark.parametrize(("amount", "left"), [(20, 15), (0, -1)])
def test_the_ward_that_was_weakest_at_first_comes_first(
    tmp_path: Path, amount: int, left: int
) -> None:
    """Source: eq2-spells.md 7 (wards: lowest base first); amount 0 takes all (eq2-lua.md 3)."""
    other = WARD.replace("id = 600", "id = 601").replace("[20]", "[30]")
    scene = SpellScene(tmp_path, toml=WARD.replace("[20]", f"[{amount}]") + other)
    scene.script(SHIELD, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(601), 1, None)
    assert hurt(scene, 20) == 0
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    assert hurt(scene, 5) == 0
    strong, weak = (one.ward for one in scene.effects())
    assert strong is not None
    assert weak is not None
    assert (strong.left, weak.left) == (10, left)


@pytest.mark.parametrize(
    ("kind", "percent", "kept"), [(0, 0, (5, 5)), (1, 40, (2, 0)), (2, 40, (0, 2))]
)
def test_a_ward_takes_its_share_of_its_kind(
    scene: SpellScene, kind: int, percent: int, kept: tuple[int, int]
) -> None:
    """Source: eq2-spells.md 7: all damage, that of blows, or that of magic."""
    source = f"function cast(Caster, Target) AddWard(900, 0, {kind}, 0, {percent}) end"
    scene.script(source, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    harm, own = scene.harness.minds.harm, scene.player.spawn
    assert tuple(5 - harm.through(scene.zone, own, None, 5, one) for one in (0, 7)) == kept


@pytest.mark.parametrize(
    ("kind", "result"),
    [(7, Result.BLOCK), (8, Result.PARRY), (9, Result.RIPOSTE), (10, Result.DODGE)],
)
def test_a_proc_answers_a_blow_that_is_avoided(
    scene: SpellScene, kind: int, result: Result
) -> None:
    """Source: eq2-lua.md 7.4 (AddProc types 7 to 10)."""
    scene.script(THORNS.replace("15, 100", f"{kind}, 100"), "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    crab, events = scene.creature(), scene.harness.world.events
    for one in (Result.MISS, result):
        events.publish(BlowAvoided(zone=scene.zone, spawn=scene.player.spawn, foe=crab, result=one))
    assert crab.sheet.health.current == 9_995


@pytest.mark.parametrize(("kind", "is_shooter"), [(18, True), (19, False)])
def test_a_proc_follows_a_shot(scene: SpellScene, kind: int, is_shooter: bool) -> None:
    """Source: eq2-lua.md 7.4 (AddProc types 18 and 19)."""
    scene.script(THORNS.replace("15, 100", f"{kind}, 100"), "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    crab, own = scene.creature(), scene.player.spawn
    shooter, victim = (own, crab) if is_shooter else (crab, own)
    for is_ranged in (False, True):
        scene.harness.world.events.publish(
            BlowLanded(
                zone=scene.zone, spawn=shooter, foe=victim, damage=1, damage_type=2,
                is_ranged=is_ranged,
            )
        )  # fmt: skip
    assert crab.sheet.health.current == 9_995


def test_a_proc_has_a_line_for_each_side(scene: SpellScene) -> None:
    """Source: eq2-lua.md 7.6 (ProcDamage: success to the attacker, effect within 50)."""
    lines = '"You burn %t.", "%t is burned by %c."'
    scene.script(THORNS.replace("5, 5)", f"5, 5, {lines})"), "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    hurt(scene, 10, scene.creature())
    assert scene.shown()[-2:] == ["You burn a crab.", "a crab is burned by Aldana."]


def test_a_ward_that_redirects_has_a_line_for_each_side(scene: SpellScene) -> None:
    """Source: eq2-spells.md 7 (the redirect share hits the ward's caster, a line to both)."""
    source = "function cast(Caster, Target) AddWard(900, 0, 0, 0, 0, 0, 50) end"
    scene.script(source, "Spells/Shield.lua")
    friend = scene.friend()
    kind = replace(scene.kind(600), target=SpellTarget.ONE)
    scene.spells.cast_for_free(friend, kind, 1, scene.player.spawn)
    friend.spawn.sheet.health.fill(1000)
    before = len(scene.shown())
    assert hurt(scene, 30) == 0
    assert friend.spawn.sheet.health.current == 985
    assert scene.shown()[before:] == [TAKEN_OFF.format(name="Borvik", points=15)]
    assert scene.read_by(friend)[-1] == TAKEN.format(name="Aldana", points=15)
    # Who is elsewhere takes nothing.
    scene.zone.remove(friend.spawn, scene.harness.now)
    hurt(scene, 30)
    assert friend.spawn.sheet.health.current == 985


def test_a_ward_of_ones_own_redirects_nothing(scene: SpellScene) -> None:
    source = "function cast(Caster, Target) AddWard(900, 0, 0, 0, 0, 0, 50) end"
    scene.script(source, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    before = scene.player.spawn.sheet.health.current
    assert hurt(scene, 30) == 0
    assert scene.player.spawn.sheet.health.current == before


def test_procs_that_cause_each_other_end(scene: SpellScene) -> None:
    scene.script(THORNS, "Spells/Shield.lua")
    crab, own = scene.creature(), scene.player.spawn
    kind = scene.kind(600)
    tier = kind.tier(1)
    assert tier is not None
    for one in (crab, own):
        scene.spells.casts.cast(scene.zone, one, WaitingCast(kind, tier), one, cast_time=0.0)
    before = own.sheet.health.current
    hurt(scene, 10, crab)
    # The thorns of both sides sting once.
    assert (own.sheet.health.current, crab.sheet.health.current) == (before - 15, 9_995)


def test_a_proc_does_not_cause_itself(scene: SpellScene) -> None:
    scene.script(THORNS.replace("15, 100", "1, 100"), "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    crab = scene.creature()
    scene.harness.minds.harm.take_health(scene.zone, crab, scene.player.spawn, 10)
    assert crab.sheet.health.current == 9_985


def test_what_a_proc_does_can_be_resisted(scene: SpellScene) -> None:
    """Source: eq2-lua.md 7.6 (ProcDamage: rolls a hit as a spell; miss: 5 hate)."""
    crab, own = scene.creature(), scene.player.spawn
    harm = ProcHarm("Sting", 3, 5, 5, "You sting %t.")
    roll(scene, low=False)
    scene.spells.procs.damage(scene.zone, own, crab, harm)
    assert crab.sheet.health.current == 10_000
    assert crab.mind.hates == {own: 5}
    assert scene.client.decoded("WS_HearSimpleDamage")[-1]["result_type"] == 9
    assert "You sting a crab." not in scene.shown()
    crab.sheet.is_invulnerable = True
    roll(scene, low=True)
    scene.spells.procs.damage(scene.zone, own, crab, harm)
    assert scene.client.decoded("WS_HearSimpleDamage")[-1]["result_type"] == 7
    crab.sheet.is_invulnerable = False
    scene.spells.procs.damage(scene.zone, own, crab, harm)
    assert crab.sheet.health.current == 9_995


def happened(scene: SpellScene, *events: Any) -> list[tuple[str, int, str]]:
    """Publish events; return which procs they are: whose, the type, and the other side."""
    found: list[tuple[str, int, str]] = []
    procs: Any = scene.spells.procs
    procs.happen = lambda spawn, kind, other: found.append(
        (spawn.name, kind, other.name if other is not None else "")
    )
    for event in events:
        scene.harness.world.events.publish(event)
    return found


def test_each_event_of_a_fight_is_a_proc_of_both_sides(scene: SpellScene) -> None:
    """Source: eq2-lua.md 7.4 (AddProc types); 20 and 21 are attempts, also without damage."""
    crab, own = scene.creature(), scene.player.spawn
    sides = {"zone": scene.zone, "spawn": crab, "foe": own}
    blow = Hurt(**sides, damage=5, kind=2)
    assert happened(scene, blow) == [
        ("Aldana", 20, "a crab"), ("a crab", 15, "Aldana"), ("a crab", 16, "Aldana"),
        ("a crab", 2, "Aldana"), ("a crab", 4, "Aldana"), ("Aldana", 1, "a crab"),
        ("Aldana", 3, "a crab"),
    ]  # fmt: skip
    assert happened(scene, replace(blow, spell_id=600)) == [
        ("Aldana", 21, "a crab"), ("a crab", 15, "Aldana"), ("a crab", 17, "Aldana"),
        ("a crab", 2, "Aldana"), ("a crab", 6, "Aldana"), ("Aldana", 1, "a crab"),
        ("Aldana", 5, "a crab"),
    ]  # fmt: skip
    assert happened(scene, replace(blow, damage=0)) == [("Aldana", 20, "a crab")]
    alone = [("a crab", 15), ("a crab", 16), ("a crab", 2), ("a crab", 4)]
    for nobody in (None, crab):
        of_itself = happened(scene, replace(blow, foe=nobody))
        assert [one[:2] for one in of_itself] == alone


def test_heals_casts_and_deaths_are_procs(scene: SpellScene) -> None:
    """Source: eq2-lua.md 7.4 (AddProc types 11 to 14)."""
    crab, own = scene.creature(), scene.player.spawn
    healed = Healed(zone=scene.zone, spawn=crab, foe=own, amount=5)
    assert happened(scene, healed) == [("Aldana", 11, "a crab")]
    assert happened(scene, replace(healed, is_power=True), replace(healed, foe=None)) == []
    assert happened(scene, Died(victim=crab, killer=own, zone=scene.zone)) == [
        ("a crab", 13, "Aldana"), ("Aldana", 14, "a crab"),
    ]  # fmt: skip
    assert happened(scene, Died(victim=crab, killer=None, zone=scene.zone)) == [("a crab", 13, "")]


def test_a_proc_comes_as_often_as_its_chance_says(scene: SpellScene) -> None:
    """Source: eq2-lua.md 3 (AddProc: the chance is in percent)."""
    drawn = [2549, 2550, 9999]
    chance = SimpleNamespace(
        randint=lambda low, high: drawn.pop(0) if (low, high) == (0, 9999) else low
    )
    scene.script(
        """function cast(Caster, Target) AddProc(Target, 13, 25.5) end
        function proc(Caster) Say(Caster, "Now") end""", "Spells/Shield.lua",
    )  # fmt: skip
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    calls: list[str] = []
    scripts: Any = scene.spells.procs._scripts()
    scripts.call = lambda _spell, name, *_: calls.append(name)
    scene.harness.world.zones.chances._of[scene.zone] = chance  # type: ignore[assignment]
    for _ in range(3):
        scene.spells.procs.happen(scene.player.spawn, 13, None)
    assert calls == ["proc"]
