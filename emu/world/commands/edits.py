"""Commands of game masters that change the content file's zones, for good and in all instances."""

from __future__ import annotations

import json
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import MASTER
from emu.content.layers import ENTRIES, PLACEMENT, REMOVED, SPAWN, ZONE, columns_of
from emu.content.standing import Standing
from emu.errors import CommandError
from emu.schema import unknown_key
from emu.texts import counted
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice
from emu.world.population.edits import GameEdits

RESPAWN: Final = 300
"""Seconds after which an added spawn returns."""
COMMANDS = WorldCommandSet()
KEY = Argument("key", help="a column of placements, spawns or their kind, as the guide lists them")
VALUE = Argument("value", ArgumentKind.TEXT, "its new value")
NUMBER = Argument("number", ArgumentKind.NUMBER, "a spawn of the content file")


def _edits(context: CommandContext) -> GameEdits:
    if context.edits is None:
        raise CommandError("this world has no content file; set world.content")
    return context.edits


def _target(context: CommandContext, player: Player) -> Standing:
    """Return what the player's target is in the content file."""
    target, content = player.target, context.population.content
    if target is not None:
        standing = content.standing_of(player.zone, target)
        if standing is not None:
            return standing
    raise CommandError("target a spawn of the content file")


async def _change(
    context: CommandContext, call: Call, player: Player, subject: str, number: int, **values: Any
) -> None:
    await check_voice(context, call)
    try:
        await _edits(context).change(
            subject, number, values, player.name, context.world.clock.moment()
        )
    except ValueError as error:
        raise CommandError(str(error)) from None


@COMMANDS.for_players(
    "edit move",
    "move your target of the content file to where you stand, for good",
    rank=MASTER,
    changes="placement",
)
async def _move(context: CommandContext, player: Player, call: Call) -> str:
    standing, at = _target(context, player), player.position
    place = [round(float(one), 3) for one in (*at[:3], at.heading)]
    number = standing.placement.id
    await _change(context, call, player, PLACEMENT, number, place=place, grid=at.grid)
    return f"placement {number} is at {place[0]:g}, {place[1]:g}, {place[2]:g}"


@COMMANDS.for_players(
    "edit show", "show where your target of the content file comes from", rank=MASTER
)
async def _show(context: CommandContext, player: Player, _call: Call) -> Reply:
    standing = _target(context, player)
    placement, entry = standing.placement, standing.entry
    where = f"placement {placement.id}, location {placement.location_id}"
    group = f", group {standing.group}" if standing.group else ""
    lines = (
        f"spawn {standing.template.id} ({standing.template.kind}), {where}{group}",
        f"entry {entry.id} of weight {entry.weight:g}",
        f"script: {entry.script or 'none'}",
        f"it returns after {placement.respawn} s" if placement.respawn else "it never returns",
    )
    data = {
        "spawn": standing.template.id, "placement": placement.id, "entry": entry.id,
        "location": placement.location_id, "group": standing.group, "script": entry.script,
        "respawn": placement.respawn,
    }  # fmt: skip
    return Reply(lines, data)


@COMMANDS.for_players(
    "edit remove",
    "remove the place of your target from the content file's zone",
    rank=MASTER,
    changes="placement",
)
async def _remove(context: CommandContext, player: Player, call: Call) -> str:
    number = _target(context, player).placement.id
    await _change(context, call, player, PLACEMENT, number, **{REMOVED: True})
    return f"placement {number} is removed; `edit undo {number}` brings it back"


@COMMANDS.for_players(
    "edit add", "add a place for a spawn of the content file where you stand", NUMBER, rank=MASTER,
    changes="placement",
    example="edit add 120001",
)  # fmt: skip
async def _add(context: CommandContext, player: Player, call: Call) -> Reply:
    await check_voice(context, call)
    at = player.position
    values = {
        ZONE: player.zone.zone_id, "place": [round(float(one), 3) for one in (*at[:3], at.heading)],
        "grid": at.grid, "respawn": RESPAWN, ENTRIES: [{"spawn": call["number"]}],
    }  # fmt: skip
    number = await _edits(context).add_placement(values, player.name, context.world.clock.moment())
    line = f"spawn {call['number']} has the placement {number} here"
    return Reply((line,), {"placement": number})


@COMMANDS.for_players(
    "edit set", "change a value of your target in the content file's zones", KEY, VALUE,
    rank=MASTER, changes="placement", example="edit set name a meek gnoll",
)  # fmt: skip
async def _set(context: CommandContext, player: Player, call: Call) -> str:
    standing, key = _target(context, player), call["key"]
    places, spawns = columns_of(PLACEMENT), columns_of(SPAWN)
    # What both have is the placement's: it holds for this place alone.
    if key in places:
        subject, number, column = PLACEMENT, standing.placement.id, places[key]
    elif key in spawns:
        subject, number, column = SPAWN, standing.template.id, spawns[key]
    else:
        raise CommandError(unknown_key(key, sorted({*places, *spawns}), f"key {key!r}"))
    value: Any = call["value"]
    if column.kind not in ("text", "word"):
        try:
            value = json.loads(value)
        except ValueError:
            raise CommandError(f"{key}: must be a number") from None
    await _change(context, call, player, subject, number, **{key: value})
    return f"{subject} {number}: {key} is {value}"


@COMMANDS.for_players(
    "edit undo", "remove the edits of a placement, spawn or group",
    Argument("number", ArgumentKind.NUMBER, "its number"), rank=MASTER,
    changes="placement", example="edit undo 3504",
)  # fmt: skip
async def _undo(context: CommandContext, _player: Player, call: Call) -> str:
    await check_voice(context, call)
    edits, number = _edits(context), call["number"]
    subjects = sorted({one.subject for one in edits.edits if one.number == number})
    if not subjects:
        raise CommandError(f"{number} has no edits")
    count = sum([await edits.undo(subject, number) for subject in subjects])
    return f"{counted(count, 'edit')} of {', '.join(subjects)} {number} removed"
