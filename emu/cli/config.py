"""`emu config`: prints the settings and their reference, and checks a configuration.

`emu.config` has the rules between settings. This module checks a configuration on this machine:
files, ports, addresses. It changes nothing.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from emu.admin.commands.server import SNAPSHOT
from emu.admin.snapshot import Snapshot
from emu.cli.common import VerbGroup, config_path, load_config
from emu.cli.console_socket import ConsoleSocket
from emu.config import Address, Config, doubts, exposed
from emu.config.load import ENVIRONMENT, SEARCHED
from emu.config.ports import UDP, ListeningPort, listening_ports
from emu.config.reference import as_toml, reference_page
from emu.content.file import ContentFile
from emu.database import ServerUrl
from emu.database.engines import check_server
from emu.database.sqlite import SqliteDatabase
from emu.errors import ConfigError, EmuError, FileFormatError
from emu.net import parameters
from emu.net.admin.commands import rcon_users
from emu.net.admin.ggmp import ggmp_rules
from emu.net.admin.service import command_words
from emu.net.link.tls import server_options
from emu.net.stream import listen_address
from emu.net.world.guard import limited
from emu.store.repository import schema, schemas
from emu.world.behaviors import LOADING, Budget, Library
from emu.world.knowledge import read_knowledge
from emu.world.population.atlas import read_atlas
from emu.world.population.checks import content_faults

ANSWER_TIME = 5.0
"""Seconds to wait for the running server's answer."""
MOST_PROBLEMS = 200
"""Problems that are shown of one folder."""


class ConfigProblem(NamedTuple):
    """One problem, as a line for the operator.

    If it `is_fatal`, the server would not start, or could serve nobody.
    """

    is_fatal: bool
    text: str


def machine_problems(config: Config) -> Iterator[ConfigProblem]:
    """Yield the problems that a server with this configuration would have on this machine."""
    yield from file_problems(config)
    held = _held_ports(config)
    for port in listening_ports(config):
        yield from _listening(port, held)
    yield from world_problems(config)


def file_problems(config: Config) -> Iterator[ConfigProblem]:
    """Yield the problems with database, trace, certificates, and files of users and tokens."""
    yield from _database(config)
    if config.trace.file is not None:
        yield from _writable("trace.file", config.trace.file)
    yield from _load_problems("link.certificate", lambda: _read_link_certificate(config))
    yield from _reader_problems(lambda: rcon_users(config.rcon))
    yield from _reader_problems(lambda: ggmp_rules(config.ggmp))


def world_problems(config: Config) -> Iterator[ConfigProblem]:
    """Yield the problems with the world's files, and with the addresses for its clients."""
    if config.world.enabled:
        yield from _content_problems(config.world.zones, config.world.behaviors)
        content = config.world.content
        if content is not None:
            yield from _load_problems("world.content", lambda: ContentFile(content).close())
        yield from _load_problems("world.knowledge", lambda: read_knowledge(config.world.knowledge))
        yield from _client_address("world.advertise", config.world.advertise)
        yield from _client_address("world.internal_address", config.world.internal_address)
        for server in config.world.login_servers:
            yield from _client_address("world.login_servers", server.host)


def _content_problems(zones: Path | None, behaviors: Path | None) -> Iterator[ConfigProblem]:
    """Yield the problems with zone files and behaviors, each with file and line."""
    # Behaviors load under the same time limit as in a server, so an endless loop is stopped.
    library = Library(behaviors, Budget(LOADING, limited, time.thread_time))
    for line in library.problems:
        yield ConfigProblem(True, f"world.behaviors: {line}")
    try:
        lines = content_faults(read_atlas(zones), library.faults, command_words())
    except FileFormatError as error:
        lines = list(error.problems)
    for line in lines[:MOST_PROBLEMS]:
        yield ConfigProblem(True, f"world.zones: {line}")
    if len(lines) > MOST_PROBLEMS:
        yield ConfigProblem(True, f"world.zones: and {len(lines) - MOST_PROBLEMS} more problems")


def _database(config: Config) -> Iterator[ConfigProblem]:
    path, url = config.database.path, config.database.url
    if isinstance(url, ServerUrl):
        yield from _writable("database.node_file", path, folder_is_made=True)
        yield from _load_problems("database.url", lambda: check_server(url, schemas()))
        return
    yield from _writable("database.url", path, folder_is_made=True)
    if path.is_file():
        yield from _load_problems("database.url", lambda: _check_schema(path))


def _check_schema(path: Path) -> None:
    with SqliteDatabase.connect(path) as database:
        schema().check(database.connection, path)


def _writable(key: str, path: Path, *, folder_is_made: bool = False) -> Iterator[ConfigProblem]:
    """Check that a file can be written, with an unnamed file in its folder."""
    if path.is_dir():
        yield ConfigProblem(True, f"{key}: {path} is a folder; name a file in it")
        return
    folder = path.parent
    # The server creates missing folders, so the nearest existing one is tested.
    while folder_is_made and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        # The folder may be writable although the file is not.
        if path.exists():
            path.open("r+b").close()
    except OSError as error:
        reason = error.strerror or error
        yield ConfigProblem(True, f"{key}: {path} cannot be written ({reason}); check its folder")


def _load_problems(key: str, attempt: Callable[[], object]) -> Iterator[ConfigProblem]:
    """Do what the server does at its start; the error names the file."""
    try:
        attempt()
    except FileFormatError as error:
        for line in error.problems[:MOST_PROBLEMS]:
            yield ConfigProblem(True, f"{key}: {line}")
    except EmuError as error:
        yield ConfigProblem(True, f"{key}: {error}")


def _reader_problems(read: Callable[[], object]) -> Iterator[ConfigProblem]:
    """Read a file whose error names the setting."""
    try:
        read()
    except ConfigError as error:
        yield ConfigProblem(True, str(error))


def _read_link_certificate(config: Config) -> None:
    pem = parameters.read_certificate(config)
    if pem is not None:
        server_options(pem)


def _held_ports(config: Config) -> set[tuple[str, str]]:
    """Return protocol and address of the running server's ports; none if it cannot be asked."""
    try:
        with ConsoleSocket(config.console_path, timeout=ANSWER_TIME) as console:
            ports = Snapshot.of(console.run(SNAPSHOT).data).ports
        return {(one.protocol, one.address) for one in ports}
    except EmuError:
        return set()


def _listening(port: ListeningPort, held: set[tuple[str, str]]) -> Iterator[ConfigProblem]:
    """Try to open a port, unless the running server of this configuration holds it."""
    key, protocol, address = port
    try:
        at = listen_address(key, address)
    except ConfigError as error:
        yield ConfigProblem(True, str(error))
        return
    reason = None if (protocol, str(at)) in held else bind_error(protocol, at)
    if reason is None:
        return
    if reason.errno == errno.EADDRINUSE:
        yield ConfigProblem(False, f"{key}: {protocol} {at} is in use; by a running server?")
    elif reason.errno == errno.EADDRNOTAVAIL:
        yield ConfigProblem(True, f"{key}: {at.host} is no address of this machine")
    else:
        yield ConfigProblem(True, f"{key}: cannot listen on {at} ({reason.strerror})")


def bind_error(protocol: str, at: Address) -> OSError | None:
    """Try to open a port; return the error, or None if it works."""
    kind = socket.SOCK_DGRAM if protocol == UDP else socket.SOCK_STREAM
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        with socket.socket(family, kind) as probe:
            if kind == socket.SOCK_STREAM:
                # As servers do: a port with closing connections can be opened again at once.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((at.host, at.port))
    except OSError as error:
        return error
    return None


def _client_address(key: str, host: str | None) -> Iterator[ConfigProblem]:
    """Check an address that is sent to clients, or that the world connects to."""
    if host is None:
        return
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        yield from _resolvable(key, host)
        return
    if address.is_unspecified or address.is_multicast:
        yield ConfigProblem(True, f"{key}: {host} is no address that a client can connect to")


def _resolvable(key: str, host: str) -> Iterator[ConfigProblem]:
    """Check that a host name has an address, as seen from this machine."""
    try:
        listen_address(key, Address(host, 0))
    except ConfigError as error:
        # The second half of that error is about listening and does not fit here.
        yield ConfigProblem(False, str(error).partition(";")[0])


@click.group(cls=VerbGroup)
def config() -> None:
    """Show or check the configuration.

    Example: emu config check
    """


@config.command()
@click.option("--secrets", is_flag=True, help="Show passwords, too.")
def show(secrets: bool) -> None:
    """Print the whole configuration as TOML, each setting with its meaning.

    The output is a configuration file, with the same meaning in any folder. It contains passwords
    only with --secrets.

    Example: emu --config emu.toml config show > full.toml
    """
    settings = load_config()
    click.echo(f"# {_source()}\n")
    for line in as_toml(settings, secrets=secrets):
        click.echo(line)


@config.command()
def reference() -> None:
    """Print the reference of all settings as Markdown: default, meaning, unit and limits.

    Example: emu config reference > settings.md
    """
    for line in reference_page():
        click.echo(line)


@config.command()
def check() -> None:
    """Check the configuration; exit status 1 and a line for each problem if it is wrong.

    Print the name of the file, and check on this machine what a server needs: the database and
    other files, certificates, ports, addresses and host names. Check zone files with the options of
    their behaviors and the commands of their verbs; the files of behaviors are loaded, as a server
    does. Warn about files with secrets that every user can read. Nothing is changed.

    Example: emu --config emu.toml config check
    """
    click.echo(_source(), err=True)
    settings = load_config()
    problems = list(machine_problems(settings))
    warnings = (one.text for one in problems if not one.is_fatal)
    for line in (*exposed(settings, config_path()), *doubts(settings), *warnings):
        click.echo(f"warning: {line}", err=True)
    fatal = [one.text for one in problems if one.is_fatal]
    if fatal:
        raise ConfigError(fatal)
    click.echo("the configuration is good", err=True)


def _source() -> str:
    """Return a line with the file of the configuration."""
    path = config_path()
    if path is not None:
        return f"configuration file: {path.absolute()}"
    searched = " nor ".join(f"./{one}" for one in SEARCHED)
    return f"no configuration file (neither ${ENVIRONMENT} nor {searched}): all defaults"
