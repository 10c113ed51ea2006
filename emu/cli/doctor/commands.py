"""`emu doctor`: looks at everything, and says what is wrong and how to mend it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from time import sleep
from typing import Any, Final

import click

from emu.admin.snapshot import Snapshot
from emu.cli.client.common import run_reactor
from emu.cli.common import config_path, load_config
from emu.cli.doctor.database import look_at_database
from emu.cli.doctor.findings import Finding, Level, fail, ok, warn
from emu.cli.doctor.network import judge_server, look_at_addresses, look_at_ports, look_at_server
from emu.cli.doctor.opcodes import look_at_opcodes, stored_rows
from emu.cli.doctor.system import (
    look_at_clock,
    look_at_limits,
    look_at_permissions,
    look_at_secrets,
)
from emu.cli.doctor.values import look_at_values, repair_values
from emu.cli.options import given_password, passing, password_option, present
from emu.cli.tables import format_option, print_rows
from emu.client import Credentials
from emu.client.flow import Entrance
from emu.config import Config
from emu.errors import ConfigError, EmuError, unusable
from emu.opcodes import OpcodeTables
from emu.opcodes.text import shipped_tables
from emu.world.content.atlas import read_atlas

COLUMNS: Final = ("level", "check", "what", "mend")
COLORS: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


@click.command()
@format_option
@click.option("--login", "user", metavar="NAME", help="Log in with this account, and go in.")
@click.option("--character", metavar="NAME", help="Its character to go in with; default the first.")
@click.option("--problems", is_flag=True, help="Leave out what is well.")
@click.option(
    "--repair", is_flag=True, help="Replace stored values that cannot be used; keeps a copy."
)
@password_option
def doctor(
    *,
    style: str,
    user: str | None,
    character: str | None,
    problems: bool,
    repair: bool,
    password: str | None,
) -> None:
    """Look at everything a server needs, and say what is wrong and how to mend it.

    Configuration, ports, files, database, opcode tables, clock, addresses, limits and secrets; then
    the server that runs, by a session and a login that must be refused. With --login it logs in
    with an account of yours and lets a character stand in the world for a moment. Nothing is
    changed, unless --repair is given: then the database is copied, and stored values of characters
    that cannot be used are replaced by what the server uses instead. The server must not run
    meanwhile. The exit status is 1 when something fails.

    Example: emu doctor --problems
    """
    account = None
    if user is not None:
        account = Entrance(Credentials(user, given_password(password)), character)
    found = [*mended()] if repair else []
    found += examine(account)
    shown = [one for one in found if not problems or one.level is not Level.OK]
    if style == "table":
        show(shown)
    else:
        print_rows([one._asdict() for one in shown], style, COLUMNS)
    levels = Counter(one.level for one in found)
    click.echo(", ".join(f"{level} {levels[level]}" for level in Level), err=True)
    if levels[Level.FAIL]:
        sys.exit(1)


def examine(account: Entrance | None) -> Iterator[Finding]:
    """Yield all findings, subject by subject; a wrong configuration ends it."""
    try:
        config = load_config()
    except ConfigError as error:
        mend = "emu config show prints every setting with its meaning"
        yield from (fail("configuration", problem, mend) for problem in error.problems)
        return
    source = config_path()
    yield ok("configuration", f"{source.absolute() if source else 'all defaults'} is good")
    running, troubles = look_at_server(config.console_path)
    path = config.database.path
    is_hidden = not config.console.enabled or any(one.level is Level.FAIL for one in troubles)
    yield from look_at_ports(config, running, is_hidden=is_hidden)
    yield from as_far_as_allowed("files", look_at_permissions(config, source))
    yield from as_far_as_allowed("database", look_at_database(path))
    yield from as_far_as_allowed("database", look_at_values(path, known_zones(config)))
    yield from as_far_as_allowed("opcodes", look_at_opcodes(path))
    yield from as_far_as_allowed("clock", look_at_clock(path, present, passing, sleep))
    yield from look_at_addresses(config)
    yield from look_at_limits(config, running.process if running is not None else None)
    yield from look_at_secrets(config)
    yield from troubles
    if running is not None:
        yield from judge_server(running, config)
        yield from visited(running, config, account)
    elif account is not None:
        yield fail("login", "no server runs that could be logged in to", "start it, and try again")


def mended() -> Iterator[Finding]:
    """Repair stored values, and yield what was changed; a wrong configuration is told elsewhere."""
    try:
        config = load_config()
    except ConfigError:
        return
    yield from as_far_as_allowed(
        "database", repair_values(config.database.path, known_zones(config))
    )


def known_zones(config: Config) -> Collection[int] | None:
    """Return the numbers of the world's zones, None when there is no world or no atlas of it."""
    if not config.world.enabled:
        return None
    try:
        return {zone.id for zone in read_atlas(config.world.zones)}
    except EmuError:
        return None


def as_far_as_allowed(subject: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings until the system refuses something."""
    try:
        yield from findings
    except OSError as error:
        yield fail(subject, unusable(error), "run emu as the server's user")


def known_tables(path: Path) -> OpcodeTables:
    """Return the tables of the database; the program's own where it has none that can be read."""
    try:
        rows = stored_rows(path)
    except EmuError:  # which the findings about the database name
        rows = None
    return OpcodeTables(rows) if rows is not None else shipped_tables()


def visited(running: Snapshot, config: Config, account: Entrance | None) -> list[Finding]:
    """Return what came of a login of our own."""
    from emu.cli.doctor.visit import Visit, login_address  # noqa: PLC0415  # imports the reactor's rooms

    at = login_address(running)
    if at is None:
        return [warn("login", "no login server runs here", "try emu client login where it runs")]
    tables = known_tables(config.database.path)
    found: list[Finding] = []

    async def body(reactor: Any) -> None:
        visit = Visit(reactor, at, tables)
        if account is None:
            made = config.login.auto_create_accounts
            await visit.without_account(accounts_are_made=made)
        else:
            await visit.with_account(account)
        found.extend(visit.findings)

    run_reactor(body)
    return found


def show(findings: list[Finding]) -> None:
    """Print findings for people: a line each, and below it how to mend what is not well."""
    for level, check, what, mend in findings:
        click.echo(f"{click.style(f'{level:<5}', fg=COLORS[level])} {check:<13} {what}")
        if mend:
            click.echo(f"{'':<20}-> {mend}")
