"""Commands of the lists of friends and ignored players, and the notices about friends.

A friend is a name. A hidden player is absent for its friends: they are sent the same notices as for
a player that leaves the world or comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from emu.commands import Call, Cost, Reply
from emu.errors import CommandError, StoreError
from emu.model import SavedKind, may_see
from emu.processes.ports import Note
from emu.texts import counted
from emu.world.actors.player import Player, Relation
from emu.world.commands.context import NAME, CommandContext, WorldCommandSet, confirmed
from emu.world.entry.initial_messages import send_relations
from emu.world.events import HidingChanged, PlayerEvent
from emu.world.login_events import LoggedIn, LoggedOut

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)
FRIEND_NOTICE: Final = "chat.friend"
"""Topic on the bus: a player has come into the world or left it."""


# --- the lists


def _declare(kind: Relation, name: str, state: str, noun: str) -> None:
    """Declare the three commands of one list: ``NAME_add``, ``NAME_remove``, ``NAMEs``."""

    @quiet(f"{name}_add", f"add a player to your {noun}s", NAME, cost=Cost.CHANGE,
           aliases=(name,), example=f"{name}_add Borvik")  # fmt: skip
    async def add(context: CommandContext, player: Player, call: Call) -> Reply | None:
        name = call["name"]
        if name.casefold() == player.name.casefold():
            raise CommandError("you cannot add yourself")
        # A name that is refused in any case needs no search. It is added only when the search has
        # found it: a player who leaves meanwhile has seen no answer.
        player.relations.check(kind, name)
        known = await _known(context, name)
        if known is None:
            raise CommandError(f"there is no character {name}")
        player.relations.add_name(kind, known)
        return await _changed(context, player, kind, f"{known} is {state} now.")

    @quiet(f"{name}_remove", f"remove a player from your {noun}s", NAME, cost=Cost.CHANGE,
           aliases=(f"un{name}",), example=f"{name}_remove Borvik")  # fmt: skip
    async def remove(context: CommandContext, player: Player, call: Call) -> Reply | None:
        removed = player.relations.remove(kind, call["name"])
        return await _changed(context, player, kind, f"{removed} is not {state} any more.")

    @quiet(f"{name}s", f"list your {noun}s", cost=Cost.LISTING)
    async def show(context: CommandContext, player: Player, call: Call) -> Reply:
        names = player.relations.names(kind)
        lines = [_entry(context, kind, name, call) for name in names]
        return Reply((f"You have {counted(len(names), noun)}.", *lines), names)


async def _changed(
    context: CommandContext, player: Player, kind: Relation, line: str
) -> Reply | None:
    """Store a changed list, send it to the player's client, and return the answer."""
    answer = await confirmed(context, player, SavedKind.RELATIONS, line)
    if player.is_online:
        send_relations(player, (kind,))
    return answer


async def _known(context: CommandContext, name: str) -> str | None:
    """Return the name of a character as it is stored, None if there is no such character.

    While the database cannot be read, every name is right.
    """
    try:
        character = await context.world.saves.characters.find_named(name)
    except StoreError:
        return name
    return character.name if character is not None else None


def _entry(context: CommandContext, kind: Relation, name: str, call: Call) -> str:
    """Return the line of a name: of a friend with its zone, if it is in the world."""
    found = context.world.processes.presence.named(name) if kind is Relation.FRIEND else None
    if found is None or found.link_dead or not may_see(call.caller.rank, found):
        # As for a player that is not in the world: the list must not reveal more than `who` does.
        return name
    where = "" if found.anonymous else context.world.zones.definition(found.zone_id).description
    return f"{name}, in {where}" if where else f"{name}, in the world"


_declare(Relation.FRIEND, "friend", "your friend", "friend")
_declare(Relation.IGNORED, "ignore", "ignored", "ignored player")


# --- notices


def subscribe_to_friends(context: CommandContext) -> None:
    """Show players the line "NAME has logged in" when a friend comes, in every process."""
    world = context.world

    def publisher(text: str) -> Callable[[PlayerEvent], None]:
        def publish(event: PlayerEvent) -> None:
            if not event.player.spawn.hidden:
                world.processes.bus.publish(
                    FRIEND_NOTICE, {"name": event.player.name, "text": text}
                )

        return publish

    def hidden_changed(event: HidingChanged) -> None:
        player = event.player
        text = "out" if player.spawn.hidden else "in"
        world.processes.bus.publish(FRIEND_NOTICE, {"name": player.name, "text": text})

    # Every process gets the note, because a friend may be in any of them.
    def show(note: Note) -> None:
        name, text = str(note["name"]), str(note["text"])
        for player in world.players:
            if player.is_online and player.relations.knows(Relation.FRIEND, name):
                context.chat.line(player, f"{name} has logged {text}.")

    world.events.subscribe(LoggedIn, publisher("in"))
    world.events.subscribe(LoggedOut, publisher("out"))
    world.events.subscribe(HidingChanged, hidden_changed)
    world.processes.bus.subscribe(FRIEND_NOTICE, show)
