"""Functions of spells: casts, damage, healing, and what a spell knows of itself.

They act for the spell whose script runs. Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from emu.scripts.signatures import FunctionTable, Handle, read_unsigned
from emu.spells.kinds import SpellKind, SpellLine, SpellTier
from emu.world.actors.spawn import Spawn
from emu.world.scripts.bodies import Body, given
from emu.world.scripts.host import Scripts
from emu.world.spells.custom import FIELDS, CustomSpell, shown_text
from emu.world.spells.living import CastPhase, End, LivingSpell, WaitingCast

SPELLS: Final = FunctionTable()
LARGEST: Final = 2**31 - 1
RACES: Final = range(101, 1000)


def current(scripts: Scripts) -> LivingSpell | None:
    """Return the spell whose script runs; None in other scripts, and once it is over."""
    spell = scripts.subject
    return spell if isinstance(spell, LivingSpell) and not spell.is_over else None


def acting(scripts: Scripts) -> LivingSpell | None:
    """Return the spell whose script runs, unless it was resisted: then it does nothing more."""
    spell = current(scripts)
    return None if spell is None or spell.is_resisted else spell


def keep(scripts: Scripts, spawn: Spawn, name: str, *values: float) -> None:
    """Note that the spell whose script runs does something that only the script takes back."""
    spell = acting(scripts)
    if spell is not None:
        spell.gifts_of(spawn).keep(name, *values)


def receivers(spell: LivingSpell | None, body: Body | None) -> list[Spawn]:
    """Return whom a function of a spell is for: all its targets, or the named spawn."""
    if spell is not None and spell.targets:
        return list(spell.targets)
    return [body.spawn] if body is not None and body.spawn.is_living else []


def chosen(scripts: Scripts, body: Body | None) -> list[Body]:
    """Return whom a function is for that scripts of all kinds call.

    In a spell these are all its targets, or nobody if it was resisted; else the named spawn.
    """
    spell = current(scripts)
    if spell is None:
        return [body] if body is not None else []
    return bodies(scripts, spell, receivers(spell, body)) if not spell.is_resisted else []


def bodies(scripts: Scripts, spell: LivingSpell, spawns: Iterable[Spawn]) -> list[Body]:
    """Return spawns as scripts have them; those who are gone are left out."""
    found = (scripts.homes.known(one, spell.zone) for one in spawns)
    return [one for one in found if one is not None]


# -- damage and healing -------------------------------------------------------------------------


@SPELLS("SpellDamage", "S spawn, n kind, u low, u high?, n critical=0, 1 no_formulas?, ...")
def damage(
    scripts: Scripts, body: Body | None, kind: int, low: int, high: int, critical: int,
    plain: bool, *races: Any,
) -> bool:  # fmt: skip
    """Harm the targets of the spell by a random amount of those between; true once it has."""
    spell = acting(scripts)
    if spell is None:
        return False
    wanted = {number for one in races if (number := read_unsigned(one)) in RACES}
    for target in receivers(spell, body):
        if wanted and not _is_of(scripts, target, wanted):
            continue
        scripts.spells.amounts.damage(
            spell, target, kind, (min(low, LARGEST), min(max(low, high), LARGEST)),
            critical=critical, plain=plain,
        )  # fmt: skip
    return spell.has_damaged


def _is_of(scripts: Scripts, spawn: Spawn, races: set[int]) -> bool:
    looks = spawn.appearance
    model = int(looks.get("model_type", 0))
    kind = scripts.figures.races.get(model, 0)
    return bool(races & {int(looks.get("race", 0)), kind, kind // 10 * 10})


@SPELLS(
    "SpellDamageExt",
    "S spawn, n kind, u low, u high, n critical?, 1 no_formulas?, u packet?, 1 takes_power?, ...",
)
def damage_more(
    scripts: Scripts, body: Body | None, kind: int, low: int, high: int, critical: int,
    plain: bool, _packet: int, takes_power: bool, *_races: Any,
) -> bool:  # fmt: skip
    """Harm the targets of the spell, or take power from them."""
    spell = acting(scripts)
    if spell is None:
        return False
    for target in receivers(spell, body):
        scripts.spells.amounts.damage(
            spell, target, kind, (min(low, LARGEST), min(max(low, high), LARGEST)),
            critical=critical, plain=plain, takes_power=takes_power,
        )  # fmt: skip
    return spell.has_damaged


def _healed(spell: LivingSpell, body: Body | None) -> list[Spawn]:
    """Return whom a heal is for: the named spawn; without one, or of a group, all targets."""
    if body is not None and body.spawn.is_living and len(spell.targets) <= 1:
        return [body.spawn]
    return list(spell.targets) or ([body.spawn] if body is not None else [])


@SPELLS("SpellHeal", "t kind, u low, u high?, S spawn?, n critical?, 1 no_formulas?, t name?")
def heal(
    scripts: Scripts, kind: str, low: int, high: int, body: Body | None, critical: int,
    plain: bool, name: str,
) -> None:  # fmt: skip
    """Give a spawn or the targets of the spell health ("heal") or power ("power")."""
    spell, kind = acting(scripts), kind.casefold()
    if spell is None or kind not in ("heal", "power"):
        return
    for target in _healed(spell, body):
        scripts.spells.amounts.heal(
            spell, target, min(low, LARGEST), min(max(low, high), LARGEST),
            is_power=kind == "power", critical=critical, plain=plain, name=shown_text(name),
        )  # fmt: skip


@SPELLS(
    "SpellHealPct",
    "t kind, f percent, b of_current, b of_caster, S spawn, n critical?, 1 no_formulas?, t name?",
)
def heal_share(
    scripts: Scripts, kind: str, percent: float, of_current: bool, of_caster: bool,
    body: Body | None, critical: int, plain: bool, name: str,
) -> None:  # fmt: skip
    """Give a share of health or power: of the most or what is there, the caster's or its own."""
    spell, kind = acting(scripts), kind.casefold()
    if spell is None or body is None or kind not in ("heal", "power"):
        return
    for target in _healed(spell, body):
        sheet = (spell.caster if of_caster else target).sheet
        pool = sheet.power if kind == "power" else sheet.health
        points = int((pool.current if of_current else pool.most) * percent / 100)
        scripts.spells.amounts.heal(
            spell, target, points, points, is_power=kind == "power", critical=critical,
            plain=plain, name=shown_text(name),
        )  # fmt: skip


@SPELLS("LastSpellAttackHit")
def last_hit(scripts: Scripts) -> bool:
    """Return whether the last damage of the spell has landed."""
    spell = current(scripts)
    return spell is not None and spell.last_hit


# -- casts --------------------------------------------------------------------------------------


@SPELLS("CastSpell", "S target, u spell, n tier=1, S caster?, n cast_time?")
def cast(
    scripts: Scripts, target: Body | None, number: int, tier: int, caster: Body | None,
    cast_time: int,
) -> None:  # fmt: skip
    """Let a spawn cast a spell at a target: the caster, without one the target itself."""
    by = caster or target
    kind = scripts.spells.kinds.get(number)
    of_tier = kind.tier(max(1, tier)) if kind is not None else None
    if target is None or by is None or kind is None or of_tier is None:
        return
    if not by.spawn.is_living or by.home is not target.home:
        return
    running = current(scripts)
    scripts.spells.casts.cast(
        by.home.zone, by.spawn, WaitingCast(kind, of_tier), target.spawn,
        depth=running.depth + 1 if running is not None else 1,
        cast_time=cast_time / 100 if cast_time > 0 else None,
        is_given=True,
    )  # fmt: skip


@SPELLS("GetSpell", "u spell, n tier=1, t script?")
def copy(scripts: Scripts, number: int, tier: int, script: str) -> Handle | None:
    """Return a copy of a spell, which `CastCustomSpell` casts; nothing for an unknown one."""
    kind = scripts.spells.kinds.get(number)
    of_tier = kind.tier(max(1, tier)) if kind is not None else None
    if kind is None or of_tier is None:
        return None
    if script:
        kind = replace(kind, script=script if script.endswith(".lua") else f"{script}.lua")
    return CustomSpell(kind, of_tier).handle


def _custom(subject: Any) -> CustomSpell | None:
    return subject if isinstance(subject, CustomSpell) else None


@SPELLS("SetSpellData", "L spell, t field, v value")
def set_data(_scripts: Scripts, subject: Any, field: str, value: Any) -> bool | None:
    """Change a field of a copy of a spell, by its name in the table."""
    custom = _custom(subject)
    return None if custom is None else custom.set(field, value)


@SPELLS("SetSpellDataIndex", "L spell, u index, v value, v value2?")
def set_value(_scripts: Scripts, subject: Any, index: int, value: Any, _second: Any) -> bool | None:
    """Change an argument of the script of a copy of a spell, by its position from 0."""
    custom = _custom(subject)
    return None if custom is None else custom.set_value(index, value)


@SPELLS("SetSpellDisplayEffect", "L spell, u index, t field, v value")
def set_line(_scripts: Scripts, subject: Any, index: int, field: str, value: Any) -> bool | None:
    """Change a line of the description of a copy of a spell."""
    custom = _custom(subject)
    return None if custom is None else custom.set_line(index, field, value)


def _tier_of(subject: Any) -> tuple[SpellKind, SpellTier] | None:
    if isinstance(subject, (CustomSpell, LivingSpell)):
        return subject.kind, subject.tier
    return None


@SPELLS("GetSpellData", "L spell, t field")
def get_data(_scripts: Scripts, subject: Any, field: str) -> Any:
    """Return a field of a spell by its name in the table."""
    found = _tier_of(subject)
    read = FIELDS.get(field.casefold())
    if found is None or read is None:
        return None
    value = read.get(*found)
    return given(value) if isinstance(value, str) else value


@SPELLS("GetSpellDataIndex", "L spell, u index, b second?")
def get_value(_scripts: Scripts, subject: Any, index: int, _second: bool) -> Any:
    """Return an argument of a spell's script by its position from 0."""
    found = _tier_of(subject)
    if found is None or index >= len(found[1].values):
        return None
    return found[1].values[index]


@SPELLS("GetSpellDisplayEffect", "L spell, u index, t field")
def get_line(_scripts: Scripts, subject: Any, index: int, field: str) -> Any:
    """Return a part of a line of a spell's description."""
    found = _tier_of(subject)
    if found is None or index >= len(found[1].lines):
        return None
    line: SpellLine = found[1].lines[index]
    parts = {"description": given(line.text), "bullet": line.bullet, "percentage": line.percentage}
    return parts.get(field.casefold())


@SPELLS("CastCustomSpell", "L spell, S caster, S target")
def cast_custom(scripts: Scripts, subject: Any, caster: Body | None, target: Body | None) -> None:
    """Cast a copy of a spell at once: it needs no book and costs nothing."""
    custom = _custom(subject)
    if custom is None or caster is None:
        return
    aimed = target or caster
    if not caster.spawn.is_living or aimed.home is not caster.home:
        return
    running = current(scripts)
    scripts.spells.casts.cast(
        caster.home.zone, caster.spawn, WaitingCast(custom.kind, custom.tier), aimed.spawn,
        depth=running.depth + 1 if running is not None else 1, cast_time=0.0, is_given=True,
    )  # fmt: skip


@SPELLS("CancelSpell")
def cancel(scripts: Scripts) -> None:
    """End the spell with the next turn."""
    spell = current(scripts)
    if spell is None:
        return
    if spell.phase is CastPhase.LASTING:
        scripts.spells.lasting.ends_now(spell)
    else:
        spell.is_cancelled = True


@SPELLS("Interrupt", "S caster, S target?")
def interrupt(scripts: Scripts, _caster: Body | None, target: Body | None) -> None:
    """End the cast of the second spawn."""
    if target is not None:
        scripts.spells.casts.interrupt(target.spawn)


@SPELLS("IsCasting", "S spawn")
def is_casting(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn casts now."""
    return body is not None and scripts.spells.casts.is_casting(body.spawn)


@SPELLS("AddSpellTimer", "u milliseconds, t function, S caster?, S target?")
def add_timer(
    scripts: Scripts, milliseconds: int, function: str, caster: Body | None, target: Body | None
) -> None:
    """Call a function of the spell's script later, also when its duration is over by then."""
    spell = current(scripts)
    if spell is not None and function:
        scripts.spells.lasting.call_later(
            spell, milliseconds / 1000, function,
            caster.spawn if caster is not None else spell.caster,
            target.spawn if target is not None else spell.target,
        )  # fmt: skip


# -- what a spell knows of itself ---------------------------------------------------------------


@SPELLS("GetSpellTier")
def get_tier(scripts: Scripts) -> int | None:
    """Return the tier of the spell."""
    spell = current(scripts)
    return None if spell is None else spell.tier.number


@SPELLS("GetSpellID")
def get_number(scripts: Scripts) -> int | None:
    """Return the number of the spell."""
    spell = current(scripts)
    return None if spell is None else spell.kind.id


@SPELLS("GetSpellName")
def get_name(scripts: Scripts) -> str | None:
    """Return the name of the spell."""
    spell = current(scripts)
    return None if spell is None else given(spell.kind.name)


def _living(scripts: Scripts, subject: Any) -> LivingSpell | None:
    return subject if isinstance(subject, LivingSpell) else current(scripts)


@SPELLS("GetSpellCaster", "L spell?")
def get_caster(scripts: Scripts, subject: Any) -> Handle | None:
    """Return who has cast a spell."""
    spell = _living(scripts, subject)
    found = bodies(scripts, spell, [spell.caster]) if spell is not None else []
    return found[0].handle if found else None


@SPELLS("GetSpellInitialTarget", "L spell?")
def get_target(scripts: Scripts, subject: Any) -> Handle | None:
    """Return at whom a spell was cast."""
    spell = _living(scripts, subject)
    if spell is None or spell.target is None:
        return None
    found = bodies(scripts, spell, [spell.target])
    return found[0].handle if found else None


@SPELLS("GetSpellTargets", "L spell?")
def get_targets(scripts: Scripts, subject: Any) -> Any:
    """Return a list of the targets of a spell."""
    spell = _living(scripts, subject)
    if spell is None:
        return None
    return scripts.table([one.handle for one in bodies(scripts, spell, spell.targets)])


@SPELLS("GetCasterSpellLevel", "L spell?")
def get_caster_level(scripts: Scripts, subject: Any) -> int | None:
    """Return the level of the caster when it cast the spell."""
    spell = _living(scripts, subject)
    return None if spell is None else spell.level


@SPELLS("GetSpellRequiredLevel", "S spawn")
def get_required_level(scripts: Scripts, body: Body | None) -> int | None:
    """Return the level at which a spawn's class has the spell; of a creature its own level."""
    spell = current(scripts)
    if spell is None or body is None:
        return None
    if body.player is None:
        return body.spawn.level
    found = scripts.spells.books.level_in(body.player, spell.kind)
    return int(found) if found is not None else 0


@SPELLS("SetSpellTriggerCount", "n number, 1 cancel?")
def set_triggers(scripts: Scripts, number: int, ends: bool) -> None:
    """Set how often the spell still acts; with `cancel` it ends with the last time."""
    spell = acting(scripts)
    if spell is not None:
        spell.triggers, spell.ends_without_triggers = max(0, number), ends
        for one in (*spell.targets, spell.caster):
            scripts.spells.states.show(one)


@SPELLS("GetSpellTriggerCount")
def get_triggers(scripts: Scripts) -> int | None:
    """Return how often the spell still acts."""
    spell = current(scripts)
    return None if spell is None else spell.triggers


@SPELLS("RemoveTriggerFromSpell", "n number=1")
def use_trigger(scripts: Scripts, number: int) -> None:
    """Note that the spell has acted so often."""
    spell = current(scripts)
    if spell is None or not spell.triggers:
        return
    spell.triggers = max(0, spell.triggers - max(0, number))
    for one in (*spell.targets, spell.caster):
        scripts.spells.states.show(one)
    if not spell.triggers and spell.ends_without_triggers:
        scripts.spells.lasting.ends_now(spell)


@SPELLS("HasSpellEffect", "S spawn, u spell, n tier?")
def has_effect(scripts: Scripts, body: Body | None, number: int, tier: int) -> bool:
    """Return whether a spell lasts on a spawn, of just that tier unless it is 0."""
    state = scripts.spells.states.get(body.spawn) if body is not None else None
    return state is not None and any(
        one.kind.id == number and tier in (0, one.tier.number) for one in state.effects
    )


@SPELLS("RemoveSpell", "S spawn, u spell, b maintained?, t reason?")
def remove(scripts: Scripts, body: Body | None, number: int, maintained: bool, reason: str) -> None:
    """End a spell that lasts on a spawn, or one of its own on others."""
    state = scripts.spells.states.get(body.spawn) if body is not None else None
    if state is None or body is None:
        return
    for one in list(state.maintained if maintained else state.effects):
        if one.kind.id != number:
            continue
        if maintained:
            scripts.spells.lasting.end(one, reason or End.CANCELED)
        else:
            scripts.spells.lasting.leave(one, body.spawn, reason or End.CANCELED)


@SPELLS("CureByType", "n number, n kind, t name?, n level?, S spawn?, S caster?")
def cure(
    scripts: Scripts, number: int, kind: int, name: str, level: int, body: Body | None,
    _caster: Body | None,
) -> None:  # fmt: skip
    """End so many harmful effects of a kind whose level is not above one; 0 is any."""
    spell = current(scripts)
    spawns = [body.spawn] if body is not None else list(spell.targets) if spell else []
    for spawn in spawns:
        scripts.spells.lasting.cure(
            spawn, number, lambda one: one.kind.detriment == kind, level,
            caster=spell.caster if spell is not None else spawn,
            name=shown_text(name) or (spell.kind.name if spell is not None else ""),
        )  # fmt: skip


def _controls(spawn: Spawn, kind: int, spell: LivingSpell) -> bool:
    return spawn in spell.gifts and kind in spell.gifts[spawn].controls


@SPELLS("CureByControlEffect", "n number, n kind, t name?, n level?, S spawn?")
def cure_control(
    scripts: Scripts, number: int, kind: int, name: str, level: int, body: Body | None
) -> None:
    """End so many effects that control a spawn in a way."""
    spell = current(scripts)
    spawns = [body.spawn] if body is not None else list(spell.targets) if spell else []
    for spawn in spawns:
        scripts.spells.lasting.cure(
            spawn, number, partial(_controls, spawn, kind), level,
            caster=spell.caster if spell is not None else spawn,
            name=shown_text(name) or (spell.kind.name if spell is not None else ""),
        )  # fmt: skip
