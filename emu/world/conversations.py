"""The dialog windows of players: their numbers, what they offer, and what players answer.

Behaviors and scripts open dialogs here and learn of the answers by an event (`DialogAnswered`). The
messages of clients about dialogs are read here, once.
Source: docs/guides/lua.md#talk.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.dialects.dialect import NOT_SEEN
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.events import DialogAnswered, Events, LeftZone, Order
from emu.world.messages import WorldMessages

MOST_OPEN: Final = 16
"""Open dialogs of one player; the oldest ends for the next one."""


class Shown(enum.Enum):
    """Whom a window shows as its speaker."""

    SPEAKER = enum.auto()
    NOBODY = enum.auto()
    """A blue window without a speaker."""
    ONESELF = enum.auto()
    """The player: its own thoughts."""


class Ends(enum.Enum):
    """How a dialog ends, besides with its speaker and with its player's stay in the zone."""

    BY_REPLY = enum.auto()
    """An answer with an empty reply closes the window; after another it stays for a next page."""
    BY_ANSWER = enum.auto()
    """Any answer closes the window."""
    BY_CLIENT = enum.auto()
    """Any answer ends the dialog, and the client closes the window itself."""


@dataclass(slots=True, kw_only=True)
class DialogPage:
    """What a window shows besides its answers."""

    text: str
    title: str = ""
    """Without one the client writes the name of the spawn."""
    voice: str = ""
    keys: tuple[int, int] = (0, 0)
    language: int = 0
    is_closable: bool = True
    speaker: Shown = Shown.SPEAKER
    ends: Ends = Ends.BY_REPLY
    reach: float = math.inf
    """Within which distance on the ground of the spawn the player must be when it answers."""


@dataclass(slots=True, eq=False)
class Dialog:
    """The dialog that a player has with an owner."""

    owner: Hashable
    """The behavior that opened it, or the spawn of a script as that has it."""
    spawn: Spawn
    reach: float
    replies: Sequence[Any]
    """The owner's own word for each answer; for a false one the owner is not called."""
    ends: Ends
    is_open: bool = True
    """False when the player has closed the window: its next page has the same number."""


class Conversations:
    """The open dialogs of a world's players, by character id and number."""

    def __init__(self, *, events: Events) -> None:
        self._events = events
        self._open: dict[int, dict[int, Dialog]] = {}
        self._last: dict[int, int] = {}
        """By character id: the number of its last dialog."""
        events.subscribe(LeftZone, lambda event: self.forget(event.player), Order.OWNER)

    def __len__(self) -> int:
        """Return the number of open dialogs."""
        return sum(map(len, self._open.values()))

    def open(
        self, player: Player, spawn: Spawn, page: DialogPage, answers: Sequence[tuple[str, Any]],
        *, owner: Hashable, most: int = MOST_OPEN,
    ) -> bool:  # fmt: skip
        """Show a player a page of a spawn; return False if its client does not have the spawn.

        `answers` are the shown texts, each with the owner's word for it. Unless any answer ends it,
        the dialog of a player and an owner is one: a further page replaces the one before.
        """
        # The window names its speaker by the client's own index, so a client without the ghost
        # cannot show it.
        index = player.index_of(spawn)
        if index is None:
            return False
        own = self._open.setdefault(player.id, {})
        number = 0 if page.ends is Ends.BY_CLIENT else _number(own, owner)
        number = number or self.next_number(player)
        own.pop(number, None)
        # A client need not answer, so its dialogs would otherwise fill the memory.
        while len(own) >= most:
            del own[next(iter(own))]
        own[number] = Dialog(
            owner, spawn, page.reach, tuple(reply for _, reply in answers), page.ends
        )
        player.client.send(
            "WS_DialogOpen",
            {
                "conversation_id": number,
                "title": page.title,
                "text": page.text,
                "num_responses": len(answers),
                "response_array": [{"response": text} for text, _ in answers],
                "enable_blue_ui": int(page.speaker is Shown.NOBODY),
                "closeable": int(page.is_closable),
                "spawn_id": _shown_index(page.speaker, index, player),
                "voice": page.voice,
                "language": page.language & 0xFF,
                "key1": page.keys[0] & 0xFFFFFFFF,
                "key2": page.keys[1] & 0xFFFFFFFF,
            },
        )
        return True

    def has(self, player: Player, owner: Hashable) -> bool:
        """Return whether a player has a dialog with an owner open."""
        return _number(self._open.get(player.id, {}), owner) > 0

    def next_number(self, player: Player) -> int:
        """Return the number of a player's new dialog: from 1 in each zone."""
        # A positive i32 that is never 0, and never that of an older dialog which the client may
        # still answer.
        number = self._last[player.id] = self._last.get(player.id, 0) % 0x7FFFFFFF + 1
        return number

    # -- ends -------------------------------------------------------------------------------------

    def close(self, player: Player, owner: Hashable) -> None:
        """Close the window of an owner at a player; without one, the client is sent number 0."""
        self._close(player, _number(self._open.get(player.id, {}), owner))

    def end_dialogs(self, player: Player) -> None:
        """End the dialogs of a player; the numbers of the next ones go on."""
        self._open.pop(player.id, None)

    def forget(self, player: Player) -> None:
        """End the dialogs of a player who leaves its zone, and count from 1 again."""
        self._open.pop(player.id, None)
        self._last.pop(player.id, None)

    def forget_owner(self, owner: Hashable) -> None:
        """End the dialogs of a behavior that ends, or of a spawn that is gone."""
        for own in self._open.values():
            for number in [number for number, dialog in own.items() if dialog.owner is owner]:
                del own[number]

    def _close(self, player: Player, number: int) -> None:
        self._open.get(player.id, {}).pop(number, None)
        player.client.send("WS_ServerDialogClose", {"conversation_id": number})

    # -- messages of clients ----------------------------------------------------------------------

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about dialogs to the table."""
        messages.add_handler("OP_DialogSelectMsg", self._selected, IN_ZONE)
        messages.add_handler("OP_DialogCloseMsg", self._closed, IN_ZONE)

    def _selected(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Tell the owner of an answer; close a window that offers none. May raise `PeerError`."""
        fields = player.client.dialect.layout("WS_DialogSelect").decode(body)
        number, answer = fields["conversation_id"], fields["response"]
        dialog = self._open.get(player.id, {}).get(number)
        if dialog is None or not dialog.is_open or not 0 <= answer < len(dialog.replies):
            self._close(player, number)
            return
        reply = dialog.replies[answer]
        # Ended before the owner is called: a client that repeats its answer must not be paid twice.
        if dialog.ends is Ends.BY_CLIENT:
            del self._open[player.id][number]
        elif not reply or dialog.ends is Ends.BY_ANSWER:
            self._close(player, number)
        is_near = dialog.spawn.position.distance_to(player.position) <= dialog.reach
        if reply and is_near:
            self._events.publish(DialogAnswered(player, dialog.owner, reply))

    def _closed(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Note a window that its player has closed. May raise `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(body)
        dialog = self._open.get(player.id, {}).get(fields["conversation_id"])
        if dialog is not None:
            dialog.is_open = False


def _number(own: dict[int, Dialog], owner: Hashable) -> int:
    """Return the number of a player's dialog with an owner; 0 if there is none."""
    return next((number for number, dialog in own.items() if dialog.owner is owner), 0)


def _shown_index(shown_as: Shown, index: int, player: Player) -> int:
    """Return the index of the ghost that a window shows as its speaker."""
    if shown_as is Shown.ONESELF:
        own = player.index_of(player.spawn)
        return index if own is None else own
    return NOT_SEEN if shown_as is Shown.NOBODY else index
