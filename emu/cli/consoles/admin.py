"""`emu admin` and `emu world console`: commands on the running server, by its local socket."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from emu.cli.common import load_config
from emu.cli.console_socket import ConsoleSocket
from emu.cli.tables import line_format_option
from emu.config.model import state_folder
from emu.errors import EmuError

ENDS = frozenset(("exit", "quit"))


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The reply of a command, for people."""

    text: str
    ok: bool = True


Ask = Callable[[str], CommandAnswer]
"""Runs a line on the server. Raises `EmuError` if the server is gone."""


class ServerCompleter(Completer):
    """Completion by the server.

    A server of another kind has no command for that. Its answer does not fit what is typed, and is
    not shown.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002  # the library's shape
    ) -> Iterable[Completion]:
        """Yield the completions at the cursor."""
        text = document.text_before_cursor
        begun = "" if not text or text[-1].isspace() else text.split()[-1]
        try:
            # An empty quotation asks for the next word (see `emu.commands.help.completions`).
            reply = self._ask(f"complete {text}" if begun else f'complete {text}""')
        except EmuError:
            return
        words = reply.text.splitlines()
        if reply.ok and all(_goes_on(begun, word) for word in words):
            for word in words:
                yield Completion(word, start_position=-len(begun))


def _goes_on(begun: str, word: str) -> bool:
    return word.casefold().startswith(begun.casefold()) and " " not in word


def converse(ask: Ask, prompt: str, plainly: Ask | None = None) -> bool:
    """Run lines until the end; return whether all succeeded. Errors are printed at once.

    At a terminal there is a prompt; otherwise lines are read from standard input. `plainly` is used
    for completion if the replies of `ask` are formatted.
    """
    interactive = sys.stdin.isatty()
    lines = _typed(plainly or ask, prompt) if interactive else iter(sys.stdin)
    good = True
    for line in lines:
        if line.strip() in ENDS:
            break
        if line.strip():
            reply = ask(line.strip())
            good &= reply.ok
            if reply.text:
                click.echo(reply.text, err=not reply.ok)
    # At a prompt the user has seen each error, so the exit status stays 0.
    return good or interactive


def _typed(ask: Ask, prompt: str) -> Iterator[str]:
    session: PromptSession[str] = PromptSession(
        history=_history(), completer=ServerCompleter(ask), complete_while_typing=False
    )
    while True:
        try:
            yield session.prompt(prompt)
        except KeyboardInterrupt:
            # Ctrl-C discards the line, as in a shell.
            continue
        except EOFError:
            return


def _history() -> History:
    path: Path = state_folder() / "console_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Lines may contain passwords, so only the owner may read the history.
        path.touch(0o600)
    except OSError:
        # A read-only home folder must not stop the console.
        return InMemoryHistory()
    return FileHistory(str(path))


@click.command(context_settings={"ignore_unknown_options": True})
@line_format_option
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...", type=click.UNPROCESSED)
def admin(words: tuple[str, ...], style: str) -> None:
    """Run a command on the server of this configuration, as its console does.

    The commands are those of the game and of RCON: `emu admin help` lists them. The exit status is
    1 if a command failed.

    Example: emu admin kick Aldana
    """
    with ConsoleSocket(load_config().console_path) as console:
        reply = console.run(command_line(words))
    if style == "json":
        click.echo(json.dumps(reply.data if reply.ok and reply.data is not None else reply.lines))
    elif reply.lines:
        click.echo(reply.text, err=not reply.ok)
    if not reply.ok:
        sys.exit(1)


def command_line(words: tuple[str, ...]) -> str:
    """Return a shell's words as a line; words with blanks, except the last, are quoted."""
    # The last argument may be free text, which keeps its blanks without quotation marks.
    *first, last = words
    return " ".join([*(f'"{word}"' if " " in word else word for word in first), last])


@click.command()
def console() -> None:
    """Run commands on the server of this configuration, at a prompt.

    TAB completes commands and names, the arrow keys recall earlier lines, exit or Ctrl-D ends.
    Lines from a pipe run one after the other; the exit status is 1 if one of them failed.

    Example: emu world console
    """
    with ConsoleSocket(load_config().console_path) as server:

        def ask(line: str) -> CommandAnswer:
            reply = server.run(line)
            return CommandAnswer(reply.text, reply.ok)

        if not converse(ask, "emu> "):
            sys.exit(1)
