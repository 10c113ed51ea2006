"""`emu client play` and `shell`: a client that enters the world, scripted or by hand."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from emu.cli.client.common import Target, account_options, carry_out, on_reactor, server_options
from emu.client import Credentials
from emu.client.events import Closed
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Updated, WorldEvent
from emu.client.world.shell import as_lines, as_records, completions, run_line
from emu.config.model import state_folder
from emu.errors import CommandError

HISTORY = "client_history"
SETTLING: Final = 0.3
"""Seconds without a new spawn after which a client has seen what is near."""
LONGEST_SETTLING: Final = 3.0


class LineCompleter(Completer):
    """Completes words, the world's commands, and names of nearby ghosts."""

    def __init__(self, core: WorldClientCore) -> None:
        self._core = core

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterable[Completion]:
        """Yield the completions at the cursor."""
        text = document.text_before_cursor
        begun = len(text) - text.rfind(" ") - 1
        for word in completions(self._core, text):
            yield Completion(word, start_position=-begun)


class Prompt:
    """The lines typed at a terminal; ends with Ctrl-D or Ctrl-C.

    Needs Twisted's asyncio reactor.
    """

    def __init__(self, core: WorldClientCore) -> None:
        self._session: PromptSession[str] = PromptSession(
            "> ",
            completer=LineCompleter(core),
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            history=FileHistory(str(history_file())),
        )

    def end(self) -> None:
        """End the input."""
        if self._session.app.is_running:
            self._session.app.exit(exception=EOFError())

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line."""
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
    """The lines of standard input; the line ``wait S`` lets S seconds pass.

    A thread reads them, because reading a pipe may block; it ends with the process.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]]) -> None:
        """`pause` waits for some seconds."""
        from twisted.internet import reactor  # noqa: PLC0415  # `emu --help` stays quick
        from twisted.internet.defer import DeferredQueue  # noqa: PLC0415

        self._pause = pause
        self._reactor: Any = reactor
        self._lines: DeferredQueue[str] = DeferredQueue()

    def end(self) -> None:
        """End the input, even if the pipe has more."""
        self._lines.put("")

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line."""
        Thread(target=self._read, name="emu-lines", daemon=True).start()
        # An empty line of the pipe still has its line break, so only the final text is empty.
        while line := await self._lines.get():
            seconds = waits(line)
            if seconds is None:
                yield line
            else:
                await self._pause(seconds)

    def _read(self) -> None:
        """Read until the end, an empty line without a newline."""
        with input_file() as file:
            for line in file:
                self._reactor.callFromThread(self._lines.put, line)
        self._reactor.callFromThread(self._lines.put, "")


def waits(line: str) -> float | None:
    """Return the seconds of the line ``wait S``; None for any other line."""
    name, _, seconds = line.strip().partition(" ")
    is_wait = name == "wait" and seconds.replace(".", "", 1).isdecimal()
    return float(seconds) if is_wait else None


def input_file() -> IO[str]:
    """Return standard input as a separate file.

    Python cannot exit while a thread waits in `sys.stdin` itself.
    """
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace")
    except OSError:  # Not a file, as in a test.
        return sys.stdin


def history_file() -> Path:
    """Return the file with the history of lines; create its folder."""
    path = state_folder() / HISTORY
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


if TYPE_CHECKING:
    from emu.net.client.world_connection import ClientWorldConnection


def character_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that choose the character; the verb gets them as its `entrance`."""

    @click.option(
        "--character", metavar="NAME", help="The character; the default is the account's first."
    )
    @click.option("--create", is_flag=True, help="Create the character if it is missing.")
    @click.option(
        "--world", metavar="ID", help="World to create it on; the default is the first up."
    )
    @wraps(command)
    def call(
        *,
        target: Target,
        who: Credentials,
        character: str | None,
        create: bool,
        world: str | None,
        **others: Any,
    ) -> None:
        entrance = Entrance(who, character, create, world, target.version)
        command(target=target, entrance=entrance, **others)

    return call


@click.command()
@server_options
@account_options
@character_options
@click.option(
    "--do", "lines", multiple=True, metavar="LINE",
    help="A line as in `emu client shell`, run once in the zone, or `wait S`; may be repeated.",
)  # fmt: skip
@click.option(
    "--for", "seconds", type=click.FloatRange(min=0), metavar="S",
    help="Seconds to stay; default until Ctrl-C.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Do not print the movement of others.")
@on_reactor
async def play(
    reactor: Any,
    *,
    target: Target,
    entrance: Entrance,
    lines: tuple[str, ...],
    seconds: float | None,
    quiet: bool,
) -> None:
    """Log in, enter the world, and print what the character sees and hears.

    If it cannot enter, or if the session ends early, it prints one line and the exit status is 1.

    Example: emu client play 127.0.0.1:9100 --user alice --character Testa --create --for 5
    """
    show = Printer(target.style, quiet=quiet)
    async with entered(reactor, target, entrance, show) as client:
        if lines:
            await settled(client)
        for line in lines:
            if (pause := waits(line)) is not None:
                await client.pause(pause)
                continue
            show.answer(run_line(client.core, line, client.now()))
            # The line may have queued messages; this call sends them.
            client.act(_nothing)
        if seconds is None:
            # About 34 years: the wait ends with the session or with Ctrl-C.
            await client.until(lambda: is_over(client.core), "the end", timeout=float(1 << 30))
        else:
            await client.pause(seconds)
            if is_over(client.core):
                raise CommandError(f"{target.address}: the session ended early")


@click.command()
@server_options
@account_options
@character_options
def shell(*, target: Target, entrance: Entrance) -> None:
    """Log in, enter the world, and play by hand: say, tell, move, who, zone, around, raw packets.

    TAB completes words, the world's commands and nearby names; `help` lists the words. Lines are
    kept from one session to the next. Input that is not a terminal is read as a script of such
    lines, with `wait S` where time must pass.

    Example: emu client shell 127.0.0.1:9100 --user alice --character Testa --create
    """

    async def body(reactor: Any) -> None:
        show = Printer(target.style, quiet=True)
        async with entered(reactor, target, entrance, show) as client:
            async for line in typed_lines(client, show):
                try:
                    show.answer(run_line(client.core, line, client.now()))
                except CommandError as error:
                    show.answer([f"! {error}"])
                client.act(_nothing)
                if is_over(client.core):
                    break

    carry_out(body, target.style, on_asyncio=sys.stdin.isatty())


@asynccontextmanager
async def entered(
    reactor: Any, target: Target, entrance: Entrance, show: Printer
) -> AsyncIterator[ClientWorldConnection]:
    """Enter the world, print the events from then on, and leave at the end."""
    from emu.net.client.world_connection import enter_world  # noqa: PLC0415  # imports the reactor

    client = await enter_world(
        reactor,
        target.address.host,
        target.address.port,
        entrance,
        timeout=target.timeout,
        tables=target.tables,
        on_event=show,
    )
    async with client:
        show.core = client.core
        show.catch_up()
        yield client


async def settled(client: ClientWorldConnection) -> None:
    """Wait until no further spawn comes in sight: a server shows a newcomer a few at a time."""
    seen, until = -1, client.now() + LONGEST_SETTLING
    while client.now() < until and client.core.surroundings is not None:
        before, seen = seen, len(client.core.surroundings)
        if seen == before:
            return
        await client.pause(SETTLING)


def typed_lines(client: ClientWorldConnection, show: Printer) -> AsyncIterator[str]:
    """Yield the lines of the terminal or the pipe until the session ends."""
    lines: Prompt | PipedLines
    lines = Prompt(client.core) if sys.stdin.isatty() else PipedLines(client.pause)

    def take_event(event: WorldEvent) -> None:
        show(event)
        if isinstance(event, Closed):
            lines.end()

    client.on_event = take_event
    return aiter(lines)


def _nothing(_core: WorldClientCore) -> None:
    """Request nothing; earlier requests are still sent."""


def is_over(core: WorldClientCore) -> bool:
    """Return whether a client's session has ended for good."""
    return core.phase is WorldPhase.CLOSED


class Printer:
    """Prints events as they come; events from before the client is known wait."""

    def __init__(self, style: str, *, quiet: bool) -> None:
        self.core: WorldClientCore | None = None
        self._style = style
        self._quiet = quiet
        self._early: list[WorldEvent] = []

    def __call__(self, event: WorldEvent) -> None:
        """Print an event."""
        if self.core is None:
            self._early.append(event)
            return
        if self._quiet and isinstance(event, Updated):
            return
        if self._style == "json":
            for record in as_records(event, self.core):
                click.echo(json.dumps(record))
        else:
            for line in as_lines(event, self.core):
                click.echo(line)

    def catch_up(self) -> None:
        """Print the events from before the client was known."""
        early, self._early = self._early, []
        for event in early:
            self(event)

    def answer(self, lines: Any) -> None:
        """Print the client's own answers."""
        for line in lines:
            click.echo(json.dumps({"answer": line}) if self._style == "json" else line)
