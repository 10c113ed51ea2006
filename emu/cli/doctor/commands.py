"""The `emu doctor` command: runs all checks and prints the findings."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, Final

import click

from emu.admin.snapshot import Snapshot
from emu.cli.client.common import run_reactor
from emu.cli.common import config_path, load_config
from emu.cli.console_socket import ConsoleSocket
from emu.cli.doctor.bus import check_bus
from emu.cli.doctor.cluster import check_cluster
from emu.cli.doctor.database import check_database
from emu.cli.doctor.findings import Finding, Level, fail, ok, warn
from emu.cli.doctor.names import check_names
from emu.cli.doctor.network import check_addresses, check_ports, check_server, judge_server
from emu.cli.doctor.opcodes import check_opcodes, stored_rows
from emu.cli.doctor.system import (
    check_clock,
    check_limits,
    check_permissions,
    check_secrets,
)
from emu.cli.doctor.values import check_values, repair_values
from emu.cli.options import given_password, passing, password_option, present
from emu.cli.tables import format_option, print_rows
from emu.cli.watch.status import PATIENCE
from emu.client import Credentials
from emu.client.flow import Entrance
from emu.config import Config
from emu.config.reference import reference
from emu.errors import CommandError, ConfigError, EmuError, unusable
from emu.opcodes import OpcodeTables
from emu.opcodes.text import shipped_tables
from emu.world.population.atlas import read_atlas

COLUMNS: Final = ("level", "check", "what", "fix")
COLORS: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


@click.command()
@format_option
@click.option(
    "--login", "user", metavar="NAME", help="Log in with this account; the server records nothing."
)
@click.option(
    "--enter",
    is_flag=True,
    help="With --login: let a character stand in the world for a moment, as a player would.",
)
@click.option("--character", metavar="NAME", help="The character for --enter; default the first.")
@click.option("--problems", is_flag=True, help="Show only warnings and faults.")
@click.option("--repair", is_flag=True, help="Replace unusable stored values; keeps a copy.")
@password_option
def doctor(
    *,
    style: str,
    user: str | None,
    enter: bool,
    character: str | None,
    problems: bool,
    repair: bool,
    password: str | None,
) -> None:
    """Check everything that a server needs, and print faults with their fixes.

    Checks the configuration, ports, files, database, the nodes of a cluster and their bus, opcode
    tables, clock, addresses, limits and secrets; then the running server, by a session and a login
    that must be refused. With --login it logs in with your account, lists its characters, and opens
    a session with the world. Nothing is changed, also while the account plays, unless you give
    --enter or --repair. With --enter a character stands in the world for a moment: players see it,
    and the server saves it. With --repair the database is copied, and unusable stored values of
    characters are replaced by the values that the server uses instead; the server must be stopped
    for that. The exit status is 1 if a check fails.

    Example: emu doctor --problems
    """
    account = None
    if user is not None:
        account = Entrance(Credentials(user, given_password(password)), character)
    elif enter or character is not None:
        raise click.UsageError("--enter and --character need --login NAME")
    # The repair comes first, so that the checks show the new state.
    found = [*repaired()] if repair else []
    found += examine(account, enters=enter or character is not None)
    shown = [one for one in found if not problems or one.level is not Level.OK]
    if style == "table":
        show(shown)
    else:
        print_rows([one._asdict() for one in shown], style, COLUMNS)
    levels = Counter(one.level for one in found)
    click.echo(", ".join(f"{level} {levels[level]}" for level in Level), err=True)
    if levels[Level.FAIL]:
        sys.exit(1)


def examine(account: Entrance | None, *, enters: bool = False) -> Iterator[Finding]:
    """Yield all findings, subject by subject; a wrong configuration ends them."""
    try:
        config = load_config()
    except ConfigError as error:
        yield from (fail("configuration", one, cure_of(one)) for one in error.problems)
        return
    source = config_path()
    yield ok("configuration", f"{source.absolute() if source else 'all defaults'} is good")
    running, troubles = check_server(config.console_path)
    path = config.database.path
    # A server that does not answer may still hold the ports.
    is_hidden = not config.console.enabled or any(one.level is Level.FAIL for one in troubles)
    yield from check_ports(config, running, is_hidden=is_hidden)
    yield from as_far_as_allowed("files", check_permissions(config, source))
    where = config.database.url
    yield from as_far_as_allowed("database", check_database(where))
    yield from as_far_as_allowed("database", check_values(where, known_zones(config)))
    yield from as_far_as_allowed("database", check_names(where))
    yield from check_cluster(config)
    yield from as_far_as_allowed("bus", check_bus(config))
    yield from as_far_as_allowed("opcodes", check_opcodes(path))
    yield from as_far_as_allowed("clock", check_clock(where, present, passing, sleep))
    yield from check_addresses(config)
    yield from check_limits(config, running.process if running is not None else None)
    yield from check_secrets(config)
    yield from troubles
    if running is not None:
        yield from judge_server(running, config)
        yield from visited(running, config, account, enters=enters)
    elif account is not None:
        yield fail("login", "no server is running", "start it and try again")


def cure_of(problem: str) -> str:
    """Return the fix of a fault in the configuration: the meaning of its key, if it has one."""
    words = set(re.findall(r"[a-z_]+\.[a-z_0-9]+", problem))
    for _, _, rows in reference():
        for key, default, about, _, limits, _ in rows:
            if key in words:
                bounds = f"; {limits}" if limits else ""
                return f"correct {key}: {about} (default {default}{bounds})"
    # Another command that reads the configuration would fail by the same fault.
    return "correct it; emu config reference lists every setting with its limits"


def repaired() -> Iterator[Finding]:
    """Repair stored values and yield the changes; `examine` reports a wrong configuration."""
    try:
        config = load_config()
    except ConfigError:
        return
    yield from as_far_as_allowed(
        "database", repair_values(config.database.url, known_zones(config))
    )


def known_zones(config: Config) -> Collection[int] | None:
    """Return the numbers of the world's zones, None without a world or a readable atlas."""
    if not config.world.enabled:
        return None
    try:
        return {zone.id for zone in read_atlas(config.world.zones, config.world.content)}
    except EmuError:
        return None


def as_far_as_allowed(subject: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings until the system denies access."""
    try:
        yield from findings
    except OSError as error:
        yield fail(subject, unusable(error), "run emu as the server's user")


def known_tables(path: Path) -> OpcodeTables:
    """Return the database's opcode tables, or the program's own if the database has none."""
    try:
        rows = stored_rows(path)
    except EmuError:  # the database's own check reports that
        rows = None
    return OpcodeTables(rows) if rows is not None else shipped_tables()


def visited(
    running: Snapshot, config: Config, account: Entrance | None, *, enters: bool = False
) -> list[Finding]:
    """Return the findings of a login."""
    from emu.cli.doctor.visit import NOBODY, DoctorVisit, near_address  # noqa: PLC0415  # imports the reactor

    at, world = near_address(running, "login.listen"), near_address(running, "world.listen")
    if at is None:
        return [
            warn("login", "no login server is running here", "run emu client login on its machine")
        ]
    tables = known_tables(config.database.path)
    if account is None:
        announce(config, NOBODY)
    elif not enters:
        announce(config, account.credentials.user)
    found: list[Finding] = []

    async def body(reactor: Any) -> None:
        visit = DoctorVisit(reactor, at, tables)
        if account is None:
            made = config.login.auto_create_accounts
            await visit.without_account(accounts_are_made=made)
        else:
            await visit.with_account(account, world, enters=enters)
        found.extend(visit.findings)

    run_reactor(body)
    return found


def announce(config: Config, user: str) -> None:
    """Notify the server that the next login of an account is a trial.

    Without a server of this version the login is an ordinary one.
    """
    # A name may contain one kind of quotation mark.
    quote = "'" if '"' in user else '"'
    with suppress(CommandError), ConsoleSocket(config.console_path, timeout=PATIENCE) as console:
        console.run(f"account trial {quote}{user}{quote}")


def show(findings: list[Finding]) -> None:
    """Print findings for people: a line for each, and below it the fix of a fault."""
    for level, check, what, fix in findings:
        click.echo(f"{click.style(f'{level:<5}', fg=COLORS[level])} {check:<13} {what}")
        if fix:
            click.echo(f"{'':<20}-> {fix}")
