"""`emu config`: shows every setting with its meaning, and checks a configuration.

The rules between settings are those of `emu.config`; here is what takes a look around. Nothing is
made or changed.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from emu.cli.common import VerbGroup, config_path, load_config
from emu.config import Address, Config, doubts, exposed
from emu.config.load import ENVIRONMENT, SEARCHED
from emu.config.ports import UDP, ListeningPort, listening_ports
from emu.config.reference import as_toml, reference_page
from emu.database import Database
from emu.errors import ConfigError, EmuError
from emu.files import listed, read_whole
from emu.net import parameters
from emu.net.admin.commands import rcon_users
from emu.net.admin.ggmp import ggmp_rules
from emu.net.link.tls import server_options
from emu.net.stream import listen_address
from emu.store.repository import schema
from emu.world.content.atlas import read_atlas
from emu.world.content.knowledge import read_knowledge


class Objection(NamedTuple):
    """One line for the operator; a server with a `grave` one does not start, or serves nobody."""

    grave: bool
    text: str


def look_around(config: Config) -> Iterator[Objection]:
    """Yield what would keep a server with this configuration from its work, on this machine."""
    yield from look_at_files(config)
    for port in listening_ports(config):
        yield from _listening(port)
    yield from look_at_world(config)


def look_at_files(config: Config) -> Iterator[Objection]:
    """Yield what is wrong with database, trace, certificates, and files of who may do what."""
    yield from _database(config.database.path)
    if config.trace.file is not None:
        yield from _writable("trace.file", config.trace.file)
    yield from _tried("link.certificate", lambda: _read_link_certificate(config))
    yield from _members(config.processes.certificate)
    yield from _named_in(lambda: rcon_users(config.rcon))
    yield from _named_in(lambda: ggmp_rules(config.ggmp))


def look_at_world(config: Config) -> Iterator[Objection]:
    """Yield what is wrong with the world's own files, and the addresses that others are told."""
    if config.world.enabled:
        yield from _tried("world.zones", lambda: read_atlas(config.world.zones))
        yield from _tried("world.behaviors", lambda: _behaviors(config.world.behaviors))
        yield from _tried("world.knowledge", lambda: read_knowledge(config.world.knowledge))
        yield from _told("world.advertise", config.world.advertise)
        yield from _told("world.internal_address", config.world.internal_address)
        for server in config.world.login_servers:
            yield from _told("world.login_servers", server.host)


def _behaviors(folder: Path | None) -> None:
    """Look whether there are files to load; loading them would run them."""
    if folder is not None:
        listed(folder, ".py", "world.behaviors")


def _database(path: Path) -> Iterator[Objection]:
    yield from _writable("database.url", path, folder_is_made=True)
    if path.is_file():
        yield from _tried("database.url", lambda: _look_into(path))


def _look_into(path: Path) -> None:
    with Database.connect(path) as database:
        schema().check(database.connection, path)


def _writable(key: str, path: Path, *, folder_is_made: bool = False) -> Iterator[Objection]:
    """Look whether a file could be written, by a nameless one beside it."""
    if path.is_dir():
        yield Objection(True, f"{key}: {path} is a folder; name a file in it")
        return
    folder = path.parent
    while folder_is_made and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        if path.exists():
            path.open("r+b").close()
    except OSError as error:
        reason = error.strerror or error
        yield Objection(True, f"{key}: {path} cannot be written ({reason}); check its folder")


def _tried(key: str, attempt: Callable[[], object]) -> Iterator[Objection]:
    """Do what a server does with a file at its start; what it raises names the file."""
    try:
        attempt()
    except EmuError as error:
        yield Objection(True, f"{key}: {error}")


def _named_in(read: Callable[[], object]) -> Iterator[Objection]:
    """Read a file whose setting its complaint names."""
    try:
        read()
    except ConfigError as error:
        yield Objection(True, str(error))


def _read_link_certificate(config: Config) -> None:
    pem = parameters.read_certificate(config)
    if pem is not None:
        server_options(pem)


def _members(certificate: Path | None) -> Iterator[Objection]:
    if certificate is None:
        return
    try:
        server_options(read_whole(certificate))
    except (OSError, EmuError) as error:
        reason = getattr(error, "strerror", None) or error
        yield Objection(True, f"processes.certificate: {certificate}: {reason}")


def _listening(port: ListeningPort) -> Iterator[Objection]:
    """Try to open a port; one that is taken may be taken by the server itself."""
    key, protocol, address = port
    try:
        at = listen_address(key, address)
    except ConfigError as error:
        yield Objection(True, str(error))
        return
    reason = bind_error(protocol, at)
    if reason is None:
        return
    if reason.errno == errno.EADDRINUSE:
        yield Objection(False, f"{key}: {protocol} {at} is in use; by a running server?")
    elif reason.errno == errno.EADDRNOTAVAIL:
        yield Objection(True, f"{key}: {at.host} is no address of this machine")
    else:
        yield Objection(True, f"{key}: cannot listen on {at} ({reason.strerror})")


def bind_error(protocol: str, at: Address) -> OSError | None:
    """Try to open a port; return why that cannot be, None when it can."""
    kind = socket.SOCK_DGRAM if protocol == UDP else socket.SOCK_STREAM
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        with socket.socket(family, kind) as probe:
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((at.host, at.port))
    except OSError as error:
        return error
    return None


def _told(key: str, host: str | None) -> Iterator[Objection]:
    """Look at an address that players are told, or that the world connects to."""
    if host is None:
        return
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        yield from _known(key, host)
        return
    if address.is_unspecified or address.is_multicast:
        yield Objection(True, f"{key}: {host} is no address that anybody can connect to")


def _known(key: str, host: str) -> Iterator[Objection]:
    """Look whether a name that others will look up has an address, as seen from here."""
    try:
        listen_address(key, Address(host, 0))
    except ConfigError as error:
        yield Objection(False, str(error).partition(";")[0])


@click.group(cls=VerbGroup)
def config() -> None:
    """Show or check the configuration.

    Example: emu config check
    """


@config.command()
@click.option("--secrets", is_flag=True, help="Show passwords, too.")
def show(secrets: bool) -> None:
    """Print the whole configuration as TOML, each setting with its meaning.

    The output is itself a configuration file, which means the same wherever it is saved; passwords
    are in it only with --secrets.

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
    """Check the configuration; exit status 1 and one line for each problem when it is wrong.

    Says which file was read, and looks on this machine for what a server would need: the database
    and other files, the certificate, addresses and host names. Files that hold secrets and that
    everybody can read are told as well. Nothing is changed.

    Example: emu --config emu.toml config check
    """
    click.echo(_source(), err=True)
    settings = load_config()
    found = list(look_around(settings))
    light = (one.text for one in found if not one.grave)
    for line in (*exposed(settings, config_path()), *doubts(settings), *light):
        click.echo(f"warning: {line}", err=True)
    grave = [one.text for one in found if one.grave]
    if grave:
        raise ConfigError(grave)
    click.echo("the configuration is good", err=True)


def _source() -> str:
    """Say which file the configuration is from."""
    path = config_path()
    if path is not None:
        return f"configuration file: {path.absolute()}"
    searched = " nor ".join(f"./{one}" for one in SEARCHED)
    return f"no configuration file (neither ${ENVIRONMENT} nor {searched}): all defaults"
