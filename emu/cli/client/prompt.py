"""Lines of `emu client shell`: from a terminal, with history and completion, or from a pipe."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from emu.client.world import WorldClient
from emu.client.world.lines import completions
from emu.config.model import state_folder

HISTORY = "client_history"


class LineCompleter(Completer):
    """Completes words, the world's commands, and names of those around."""

    def __init__(self, core: WorldClient) -> None:
        self._core = core

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterable[Completion]:
        """Yield what may stand where the cursor is."""
        text = document.text_before_cursor
        begun = len(text) - text.rfind(" ") - 1
        for word in completions(self._core, text):
            yield Completion(word, start_position=-begun)


class Prompt:
    """The lines a person types; ends with Ctrl-D or Ctrl-C. Needs Twisted's asyncio reactor."""

    def __init__(self, core: WorldClient) -> None:
        self._session: PromptSession[str] = PromptSession(
            "> ",
            completer=LineCompleter(core),
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            history=FileHistory(str(history_file())),
        )

    def end(self) -> None:
        """Ask for no more lines."""
        if self._session.app.is_running:
            self._session.app.exit(exception=EOFError())

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield line after line."""
        from asyncio import ensure_future  # noqa: PLC0415  # only where its reactor runs

        from twisted.internet.defer import Deferred  # noqa: PLC0415  # `emu --help` stays quick

        with patch_stdout():
            while True:
                try:
                    line = await Deferred.fromFuture(ensure_future(self._session.prompt_async()))
                except (EOFError, KeyboardInterrupt):
                    return
                yield line


async def piped_lines(pause: Callable[[float], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield the lines of standard input; ``wait S`` lets seconds pass instead."""
    from twisted.internet.threads import deferToThread  # noqa: PLC0415  # `emu --help` stays quick

    while line := await deferToThread(sys.stdin.readline):
        name, _, seconds = line.strip().partition(" ")
        if name == "wait" and seconds.replace(".", "", 1).isdecimal():
            await pause(float(seconds))
        else:
            yield line


def history_file() -> Path:
    """Return the file that keeps what was typed, in a folder that is there."""
    path = state_folder() / HISTORY
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
