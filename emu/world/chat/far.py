"""Chat with players of other processes, over the bus: tells, and what everybody is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.errors import CommandError, Unanswered
from emu.processes.ports import Note
from emu.world.players.player import Player
from emu.world.world import World

BROADCAST: Final = "chat.broadcast"
ANNOUNCE: Final = "chat.announce"
TELL: Final = "chat.tell"
"""Topics; that of tells is followed by a dot and the process that hears them."""


class FarChat:
    """Speaks to other processes, and hears them."""

    def __init__(self, world: World, hear_tell: Callable[[Player, str, str], str]) -> None:
        """Begin to hear the others. `hear_tell` is the chat's of this process."""
        self._hear_tell = hear_tell
        self._world = world
        world.bus.answer(f"{TELL}.{world.process}", self._tell_here)

    async def tell(self, speaker: str, name: str, text: str) -> tuple[str, str]:
        """Tell a player of another process something.

        Returns its name, and what it answers when it is away. Raises `CommandError` when it cannot
        be reached or does not want to hear it.
        """
        present = self._world.presence.named(name)
        if present is None or present.link_dead or present.process == self._world.process:
            raise CommandError(f"Unable to find client {name}")
        note: Note = {"speaker": speaker, "char_id": present.char_id, "text": text}
        try:
            told = await self._world.bus.request(f"{TELL}.{present.process}", note)
        except Unanswered:
            raise CommandError(f"{present.name} cannot be reached now") from None
        return present.name, str(told["reply"])

    def everybody(self, topic: str, text: str) -> int:
        """Show a text to everybody in the world; returns how many there are."""
        self._world.bus.publish(topic, {"text": text})
        return sum(not present.link_dead for present in self._world.presence)

    async def _tell_here(self, note: Note) -> Note:
        target = self._world.players.get(int(note["char_id"] or 0))
        if target is None:
            raise CommandError("Unable to find that client any more")
        return {"reply": self._hear_tell(target, str(note["speaker"]), str(note["text"]))}
