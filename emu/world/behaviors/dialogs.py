"""The dialogs that behaviors have open with players."""

from __future__ import annotations

from collections.abc import Sequence

from emu.errors import CommandError
from emu.world.behaviors.part import Part
from emu.world.players.player import Player


class Dialogs:
    """Who speaks with whom; a player may have many open. No text is longer than `longest`."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._open: dict[tuple[int, int], Part] = {}
        self._last = 0

    def open(self, part: Part, player: Player, text: str, choices: Sequence[str]) -> None:
        """Open a dialog. Who looks at a spawn it does not see is told nothing."""
        index = player.index_of(part.spawn) if part.spawn is not None else None
        if part.spawn is None or index is None:
            return
        conversation = self._last = self._last % 0x7FFFFFFF + 1
        self._open[player.id, conversation] = part
        player.client.send(
            "WS_DialogOpen",
            {
                "conversation_id": conversation,
                "title": part.spawn.name,
                "text": text[: self._longest],
                "num_responses": len(choices),
                "response_array": [{"response": choice[: self._longest]} for choice in choices],
                "closeable": 1,
                "spawn_id": index,
            },
        )

    def answered(self, player: Player, conversation: int) -> Part:
        """Return whose dialog a player answers, which ends it. Raises `CommandError` for none."""
        part = self._open.pop((player.id, conversation), None)
        if part is None:
            raise CommandError("that conversation is over")
        return part

    def close(self, player: Player, conversation: int) -> None:
        """Forget a dialog that a player closed."""
        self._open.pop((player.id, conversation), None)

    def forget_player(self, player: Player) -> None:
        """Forget all dialogs of a player who leaves."""
        for key in [key for key in self._open if key[0] == player.id]:
            del self._open[key]

    def forget_part(self, part: Part) -> None:
        """Forget all dialogs of a behavior that ends."""
        for key in [key for key, owner in self._open.items() if owner is part]:
            del self._open[key]
