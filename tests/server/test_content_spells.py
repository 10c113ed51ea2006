"""Every spell of a real content file with a script is cast, ticks and ends, and leaves nothing.

It needs the content file (EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). Each script is cast
at its first tier; with EMU_SPELLS=all each spell at each of its tiers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from emu.content.file import ContentFile
from emu.content.spells import SpellKinds
from emu.spells.kinds import SpellKind, SpellTier
from emu.world.actors.sheet import NO_MARKS, POOLS, known_fields
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.spells.living import End, LivingSpell, WaitingCast
from tests.server.test_content_travel import CONTENT, SCRIPTS
from tests.support.world.script_scenes import PLACE, ScriptScene

pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
pytest.importorskip("lupa", reason="the package lupa is not installed")
ALL: Final = os.environ.get("EMU_SPELLS") == "all"
BLANK: Final = "Spells/blank.lua"
TICKS: Final = 3
LEVEL: Final = 20


class ContentScene(ScriptScene):
    """A caster and a creature in a world with the spells and scripts of the content."""

    def __init__(self) -> None:
        self.kinds = SpellKinds(Path(CONTENT))
        super().__init__(Path(SCRIPTS), 1208, spells=self.kinds, class_=11, level=LEVEL)
        self.spells = self.harness.parts.spells
        self.crab = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "a crab",
            PLACE._replace(x=PLACE.x + 3), attackable=True, level=LEVEL,
        )  # fmt: skip
        self.zone.add_spawn(self.crab, self.harness.now)
        self.harness.run(0.3)
        # Its passive spells are no part of what is tried.
        own = self.spells.states.get(self.player.spawn)
        for one in list(own.effects) if own is not None else ():
            self.spells.lasting.end(one, End.CANCELED, is_quiet=True)


def spells_with_scripts(kinds: SpellKinds) -> Iterator[tuple[SpellKind, SpellTier]]:
    """Yield the active spells that have scripts, with the tiers at which they are cast."""
    with ContentFile(Path(CONTENT)) as file:
        rows = [row["id"] for row in file.table("spells") if row["is_active"] and row["script"]]
    seen: set[str] = set()
    for at in range(0, len(rows), 500):
        for kind in kinds.load(rows[at : at + 500]).values():
            there = (Path(SCRIPTS) / kind.script).is_file()
            if kind.script == BLANK or not there or (not ALL and kind.script in seen):
                continue
            seen.add(kind.script)
            tiers = list(kind.tiers.values())
            yield from ((kind, tier) for tier in (tiers if ALL else tiers[:1]))


FOR_GOOD: Final = frozenset(("breathe_underwater", "action_state"))
"""Fields that nothing undoes (../shared/spec/eq2-lua.md 7.3): BreatheUnderwater, and what a script
sets by name."""


def state(spawn: Spawn) -> dict[str, Any]:
    """Return all of a spawn that spells change for a time, not what their scripts set for good."""
    sheet = spawn.sheet
    marks = sheet.spells
    names = set(known_fields()) - set(POOLS) - FOR_GOOD
    return {
        "values": {name: sheet.get(name, known_fields()[name].kind) for name in sorted(names)},
        "most": (sheet.health.most, sheet.power.most, sheet.health.added, sheet.power.added),
        "looks": (dict(spawn.appearance), spawn.size, spawn.speed, spawn.look, spawn.own_model),
        "marks": marks is NO_MARKS or not (
            marks.bonuses or marks.skills or marks.controls or marks.immunities or marks.stealth
            or marks.effects or marks.maintained or marks.concentration or marks.snare != 1.0
        ),
        # One script kills whom it is cast upon: a death stays.
        "icons": spawn.effect_icons, "words": spawn.words - {"combat", "corpse"},
    }  # fmt: skip


@dataclass
class Findings:
    casts: int = 0
    begun: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    left: dict[str, Any] = field(default_factory=dict)


def cast_once(scene: ContentScene, kind: SpellKind, tier: SpellTier, found: Findings) -> None:
    """Cast a spell, let it tick and end it; note what stays behind."""
    caster, crab = scene.player.spawn, scene.crab
    for one in (caster, crab):
        one.sheet.health.fill(10**9)
        one.sheet.power.fill(10**9)
        one.show_pools()
    before = state(caster), state(crab)
    target = caster if kind.is_friendly else crab
    found.casts += 1
    spell = scene.spells.casts.cast(
        scene.zone, caster, WaitingCast(kind, tier), target, cast_time=0.0, is_given=True
    )  # fmt: skip
    if spell is not None:
        found.begun += 1
        finish(scene, spell)
    for one in (caster, crab):
        # Casts inside of casts, and those that others began.
        spells = scene.spells.states.get(one)
        for other in [*spells.effects, *spells.maintained] if spells is not None else ():
            scene.spells.lasting.end(other, End.CANCELED, is_quiet=True)
        scene.spells.casts.forget(one)
    after = state(caster), state(crab)
    for one, was, now in zip((caster, crab), before, after, strict=True):
        changed = {key: (was[key], now[key]) for key in was if was[key] != now[key]}
        if changed:
            found.left[f"{kind.script} {kind.id}/{tier.number} {one.name}"] = changed


def finish(scene: ContentScene, spell: LivingSpell) -> None:
    for _ in range(TICKS):
        if not spell.is_over:
            scene.scripts.spell_calls.call(
                spell, "tick", spell.caster, spell.target, *spell.tier.values
            )
    scene.spells.lasting.end(spell, End.CANCELED)


def test_every_script_of_spells_is_cast_and_leaves_nothing() -> None:
    scene = ContentScene()
    found = Findings()
    counters = scene.scripts.counters
    for kind, tier in spells_with_scripts(scene.kinds):
        failed = counters["functions failed"]
        cast_once(scene, kind, tier, found)
        if counters["functions failed"] > failed:
            found.errors[kind.script] += 1
    # Of all tiers more need what this caster lacks: a pet, stealth, a weapon.
    assert found.begun > found.casts * (0.85 if ALL else 0.9)
    assert not found.errors
    assert not found.left


REFUSED: Final = {
    "Spells/Mage/Summoner/MinionsStanceAgitation.lua", "Spells/Scout/Predator/Pounce.lua",
    "Spells/Scout/Predator/ShadowBlade.lua", "Spells/Scout/Rogue/Gouge.lua",
}  # fmt: skip
"""Scripts that need a pet, or a place behind the foe."""


def listed(kinds: SpellKinds) -> Iterator[tuple[SpellKind, SpellTier]]:
    """Yield the active spells of creatures with scripts, each script once."""
    with ContentFile(Path(CONTENT)) as file:
        rows = [(row["spell_id"], max(1, row["tier"])) for row in file.table("npc_spells")]
    found, seen = kinds.load({number for number, _ in rows}), set[str]()
    for number, tier_number in rows:
        kind = found.get(number)
        tier = kind.tier(tier_number) if kind is not None else None
        if kind is None or tier is None or not kind.is_active or kind.script in seen | {"", BLANK}:
            continue
        seen.add(kind.script)
        yield kind, tier


def test_creatures_cast_the_spells_of_their_lists() -> None:
    """Of 237 active spells in the lists of creatures, all but four scripts' are cast and heard."""
    scene = ContentScene()
    crab, own, casts = scene.crab, scene.player.spawn, scene.spells.casts
    refused, unheard, count = set[str](), set[str](), 0
    for kind, tier in listed(scene.kinds):
        for one in (crab, own):
            one.sheet.health.fill(10**6)
            one.sheet.power.fill(10**6)
        count += 1
        before = len(scene.client.log)
        target = crab if kind.is_friendly else own
        spell = casts.cast(scene.zone, crab, WaitingCast(kind, tier), target, pays=True)
        scene.harness.run(tier.cast_time + 0.6)
        is_heard = "OP_EqHearSpellCastCmd" in [name for name, _ in scene.client.log[before:]]
        if not is_heard:
            # A spell that is resisted at once is heard as well.
            (refused if spell is None else unheard).add(kind.script)
        for one in (crab, own):
            of = scene.spells.states.get(one)
            for other in [*of.effects, *of.maintained] if of is not None else ():
                scene.spells.lasting.end(other, End.CANCELED, is_quiet=True)
            casts.forget(one)
    assert count > 200
    assert unheard == set()
    assert refused == REFUSED
