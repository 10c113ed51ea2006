"""Functions for the appearance of spawns: fields by name, clothes, mounts, other shapes.

Source: docs/guides/lua.md#spawn-set.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.actors.looks import (
    copy_looks,
    number_in,
    paint_mount,
    ride,
    set_field,
    show_again,
    wear,
)
from emu.world.actors.spawn import GhostPart
from emu.world.minds.nearness import distance_between
from emu.world.minds.views import notices
from emu.world.population.looks import verbs_of
from emu.world.scripts.bodies import Body, shown
from emu.world.scripts.functions.spells import keep
from emu.world.scripts.host import Scripts
from emu.world.spells.remains import MOUNT, MOUNT_COLOR, SEES_INVISIBLE

LOOKS: Final = FunctionTable()
LONGEST_SCRIPT: Final = 255
LONGEST_RESPAWN: Final = 30 * 86_400
"""Seconds."""


def _set(scripts: Scripts, body: Body, name: str, value: str) -> None:
    field = name.strip().lower()
    if field == "spawn_script" and body.player is None:
        body.script = value[:LONGEST_SCRIPT]
    elif field == "expire" and body.player is None:
        scripts.states.expire(body, value)
    elif field == "respawn" and body.standing is not None:
        scripts.maker.set_respawn(body.home, body.standing.placement.location_id, _seconds(value))
    elif field in _VERB_LISTS and body.player is None:
        number = int(number_in(value))
        # A list of no known number would take away the verbs that players need.
        if number == 0 or number in scripts.figures.commands:
            verbs = verbs_of(scripts.figures.commands.get(number, ()))
            body.spawn.set_verbs(**{_VERB_LISTS[field]: verbs})
    elif not set_field(body.spawn, field, shown(value)):
        scripts.counters["fields that are not set"] += 1
    if body.player is None and field in _SHEET_FIELDS:
        scripts.states.sheet_changed(body)


def _seconds(text: str) -> int:
    return max(0, min(int(number_in(text)), LONGEST_RESPAWN))


_VERB_LISTS: Final = {"command_primary": "verbs", "command_secondary": "more_verbs"}
"""The fields whose value is the number of a list of commands."""
_SHEET_FIELDS: Final = frozenset(("hp", "power"))


@LOOKS("SpawnSet", "S spawn, t field, t value, b silent?, b temporary=true, n index?")
def spawn_set(
    scripts: Scripts, body: Body | None, name: str, value: str, _silent: bool, _temporary: bool,
    _index: int,
) -> None:  # fmt: skip
    """Set one of about 90 fields of a spawn by name; an unknown name does nothing."""
    if body is not None and value:
        _set(scripts, body, name, value)


@LOOKS("SpawnSetByDistance", "S spawn, f distance, t field, t value")
def spawn_set_near(
    scripts: Scripts, body: Body | None, distance: float, name: str, value: str
) -> None:
    """Set a field of all spawns near a spawn, but not of players."""
    if body is None or not value:
        return
    for other in list(body.home.bodies.values()):
        if distance_between(other.spawn, body.spawn) <= distance:
            _set(scripts, other, name, value)


@LOOKS(
    "SetEquipment",
    "S spawn, n slot, n model, n red, n green, n blue, n highlight_red, n highlight_green,"
    " n highlight_blue",
)
def set_equipment(
    _scripts: Scripts, body: Body | None, slot: int, model: int, *channels: int
) -> bool | None:
    """Show something in a slot of a spawn, with its two colors; model 0 empties the slot."""
    if body is None:
        return None
    return wear(body.spawn, slot, model, channels[:3], channels[3:])


@LOOKS("SetModelType", "S spawn, n model")
def set_model(_scripts: Scripts, body: Body | None, model: int) -> None:
    """Give a spawn another model."""
    if body is not None and model:
        set_field(body.spawn, "model_type", str(model))


@LOOKS("CopySpawnAppearance", "S spawn, S other")
def copy_appearance(_scripts: Scripts, body: Body | None, other: Body | None) -> None:
    """Let a spawn look as another."""
    if body is not None and other is not None:
        copy_looks(body.spawn, other.spawn)


@LOOKS("SetVisualFlag", "S spawn")
def send_looks(_scripts: Scripts, body: Body | None) -> None:
    """Send what has changed of the visibility of a spawn."""
    if body is not None:
        show_again(body.spawn, GhostPart.VISIBILITY)


@LOOKS("SetInfoFlag", "S spawn")
def send_info(_scripts: Scripts, body: Body | None) -> None:
    """Send what has changed of the info of a spawn."""
    if body is not None:
        show_again(body.spawn)


@LOOKS("SetAttackable", "S spawn, n on")
def set_attackable(_scripts: Scripts, body: Body | None, on: int) -> None:
    """Let a spawn be attacked, or not."""
    if body is not None and body.player is None:
        body.spawn.set_visibility(attackable=on != 0)


@LOOKS("SetMount", "S spawn, n model")
def set_mount(scripts: Scripts, body: Body | None, model: int) -> None:
    """Let a spawn ride; 0 lets it get off."""
    if body is not None:
        ride(body.spawn, model)
        keep(scripts, body.spawn, MOUNT, model)


@LOOKS(
    "SetMountColor",
    "S spawn, n red, n green, n blue, n saddle_red, n saddle_green, n saddle_blue",
)
def set_mount_color(scripts: Scripts, body: Body | None, *channels: int) -> None:
    """Paint the mount of a spawn, and its saddle."""
    if body is not None:
        paint_mount(body.spawn, channels[:3], channels[3:])
        keep(scripts, body.spawn, MOUNT_COLOR, *channels)


@LOOKS("GetMount", "S spawn")
def get_mount(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the model of a spawn's mount; 0 for none."""
    return None if body is None else int(body.spawn.appearance.get("mount_type", 0))


@LOOKS("GetModelType", "S spawn")
def get_model(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's model."""
    return None if body is None else int(body.spawn.appearance.get("model_type", 0))


@LOOKS("SetSeeInvis", "S spawn, 1 on")
def set_sees_invisible(scripts: Scripts, body: Body | None, on: bool) -> None:
    """Let a spawn see who is invisible, or not."""
    if body is not None:
        body.spawn.sheet.sees_invisible = on
        keep(scripts, body.spawn, SEES_INVISIBLE, int(on))


@LOOKS("SetSeeHide", "S spawn, 1 on")
def set_sees_hidden(_scripts: Scripts, body: Body | None, on: bool) -> None:
    """Let a spawn see who hides, or not."""
    if body is not None:
        body.spawn.sheet.sees_hidden = on


@LOOKS("CanSeeInvis", "S spawn, S other")
def can_see(_scripts: Scripts, body: Body | None, other: Body | None) -> bool | None:
    """Return whether a spawn sees another one although that is invisible or hides."""
    if body is None or other is None:
        return None
    return notices(body.spawn, other.spawn)
