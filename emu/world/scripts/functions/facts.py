"""Plain facts that scripts ask about spawns, characters, zones and the world's clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from emu.appearance import class_name, race_name, tradeskill_name
from emu.content.rules import RuleName
from emu.model import WorldCharacter
from emu.rules.stance import arrow_color
from emu.scripts.signatures import FunctionTable, single
from emu.world.actors.looks import number_in, show_again
from emu.world.actors.player import IN_ZONE
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import GhostPart, SpawnKind
from emu.world.clock import GameTime, game_time
from emu.world.entry.initial_messages import send_time
from emu.world.groups.groups import Raid
from emu.world.knowledge import archetype
from emu.world.rules import WorldRules
from emu.world.scripts.bodies import Body, Home, given
from emu.world.scripts.functions.spells import chosen
from emu.world.scripts.host import Scripts
from emu.world.scripts.quest_events import quester

FACTS: Final = FunctionTable()
DAWN, DUSK = 8, 19
LARGEST_ICON: Final = 0xFFFF
LARGEST_CURSOR: Final = 0xFF
BASE_TYPES: Final = {333: range(333, 345), 250: frozenset((154, 242, 248, 250, 254, 266))}
"""Kinds of creatures that belong to another one: the undead to 333, elementals to 250.

The numbers are those that spells of the community ask for, with the kinds that its table of models
puts into these categories (docs/guides/lua.md#kinds).
"""
LARGEST_DEITY: Final = 0xFF
LARGEST_RULE: Final = 0xFFFFFFFF


# -- spawns ---------------------------------------------------------------------------------------


@FACTS("CompareSpawns", "S spawn, S other")
def is_same(_scripts: Scripts, body: Body | None, other: Body | None) -> bool:
    """Return whether two handles are of one spawn."""
    return body is not None and body is other


@FACTS("GetID", "S spawn")
def get_number(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn in this run of the server."""
    return None if body is None else body.spawn.id


@FACTS("GetSpawnLocationPlacementID", "S spawn")
def get_placement(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's placement in the content file; 0 without one."""
    if body is None:
        return None
    return body.standing.placement.id if body.standing is not None else 0


@FACTS("IsEntity", "S spawn")
def is_entity(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is a player or a creature."""
    return body is not None and body.spawn.is_living


@FACTS("IsGroundSpawn", "S spawn")
def is_ground(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is something to gather."""
    return body is not None and body.spawn.kind is SpawnKind.GROUND


@FACTS("GetAlignment", "S spawn")
def get_alignment(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the alignment of a spawn: 0 evil, 1 good."""
    if body is None:
        return None
    player = quester(body)
    sheet = (player or body).spawn.sheet
    return int(sheet.get("alignment", FieldKind.SIGNED) or 0)


@FACTS("SetAlignment", "S spawn, n alignment")
def set_alignment(scripts: Scripts, body: Body | None, alignment: int) -> None:
    """Set the alignment of a spawn; in a spell that of all its targets."""
    for one in chosen(scripts, body):
        one.spawn.sheet.set("alignment", FieldKind.SIGNED, alignment)
        if one.player is not None:
            scripts.states.sheet_changed(one)


@FACTS("ChangeHandIcon", "S spawn, n icon")
def set_cursor(_scripts: Scripts, body: Body | None, icon: int) -> None:
    """Change the cursor over a spawn."""
    if body is not None and body.player is None:
        body.spawn.hand_icon = max(0, min(icon, LARGEST_CURSOR))
        show_again(body.spawn, GhostPart.INFO | GhostPart.VISIBILITY)


def _set_icon(body: Body | None, icon: int) -> bool:
    if body is None or body.player is not None:
        return False
    body.spawn.set_info(icon=icon & LARGEST_ICON)
    return True


@FACTS("AddIconValue", "S spawn, u bits")
def add_icon(_scripts: Scripts, body: Body | None, bits: int) -> bool:
    """Add bits to the icon of a spawn."""
    return _set_icon(body, (body.spawn.icon if body is not None else 0) | bits)


@FACTS("RemoveIconValue", "S spawn, u bits")
def remove_icon(_scripts: Scripts, body: Body | None, bits: int) -> bool:
    """Remove bits from the icon of a spawn."""
    return _set_icon(body, (body.spawn.icon if body is not None else 0) & ~bits)


# -- characters -----------------------------------------------------------------------------------


def _character(body: Body | None) -> WorldCharacter | None:
    player = quester(body)
    return player.character if player is not None else None


@FACTS("GetCharacterID", "S spawn")
def get_character(_scripts: Scripts, body: Body | None) -> int:
    """Return the number of a player's character; 0 for others."""
    found = _character(body)
    return found.id if found is not None else 0


@FACTS("GetDeity", "S spawn")
def get_deity(_scripts: Scripts, body: Body | None) -> int:
    """Return the deity of a player; 0 for others."""
    found = _character(body)
    return found.deity if found is not None else 0


@FACTS("SetDeity", "S spawn, n deity")
def set_deity(scripts: Scripts, body: Body | None, deity: int) -> None:
    """Give a player another deity; it is stored with the character."""
    if body is not None and body.player is not None:
        number = max(0, min(deity, LARGEST_DEITY))
        if scripts.levels.set_deity(body.player, number, scripts.now):
            scripts.states.sheet_changed(body)


@FACTS("GetTradeskillLevel", "S spawn")
def get_trade_level(_scripts: Scripts, body: Body | None) -> int:
    """Return the tradeskill level of a player; 0 for others."""
    found = _character(body)
    return found.tradeskill_level if found is not None else 0


@FACTS("GetTradeskillClass", "S spawn")
def get_trade(_scripts: Scripts, body: Body | None) -> int:
    """Return the tradeskill class of a player; 0 for others."""
    found = _character(body)
    return found.tradeskill_class if found is not None else 0


@FACTS("GetTradeskillClassName", "S spawn")
def get_trade_name(_scripts: Scripts, body: Body | None) -> str | None:
    """Return the name of a player's tradeskill class; that of class 0 for others."""
    if body is None:
        return None
    found = _character(body)
    return given(tradeskill_name(found.tradeskill_class if found is not None else 0))


@FACTS("GetClientVersion", "P player")
def get_version(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the version of a player's client."""
    player = quester(body)
    return player.client.version if player is not None else None


@FACTS("GetArrowColor", "P player, n level")
def get_arrow(_scripts: Scripts, body: Body | None, level: int) -> int | None:
    """Return the color in which a player sees an enemy of a level: 0 grey to 6 red."""
    return None if body is None else arrow_color(level, body.spawn.level)


@FACTS("GetTSArrowColor", "P player, n level")
def get_tradeskill_arrow(_scripts: Scripts, body: Body | None, level: int) -> int | None:
    """Return the color in which a crafter sees a task of a level: 0 grey to 6 red."""
    if body is None or body.player is None:
        return None
    return arrow_color(level, body.player.character.tradeskill_level)


# -- races and classes ----------------------------------------------------------------------------


@FACTS("GetRaceName", "S spawn")
def get_race_name(_scripts: Scripts, body: Body | None) -> str | None:
    """Return the name of a spawn's race."""
    return None if body is None else given(race_name(int(body.spawn.appearance.get("race", 0))))


@FACTS("GetClassName", "S spawn")
def get_class_name(_scripts: Scripts, body: Body | None) -> str | None:
    """Return the name of a spawn's class."""
    return None if body is None else given(class_name(int(body.spawn.appearance.get("class", 0))))


@FACTS("GetArchetypeName", "S spawn")
def get_archetype_name(_scripts: Scripts, body: Body | None) -> str | None:
    """Return Fighter, Priest, Mage or Scout; Commoner for a class of none of them."""
    if body is None:
        return None
    return given(class_name(archetype(int(body.spawn.appearance.get("class", 0)))))


def _race_type(scripts: Scripts, body: Body | None) -> int:
    """Return the kind of creature that a spawn's model shows; 0 if it is unknown."""
    if body is None or body.standing is None:
        return 0
    return scripts.figures.races.get(body.standing.template.spawn.get("model", 0), 0)


@FACTS("GetRaceType", "S spawn")
def get_race_type(scripts: Scripts, body: Body | None) -> int | None:
    """Return the kind of creature that a spawn's model shows; 0 if it is unknown."""
    return None if body is None else _race_type(scripts, body)


@FACTS("GetRaceBaseType", "S spawn")
def get_base_type(scripts: Scripts, body: Body | None) -> int | None:
    """Return the kind to which the kind of a spawn's creature belongs; most are of their own."""
    if body is None:
        return None
    number = _race_type(scripts, body)
    return next((base for base, kinds in BASE_TYPES.items() if number in kinds), number)


@FACTS("CheckRaceType", "S spawn, u type")
def is_race_type(scripts: Scripts, body: Body | None, number: int) -> bool:
    """Return whether a spawn's model shows a kind of creature."""
    return bool(number) and _race_type(scripts, body) == number


# -- raids ----------------------------------------------------------------------------------------


def _raid(scripts: Scripts, body: Body | None) -> Raid | None:
    if body is None or body.player is None:
        return None
    group = scripts.world.groups.table.of(body.player.id)
    return None if group is None else group.raid


@FACTS("GetRaid", "S spawn, b players?")
def get_raid(scripts: Scripts, body: Body | None, _players: object = None) -> Any:
    """Return the players of a player's raid who are in its zone."""
    raid = _raid(scripts, body)
    if raid is None or body is None:
        return None
    members = {member for group in raid.groups for member in group.members}
    players = [one for one in scripts.players_in(body.home) if one.id in members]
    return scripts.table(scripts.player_body(one).handle for one in players)


@FACTS("IsInRaid", "S spawn, b leader?")
def is_in_raid(scripts: Scripts, body: Body | None, is_leader: object = None) -> bool:
    """Return whether a player is in a raid, or leads one."""
    raid = _raid(scripts, body)
    if raid is None or body is None or body.player is None:
        return False
    return not is_leader or raid.groups[0].leader == body.player.id


@FACTS("InSameRaid", "S spawn, S other, b leader?")
def is_in_same_raid(
    scripts: Scripts, body: Body | None, other: Body | None, is_leader: object = None
) -> bool:
    """Return whether two players are in one raid; with `leader`, whether the first leads it."""
    raid = _raid(scripts, body)
    return (
        raid is not None and raid is _raid(scripts, other) and is_in_raid(scripts, body, is_leader)
    )


# -- zones and the clock --------------------------------------------------------------------------


@FACTS("GetZoneName", "Z zone")
def get_zone_name(_scripts: Scripts, home: Home | None) -> str | None:
    """Return the name of a zone."""
    return None if home is None else given(home.name)


@FACTS("IsZoneLoading", "Z zone")
def is_loading(_scripts: Scripts, home: Home | None) -> bool:
    """Return whether the spawns of a zone are still being added."""
    return home is not None and not home.is_ready


def _add_flags(short: str, field: str, whose: str) -> None:
    """Declare the functions for the bits of a zone that spawns are compared with."""

    def get(scripts: Scripts, home: Home | None) -> int:
        found = scripts.maker.surroundings(home) if home is not None else None
        return getattr(found, field) if found is not None else 0

    def put(scripts: Scripts, home: Home | None, bits: int) -> None:
        found = scripts.maker.surroundings(home) if home is not None else None
        if found is not None:
            setattr(found, field, bits & LARGEST_RULE)

    get.__doc__ = f"Return the bits of the {whose} that are open in a zone; 0 opens all."
    put.__doc__ = f"Set the bits of the {whose} that are open for what comes from now on."
    FACTS(f"GetZone{short}Flag", "Z zone")(get)
    FACTS(f"SetZone{short}Flag", "Z zone, u bits")(put)


_add_flags("Expansion", "expansions", "expansions")
_add_flags("Holiday", "holidays", "holidays")


def _time(scripts: Scripts) -> GameTime:
    return game_time(scripts.world.clock.moment())


@FACTS("IsNight", "Z zone")
def is_night(scripts: Scripts, home: Home | None) -> bool:
    """Return whether it is night in a zone: from 19:00 to 8:00."""
    return home is not None and not DAWN <= _time(scripts).hour < DUSK


@FACTS("GetWorldTimeYear")
def get_year(scripts: Scripts) -> int:
    """Return the year of the world's clock."""
    return _time(scripts).year


@FACTS("GetWorldTimeMonth")
def get_month(scripts: Scripts) -> int:
    """Return the month of the world's clock, counted from 0."""
    return _time(scripts).month


@FACTS("GetWorldTimeHour")
def get_hour(scripts: Scripts) -> int:
    """Return the hour of the world's clock."""
    return _time(scripts).hour


@FACTS("GetWorldTimeMinute")
def get_minute(scripts: Scripts) -> int:
    """Return the minute of the world's clock."""
    return _time(scripts).minute


@FACTS("SendTimeUpdate")
def send_time_update(scripts: Scripts) -> None:
    """Tell all players of the world the time; their clients count on by themselves."""
    moment = scripts.world.clock.moment()
    for player in scripts.world.players:
        if player.is_online and player.state in IN_ZONE and scripts.may_send():
            send_time(player.client, moment)


# -- rules and variables --------------------------------------------------------------------------


_SETTINGS: Final[Mapping[RuleName, Callable[[WorldRules], float]]] = {
    ("R_Combat", "DeathExperienceDebt"): lambda rules: 100 * rules.death_debt,
    ("R_Combat", "ShardDebtRecoveryPercent"): lambda rules: rules.shard_recovery,
}
"""Rules that are settings: their defaults come from the content file."""


def _rule(scripts: Scripts, category: str, name: str) -> float:
    """Return a rule as a number; 0 if neither the content file nor EQ2Emulator's program has it."""
    rule = category, name
    setting = _SETTINGS.get(rule)
    if setting is not None:
        return setting(scripts.world.rules)
    return number_in(scripts.figures.rules.get(rule, ""))


@FACTS("GetRuleFlagFloat", "t category, t name")
def get_rule(scripts: Scripts, category: str, name: str) -> float:
    """Return a rule of the content file as a fraction; 0 if it is unknown."""
    return single(_rule(scripts, category, name))


@FACTS("GetRuleFlagInt32", "t category, t name")
def get_whole_rule(scripts: Scripts, category: str, name: str) -> int:
    """Return a rule of the content file as a whole number; 0 if it is unknown."""
    return max(0, min(int(_rule(scripts, category, name)), LARGEST_RULE))


@FACTS("GetRuleFlagBool", "t category, t name")
def get_true_rule(scripts: Scripts, category: str, name: str) -> bool:
    """Return whether a rule of the content file is not 0; false if it is unknown."""
    return _rule(scripts, category, name) != 0


@FACTS("GetVariableValue", "t name")
def get_variable_value(scripts: Scripts, name: str) -> str:
    """Return a variable of the content file; an empty text if it is unknown."""
    return given(scripts.figures.variables.get(name, ""))
