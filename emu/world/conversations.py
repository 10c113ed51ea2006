"""The dialog windows of players: their numbers, and whose answer a client has sent.

Scripts and behaviors open dialogs; each keeps its own. The messages of clients about dialogs are
read here, once, and passed to the host that has opened the dialog.
"""

from __future__ import annotations

from typing import Protocol

from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.messages import WorldMessages


class ConversationHost(Protocol):
    """Opens dialogs for players, and gets their answers."""

    def has_conversation(self, player: Player, number: int) -> bool:
        """Return whether it has opened a dialog of a player that is still open."""

    def answered(self, player: Player, number: int, answer: int) -> None:
        """Handle an answer, counted from 0. Raises `CommandError` if it cannot be given."""

    def closed_by(self, player: Player, number: int) -> None:
        """Handle a dialog that its player has closed; the number may be another host's."""


class Conversations:
    """The numbers of all dialogs, and the hosts that open them."""

    def __init__(self) -> None:
        self._hosts: list[ConversationHost] = []
        self._last: dict[int, int] = {}
        """By character id: the number of its last dialog."""

    def add(self, host: ConversationHost) -> None:
        """Add a host. The one added last gets the answers to dialogs that no host has open."""
        self._hosts.append(host)

    def next_number(self, player: Player) -> int:
        """Return the number of a player's new dialog: from 1 in each zone."""
        # A positive i32 that is never 0, and never that of an older dialog which the client may
        # still answer.
        number = self._last[player.id] = self._last.get(player.id, 0) % 0x7FFFFFFF + 1
        return number

    def forget(self, player: Player) -> None:
        """Count the dialogs of a player who leaves its zone from 1 again."""
        self._last.pop(player.id, None)

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about dialogs to the table."""
        messages.add("OP_DialogSelectMsg", self._selected, IN_ZONE)
        messages.add("OP_DialogCloseMsg", self._closed, IN_ZONE)

    def _selected(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Handle OP_DialogSelectMsg. Raises `MalformedMessage`, and `CommandError`."""
        fields = player.client.dialect.layout("WS_DialogSelect").decode(body)
        number = fields["conversation_id"]
        if not self._hosts:
            raise CommandError("that conversation is over")
        for host in self._hosts:
            if host.has_conversation(player, number):
                break
        host.answered(player, number, fields["response"])

    def _closed(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Handle OP_DialogCloseMsg. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(body)
        for host in self._hosts:
            host.closed_by(player, fields["conversation_id"])
