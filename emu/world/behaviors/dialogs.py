"""The dialogs that behaviors open for players: which behavior gets the answer."""

from __future__ import annotations

from collections.abc import Sequence

from emu.errors import CommandError
from emu.world.actors.player import Player
from emu.world.behaviors.running import RunningBehavior
from emu.world.conversations import Conversations


class Dialogs:
    """The open dialogs: texts of at most `longest` characters, at most `most` for each player."""

    def __init__(self, numbers: Conversations, longest: int, most: int = 16) -> None:
        self._numbers = numbers
        self._longest = longest
        self._most = most
        self._open: dict[int, dict[int, RunningBehavior]] = {}
        """For each character id: the behaviors by dialog number, the oldest dialog first."""

    def __len__(self) -> int:
        """Return the number of open dialogs."""
        return sum(map(len, self._open.values()))

    def knows(self, player: Player, conversation: int) -> bool:
        """Return whether a player has an open dialog with this number."""
        return conversation in self._open.get(player.id, {})

    def open(
        self, behavior: RunningBehavior, player: Player, text: str, choices: Sequence[str]
    ) -> None:
        """Open a dialog. Do nothing if the player's client does not have the spawn."""
        # The dialog names its speaker by the client's own index, so a client without the ghost
        # cannot show it.
        index = player.index_of(behavior.spawn) if behavior.spawn is not None else None
        if behavior.spawn is None or index is None:
            return
        conversation = self._numbers.next_number(player)
        own = self._open.setdefault(player.id, {})
        # A behavior that asks at each step of a player would otherwise fill the memory: clients
        # need not answer.
        while len(own) >= self._most:
            del own[next(iter(own))]
        own[conversation] = behavior
        player.client.send(
            "WS_DialogOpen",
            {
                "conversation_id": conversation,
                "title": behavior.spawn.name,
                "text": text[: self._longest],
                "num_responses": len(choices),
                "response_array": [{"response": choice[: self._longest]} for choice in choices],
                "closeable": 1,
                "spawn_id": index,
            },
        )

    def answered(self, player: Player, conversation: int) -> RunningBehavior:
        """Close the dialog that a player answers; return its behavior.

        Raises `CommandError` if it is not open.
        """
        # Removed with the first answer: a client that repeats it must not be paid twice.
        behavior = self._open.get(player.id, {}).pop(conversation, None)
        if behavior is None:
            raise CommandError("that conversation is over")
        return behavior

    def close(self, player: Player, conversation: int) -> None:
        """Remove a dialog that a player has closed."""
        self._open.get(player.id, {}).pop(conversation, None)

    def forget_player(self, player: Player) -> None:
        """Remove all dialogs of a player who leaves."""
        self._open.pop(player.id, None)
        self._numbers.forget(player)

    def forget_behavior(self, behavior: RunningBehavior) -> None:
        """Remove all dialogs of a behavior that ends."""
        for own in self._open.values():
            for number in [number for number, owner in own.items() if owner is behavior]:
                del own[number]
