"""Functions of spells that give something to their targets until they end.

Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from emu.scripts.signatures import FunctionTable, read_unsigned
from emu.world.actors.looks import LARGEST_MODEL, take_shape
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.spells import acting, current, receivers
from emu.world.scripts.host import Scripts
from emu.world.spells.custom import shown_text
from emu.world.spells.living import (
    HARMFUL_CONTROLS,
    HOLDING,
    MOST_GIFTS,
    Control,
    LivingSpell,
    Proc,
    SpellBonus,
    SpellGifts,
    Ward,
)
from emu.world.spells.procs import ProcHarm
from emu.world.spells.states import STEALTHED, UNSEEN

EFFECTS: Final = FunctionTable()
CONTROL_HATE: Final = 5
REFUSED: Final = frozenset((Control.INVISIBLE, Control.STEALTH, Control.ILLUSION))
"""Controls that have functions of their own."""
MOST_ONLY: Final = 32
LARGEST_BONUS: Final = 1e9


def _change(
    scripts: Scripts, spell: LivingSpell, spawns: Iterable[Spawn],
    act: Callable[[SpellGifts], object],
) -> None:  # fmt: skip
    """Change what a spell gives to spawns; count anew at those on whom it lasts."""
    for spawn in spawns:
        gifts = spell.gifts_of(spawn)
        if gifts.count >= MOST_GIFTS:
            continue
        act(gifts)
        scripts.spells.lasting.gave(spell, spawn)


def _named_or_all(spell: LivingSpell, body: Body | None) -> list[Spawn]:
    return [body.spawn] if body is not None else list(spell.targets)


# -- bonuses ------------------------------------------------------------------------------------


@EFFECTS("AddSpellBonus", "S spawn, n kind, f value, ...")
def add_bonus(scripts: Scripts, body: Body | None, kind: int, value: float, *only: Any) -> None:
    """Add to a number of the targets while the spell lasts; only for some classes or races."""
    spell = acting(scripts)
    if spell is None or not value or abs(value) > LARGEST_BONUS:
        return
    numbers = []
    for one in only[:MOST_ONLY]:
        if not read_unsigned(one):
            break
        numbers.append(read_unsigned(one))
    bonus = SpellBonus(value, tuple(numbers))
    _change(
        scripts, spell, receivers(spell, body),
        lambda gifts: gifts.bonuses.__setitem__(kind, bonus),
    )  # fmt: skip


@EFFECTS("AddSpawnSpellBonus", "S spawn, n kind, n value, ...")
def add_own_bonus(scripts: Scripts, body: Body | None, kind: int, value: int, *_only: Any) -> None:
    """Add to a number of one spawn while the spell lasts."""
    spell = acting(scripts)
    if spell is not None and body is not None and value:
        _change(
            scripts, spell, [body.spawn],
            lambda gifts: gifts.bonuses.__setitem__(kind, SpellBonus(float(value))),
        )  # fmt: skip


def give_most(scripts: Scripts, spawn: Spawn, kind: int, most: int, value: int) -> bool:
    """Let the spell whose script runs change the most health or power of a target while it lasts.

    `kind` is the type of the bonus, `most` what the target has now, and `value` what it is to have.
    Return False if no spell decides about it: in other scripts, and for pets.
    """
    spell = current(scripts)
    if spell is None:
        return False
    if spawn not in spell.targets:
        return spawn is spell.caster or spawn.kind is SpawnKind.PLAYER
    if not spell.is_resisted:
        state = scripts.spells.states.get(spawn)
        known = spell.gifts_of(spawn).bonuses.get(kind)
        counts = known is not None and state is not None and spell in state.effects
        bonus = SpellBonus(value - most + (known.value if known is not None and counts else 0.0))
        _change(
            scripts, spell, [spawn], lambda gifts: gifts.bonuses.__setitem__(kind, bonus)
        )  # fmt: skip
    return True


@EFFECTS("RemoveSpellBonus", "S spawn?")
def remove_bonus(scripts: Scripts, body: Body | None) -> None:
    """Take back all that the spell adds to numbers of a spawn, or of its targets."""
    spell = current(scripts)
    if spell is not None:
        spawns = _named_or_all(spell, body)
        _change(scripts, spell, spawns, lambda gifts: gifts.bonuses.clear())


@EFFECTS("RemoveSpawnSpellBonus", "S spawn")
def remove_own_bonus(scripts: Scripts, body: Body | None) -> None:
    """Take back all that the spell adds to numbers of a spawn."""
    if body is not None:
        remove_bonus(scripts, body)


@EFFECTS("AddSkillBonus", "S spawn, u skill, f value")
def add_skill_bonus(scripts: Scripts, body: Body | None, skill: int, value: float) -> None:
    """Raise or lower a skill of the targets while the spell lasts.

    In other scripts it is that of the spawn, until it leaves its zone or a script takes it back.
    """
    spell = acting(scripts)
    if not value or abs(value) > LARGEST_BONUS:
        return
    if not isinstance(scripts.subject, LivingSpell) and body is not None:
        known = scripts.spells.states.of(body.spawn).skills or {}
        _set_skills(scripts, body, {**known, skill: value} if len(known) < MOST_GIFTS else known)
    if spell is not None:
        _change(
            scripts, spell, receivers(spell, body),
            lambda gifts: gifts.skills.__setitem__(skill, value),
        )  # fmt: skip


def _set_skills(scripts: Scripts, body: Body, skills: dict[int, float]) -> None:
    if body.spawn.is_living:
        scripts.spells.states.of(body.spawn).skills = skills or None
        scripts.spells.states.recount(body.spawn)


@EFFECTS("RemoveSkillBonus", "S spawn?")
def remove_skill_bonus(scripts: Scripts, body: Body | None) -> None:
    """Take back all that the spell adds to skills; in other scripts what those have added."""
    spell = current(scripts)
    if not isinstance(scripts.subject, LivingSpell) and body is not None:
        _set_skills(scripts, body, {})
    if spell is not None:
        spawns = _named_or_all(spell, body)
        _change(scripts, spell, spawns, lambda gifts: gifts.skills.clear())


def _add_attribute(short: str, kind: int) -> None:
    def act(scripts: Scripts, body: Body | None, value: float) -> None:
        spell = acting(scripts)
        if spell is not None and body is not None and value:
            _change(
                scripts, spell, [body.spawn],
                lambda gifts: gifts.bonuses.__setitem__(kind, SpellBonus(float(value))),
            )  # fmt: skip

    letter = "n" if short == "Int" else "f"
    act.__doc__ = f"Add to a spawn's {short} while the spell lasts."
    EFFECTS(f"Set{short}", f"S spawn, {letter} value")(act)


for _kind, _short in enumerate(("Str", "Sta", "Agi", "Wis", "Int")):
    _add_attribute(_short, _kind)


# -- control ------------------------------------------------------------------------------------


@EFFECTS("AddControlEffect", "S spawn, n kind, 1 only?")
def add_control(scripts: Scripts, body: Body | None, kind: int, only: bool) -> None:
    """Control the targets while the spell lasts: root, stun, fear and so on."""
    spell = acting(scripts)
    if spell is None or kind in REFUSED or not Control.MEZ <= kind <= Control.SAFE_FALL:
        return
    spawns = [body.spawn] if only and body is not None else receivers(spell, body)
    free = [
        one for one in spawns
        if kind not in one.sheet.spells.immunities and kind not in spell.gifts_of(one).immunities
    ]  # fmt: skip
    _change(scripts, spell, free, lambda gifts: gifts.put("controls", kind))
    if kind not in HARMFUL_CONTROLS:
        return
    for one in free:
        if kind in HOLDING:
            scripts.spells.casts.interrupt(one)
        scripts.spells.amounts.hate(spell.zone, one, spell.caster, CONTROL_HATE)


@EFFECTS("RemoveControlEffect", "S spawn, n kind, 1 only?")
def remove_control(scripts: Scripts, body: Body | None, kind: int, only: bool) -> None:
    """Let the spell not control the targets in a way any more."""
    spell = current(scripts)
    if spell is not None and body is not None:
        spawns = [body.spawn] if only else receivers(spell, body)
        _change(scripts, spell, spawns, lambda gifts: gifts.take("controls", kind))


@EFFECTS("HasControlEffect", "S spawn, n kind")
def has_control(_scripts: Scripts, body: Body | None, kind: int) -> bool:
    """Return whether a spawn is controlled in a way."""
    return body is not None and kind in body.spawn.sheet.spells.controls


@EFFECTS("IsMezzed", "S spawn")
def is_mezzed(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is mesmerized."""
    return has_control(scripts, body, Control.MEZ)


@EFFECTS("IsStunned", "S spawn")
def is_stunned(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is stunned."""
    return has_control(scripts, body, Control.STUN)


@EFFECTS("IsMezzedOrStunned", "S spawn")
def is_held(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is mesmerized or stunned."""
    return body is not None and bool(HOLDING & set(body.spawn.sheet.spells.controls))


@EFFECTS("SetSpellSnareValue", "f percent, S spawn?")
def set_snare(scripts: Scripts, percent: float, body: Body | None) -> None:
    """Set how slow the targets of the spell are while it snares them."""
    spell = acting(scripts)
    if spell is not None:
        _change(
            scripts, spell, _named_or_all(spell, body),
            lambda gifts: setattr(gifts, "snare", max(0.0, min(percent, 100.0))),
        )  # fmt: skip


@EFFECTS("AddImmunitySpell", "n kind, S spawn?")
def add_immunity(scripts: Scripts, kind: int, body: Body | None) -> None:
    """Make the targets immune to a way of control while the spell lasts."""
    spell = acting(scripts)
    if spell is not None:
        spawns = _named_or_all(spell, body)
        _change(scripts, spell, spawns, lambda gifts: gifts.put("immunities", kind))


@EFFECTS("RemoveImmunitySpell", "n kind, S spawn?")
def remove_immunity(scripts: Scripts, kind: int, body: Body | None) -> None:
    """End an immunity that the spell gives."""
    spell = current(scripts)
    if spell is not None:
        spawns = _named_or_all(spell, body)
        _change(scripts, spell, spawns, lambda gifts: gifts.take("immunities", kind))


@EFFECTS("HasSpellImmunity", "S spawn, n kind")
def has_immunity(_scripts: Scripts, body: Body | None, kind: int) -> bool:
    """Return whether a spawn is immune to a way of control."""
    return body is not None and kind in body.spawn.sheet.spells.immunities


# -- procs --------------------------------------------------------------------------------------


@EFFECTS("AddProc", "S spawn, n kind, f chance, I item?, 1 all_targets?")
def add_proc(
    scripts: Scripts, body: Body | None, kind: int, chance: float, item: Any, every: bool
) -> None:
    """Call `proc` of the script, with a chance in percent, when an event comes to a spawn."""
    spell = acting(scripts)
    if spell is None:
        return
    own = [body.spawn] if body is not None else []
    spawns = receivers(spell, body) if every or not own else own
    proc = Proc(kind, chance, item)
    _change(scripts, spell, spawns, lambda gifts: gifts.procs.append(proc))


@EFFECTS(
    "AddProcExt",
    "S spawn, n kind, n damage_type, f chance, n health?, b below?, b by_target?, I item?,"
    " 1 all_targets?",
)
def add_more_proc(
    scripts: Scripts, body: Body | None, kind: int, _damage: int, chance: float, _health: int,
    _below: bool, _by_target: bool, item: Any, every: bool,
) -> None:  # fmt: skip
    """Call `proc` of the script as AddProc does."""
    add_proc(scripts, body, kind, chance, item, every)


@EFFECTS("RemoveProc", "S spawn?, I item?")
def remove_proc(scripts: Scripts, body: Body | None, _item: Any) -> None:
    """Call `proc` of the spell's script no more."""
    spell = current(scripts)
    if spell is not None:
        own = [body.spawn] if body is not None else [*spell.targets, spell.caster]
        _change(scripts, spell, own, lambda gifts: gifts.procs.clear())


@EFFECTS(
    "ProcDamage",
    "S caster, S target, t name, n kind, u low, u high, t success?, t effect?",
)
def proc_damage(
    scripts: Scripts, caster: Body | None, target: Body | None, name: str, kind: int, low: int,
    high: int, success: str, effect: str,
) -> None:  # fmt: skip
    """Harm a spawn by what a proc does, under a name of its own, with lines for both sides."""
    if caster is not None and target is not None and caster.home is target.home:
        spell = current(scripts)
        harm = ProcHarm(
            shown_text(name), kind, low, high, shown_text(success),
            spell.kind.id if spell is not None else 1, shown_text(effect),
        )  # fmt: skip
        scripts.spells.procs.damage(caster.home.zone, caster.spawn, target.spawn, harm)


@EFFECTS("ProcHate", "S spawn, N npc, u amount, t name?")
def proc_hate(
    scripts: Scripts, body: Body | None, npc: Body | None, amount: int, name: str
) -> None:
    """Let a creature hate a spawn by what a proc does, and show it."""
    if body is not None and npc is not None and body.home is npc.home:
        scripts.spells.procs.hate(
            body.home.zone, npc.spawn, body.spawn, amount, name=shown_text(name)
        )


# -- looks -------------------------------------------------------------------------------------


@EFFECTS("SetIllusion", "S spawn, n model")
def set_illusion(scripts: Scripts, body: Body | None, model: int) -> None:
    """Let the targets of the spell look as another model while it lasts; 0: as their own.

    In other scripts it is the spawn, for good.
    """
    spell = current(scripts)
    if spell is None:
        if body is not None:
            take_shape(body.spawn, model)
    elif not spell.is_resisted:
        model = max(0, min(model, LARGEST_MODEL))
        _change(
            scripts, spell, receivers(spell, body), lambda gifts: setattr(gifts, "model", model)
        )


@EFFECTS("ResetIllusion", "S spawn")
def reset_illusion(scripts: Scripts, body: Body | None) -> None:
    """Give a spawn its own model again, or the targets of the spell theirs."""
    set_illusion(scripts, body, 0)


# -- wards --------------------------------------------------------------------------------------


@EFFECTS(
    "AddWard",
    "u amount, 1 keep?, n kind?, n damage_type?, u percent?, u health_percent?, u redirect?,"
    " u hits?",
)
def add_ward(
    scripts: Scripts, amount: int, keep: bool, kind: int, _damage: int, percent: int,
    health: int, redirect: int, hits: int,
) -> None:  # fmt: skip
    """Keep so much damage off the targets of the spell; 0 keeps off all."""
    spell = acting(scripts)
    if spell is not None:
        spell.ward = Ward(amount or -1, keep, kind, percent, redirect, hits, min(health, 100))
        if hits:
            spell.triggers = hits


@EFFECTS("AddToWard", "u amount")
def add_to_ward(scripts: Scripts, amount: int) -> None:
    """Let the ward of the spell keep off more."""
    spell = current(scripts)
    if spell is not None and spell.ward is not None and spell.ward.left >= 0:
        spell.ward.left += amount


@EFFECTS("RemoveWard")
def remove_ward(scripts: Scripts) -> None:
    """Let the spell keep off no more damage."""
    spell = current(scripts)
    if spell is not None:
        spell.ward = None


@EFFECTS("GetWardAmountLeft")
def get_ward(scripts: Scripts) -> int | None:
    """Return how much damage the ward of the spell still keeps off."""
    spell = current(scripts)
    return None if spell is None or spell.ward is None else max(0, spell.ward.left)


@EFFECTS("GetWardValue", "v spell, t field")
def get_ward_value(scripts: Scripts, _spell: Any, field: str) -> int | None:
    """Return a number of the ward of the spell by its name."""
    spell = current(scripts)
    if spell is None or spell.ward is None:
        return None
    ward = spell.ward
    return {
        "damageleft": max(0, ward.left), "damageabsorptionpercentage": ward.percent,
        "redirectdamagepercent": ward.redirect, "maxhitcount": ward.hits,
        "keepward": int(ward.kept), "wardtype": ward.kind,
    }.get(field.casefold())  # fmt: skip


# -- stealth ------------------------------------------------------------------------------------


@EFFECTS("Stealth", "n kind, S spawn?")
def stealth(scripts: Scripts, kind: int, body: Body | None) -> None:
    """Hide a spawn while the spell lasts: 1 stealth, 2 invisible."""
    spell = acting(scripts)
    if spell is None or kind not in (STEALTHED, UNSEEN):
        return
    spawns = [body.spawn] if body is not None else spell.targets[:1]
    _change(scripts, spell, spawns, lambda gifts: gifts.put("stealth", kind))


def _is_hidden(body: Body | None, kind: int) -> bool:
    return body is not None and kind in body.spawn.sheet.spells.stealth


@EFFECTS("IsStealthed", "S spawn")
def is_stealthed(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is stealthed."""
    return _is_hidden(body, STEALTHED)


@EFFECTS("IsInvis", "S spawn")
def is_invisible(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is invisible."""
    return _is_hidden(body, UNSEEN)


def _unhide(scripts: Scripts, body: Body | None, kind: int) -> None:
    """End all spells that hide a spawn in a way; without one that of the running spell."""
    spell = current(scripts)
    if body is None:
        if spell is not None:
            _change(scripts, spell, list(spell.targets), lambda gifts: gifts.take("stealth", kind))
        return
    if spell is not None and kind in spell.gifts_of(body.spawn).stealth:
        _change(scripts, spell, [body.spawn], lambda gifts: gifts.take("stealth", kind))
    scripts.spells.unhide(body.spawn, kind, but=spell)


@EFFECTS("RemoveStealth", "S spawn?")
def remove_stealth(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn be seen again that is stealthed."""
    _unhide(scripts, body, STEALTHED)


@EFFECTS("RemoveInvis", "S spawn?")
def remove_invisible(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn be seen again that is invisible."""
    _unhide(scripts, body, UNSEEN)


# -- threat -------------------------------------------------------------------------------------


@EFFECTS("AddThreatTransfer", "S spawn, S receiver, f percent")
def add_transfer(
    scripts: Scripts, body: Body | None, receiver: Body | None, percent: float
) -> None:
    """Let a spawn get a part of the hate that another one makes while the spell lasts."""
    spell = acting(scripts)
    if spell is not None and body is not None and receiver is not None:
        threat = receiver.spawn, percent
        _change(scripts, spell, [body.spawn], lambda gifts: setattr(gifts, "threat", threat))


@EFFECTS("RemoveThreatTransfer", "S spawn")
def remove_transfer(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn keep all the hate that it makes."""
    spell = current(scripts)
    if spell is not None and body is not None:
        _change(scripts, spell, [body.spawn], lambda gifts: setattr(gifts, "threat", None))
