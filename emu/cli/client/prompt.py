"""Lines of `emu client shell`: from a terminal, with history and completion, or from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import IO, Any

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


class PipedLines:
    """The lines of standard input; ``wait S`` among them lets seconds pass instead.

    A thread reads them, because a pipe may leave one waiting; it ends with the process.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]]) -> None:
        """`pause` lets seconds pass."""
        from twisted.internet import reactor  # noqa: PLC0415  # `emu --help` stays quick
        from twisted.internet.defer import DeferredQueue  # noqa: PLC0415

        self._pause = pause
        self._reactor: Any = reactor
        self._lines: DeferredQueue[str] = DeferredQueue()

    def end(self) -> None:
        """Ask for no more lines, though the pipe may have some."""
        self._lines.put("")

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield line after line."""
        Thread(target=self._read, name="emu-lines", daemon=True).start()
        while line := await self._lines.get():
            name, _, seconds = line.strip().partition(" ")
            if name == "wait" and seconds.replace(".", "", 1).isdecimal():
                await self._pause(float(seconds))
            else:
                yield line

    def _read(self) -> None:
        """Read to the end, which is an empty line without its end."""
        with input_file() as file:
            for line in file:
                self._reactor.callFromThread(self._lines.put, line)
        self._reactor.callFromThread(self._lines.put, "")


def input_file() -> IO[str]:
    """Return standard input as a file of its own.

    Python cannot end while a thread waits in `sys.stdin` itself.
    """
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace")
    except OSError:  # no file at all, as in a test
        return sys.stdin


def history_file() -> Path:
    """Return the file that keeps what was typed, in a folder that is there."""
    path = state_folder() / HISTORY
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
