"""Shared parts of the verbs of `emu client`: server, account, and running a coroutine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from emu.cli.common import Command, together
from emu.cli.opcodes.common import present_tables
from emu.cli.options import given_password, password_option
from emu.cli.tables import line_format_option
from emu.client import Credentials, report
from emu.client.flow import STEP_TIMEOUT
from emu.config import Address
from emu.config.readers import address as read_address
from emu.errors import CommandError, EmuError
from emu.opcodes import OpcodeTables
from emu.versions import CLIENT_2006

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

    from emu.net.client.connection import ClientConnection

Body = Callable[[Any], Coroutine[Any, Any, None]]


def server_address(ctx: click.Context, param: click.Parameter, value: str) -> Address:  # noqa: ARG001
    """Read HOST:PORT from a command line; fails as wrong usage."""
    try:
        result = read_address(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} {error}") from None
    assert isinstance(result, Address)  # noqa: S101
    if not result.port:
        raise click.BadParameter(f"{value!r} must have a port of 1 or more")
    return result


@dataclass(frozen=True, slots=True)
class Target:
    """The server of a verb, and how to connect and print."""

    address: Address
    version: int
    timeout: float
    """Seconds for each step."""
    style: str
    """Output format: text or json."""
    tables: OpcodeTables

    async def opened(
        self, reactor: Any, credentials: Credentials | None = None
    ) -> ClientConnection:
        """Open a client of the login server; raises as `open_client` does."""
        from emu.net.client.connection import open_client  # noqa: PLC0415  # imports the reactor

        return await open_client(
            reactor,
            self.address.host,
            self.address.port,
            credentials,
            version=self.version,
            timeout=self.timeout,
            tables=self.tables,
        )


address_argument = click.argument("address", callback=server_address, metavar="HOST:PORT")


def timeout_option(seconds: float, about: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--timeout``, in seconds."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=seconds,
        show_default=True,
        help=about,
    )


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options of every verb; the verb gets them as its `target`."""

    @together(
        address_argument,
        click.option(
            "--version",
            type=click.IntRange(1, 0xFFFF),
            default=CLIENT_2006,
            show_default=True,
            help="Client data version to play.",
        ),
        timeout_option(STEP_TIMEOUT, "Seconds that each step may take."),
        line_format_option,
    )
    @wraps(command)
    def call(*, address: Address, version: int, timeout: float, style: str, **others: Any) -> None:
        target = Target(address, version, timeout, style, present_tables())
        command(target=target, **others)

    return call


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a verb that logs in; the verb gets them as `who`."""

    @click.option("--user", required=True, help="Account name.")
    @password_option
    @wraps(command)
    def call(*, user: str, password: str | None, **others: Any) -> None:
        command(who=Credentials(user, given_password(password)), **others)

    return call


def on_reactor(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Turn an ``async def`` into a verb; it gets the reactor, its `target` and its options."""

    @wraps(command)
    def call(*, target: Target, **others: Any) -> None:
        carry_out(lambda reactor: command(reactor, target=target, **others), target.style)

    return call


def carry_out(body: Body, style: str, *, on_asyncio: bool = False) -> None:
    """Run an ``async def`` as `run_reactor` does; with JSON output an error is an object too.

    `on_asyncio` runs it on asyncio's loop, for libraries that need one.
    """
    if on_asyncio:
        from twisted.internet import asyncioreactor  # noqa: PLC0415  # `emu --help` stays quick

        # The reactor must be installed before any module imports the default one.
        asyncioreactor.install()  # type: ignore[no-untyped-call]
    try:
        run_reactor(body)
    except EmuError as error:
        if style == "json":
            click.echo(json.dumps(report.failure_record(error)))
        raise


class _Output:
    """Standard output that reports its first error once, and is silent from then on.

    The reader has gone away, or the disk is full. Callbacks of the reactor print too: an error that
    they raise would be logged as a fault, and the verb would go on.
    """

    def __init__(self, stream: Any, lost: Callable[[OSError], None]) -> None:
        self._stream = stream
        self._lost = lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._until_lost():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._until_lost():
            self._stream.flush()

    @contextmanager
    def _until_lost(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # What is still buffered, and what is printed while the verb ends, goes nowhere.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            self._lost(error)


class _Run:
    """One ``async def`` on the reactor: how it ended, and why its output was lost."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._coroutine: Coroutine[Any, Any, None] | None = None
        self.ended = False
        self.interrupted = False
        self.output_lost: OSError | None = None
        self.error: EmuError | None = None

    def begin(self, reactor: Any) -> Deferred[None]:
        from twisted.internet.defer import Deferred  # noqa: PLC0415  # `emu --help` stays quick

        from emu.net.scheduler import Scheduler  # noqa: PLC0415  # as above

        def cancel() -> None:
            running.cancel()

        def lose(error: OSError) -> None:
            self.output_lost = error
            # Not at once: the body itself may be what prints, even before it first waits.
            Scheduler(reactor).soon(cancel)

        sys.stdout = _Output(sys.stdout, lose)
        reactor.addSystemEventTrigger("before", "shutdown", self._stopping)
        self._coroutine = self._guarded(reactor)
        running = Deferred.fromCoroutine(self._coroutine)
        return running

    async def _guarded(self, reactor: Any) -> None:
        from twisted.internet.defer import CancelledError  # noqa: PLC0415  # as above

        try:
            await self._body(reactor)
        except EmuError as error:
            self.error = error
        except KeyboardInterrupt:
            # Until the reactor runs, Ctrl-C is Python's.
            self.interrupted = True
        except CancelledError:
            if not self.output_lost:
                raise
        self.ended = True

    def _stopping(self) -> None:
        """Handle the end of the reactor: before that of the body, Ctrl-C or a signal has ended it.

        The body may still end by itself, because the reactor closes its sockets.
        """
        self.interrupted = self.interrupted or not self.ended

    def close(self) -> None:
        """Unwind a body that can no longer go on."""
        if self._coroutine:
            with suppress(RuntimeError):  # It tries to wait for something that can no longer come.
                self._coroutine.close()


def run_reactor(body: Body) -> None:
    """Run an ``async def`` on the reactor; raise its `EmuError` unchanged.

    A pipe that closes (``emu client play ... | head -1``) cancels it; the exit status is 1 then.
    Another error of the output, such as a full disk, cancels it and is raised.
    """
    from twisted.internet.task import react  # noqa: PLC0415  # `emu --help` stays quick

    run, output = _Run(body), sys.stdout
    # `react` leaves by SystemExit, so the run keeps how it ended.
    try:
        react(run.begin)
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.stdout = output
    if isinstance(run.output_lost, BrokenPipeError):
        raise SystemExit(1)
    if run.output_lost:
        raise run.output_lost
    if run.interrupted:
        run.close()  # Let a display restore the terminal while it can.
        raise CommandError("interrupted")
    if run.error:
        raise run.error
