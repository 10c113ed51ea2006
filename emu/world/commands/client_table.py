"""All commands of a world, and their use by game clients.

The server sends each client a table of command names. The client calls a command by its position
in this table (docs/protocol/world/commands.md#remote-cmd). The table has the commands that the
player's rank allows, and all names that the client's windows and menus use: the server answers
those that it does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from emu.commands import Caller, Command, Cost, Registry, Reply
from emu.commands.registry import MOST_RANKS
from emu.dialects.dialect import read_name, wire_texts
from emu.errors import CommandError, FileFormatError, MalformedMessage, PeerError
from emu.files import data_file, read_document
from emu.schema import field, read_table
from emu.structs import StructLayout
from emu.times import Monotonic
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import IN_ZONE, Player
from emu.world.commands import (
    choices,
    coins,
    edits,
    fights,
    gestures,
    ground,
    groups,
    guilds,
    items,
    mail,
    moderation,
    options,
    players,
    relations,
    scripts,
    social,
    spells,
    targets,
    trade,
    zones,
)
from emu.world.commands.context import CommandContext
from emu.world.events import LeftZone
from emu.world.messages import WorldMessages
from emu.world.social.chat import Chat
from emu.world.world import World

SUBJECTS: Final = (
    social, relations, groups, guilds, mail, gestures, options, choices, targets, players,
    zones, scripts, moderation, coins, edits, fights, ground, items, trade,
    spells,
)  # fmt: skip


def world_commands(context: CommandContext) -> list[Command]:
    """Return all commands; subscribe groups and friends to players that come, leave or hide."""
    relations.subscribe_to_friends(context)
    groups.subscribe_to_groups(context)
    context.world.events.subscribe(
        LeftZone, lambda event: targets.end_following(context, event.player)
    )
    return [command for subject in SUBJECTS for command in subject.COMMANDS.commands(context)]


def world_command_words() -> set[str]:
    """Return the first words of these commands, without a running world."""
    # Without a running world, for the check of zone files.
    return set().union(*(subject.COMMANDS.words() for subject in SUBJECTS))


WAIT: Final = "Wait a moment."
MOST_LINES: Final = 100
"""Lines of an answer; a longer answer ends with the number of missing lines."""
LONGEST_LINE: Final = 4096
"""Characters of arguments; the rest is cut, because an answer may repeat them."""
LAST_POSITION: Final = 0xFFFE


def not_here(word: str) -> str:
    """Return the answer to a command of the client's interface that this server does not have."""
    return f"{word} is not on this server."


# --- the client's own names


def _positions(value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or not all(
        type(one) is int and 0 <= one <= LAST_POSITION for one in value.values()
    ):
        raise ValueError(f"must be a table of numbers from 0 to {LAST_POSITION}")
    return value


@frozen
class ClientCommands:
    """The commands that the client's interface knows, by position: `data/world/commands.toml`."""

    players: Mapping[str, int] = field(form=_positions)
    """Those of every player."""
    staff: Mapping[str, int] = field(form=_positions)
    """Those of game masters."""


@cache
def read_client_commands(path: Path | None = None) -> ClientCommands:
    """Read a table of the client's commands, the shipped one by default.

    Raises `FileFormatError`, also when two names have one position.
    """
    path = path or data_file("world", "commands.toml")
    found = read_table(ClientCommands, read_document(path), path)
    positions = [*found.players.values(), *found.staff.values()]
    if len(set(positions)) < len(positions) or found.players.keys() & found.staff.keys():
        raise FileFormatError(f"{path}: two commands have one name or one position")
    return found


class CommandPositions:
    """The position of every command word in the tables that this server sends.

    A word has the same position for every client and at all times, because a call in flight names
    a command by its position. The client's own names stand where EQ2Emulator has them
    (docs/protocol/world/commands.md#table); other words of the registry follow.
    """

    def __init__(self, names: ClientCommands) -> None:
        self._positions = {**names.staff, **names.players}
        self._words = {position: word for word, position in self._positions.items()}
        # Behind the client's own names, so that none of them moves.
        self._next = max(self._words, default=-1) + 1

    def position(self, word: str) -> int:
        """Return the position of a word; a new word gets the next one."""
        if word not in self._positions:
            self._positions[word] = self._next
            self._words[self._next] = word
            self._next += 1
        return self._positions[word]

    def by_position(self, words: Collection[str]) -> list[str]:
        """Return a table of words: each at its position, and between them empty names."""
        positions = {self.position(word): word for word in words}
        table = [""] * (max(positions, default=-1) + 1)
        for position, word in positions.items():
            table[position] = word
        return table

    def word(self, position: int) -> str | None:
        """Return the word at a position, None if there is none."""
        return self._words.get(position)


# --- calls by clients


@lru_cache(maxsize=MOST_RANKS)
def _encoded(layout: StructLayout, names: tuple[str, ...]) -> bytes:
    """Return a table of commands as bytes; worlds of one process have the same tables."""
    rows = [{"name": name} for name in names]
    return layout.encode({"num_commands": len(rows), "commands_array": rows})


class RemoteCommands:
    """The commands of a registry, for game clients."""

    def __init__(
        self,
        world: World,
        registry: Registry,
        chat: Chat,
        names: ClientCommands | None = None,
    ) -> None:
        """`names` are the client's own names, by default the shipped ones."""
        self.world = world
        self.registry = registry
        self.chat = chat
        self._names = names or read_client_commands()
        self._positions = CommandPositions(self._names)
        # One table is 7 kB and 1,100 names: encoding it takes longer than all else of an entry.
        self._tables: dict[tuple[object, frozenset[str]], bytes] = {}

    def register(self, messages: WorldMessages) -> None:
        """Register the handler of OP_RemoteCmdMsg."""
        messages.add_handler("OP_RemoteCmdMsg", self.called, IN_ZONE)

    def allowed(self, player: Player) -> Sequence[str]:
        """Return the words that call the commands which a player may use now.

        A client reads only the first word of a line, so commands that share it are one entry.
        """
        allowed = self.registry.allowed(caller(player))
        names = (name for command in allowed for name in (command.name, *command.aliases))
        return list(dict.fromkeys(name.partition(" ")[0] for name in names))

    def send_table(self, player: Player) -> None:
        """Send a client its table of commands, unless the client has all of them already.

        A word that the player may not use any more stays in the table, and its call is refused.
        """
        # The client's own names are in every table: its windows refer to them.
        words = player.session.command_words.union(self._names.players, self.allowed(player))
        # The client keeps its table, so an equal one need not be sent.
        if words == player.session.command_words:
            return
        player.session.command_words = words
        player.client.send_bytes("OP_SetRemoteCmdsMsg", self._table(player.client, words))

    def _table(self, client: PlayerClient, words: frozenset[str]) -> bytes:
        layout = client.dialect.layout("WS_SetRemoteCmdsMsg")
        found = self._tables.get((layout, words))
        if found is None:
            if len(self._tables) >= MOST_RANKS:
                self._tables.clear()
            # All words get their positions at once, allowed or not. Otherwise the table of one
            # player would show which commands others, even hidden ones, were sent before.
            for word in self.registry.first_words:
                self._positions.position(word)
            # The table has no gaps on the wire: a position without a word is an empty name.
            found = _encoded(layout, tuple(self._positions.by_position(words)))
            self._tables[layout, words] = found
        return found

    def called(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Handle OP_RemoteCmdMsg: run a command. Raises `MalformedMessage`.

        An empty body also ends the session (docs/protocol/world/movement.md#bad-predictions).
        """
        if not body:
            player.client.close()
            raise MalformedMessage("command without an index")
        word, arguments = self._read(player.client, body)
        # Not only the allowed words: a call in flight may name a word that was allowed when it was
        # sent.
        if word is None or word not in player.session.command_words:
            raise MalformedMessage("command outside the table")
        self.world.start(self._run(player, word, arguments, now))

    def _read(self, client: PlayerClient, body: bytes) -> tuple[str | None, str]:
        fields = client.dialect.layout("WS_RemoteCmdMsg").decode(body)
        word = self._positions.word(fields["command_handler"])
        return word, read_name(fields["arguments"])[:LONGEST_LINE]

    def called_word(self, player: Player, body: bytes) -> tuple[str, str] | None:
        """Return word and arguments of a command that a client has sent; None if it has none."""
        try:
            word, arguments = self._read(player.client, body)
        except PeerError:
            return None
        return None if word is None else (word, arguments)

    def written(self, player: Player, word: str, arguments: str) -> bytes:
        """Return the body with which a client calls a command."""
        values = {"command_handler": self._positions.position(word), "arguments": arguments}
        return player.client.dialect.layout("WS_RemoteCmdMsg").encode(wire_texts(values))

    def do(self, player: Player, line: str, now: Monotonic) -> bool:
        """Run a command by its name; return False if this player may not use such a command."""
        name, _, rest = line.partition(" ")
        # The registry would refuse as well, but zone files may give verbs that are no commands.
        if name not in self.allowed(player):
            return False
        try:
            self.registry.resolve(line)
        except CommandError:
            # Only the first word of others: a crafting station has the verb "create", and there is
            # a command "create guild".
            return False
        self.world.start(self._run(player, name, rest, now))
        return True

    async def _run(self, player: Player, word: str, rest: str, now: Monotonic) -> None:
        # A name of the client's interface that this server does not have.
        if not self.registry.has_word(word):
            self.chat.line(player, not_here(word), "error")
            return
        line = f"{word} {rest}"
        if not self._may_run(player, line, now):
            return
        reply = await self.registry.run(caller(player), line, now)
        # The player may have left while the command ran.
        if player.is_online:
            self._answer(player, reply)

    def _may_run(self, player: Player, line: str, now: Monotonic) -> bool:
        """Count an expensive command; return False and ask the player to wait above its rate.

        The player is asked once per second: a flood of commands must not cause a flood of answers.
        """
        try:
            cost = self.registry.resolve(line)[0].cost
        except CommandError:
            return True  # the registry answers with the error
        if cost is Cost.PLAIN or player.limits.may_use(cost, self._pace(cost), now):
            return True
        self.world.count("command too soon")
        if player.limits.may_be_asked_to_wait(now):
            self.chat.line(player, WAIT, "error")
        return False

    def _pace(self, cost: Cost) -> tuple[float, int]:
        rules = self.world.rules
        if cost is Cost.LISTING:
            return rules.listing_rate, rules.listing_burst
        if cost is Cost.SHOWN:
            return rules.shown_rate, rules.shown_burst
        return rules.change_rate, rules.change_burst

    def _answer(self, player: Player, reply: Reply) -> None:
        channel = "system" if reply.ok else "error"
        for line in reply.lines[:MOST_LINES]:
            self.chat.line(player, line, channel)
        if len(reply.lines) > MOST_LINES:
            self.chat.line(player, f"and {len(reply.lines) - MOST_LINES} more", channel)


def caller(player: Player) -> Caller:
    """Return a player as a caller of commands."""
    return Caller(player.name, player.rank, "game", player, player.character.account_id)
