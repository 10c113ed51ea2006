"""How clients use commands: a table they are given, and indexes into it that they send.

A client knows only the commands it was given and sends the position of one with its arguments
(docs/protocol/world/commands.md#remote-cmd). It is given those that its rank allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from emu.commands import Caller, Registry
from emu.dialects.text import read_name
from emu.errors import MalformedMessage
from emu.times import Monotonic
from emu.world.chat import Chat
from emu.world.players.player import Player
from emu.world.world import World

LONGEST_LINE: Final = 4096
"""Letters of arguments; what is longer is cut, so that no answer can repeat more than that."""


@dataclass(frozen=True, slots=True)
class RemoteCommands:
    """Commands of a registry as clients of the game know them."""

    world: World
    registry: Registry
    chat: Chat

    def table(self, player: Player) -> Sequence[str]:
        """Return the words a player is given, in the order its client counts them.

        A client looks at the first word only; commands that share it are one entry.
        """
        allowed = self.registry.allowed(caller(player))
        return list(dict.fromkeys(command.name.partition(" ")[0] for command in allowed))

    def send_table(self, player: Player) -> None:
        """Give a client its commands."""
        names = [{"name": word} for word in self.table(player)]
        player.client.send(
            "WS_SetRemoteCmdsMsg", {"num_commands": len(names), "commands_array": names}
        )

    def called(self, _world: World, player: Player, body: bytes, now: Monotonic) -> None:
        """Run what a client asks for. Raises `MalformedMessage`; an empty body ends the session.

        Source: docs/protocol/world/movement.md#bad-predictions.
        """
        if not body:
            player.client.close()
            raise MalformedMessage("command without an index")
        fields = player.client.dialect.layout("WS_RemoteCmdMsg").decode(body)
        table = self.table(player)
        index = fields["command_handler"]
        if index >= len(table):
            raise MalformedMessage("command outside the table")
        arguments = read_name(fields["arguments"])[:LONGEST_LINE]
        self.world.start(self._run(player, table[index], arguments, now))

    def do(self, player: Player, line: str, now: Monotonic) -> bool:
        """Run a command by its name; False when there is none that this player may use."""
        name, _, rest = line.partition(" ")
        if name not in self.table(player):
            return False
        self.world.start(self._run(player, name, rest, now))
        return True

    async def _run(self, player: Player, word: str, rest: str, now: Monotonic) -> None:
        reply = await self.registry.run(caller(player), f"{word} {rest}", now)
        if player.is_online:
            for line in reply.lines:
                self.chat.line(player, line, "system" if reply.ok else "error")


def caller(player: Player) -> Caller:
    """Return a player as one who calls commands."""
    return Caller(player.name, max(0, player.character.admin_status), "game", player)
