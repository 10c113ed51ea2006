"""A prompt for commands of a server: line editing, history and completion; or lines from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from emu.config.model import state_folder
from emu.errors import EmuError

ENDS = frozenset(("exit", "quit"))


@dataclass(frozen=True, slots=True)
class Told:
    """What a command answered, for people."""

    text: str
    ok: bool = True


Ask = Callable[[str], Told]
"""Runs a line on the server. Raises `EmuError` when that cannot be reached any more."""


class ServerCompleter(Completer):
    """Asks the server how a line may go on.

    Another's server, which has no command for that, answers with something else than words that
    begin as the line ends; that is no help, and not shown.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002  # the library's shape
    ) -> Iterable[Completion]:
        """Yield the words that may stand at the cursor."""
        text = document.text_before_cursor
        begun = "" if not text or text[-1].isspace() else text.split()[-1]
        try:
            told = self._ask(f"complete {text}" if begun else f'complete {text}""')
        except EmuError:
            return
        words = told.text.splitlines()
        if told.ok and all(_goes_on(begun, word) for word in words):
            for word in words:
                yield Completion(word, start_position=-len(begun))


def _goes_on(begun: str, word: str) -> bool:
    return word.casefold().startswith(begun.casefold()) and " " not in word


def converse(ask: Ask, prompt: str, plainly: Ask | None = None) -> bool:
    """Run lines until the end; says whether all went well. What goes wrong is told on the way.

    At a terminal there is a prompt; else lines are read from standard input. `plainly` asks the
    server how a line may go on, where what `ask` returns is for other eyes.
    """
    interactive = sys.stdin.isatty()
    lines = _typed(plainly or ask, prompt) if interactive else iter(sys.stdin)
    good = True
    for line in lines:
        if line.strip() in ENDS:
            break
        if line.strip():
            told = ask(line.strip())
            good &= told.ok
            if told.text:
                click.echo(told.text, err=not told.ok)
    return good or interactive


def _typed(ask: Ask, prompt: str) -> Iterator[str]:
    session: PromptSession[str] = PromptSession(
        history=_history(), completer=ServerCompleter(ask), complete_while_typing=False
    )
    while True:
        try:
            yield session.prompt(prompt)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _history() -> History:
    path: Path = state_folder() / "console_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
