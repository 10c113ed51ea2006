"""Commands about a player's target, dice, and what a player asks about itself and the world."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.errors import CommandError
from emu.facts import FARTHEST
from emu.model import may_see
from emu.rules.stance import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    WHITE,
    YELLOW,
    arrow_color,
)
from emu.texts import counted, timestamp
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player, Relation
from emu.world.actors.spawn import Spawn
from emu.world.clock import game_time
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice
from emu.world.entry.inspection import send_inspection
from emu.world_stream.movement import Position

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

LARGEST_DIE = 1_000_000
STUCK_PAUSE = 300.0
"""Seconds between two uses of ``stuck``: it is a way back for lost players, no way to travel."""
HARDNESS = {
    GREY: "is no challenge for you",
    GREEN: "would be an easy fight",
    BLUE: "would be a fight that you should win",
    WHITE: "would be an even fight",
    YELLOW: "would be a hard fight",
    ORANGE: "would be a very hard fight",
    RED: "would very likely kill you",
}
WHOM = Argument(
    "name", ArgumentKind.TEXT, "the beginning of its name; without it, your target",
    optional=True, default="", among="player",
)  # fmt: skip


def visible_target(call: Call, player: Player) -> Spawn | None:
    """Return the player's target, None if it has none that it may see."""
    target = player.target
    return target if target is not None and may_see(call.caller.rank, target) else None


def spawn_named(call: Call, player: Player, name: str) -> Spawn:
    """Return the nearest spawn around the player whose name begins with `name`.

    Raises `CommandError`.
    """
    wanted = name.casefold()
    # Only what the client is shown: other spawns must not be found by name.
    around = [] if player.viewer is None else list(player.viewer.interest)
    found = [
        spawn
        for spawn in around
        if spawn.name.casefold().startswith(wanted) and may_see(call.caller.rank, spawn)
    ]
    if not found:
        raise CommandError(f"{name} is not here")
    return min(found, key=lambda spawn: spawn.position.distance_to(player.position))


def named_or_target(call: Call, player: Player) -> Spawn:
    """Return the spawn that a command names, or else the target. Raises `CommandError`."""
    if call["name"]:
        return spawn_named(call, player, call["name"])
    target = visible_target(call, player)
    if target is None:
        raise CommandError("you have no target")
    return target


# --- the target


def _aim(player: Player, spawn: Spawn) -> None:
    """Make a spawn the player's target, also at its client."""
    # A client can only target a ghost that it has.
    if player.index_of(spawn) is None:
        raise CommandError(f"{spawn.name} is not here")
    player.aim(spawn)


@quiet("target", "make the nearest with this name your target",
       Argument("name", ArgumentKind.TEXT, "the beginning of its name", among="player"),
       example="target Borvik")  # fmt: skip
async def _target(_context: CommandContext, player: Player, call: Call) -> None:
    _aim(player, spawn_named(call, player, call["name"]))


@quiet("assist", "make the target of another player your target", WHOM, example="assist Borvik")
async def _assist(context: CommandContext, player: Player, call: Call) -> None:
    helped = named_or_target(call, player)
    other = context.world.players.of_spawn(helped)
    target = other.target if other is not None else None
    # The target of the other may be hidden from this player.
    if target is None or not may_see(call.caller.rank, target):
        raise CommandError(f"{helped.name} has no target")
    _aim(player, target)


@quiet("consider", "compare your target with you", WHOM, aliases=("con",),
       example="consider Borvik")  # fmt: skip
async def _consider(_context: CommandContext, player: Player, call: Call) -> str:
    spawn = named_or_target(call, player)
    if spawn is player.spawn:
        return "You consider yourself."
    # A sign or an object has no level to compare.
    if not spawn.is_living:
        return f"{spawn.name} does not fight."
    color = arrow_color(spawn.level, player.spawn.level)
    return f"{spawn.name} (level {spawn.level}) {HARDNESS[color]}."


@quiet("inspect_player", "look closely at a player", WHOM, aliases=("inspect", "inspectpc"),
       example="inspect_player Borvik")  # fmt: skip
async def _inspect(context: CommandContext, player: Player, call: Call) -> Reply:
    spawn = named_or_target(call, player)
    other = context.world.players.of_spawn(spawn)
    if other is None:
        raise CommandError(f"{spawn.name} is no player")
    context.chat.pace(player, call.now)
    shown = " ".join(text for text in (spawn.prefix, other.name, spawn.suffix) if text)
    lines = [f"{shown}, level {spawn.level}"]
    send_inspection(player, other, context.sheets)
    # A hidden player that looks stays unknown to those who may not see it.
    knows = may_see(other.rank, player.spawn)
    ignores = other.relations.knows(Relation.IGNORED, player.name)
    if other.is_online and other is not player and knows and not ignores:
        context.chat.line(other, f"{player.name} inspects you.")
    return Reply(tuple(lines))


@quiet("follow", "walk after a member of your group", WHOM, example="follow Borvik")
async def _follow(context: CommandContext, player: Player, call: Call) -> None:
    spawn = named_or_target(call, player)
    group = context.world.groups.table.of(player.id)
    members = () if group is None else group.members
    other = context.world.players.of_spawn(spawn)
    if other is None or other is player or other.id not in members:
        raise CommandError("you can follow only members of your group")
    if player.index_of(spawn) is None:
        raise CommandError(f"{spawn.name} is not here")
    player.follow(other)
    context.chat.line(player, f"You start to follow {spawn.name}.", "relationship")


@quiet("stopfollow", "follow nobody any more")
async def _stop_follow(context: CommandContext, player: Player, _call: Call) -> None:
    stop_following(context, player)


def stop_following(context: CommandContext, player: Player) -> None:
    """Make a player follow nobody any more, if it follows somebody."""
    followed = player.follows.leader
    if followed is None:
        return
    player.follow(None)
    if player.is_online:
        text = f"You are no longer following {followed.name}."
        context.chat.line(player, text, "relationship")


def end_following(context: CommandContext, left: Player) -> None:
    """Handle a player that has left its zone or its group: it follows nobody, nobody follows it."""
    for player in (left, *left.follows.followers):
        stop_following(context, player)


# --- dice


@quiet("random", "roll a number that players near you see",
       Argument("first", ArgumentKind.NUMBER, "the smallest, or the largest if it is alone",
                optional=True),
       Argument("last", ArgumentKind.NUMBER, "the largest", optional=True),
       example="random 1 100")  # fmt: skip
async def _random(context: CommandContext, player: Player, call: Call) -> None:
    first, last = call["first"], call["last"]
    if last is None:
        first, last = 1, 100 if first is None else first
    if not 0 <= first < last <= LARGEST_DIE:
        raise CommandError(f"the numbers must be from 0 to {LARGEST_DIE}, the smaller one first")
    await check_voice(context, call)
    context.chat.pace(player, call.now)
    # The server rolls, so no client can choose the number.
    rolled = first + context.roll(last - first + 1)
    text = f"{player.name} rolls from {first} to {last}: {rolled}."
    for hearer in context.world.players.standing_in(player.zone):
        is_near = hearer.position.distance_to(player.position) <= context.world.rules.hear
        knows = hearer is player or hearer.index_of(player.spawn) is not None
        if is_near and knows and not hearer.relations.knows(Relation.IGNORED, player.name):
            context.chat.line(hearer, text)


# --- questions


@quiet("time", "show the time in the world and on the clock")
async def _time(context: CommandContext, _player: Player, _call: Call) -> str:
    moment = context.world.clock.moment()
    at = game_time(moment)
    return f"In the world it is {at} of {at.year}.\nThe server's clock shows {timestamp(moment)}."


@quiet("played", "show how long you have played")
async def _played(context: CommandContext, player: Player, call: Call) -> str:
    clock, created = context.world.clock, player.character.created
    here = timedelta(seconds=round(call.now - player.since))
    total = timedelta(seconds=player.played(call.now))
    age = timedelta(seconds=max(0, round(clock.moment() - created)))
    return (
        f"You have played for {here} since you entered the world, and for {total} in all.\n"
        f"{player.name} exists since {timestamp(created)}, for {counted(age.days, 'day')}."
    )


@quiet("stuck", "go to a revive point or the safe place of the zone if you cannot move")
async def _stuck(context: CommandContext, player: Player, call: Call) -> str:
    if player.state not in IN_ZONE:
        raise CommandError("you are not in a zone")
    wait = player.pace.unstuck + STUCK_PAUSE - call.now
    if wait > 0:
        raise CommandError(f"you can use stuck again in {wait:.0f} seconds")
    player.pace.unstuck = Monotonic(call.now)
    to = context.way_back(player)
    if to.zone_id != player.zone.zone_id:
        await context.departures.change_zone(player, to)
        return "You are on your way."
    player.teleport(to.position or player.zone.definition.safe, call.now)
    return "You are at a safe place of the zone."


@quiet("version", "show the version of your client")
async def _version(_context: CommandContext, player: Player, _call: Call) -> str:
    return f"Your client has the version {player.client.version}."


@quiet("languages", "list the languages that you know")
async def _languages(context: CommandContext, player: Player, _call: Call) -> Reply:
    knowledge, character = context.world.knowledge, player.character
    known = character.languages or knowledge.beginners.languages(character)
    names = [
        knowledge.languages[number].name if number in knowledge.languages else str(number)
        for number in known
    ]
    return Reply((f"You know {', '.join(names) or 'only the common language'}.",), names)


# --- ways


@quiet("waypoint", "show a glowing path to a place, or no path any more",
       Argument("place", ArgumentKind.TEXT, "its x, y and z; without them the path disappears",
                optional=True, default=""),
       cost=Cost.CHANGE, example="waypoint 10 -5.5 240")  # fmt: skip
async def _waypoint(context: CommandContext, player: Player, call: Call) -> str:
    # People type blanks, the client's links have commas.
    words = call["place"].replace(",", " ").split()
    if not words:
        player.client.send("WS_GlowPath")
        return "You have no waypoint any more."
    try:
        x, y, z = map(float, words)
    except ValueError:
        raise CommandError("a waypoint has three numbers: x, y and z") from None
    # A comparison with NaN is false, so NaN is refused as well.
    if not all(abs(one) <= FARTHEST for one in (x, y, z)):
        raise CommandError(f"a waypoint lies between -{FARTHEST:g} and {FARTHEST:g}")
    context.show_way(player, Position(x, y, z))
    return f"Your waypoint is {x:g}, {y:g}, {z:g}."
