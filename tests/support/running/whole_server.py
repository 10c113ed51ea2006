"""A whole server for a test: in the test's own process, or in one of its own.

Ports are the system's choice and are read from the log, as an operator would; each server has a
database of its own in the test's folder. Passwords cost next to nothing here.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.task import deferLater
from twisted.logger import globalLogPublisher
from zope.interface import directlyProvides, providedBy

from emu.client import Credentials
from emu.config import load
from emu.database import Where
from emu.database.sqlite import files
from emu.errors import CommandError
from emu.link.settings import hash_link_password
from emu.login.passwords import PasswordConfig, hash_password
from emu.net import logs
from emu.net.client.connection import ClientConnection, open_client
from emu.net.scheduler import make_steady
from emu.net.server import EmuService, check_files
from emu.opcodes import OpcodeStore
from emu.store import Store
from emu.times import UNKNOWN
from emu.worlds import RegisteredWorld
from tests.support.patience import patience, slowness
from tests.support.remembered import read_shipped_files, remember_starts
from tests.support.running.clients import connect
from tests.support.running.forked import ForkedProgram

reactor: Any = _reactor

HOST = "127.0.0.1"
CHEAP = PasswordConfig(memory_cost=64, iterations=1)
ACCOUNTS: Mapping[str, str] = {"testlabs": "testpass"}
SETTINGS: Mapping[str, object] = {
    "login.listen": f"{HOST}:0",
    "world.listen": f"{HOST}:0",
    "login.password_memory_cost": CHEAP.memory_cost,
    "login.password_iterations": CHEAP.iterations,
    "login.password_memory": 0,
    "login.password_min_length": 1,
}
PROGRAMS = Path(sys.executable).parent


async def sleep(seconds: float) -> None:
    """Let the reactor work for a while."""
    await deferLater(reactor, seconds)


async def until(condition: Callable[[], object], what: str, seconds: float = 5.0) -> None:
    """Wait until a condition holds; fail with `what` when it does not in time."""
    deadline = reactor.seconds() + patience(seconds)
    while not condition():
        assert reactor.seconds() < deadline, f"waited in vain for {what}"
        await sleep(0.004)


@cache
def _prepared_database(accounts: tuple[tuple[str, str], ...] = ()) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "emu.sqlite"
        if accounts:
            _put_database(path)
            add_accounts(path, dict(accounts))
        else:
            Store.create(path).close()
            OpcodeStore.ensure(path).close()
        return path.read_bytes()


def prepare_servers() -> None:
    """Read and make what every server needs, so that later forks of this process need not."""
    read_shipped_files()
    _prepared_database(tuple(ACCOUNTS.items()))


def prepare_database(path: Where) -> None:
    """Make the database that a server would make at its start, unless there is one.

    Writing the opcode tables takes most of the CPU time of a start.
    """
    if isinstance(path, Path) and not path.exists():
        _put_database(path)


def _put_database(path: Path, accounts: tuple[tuple[str, str], ...] = ()) -> None:
    path.write_bytes(_prepared_database(accounts))
    # This process has checked its pages when it made it. It has eight megabytes.
    files._remember_checked(path)


def add_account(database: Where, name: str, password: str) -> None:
    """Put an account into a database."""
    prepare_database(database)
    add_accounts(database, {name: password})


def add_accounts(database: Where, passwords: Mapping[str, str]) -> None:
    """Put accounts into a database that exists, by their names."""
    with closing(Store.create(database)) as store:
        for name, password in passwords.items():
            digest = hash_password(password.encode(), bytes(16), CHEAP)
            store.login.accounts.add(name, digest, UNKNOWN)


def add_world(database: Path, name: str, account: str, password: str) -> int:
    """Put a world that may register into a database; return its id."""
    prepare_database(database)
    with closing(Store.create(database)) as store:
        return store.login.worlds.add(
            RegisteredWorld(0, name, account, hash_link_password(password)), UNKNOWN
        ).id


def rows(database: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Read a database with nothing of ours in between."""
    with closing(sqlite3.connect(database, timeout=5.0)) as connection:
        return connection.execute(query, values).fetchall()


class FastClock:
    """The reactor, with a clock that runs `factor` times as fast: five seconds cost little.

    On a busy machine the clock is slower, since there a short pause of this process would be a long
    silence on a fast clock.
    """

    def __init__(self, factor: float) -> None:
        make_steady(reactor)  # else this clock would begin at the date, and then jump back
        self._factor = max(min(factor, 1.0), factor / slowness())
        self._start = self._begun = float(reactor.seconds())
        directlyProvides(self, providedBy(reactor))

    def __getattr__(self, name: str) -> Any:
        return getattr(reactor, name)

    def seconds(self) -> float:
        return self.moment(reactor.seconds())

    async def sleep(self, seconds: float) -> None:
        """Let seconds of this clock pass."""
        await deferLater(reactor, self.real_delay(seconds))

    def skip(self, seconds: float) -> None:
        """Put the clock forward; what was to happen meanwhile happens late."""
        self._start += seconds

    def callLater(self, delay: float, call: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        return _FastCall(self, reactor.callLater(delay / self._factor, call, *args, **kw))

    def real_delay(self, delay: float) -> float:
        """Return how long a delay of this clock takes."""
        return delay / self._factor

    def moment(self, real: float) -> float:
        """Return this clock's reading at a moment of the reactor's."""
        return self._start + (real - self._begun) * self._factor


class _FastCall:
    """A delayed call by the fast clock."""

    def __init__(self, clock: FastClock, call: Any) -> None:
        self._clock = clock
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def getTime(self) -> float:
        return self._clock.moment(self._call.getTime())

    def reset(self, delay: float) -> None:
        self._call.reset(self._clock.real_delay(delay))


class Log:
    """The text of a server's log, growing."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def port(self, area: str, what: str) -> int:
        """Return the port that a line such as ``login: clients on UDP host:port`` names."""
        return find_port(self.text, area, what)

    async def line(self, pattern: str, seconds: float = 5.0) -> re.Match[str]:
        """Wait for a line that matches, and return the match."""
        deadline = reactor.seconds() + patience(seconds)
        while (found := re.search(pattern, self.text)) is None:
            assert reactor.seconds() < deadline, f"no line {pattern} in:\n{self.text}"
            await sleep(0.004)
        return found


def find_port(text: str, area: str, what: str) -> int:
    """Return the port that a log line names: our text, our JSON, or the form of ``twist``."""
    found = re.search(rf'\b{area}(?:: |", "text": "|#info\] ).*{what} \S+:(\d+)\b', text)
    assert found is not None, text
    return int(found[1])


class Harness:
    """A server in this process; made by `harness`."""

    def __init__(self, service: EmuService, database: Path, log: Log, clock: FastClock) -> None:
        self.service = service
        self.database = database
        self.log = log
        self.clock = clock
        self.login_port = log.port("login", "clients on UDP") if service.server.login else 0
        self.link_port = log.port("link", "worlds on TCP") if service.server.login else 0
        self.world_port = log.port("world", "clients on UDP") if service.server.world else 0

    async def client(
        self, user: str = "testlabs", password: str = "testpass", *, version: int = 546
    ) -> ClientConnection:
        """Return a client whose session stands and whose login is under way."""
        return await connect(self.clock, HOST, self.login_port, user, password, version=version)

    async def lets_in(self, user: str = "testlabs", password: str = "testpass") -> bool:
        """Whether somebody can log in, who leaves again."""
        client = await self.client(user, password)
        try:
            await client.login()
        except CommandError:
            return False
        finally:
            await client.close()
        return True

    def make_game_master(self, character: str) -> None:
        """Let a character that is there use every command from its next coming on."""
        self.set_rank(character, 100)

    def set_rank(self, character: str, rank: int) -> None:
        """Give a character that is there another rank, from its next coming on."""
        ((row,),) = self.rows("SELECT id FROM world_characters WHERE name = ?", character)
        with Store.create(self.database) as store:
            store.world.characters.set_admin_status(row, rank)

    async def begun(self, user: str, password: str, *, version: int = 546) -> ClientConnection:
        """Return a client that has sent its first datagram."""
        return await open_client(
            self.clock, HOST, self.login_port, Credentials(user, password), version=version
        )

    async def logged_in(
        self, user: str = "testlabs", password: str = "testpass", *, version: int = 546
    ) -> ClientConnection:
        """Return a client that is logged in."""
        client = await self.client(user, password, version=version)
        try:
            await client.login()
        except BaseException:
            await client.stop()
            raise
        return client

    async def world_registered(self) -> None:
        """Wait until the built-in world has registered."""
        await self.log.line(r"link: world \S+ \(\d+\) registered")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return rows(self.database, query, *values)


def settings_of(database: Path, settings: Mapping[str, object]) -> list[str]:
    """Return the ``table.key=value`` texts of a test's server."""
    whole = {**SETTINGS, "database.url": f"sqlite:{database}", **settings}
    return [f"{key}={_written(value)}" for key, value in whole.items()]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def captured_log(form: str) -> Any:
    log = Log()
    observer = logs.observer(form, log.stream)
    globalLogPublisher.addObserver(observer)
    try:
        yield log
    finally:
        globalLogPublisher.removeObserver(observer)
        logs.set_level("info")


@asynccontextmanager
async def harness(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    *,
    accounts: Mapping[str, str] = ACCOUNTS,
    speed: float = 1.0,
) -> AsyncIterator[Harness]:
    """Run a server in this process; `speed` is how fast its clock runs."""
    remember_starts()
    database = folder / "emu.sqlite"
    _prepare(folder, accounts)
    config = load(None, settings_of(database, settings or {}))
    check_files(config)
    clock = FastClock(speed)
    with captured_log(config.log.format) as log:
        service = EmuService(config, clock)
        service.privilegedStartService()
        service.startService()
        try:
            yield Harness(service, database, log, clock)
        finally:
            await service.stopService()


def _heed_interrupts() -> None:
    """Undo what a shell does to programs that it starts in the background: SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class ServerProcess:
    """``twistd -n emu`` (or ``twist emu``) in a process of its own; made by `server_process`."""

    def __init__(
        self,
        folder: Path,
        overrides: list[str],
        words: list[str],
        program: str = "twistd",
        *,
        forked: bool = False,
    ) -> None:
        self.folder = folder
        self._output = folder / f"output-{len(list(folder.glob('output-*')))}.txt"
        options = ["-n", "--pidfile="] if program == "twistd" else ["--log-format=text"]
        sets = [word for override in overrides for word in ("--set", override)]
        arguments = [*options, "emu", *sets, *words]
        environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        self.process: ForkedProgram | subprocess.Popen[bytes]
        with self._output.open("wb") as output:
            if forked:
                self.process = ForkedProgram([program, *arguments], folder, environment, output)
            else:
                self.process = subprocess.Popen(
                    [str(PROGRAMS / program), *arguments], cwd=folder, env=environment,
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    preexec_fn=_heed_interrupts,  # noqa: PLW1509
                )  # fmt: skip

    @property
    def text(self) -> str:
        """What it has written."""
        return self._output.read_text(encoding="utf-8")

    @property
    def login_port(self) -> int:
        return find_port(self.text, "login", "clients on UDP")

    @property
    def link_port(self) -> int:
        return find_port(self.text, "link", "worlds on TCP")

    @property
    def world_port(self) -> int:
        return find_port(self.text, "world", "clients on UDP")

    async def ready(self) -> None:
        """Wait until it serves and, when it has a world, that has registered."""
        await self.line(r"server(: |#info\] )ready")

    async def line(self, pattern: str, seconds: float = 20.0) -> None:
        def seen() -> object:
            return re.search(pattern, self.text) or self.process.poll() is not None

        await until(seen, f"the line {pattern}", seconds)
        assert re.search(pattern, self.text), self.text

    async def ended(self, seconds: float = 20.0) -> int:
        """Wait for its end and return the exit status (negative: the signal)."""
        await until(lambda: self.process.poll() is not None, "the process to end", seconds)
        assert self.process.returncode is not None
        return self.process.returncode

    def kill(self) -> None:
        """End it as a power cut would, and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


def _prepare(folder: Path, accounts: Mapping[str, str]) -> None:
    """Put a database with accounts into a folder, or the accounts into the one that is there."""
    database = folder / "emu.sqlite"
    if any(folder.glob("emu.sqlite*")):
        for name, password in accounts.items():
            add_account(database, name, password)
    else:
        _put_database(database, tuple(accounts.items()))


@asynccontextmanager
async def server_process(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    *,
    words: tuple[str, ...] = (),
    program: str = "twistd",
    forked: bool = True,
    prepared: bool = True,
) -> AsyncIterator[ServerProcess]:
    """Start a server process and kill it at the end if the test has not ended it.

    It is a fork of a process that has imported the server, or, with `forked` off, the installed
    program, which needs another second of CPU time. The first server of a folder has a database
    already, unless `prepared` is off.
    """
    if prepared and forked and "database.url" not in (settings or {}):
        _prepare(folder, {})
    overrides = settings_of(folder / "emu.sqlite", settings or {})
    process = ServerProcess(folder, overrides, list(words), program, forked=forked)
    try:
        yield process
    finally:
        process.kill()
