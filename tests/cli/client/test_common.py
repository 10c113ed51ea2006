"""Where to: addresses of a command line."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click import BadParameter, Command, Context, Option

from emu.cli.client.common import server_address
from emu.config import Address

CONTEXT, PARAMETER = Context(Command("x")), Option(["--x"])


def test_an_address_is_read() -> None:
    assert server_address(CONTEXT, PARAMETER, "127.0.0.1:9100") == Address("127.0.0.1", 9100)


@pytest.mark.parametrize("text", ["", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x"])
def test_another_text_is_wrong_usage(text: str) -> None:
    with pytest.raises(BadParameter):
        server_address(CONTEXT, PARAMETER, text)


INTERRUPTED = """
import os, signal, sys
from contextlib import contextmanager
from twisted.internet.defer import Deferred
from emu.cli.client.common import run_reactor
from emu.errors import CommandError

@contextmanager
def display():
    try:
        yield
    finally:
        import colorsys  # what Python can no longer do once it ends
        print("terminal put right")

async def body(reactor):
    with display():
        reactor.callLater(0, os.kill, os.getpid(), signal.SIGTERM)
        await Deferred()

try:
    run_reactor(body)
except CommandError as error:
    print(error)
"""


@pytest.mark.slow
def test_who_is_interrupted_still_puts_the_terminal_right() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=30, check=True
    )
    assert (done.stdout, done.stderr) == ("terminal put right\ninterrupted\n", "")


INTERRUPTED_EARLY = """
import os, signal
from emu.cli.client.common import run_reactor
from emu.errors import CommandError

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

async def body(reactor):
    os.kill(os.getpid(), signal.SIGINT)

try:
    run_reactor(body)
except CommandError as error:
    print(error)
"""
LOSES_ITS_SOCKET = """
import os, signal
from twisted.internet.defer import Deferred
from twisted.internet.protocol import DatagramProtocol
from emu.cli.client.common import run_reactor
from emu.errors import CommandError

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

async def body(reactor):
    lost = Deferred()
    class Socket(DatagramProtocol):
        def stopProtocol(self):
            lost.errback(CommandError("the server's port is closed"))
    reactor.listenUDP(0, Socket(), interface="127.0.0.1")
    reactor.callLater(0, os.kill, os.getpid(), signal.SIGINT)
    await lost

try:
    run_reactor(body)
except CommandError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [INTERRUPTED_EARLY, LOSES_ITS_SOCKET])
def test_an_interruption_is_reported_as_one(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


PRINTS_FOR_EVER = """
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from emu.cli.client.common import run_reactor
import click

async def body(reactor):
    printing = LoopingCall(click.echo, "a line")
    printing.start(0.001)
    try:
        await Deferred()
    finally:
        printing.stop()

try:
    run_reactor(body)
except OSError as error:
    click.echo(error.strerror, err=True)
    raise SystemExit(1)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_verb_whose_output_cannot_be_written_ends_with_the_systems_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", PRINTS_FOR_EVER],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=30, check=False,
        )  # fmt: skip
    assert (done.stderr, done.returncode) == (f"{os.strerror(errno.ENOSPC)}\n", 1)


@pytest.mark.slow
def test_a_verb_ends_quietly_when_the_reader_of_its_lines_goes_away() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS_FOR_EVER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as verb:
        assert verb.stdout
        assert verb.stderr
        assert verb.stdout.readline() == "a line\n"
        verb.stdout.close()
        assert verb.stderr.read() == ""
        assert verb.wait(30) == 1
