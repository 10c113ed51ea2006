"""All commands of a world, and their use by game clients.

The server sends each client a table of the commands that the player's rank allows. The client calls
a command by its index in this table (docs/protocol/world/commands.md#remote-cmd).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from emu.commands import Caller, Command, Cost, Registry, Reply
from emu.dialects.dialect import read_name
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.commands import groups, moderation, speech, titles, travel, who, zones
from emu.world.commands.context import CommandContext
from emu.world.messages import WorldMessages
from emu.world.social.chat import Chat
from emu.world.world import World


def world_commands(context: CommandContext) -> list[Command]:
    """Return all commands; subscribe groups to players that leave the world or hide."""
    subjects = (speech, groups, who, titles, travel, moderation, zones)
    context.world.notifications.left.subscribe(lambda player: groups.forget(context, player))
    context.world.notifications.hidden_changed.subscribe(
        lambda player: groups.hidden_changed(context, player)
    )
    return [command for subject in subjects for command in subject.COMMANDS.commands(context)]


WAIT: Final = "Wait a moment."
MOST_LINES: Final = 100
"""Lines of an answer; a longer answer ends with the number of missing lines."""
LONGEST_LINE: Final = 4096
"""Characters of arguments; the rest is cut, because an answer may repeat them."""


@dataclass(frozen=True, slots=True)
class RemoteCommands:
    """The commands of a registry, for game clients."""

    world: World
    registry: Registry
    chat: Chat

    def register(self, messages: WorldMessages) -> None:
        """Register the handler of OP_RemoteCmdMsg."""
        messages.add("OP_RemoteCmdMsg", self.called, IN_ZONE)

    def allowed(self, player: Player) -> Sequence[str]:
        """Return the first words of the commands that a player may use now, in order.

        A client reads only the first word of a line, so commands that share it are one entry.
        """
        allowed = self.registry.allowed(caller(player))
        return list(dict.fromkeys(command.name.partition(" ")[0] for command in allowed))

    def send_table(self, player: Player) -> None:
        """Send a client its table of commands, unless the client has all of them already."""
        # A word keeps its index for the whole session, because a call in flight names a command by
        # its index. A word that the player may not use any more stays, and its call is refused.
        known = player.command_words
        new = [word for word in self.allowed(player) if word not in known]
        if not new:
            return
        known += new
        names = [{"name": word} for word in known]
        player.client.send(
            "WS_SetRemoteCmdsMsg", {"num_commands": len(names), "commands_array": names}
        )

    def called(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Handle OP_RemoteCmdMsg: run a command. Raises `MalformedMessage`.

        An empty body also ends the session (docs/protocol/world/movement.md#bad-predictions).
        """
        if not body:
            player.client.close()
            raise MalformedMessage("command without an index")
        fields = player.client.dialect.layout("WS_RemoteCmdMsg").decode(body)
        table = player.command_words
        index = fields["command_handler"]
        if index >= len(table):
            raise MalformedMessage("command outside the table")
        arguments = read_name(fields["arguments"])[:LONGEST_LINE]
        self.world.start(self._run(player, table[index], arguments, now))

    def do(self, player: Player, line: str, now: Monotonic) -> bool:
        """Run a command by its name; return False if this player may not use such a command."""
        name, _, rest = line.partition(" ")
        if name not in self.allowed(player):
            return False
        self.world.start(self._run(player, name, rest, now))
        return True

    async def _run(self, player: Player, word: str, rest: str, now: Monotonic) -> None:
        line = f"{word} {rest}"
        if not self._may_run(player, line, now):
            return
        reply = await self.registry.run(caller(player), line, now)
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
        if cost is Cost.PLAIN or player.may_use(cost, self._pace(cost), now):
            return True
        self.world.count("command too soon")
        if player.may_be_asked_to_wait(now):
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
    character = player.character
    rank = max(0, character.admin_status)
    return Caller(player.name, rank, "game", player, character.account_id)
