"""Functions for the sheet of a spawn: health, power, attributes, named fields.

Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from emu.model import SavedKind
from emu.rules.combat import Result
from emu.scripts.signatures import FunctionTable, single
from emu.shards import MOST_DEBT
from emu.world.actors.bonus_types import HEALTH_BONUS, POWER_BONUS
from emu.world.actors.past import KEPT_TEXTS
from emu.world.actors.player import Player
from emu.world.actors.sheet import ATTRIBUTES, FieldKind, Pool
from emu.world.actors.spawn import Idle
from emu.world.combat.blows import LAST_DAMAGE_TYPE, Blow
from emu.world.combat.fights import COMBAT, StrikesEnded
from emu.world.minds.nearness import distance_between
from emu.world.scripts.bodies import Body, given
from emu.world.scripts.functions.effects import give_most
from emu.world.scripts.host import Scripts

SHEET: Final = FunctionTable()
IN_FIGHT: Final = "engaged_encounter"
"""The field that says whether somebody fights."""
_SHORT: Final = dict(zip(ATTRIBUTES, ("Str", "Sta", "Agi", "Wis", "Int"), strict=True))
"""Field of an attribute -> how functions call it."""

POINTS: Final = "xp"
"""The field of a player's points, which scripts of players cut."""
DEBT: Final = "xp_debt"
"""The field of a player's debt, in percent of a level."""
DEBT_UNITS: Final = 1000
"""A percent of a level has so many units of stored debt."""
IDLE: Final = "action_state"
"""The field of the animation that a spawn shows while it does nothing else."""


# -- fields by name -------------------------------------------------------------------------------


def _character_fields(body: Body) -> dict[str, Any]:
    """Return the fields of a sheet that have their place elsewhere on the spawn or the player."""
    spawn = body.spawn
    looks = spawn.appearance
    fields: dict[str, Any] = {"name": given(spawn.name), "action_state": ""}
    fields |= dict.fromkeys(("level", "effective_level"), spawn.level)
    fields |= dict.fromkeys(("class1", "class2", "class3"), int(looks.get("class", 0)))
    fields |= {name: int(looks.get(name, 0)) for name in ("race", "gender")}
    if body.player is not None:
        character = body.player.character
        fields |= {
            "tradeskill_level": character.tradeskill_level,
            "tradeskill_class3": character.tradeskill_class,
            "status_points": character.status_points,
            "xp": character.experience,
            "xp_needed": character.experience_needed,
            DEBT: character.experience_debt / DEBT_UNITS,
        }
    return fields


_ELSEWHERE: Final = frozenset((
    "name", "level", "effective_level", "class1", "class2", "class3", "race", "gender",
    "tradeskill_level", "tradeskill_class3", "status_points", "xp", "xp_needed",
))  # fmt: skip
"""Fields that scripts can ask, but set only by functions of their own."""


def _get(body: Body | None, name: str, kind: FieldKind) -> Any:
    if body is None or not body.spawn.is_living:
        return None
    value = body.spawn.sheet.get(name, kind)
    if body.player is not None and kind is FieldKind.TEXT and name in KEPT_TEXTS:
        return given(body.player.past.kept(name))
    if value is not None and (name in _ELSEWHERE or name == DEBT):
        return _character_fields(body).get(name, value)
    return given(value) if isinstance(value, str) else value


def _set_stored(
    scripts: Scripts, body: Body, player: Player, name: str, kind: FieldKind, value: Any
) -> bool:
    """Set a field that is stored with a player; return False for any other."""
    if name == POINTS and kind is FieldKind.UNSIGNED:
        scripts.levels.set_points(player, int(value), scripts.now)
        scripts.states.sheet_changed(body)
    elif name == DEBT and kind is FieldKind.FRACTION:
        debt = max(0, min(round(value * DEBT_UNITS), MOST_DEBT)) if math.isfinite(value) else 0
        scripts.world.saves.set_facts(player, scripts.now, experience_debt=debt)
        scripts.states.sheet_changed(body)
    elif name in KEPT_TEXTS and kind is FieldKind.TEXT:
        player.past.keep(name, str(value))
        scripts.world.saves.changed(player, SavedKind.PAST, scripts.now)
    else:
        return False
    return True


def _set(scripts: Scripts, body: Body | None, name: str, kind: FieldKind, value: Any) -> bool:
    if body is None or not body.spawn.is_living:
        return False
    if body.player is not None and _set_stored(scripts, body, body.player, name, kind, value):
        return True
    if name in _ELSEWHERE:
        return False
    if not body.spawn.sheet.set(name, kind, value):
        return False
    if name == IDLE:
        found = scripts.figures.animations.get(str(value).casefold())
        body.spawn.set_info(idle=Idle(found) if found is not None else None)
    if body.player is not None:
        scripts.states.sheet_changed(body)
    return True


@SHEET("SetInfoStructUInt", "S spawn, t field, u value")
def set_unsigned(scripts: Scripts, body: Body | None, name: str, value: int) -> bool:
    """Set a field of the sheet that is an unsigned number; false if there is none of the name."""
    return _set(scripts, body, name, FieldKind.UNSIGNED, value)


@SHEET("SetInfoStructSInt", "S spawn, t field, n value")
def set_signed(scripts: Scripts, body: Body | None, name: str, value: int) -> bool:
    """Set a field of the sheet that is a signed number; false if there is none of the name."""
    return _set(scripts, body, name, FieldKind.SIGNED, value)


@SHEET("SetInfoStructFloat", "S spawn, t field, f value")
def set_fraction(scripts: Scripts, body: Body | None, name: str, value: float) -> bool:
    """Set a field of the sheet that is a fraction; false if there is none of the name."""
    return _set(scripts, body, name, FieldKind.FRACTION, value)


@SHEET("SetInfoStructString", "S spawn, t field, t value")
def set_text(scripts: Scripts, body: Body | None, name: str, value: str) -> bool:
    """Set a field of the sheet that is a text; false if there is none of the name."""
    return _set(scripts, body, name, FieldKind.TEXT, value)


@SHEET("GetInfoStructUInt", "S spawn, t field")
def get_unsigned(_scripts: Scripts, body: Body | None, name: str) -> Any:
    """Return a field of the sheet that is an unsigned number."""
    if name == IN_FIGHT and body is not None:
        return int(COMBAT in body.spawn.words)
    return _get(body, name, FieldKind.UNSIGNED)


@SHEET("GetInfoStructSInt", "S spawn, t field")
def get_signed(_scripts: Scripts, body: Body | None, name: str) -> Any:
    """Return a field of the sheet that is a signed number."""
    return _get(body, name, FieldKind.SIGNED)


@SHEET("GetInfoStructFloat", "S spawn, t field")
def get_fraction(_scripts: Scripts, body: Body | None, name: str) -> Any:
    """Return a field of the sheet that is a fraction."""
    value = _get(body, name, FieldKind.FRACTION)
    return None if value is None else single(float(value))


@SHEET("GetInfoStructString", "S spawn, t field")
def get_text(_scripts: Scripts, body: Body | None, name: str) -> Any:
    """Return a field of the sheet that is a text."""
    return _get(body, name, FieldKind.TEXT)


@SHEET("SetCharSheetChanged", "P player, b changed")
def sheet_changed(scripts: Scripts, body: Body | None, changed: bool) -> None:
    """Send a player its sheet, if it has changed."""
    if body is not None and changed:
        scripts.states.sheet_changed(body)


def _add_attribute(field: str, short: str) -> None:
    def get(_scripts: Scripts, body: Body | None) -> int | None:
        living = body is not None and body.spawn.is_living
        return body.spawn.sheet.attribute(field) if body is not None and living else None

    def get_base(_scripts: Scripts, body: Body | None) -> int | None:
        living = body is not None and body.spawn.is_living
        return body.spawn.sheet.attribute(f"{field}_base") if body is not None and living else None

    def set_base(scripts: Scripts, body: Body | None, value: int) -> None:
        _set(scripts, body, f"{field}_base", FieldKind.FRACTION, value)

    get.__doc__ = f"Return a spawn's attribute {field}."
    get_base.__doc__ = f"Return a spawn's attribute {field} without bonuses."
    set_base.__doc__ = f"Set a spawn's attribute {field} without bonuses."
    SHEET(f"Get{short}", "S spawn")(get)
    SHEET(f"Get{short}Base", "S spawn")(get_base)
    SHEET(f"Set{short}Base", "S spawn, n value")(set_base)


for _field, _short in _SHORT.items():
    _add_attribute(_field, _short)


# -- health and power -----------------------------------------------------------------------------

Chosen = Callable[[Body], Pool]


def _health(body: Body) -> Pool:
    return body.spawn.sheet.health


def _power(body: Body) -> Pool:
    return body.spawn.sheet.power


def _add_answers(short: str, chosen: Chosen, word: str) -> None:
    """Add the functions that ask for health or for power."""

    def get(_scripts: Scripts, body: Body | None) -> int | None:
        return None if body is None else chosen(body).current

    def get_most(_scripts: Scripts, body: Body | None) -> int | None:
        return None if body is None else chosen(body).most

    def get_base(_scripts: Scripts, body: Body | None) -> int | None:
        return None if body is None else chosen(body).base or chosen(body).most

    def percent(_scripts: Scripts, body: Body | None, share: float) -> int | None:
        return None if body is None or not share else round(chosen(body).most * share / 100)

    get.__doc__ = f"Return how much {word} a spawn has."
    get_most.__doc__ = f"Return the most {word} of a spawn."
    get_base.__doc__ = f"Return the most {word} of a spawn without bonuses."
    percent.__doc__ = f"Return a share, in percent, of the most {word} of a spawn."
    SHEET(f"Get{short}", "S spawn")(get)
    SHEET(f"GetCurrent{short}", "S spawn")(get)
    SHEET(f"GetMax{short}", "S spawn")(get_most)
    SHEET(f"GetMax{short}Base", "S spawn")(get_base)
    SHEET(f"GetPCTOf{short}", "S spawn, f percent")(percent)


def _put(pool: Pool, value: int, _least: int) -> None:
    if value > pool.most:
        pool.set_most(value)
    pool.set_current(value)


def _add(pool: Pool, amount: int, least: int) -> None:
    pool.set_current(max(least, pool.current + amount))


def _put_most(pool: Pool, value: int, _least: int) -> None:
    pool.set_most(value)


def _put_base(pool: Pool, value: int, _least: int) -> None:
    pool.set_most(value)
    pool.base = pool.most


_CHANGES: Final = (
    ("Set{}", _put, "Set how much {} a spawn has; more than the most raises that."),
    ("Modify{}", _add, "Add to the {} of a spawn, or take from it; nobody dies of it."),
    ("ModifyMax{}", _put_most, "Set the most {} of a spawn."),
    ("SetMax{}Base", _put_base, "Set the most {} of a spawn without bonuses."),
)


def _add_change(
    name: str, chosen: Chosen, change: Callable[[Pool, int, int], None], summary: str, least: int
) -> None:
    def act(scripts: Scripts, body: Body | None, value: int) -> None:
        # What is dead stays so.
        if body is None or body.spawn.hp_percent <= 0 or (value <= 0 and change is not _add):
            return
        change(chosen(body), value, least)
        scripts.states.sheet_changed(body)

    act.__doc__ = summary
    SHEET(name, "S spawn, n value")(act)


def _add_most(short: str, chosen: Chosen, word: str, bonus: int) -> None:
    def act(scripts: Scripts, body: Body | None, value: int) -> None:
        if body is None or body.spawn.hp_percent <= 0 or value <= 0:
            return
        pool = chosen(body)
        if not give_most(scripts, body.spawn, bonus, pool.most, value):
            pool.set_most(value)
        scripts.states.sheet_changed(body)

    act.__doc__ = f"Set the most {word} of a spawn; a spell does so for as long as it lasts."
    SHEET(f"SetMax{short}", "S spawn, n value")(act)


for _short, _chosen, _word, _least, _bonus in (
    ("HP", _health, "health", 1, HEALTH_BONUS), ("Power", _power, "power", 0, POWER_BONUS),
):  # fmt: skip
    _add_answers(_short, _chosen, _word)
    _add_most(_short, _chosen, _word, _bonus)
    for _name, _change, _summary in _CHANGES:
        _add_change(_name.format(_short), _chosen, _change, _summary.format(_word), _least)


@SHEET("IsInvulnerable", "S spawn")
def is_invulnerable(_scripts: Scripts, body: Body | None) -> bool | None:
    """Return whether nothing hurts a spawn."""
    return None if body is None else body.spawn.sheet.is_invulnerable


@SHEET("SetInvulnerable", "S spawn, b on")
def set_invulnerable(_scripts: Scripts, body: Body | None, on: bool) -> None:
    """Let nothing hurt a spawn, or let it be hurt again."""
    if body is not None:
        body.spawn.sheet.is_invulnerable = on


# -- life and fights ------------------------------------------------------------------------------

FIGHTING: Final = "combat"
LARGEST_DAMAGE: Final = 2**31 - 1


@SHEET("IsInCombat", "S spawn")
def is_in_combat(_scripts: Scripts, body: Body | None) -> bool | None:
    """Return whether a spawn fights."""
    return None if body is None else FIGHTING in body.spawn.words


@SHEET("SetInCombat", "S spawn, b on")
def set_in_combat(scripts: Scripts, body: Body | None, on: bool) -> None:
    """Show that a creature fights, or that it does not; end the auto attack of a player."""
    if body is None:
        return
    if body.player is None:
        if body.spawn.is_living:
            body.spawn.set_word(FIGHTING, on=on)
    elif not on:
        scripts.world.events.publish(StrikesEnded(body.player))


@SHEET("KillSpawn", "S spawn, S killer?, 1 packet?")
def kill_spawn(scripts: Scripts, body: Body | None, killer: Body | None, _packet: bool) -> None:
    """Kill a player or a creature, and call the function `death` of a creature."""
    if body is not None:
        scripts.states.kill(body, killer)


@SHEET("KillSpawnByDistance", "S spawn, f distance, n players?, 1 packet?")
def kill_near(
    scripts: Scripts, body: Body | None, distance: float, players: int, _packet: bool
) -> None:
    """Kill the creatures around a spawn, but not the spawn itself; with `players` players too."""
    if body is None:
        return
    homes, home = scripts.homes, body.home
    others = [homes.player(one) for one in homes.players_in(home)] if players else []
    for other in [*home.bodies.values(), *others]:
        if other is not body and distance_between(other.spawn, body.spawn) <= distance:
            scripts.states.kill(other, body)


@SHEET(
    "DamageSpawn",
    "S attacker, S spawn, n packet, n kind, u low, u high, t name?, n critical?, 1 is_tick?,"
    " 1 no_formulas?, 1 no_attacker?, 1 power?",
)
def damage_spawn(
    scripts: Scripts, attacker: Body | None, body: Body | None, _packet: int, kind: int,
    low: int, high: int, name: str, _critical: int, _is_tick: bool, _no_formulas: bool,
    no_attacker: bool, power: bool,
) -> bool:  # fmt: skip
    """Take health from a spawn, or with `power` power: a random amount of those between.

    Clients see a blow of that kind and name. Who has no health left dies.
    """
    if body is None:
        return False
    damage = min(scripts.chances.randint(low, max(low, high)), LARGEST_DAMAGE)
    blow = Blow(Result.HIT, damage, kind if 0 <= kind <= LAST_DAMAGE_TYPE else 0, spell=name)
    return scripts.states.hurt(body, None if no_attacker else attacker, blow, power=power)
