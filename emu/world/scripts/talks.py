"""Conversations of scripts: windows with answers, each with the name of a function.

A talk between one spawn and one player has one number; the next page replaces the answers.
Source: docs/guides/lua.md#talk.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.dialects.dialect import NOT_SEEN
from emu.world.actors.player import Player
from emu.world.scripts.bodies import Body, shown

MOST_ANSWERS: Final = 32
MOST_TALKS: Final = 16
"""Open talks of one player; the oldest ends for the next one."""


@dataclass(slots=True)
class Conversation:
    """The answers that a script has prepared: text and function, which may be empty."""

    answers: list[tuple[str, str]] = field(default_factory=list)
    is_used: bool = False

    def add(self, text: str, function: str) -> None:
        """Add an answer; one without a text is left out, and so are those beyond the last."""
        if text and len(self.answers) < MOST_ANSWERS:
            self.answers.append((text, function))


class Shown(enum.Enum):
    """Whom a window shows as its speaker."""

    SPEAKER = enum.auto()
    NOBODY = enum.auto()
    """A blue window without a speaker."""
    ONESELF = enum.auto()
    """The player: its own thoughts."""


@dataclass(slots=True)
class Page:
    """What a window shows besides its answers."""

    text: str
    voice: str = ""
    keys: tuple[int, int] = (0, 0)
    language: int = 0
    is_closable: bool = True
    speaker: Shown = Shown.SPEAKER
    is_over_when_answered: bool = False
    """Whether any answer closes the window; otherwise the function of the answer may."""


@dataclass(slots=True)
class _Talk:
    speaker: Body
    functions: tuple[str, ...]
    is_over_when_answered: bool = False
    is_open: bool = True
    """False when the player has closed the window: its next page has the same number."""


class Talks:
    """The open talks of scripts, by player."""

    def __init__(self, next_number: Callable[[Player], int]) -> None:
        """`next_number` gives the numbers of all dialogs of a player."""
        self._next_number = next_number
        self._open: dict[int, dict[int, _Talk]] = {}

    def start(
        self, speaker: Body, player: Player, answers: list[tuple[str, str]], page: Page
    ) -> bool:
        """Show a page to a player; return False if the client does not have the speaker."""
        index = player.index_of(speaker.spawn)
        if index is None:
            return False
        own = self._open.setdefault(player.id, {})
        number = self._number(own, speaker) or self._next_number(player)
        own.pop(number, None)
        while len(own) >= MOST_TALKS:
            del own[next(iter(own))]
        own[number] = _Talk(
            speaker, tuple(function for _, function in answers), page.is_over_when_answered
        )
        player.client.send(
            "WS_DialogOpen",
            {
                "conversation_id": number,
                # The client writes the name of the spawn.
                "title": "",
                "text": shown(page.text),
                "num_responses": len(answers),
                "response_array": [{"response": shown(text)} for text, _ in answers],
                "enable_blue_ui": int(page.speaker is Shown.NOBODY),
                "closeable": int(page.is_closable),
                "spawn_id": _shown_index(page.speaker, index, player),
                "voice": shown(page.voice),
                "language": page.language & 0xFF,
                "key1": page.keys[0] & 0xFFFFFFFF,
                "key2": page.keys[1] & 0xFFFFFFFF,
            },
        )
        return True

    def knows(self, player: Player, number: int) -> bool:
        """Return whether a number is that of an open talk of a script."""
        return number in self._open.get(player.id, {})

    def answered(self, player: Player, number: int, answer: int) -> tuple[Body | None, str]:
        """Return the speaker and the function of an answer; close a talk that has none.

        The talk stays open: its function shows the next page, closes it, or leaves it.
        """
        talk = self._open.get(player.id, {}).get(number)
        is_over = talk is None or talk.speaker.is_gone or not talk.is_open
        if talk is None or is_over or not 0 <= answer < len(talk.functions):
            self._close(player, number)
            return None, ""
        function = talk.functions[answer]
        if not function or talk.is_over_when_answered:
            self._close(player, number)
        return talk.speaker, function

    def close(self, speaker: Body, player: Player) -> None:
        """Close the window of a speaker at a player; without one, the client is sent number 0."""
        self._close(player, self._number(self._open.get(player.id, {}), speaker))

    def closed_by(self, player: Player, number: int) -> None:
        """Forget the answers of a window that the player has closed; its number stays."""
        talk = self._open.get(player.id, {}).get(number)
        if talk is not None:
            talk.is_open = False

    def forget_player(self, player: Player) -> None:
        """Forget the talks of a player who leaves."""
        self._open.pop(player.id, None)

    def forget_speaker(self, speaker: Body) -> None:
        """Forget the talks of a spawn that is gone."""
        for own in self._open.values():
            own.pop(self._number(own, speaker), None)

    def _close(self, player: Player, number: int) -> None:
        self._open.get(player.id, {}).pop(number, None)
        player.client.send("WS_ServerDialogClose", {"conversation_id": number})

    @staticmethod
    def _number(own: dict[int, _Talk], speaker: Body) -> int:
        return next((number for number, talk in own.items() if talk.speaker is speaker), 0)


def _shown_index(shown_as: Shown, index: int, player: Player) -> int:
    """Return the index of the ghost that a window shows as its speaker."""
    if shown_as is Shown.ONESELF:
        own = player.index_of(player.spawn)
        return index if own is None else own
    return NOT_SEEN if shown_as is Shown.NOBODY else index
