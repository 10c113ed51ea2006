"""Windows of options that scripts show: what was offered to whom, and what was chosen.

A client sends the command of the chosen row, which names a function of the script. Only a row that
was offered counts: a client may send any word. Clients without such a window are shown a dialog.
Source: docs/guides/lua.md#options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from emu.errors import UnknownStruct
from emu.world.actors.player import Player
from emu.world.scripts.bodies import Body
from emu.world.scripts.talks import Page, Shown, Talks
from emu.world.social import windows
from emu.world.social.windows import Option

WINDOW: Final = "WS_SelectOption"


def _has_window(player: Player) -> bool:
    try:
        player.client.dialect.layout(WINDOW)
    except UnknownStruct:
        return False
    return True


class _Offer(NamedTuple):
    speaker: Body
    functions: frozenset[str]


class Choices:
    """The open windows of options, one for each player."""

    def __init__(self, talks: Talks) -> None:
        self._talks = talks
        self._offers: dict[int, _Offer] = {}
        """By character id."""

    def offer(
        self, speaker: Body | None, player: Player, title: str, rows: Sequence[Option], cancel: str
    ) -> None:
        """Show a player a window; `speaker` is whose script answers, None for nobody's.

        `cancel` is the command of leaving the window without a choice.
        """
        self._offers.pop(player.id, None)
        if _has_window(player):
            windows.choose(player, title, rows, cancel)
            if speaker is not None:
                functions = frozenset(row.command for row in rows if row.command)
                self._offers[player.id] = _Offer(speaker, functions | {cancel})
        elif speaker is not None:
            text = "\n\n".join([title, *(f"{row.name.strip()}: {row.text}" for row in rows)])
            answers = [
                (row.name.strip(), "" if row.command == cancel else row.command) for row in rows
            ]
            page = Page(text, speaker=Shown.NOBODY, is_over_when_answered=True)
            self._talks.start(speaker, player, answers, page)

    def chosen(self, player: Player, command: str) -> Body | None:
        """Return whose script answers a choice, None if it was not offered; this ends the offer."""
        offer = self._offers.get(player.id)
        if offer is None or offer.speaker.is_gone or command not in offer.functions:
            return None
        del self._offers[player.id]
        return offer.speaker

    def forget(self, player: Player) -> None:
        """Forget the window of a player who leaves the zone."""
        self._offers.pop(player.id, None)
