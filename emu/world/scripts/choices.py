"""Windows that scripts show: what was offered to whom or asked, and what was chosen.

A client sends the command of the chosen row, which names a function of the script. Only a row that
was offered counts: a client may send any word. Clients without such a window are shown a dialog.
Source: docs/guides/lua.md#options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from emu.world.actors.player import Player
from emu.world.conversations import DialogPage, Ends, Shown
from emu.world.scripts.bodies import Body
from emu.world.speech import windows
from emu.world.speech.windows import OfferedOption, Question

WINDOW: Final = "WS_SelectOption"
SELECT: Final = "select"
"""The command that windows send."""
MOST_QUESTIONS: Final = 8
"""Questions that one player has not answered yet."""


Talk = Callable[[Body, Player, Sequence[tuple[str, str]], DialogPage], object]
"""Shows a player a page of a spawn with answers, each with the name of a function."""


class _Offer(NamedTuple):
    speaker: Body
    functions: frozenset[str]


class Choices:
    """The open windows of options, one for each player."""

    def __init__(self, talk: Talk) -> None:
        """`talk` shows a dialog."""
        self._talk = talk
        self._offers: dict[int, _Offer] = {}
        """By character id."""
        self._questions: dict[int, dict[tuple[str, bool], Body]] = {}
        """Whose script asked with which command, and whether that one declines; by character id."""

    def offer(
        self,
        speaker: Body | None,
        player: Player,
        title: str,
        rows: Sequence[OfferedOption],
        cancel: str,
    ) -> None:
        """Show a player a window; `speaker` is whose script answers, None for nobody's.

        `cancel` is the command of leaving the window without a choice.
        """
        self._offers.pop(player.id, None)
        if player.client.dialect.has(WINDOW):
            windows.choose(player, title, rows, cancel)
            if speaker is not None:
                functions = frozenset(row.command for row in rows if row.command)
                self._offers[player.id] = _Offer(speaker, functions | {cancel})
        elif speaker is not None:
            text = "\n\n".join([title, *(f"{row.name.strip()}: {row.text}" for row in rows)])
            answers = [
                (row.name.strip(), "" if row.command == cancel else row.command) for row in rows
            ]
            page = DialogPage(text=text, speaker=Shown.NOBODY, ends=Ends.BY_ANSWER)
            self._talk(speaker, player, answers, page)

    def chosen(self, player: Player, command: str) -> Body | None:
        """Return whose script answers a choice, None if it was not offered; this ends the offer."""
        offer = self._offers.get(player.id)
        if offer is None or offer.speaker.is_gone or command not in offer.functions:
            return None
        del self._offers[player.id]
        return offer.speaker

    # -- questions --------------------------------------------------------------------------------

    def ask(self, speaker: Body, player: Player, question: Question) -> bool:
        """Show a player a question; return False if the player has too many open ones."""
        asked = self._questions.setdefault(player.id, {})
        commands = [(question.accept_command.casefold(), False)]
        if question.cancel_command:
            commands.append((question.cancel_command.casefold(), True))
        if len(asked.keys() | set(commands)) > MOST_QUESTIONS:
            return False
        asked.update(dict.fromkeys(commands, speaker))
        windows.ask(player, question)
        return True

    def asker(self, player: Player, command: str) -> Body | None:
        """Return whose script asked for a command; None if none did, or is gone."""
        asked = self._questions.get(player.id, {})
        wanted = command.casefold()
        speaker = asked.get((wanted, False)) or asked.get((wanted, True))
        is_here = speaker is not None and not speaker.is_gone and speaker.home.zone is player.zone
        return speaker if is_here else None

    def asker_of(self, player: Player, command: str, *, declines: bool) -> Body | None:
        """Return whose script has a question open with a command."""
        speaker = self._questions.get(player.id, {}).get((command.casefold(), declines))
        return speaker if speaker is not None and not speaker.is_gone else None

    def withdraw(self, player: Player, command: str, *, declines: bool) -> bool:
        """Forget whose question a command answers; return whether there was one."""
        asked = self._questions.get(player.id, {})
        return asked.pop((command.casefold(), declines), None) is not None

    def forget(self, player: Player) -> None:
        """Forget the windows of a player who leaves the zone."""
        self._offers.pop(player.id, None)
        self._questions.pop(player.id, None)
