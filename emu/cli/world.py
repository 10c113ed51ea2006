"""`emu world`: the world servers that may register, their TLS certificate, and bug reports."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from emu.cli.common import (
    VerbGroup,
    acting,
    add_removal,
    add_switches,
    change_store,
    chosen_password,
    load_config,
    read_store,
)
from emu.cli.consoles.admin import console
from emu.cli.eq2emu import import_eq2emu_knowledge, import_world_dump
from emu.cli.options import password_option, present
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows, show_moment
from emu.errors import CommandError
from emu.files import partial_file, take_name
from emu.link.settings import hash_link_password
from emu.net.link.tls import certificate_fingerprint, make_certificate
from emu.net.parameters import read_pem
from emu.store import Store, WorldReport
from emu.times import Moment
from emu.worlds import RegisteredWorld


@click.command()
@click.option(
    "--out",
    required=True,
    type=FilePath(dir_okay=False, path_type=Path),
    help="File for key and certificate; it must not exist.",
)
@click.option("--name", default="emu login", show_default=True, help="Name in the certificate.")
def certificate(out: Path, name: str) -> None:
    """Create the certificate for TLS between login server and worlds; prints its fingerprint.

    On the login server, set [link] certificate to the file and [link] tls_listen to an address of
    its own, like 0.0.0.0:9101. On each world, add that address to [world] login_servers and the
    fingerprint to [world] login_tls_fingerprints. The file contains the private key: only its owner
    can read it, and worlds do not need it.

    Example: emu world certificate --out link.pem
    """
    if not 1 <= len(name) <= 64 or not name.isprintable():
        raise CommandError("the name in the certificate must have 1 to 64 visible characters")
    pem = make_certificate(name, datetime.fromtimestamp(present(), UTC))
    try:
        with partial_file(out) as fresh:
            fresh.write_bytes(pem)
            # `take_name` never replaces a file, because an existing key must not be lost.
            is_new = take_name(fresh, out)
    except OSError as error:
        raise CommandError(f"{out}: cannot be written ({error.strerror})") from None
    if not is_new:
        raise CommandError(f"{out} exists already; choose another name or remove it")
    click.echo(f"made {out}; its fingerprint is", err=True)
    click.echo(certificate_fingerprint(pem))


@click.command()
@click.argument("file", required=False, type=FilePath(dir_okay=False, path_type=Path))
def fingerprint(file: Path | None) -> None:
    """Print the fingerprint that worlds need: of the certificate FILE, or of the configured one.

    Example: emu world fingerprint link.pem
    """
    path = file or load_config().link.certificate
    if path is None:
        raise CommandError("name a file, or set [link] certificate in the configuration")
    click.echo(certificate_fingerprint(read_pem(path)))


SHORT = ("id", "received", "world", "player", "category", "summary")
REPORT_COLUMNS = (
    *SHORT, "subcategory", "description", "causes_crash", "reproducible", "version", "account_id",
    "zone_id", "spawn_id", "spawn_name",
)  # fmt: skip


@click.command()
@click.argument("name", required=False)
@click.option("--last", type=click.IntRange(1), help="Show only so many of the newest reports.")
@format_option
def reports(name: str | None, last: int | None, style: str) -> None:
    """Show the players' bug reports, of all worlds or of the world NAME, the oldest first.

    A table shows only the subjects; csv and json have the whole reports. The newest 5,000 of each
    world are kept.

    Example: emu world reports --format csv > reports.csv
    """
    with read_store() as store:
        names = {report.world.id: report.world.name for report in store.login.worlds.reports()}
        rows = [_report_row(row, names) for row in store.login.reports.bug_reports()]
        world = store.login.worlds.find(name.strip()) if name is not None else None
    if name is not None:
        if world is None:
            raise CommandError(f"there is no world {name!r}; `emu world list` shows all")
        rows = [row for row in rows if row["world_id"] == world.id]
    # With 0 the slice begins at the first row and contains all.
    print_rows(rows[-(last or 0) :], style, SHORT if style == "table" else REPORT_COLUMNS)


def _report_row(row: dict[str, Any], names: dict[int, str]) -> Row:
    """Return a row for the output; a removed world has no name."""
    world = names.get(row["world_id"], "")
    return row | {"world": world, "received": show_moment(row["received"])}


COLUMNS = (
    "id", "name", "account", "state", "status", "players", "zones", "last_connected",
    "last_address", "login_version",
)  # fmt: skip

LONGEST_NAME = 200
LONGEST_ACCOUNT = 29
"""Maximum length of LSInfo's account (docs/protocol/link.md#registration)."""

RECORDED = 150.0
"""A running login server records the status of a connected world more often, in seconds."""

STATUS = {1: "up", 0: "not ready", -2: "locked", -3: "full", -4: "down"}


@click.group(cls=VerbGroup)
def world() -> None:
    """Manage the worlds that may register: add, list, disable; certificates; zones; reports.

    A connected world is disconnected within a minute after you disable or remove it. Other changes
    take effect when it registers again.

    Example: emu world list
    """


world.add_command(certificate)
world.add_command(console)
world.add_command(fingerprint)
world.add_command(import_world_dump)
world.add_command(import_eq2emu_knowledge)
world.add_command(reports)


@world.command()
@click.argument("name")
@click.option("--account", required=True, help="The account name the world registers with.")
@password_option
@click.option("--description", default="", help="A line about the world, for operators.")
def add(name: str, account: str, password: str | None, description: str) -> None:
    """Allow a world to register. Players see NAME, whatever name the world sends.

    Example: emu world add Antonia --account antonia
    """
    name = _checked("a world's name", name, LONGEST_NAME)
    account = _checked("the account", account, LONGEST_ACCOUNT)
    with change_store(create=True) as store:
        if store.login.worlds.find(name) is not None:
            raise CommandError(f"there is already a world {name!r}")
        hashed = hash_link_password(_text_password(password))
        new = RegisteredWorld(
            id=0, name=name, account=account, password=hashed, description=description
        )
        with acting(store, f"world {name}", f"added world {name!r}") as report:
            added = store.login.worlds.add(new, present())
            report.result += f" with the id {added.id}"


@world.command("list")
@format_option
def list_worlds(style: str) -> None:
    """List all worlds with their last reported status.

    The status "silent" means that the login server stopped without recording the world as gone.

    Example: emu world list --format json
    """
    with read_store() as store:
        print_rows(
            [_row(report, present()) for report in store.login.worlds.reports()], style, COLUMNS
        )


@world.command()
@click.argument("name")
@password_option
def password(name: str, password: str | None) -> None:
    """Change the link password of a world.

    Example: emu world password Antonia
    """
    with change_store() as store:
        found = _find(store, name)
        hashed = hash_link_password(_text_password(password))
        with acting(store, f"world {found.name}", f"world {found.name!r} has a new password"):
            store.login.worlds.set_password(found.id, hashed)


def _find(store: Store, name: str) -> RegisteredWorld:
    found = store.login.worlds.find(name.strip())
    if found is None:
        raise CommandError(f"there is no world {name!r}; `emu world list` shows all")
    return found


add_switches(
    world, "world", "register", "Antonia", find=_find,
    store_enabled=lambda store, row_id, on: store.login.worlds.set_enabled(row_id, on),
)  # fmt: skip
add_removal(
    world, "world", "Antonia", find=_find,
    count=lambda store, row_id: store.login.characters.count_of_world(row_id),
    remove=lambda store, row_id: store.login.worlds.remove(row_id),
)  # fmt: skip


def _checked(what: str, text: str, longest: int) -> str:
    text = text.strip()
    if not text or not text.isprintable() or len(text.encode()) > longest:
        raise CommandError(f"{what} must have 1 to {longest} bytes, and all of it visible")
    return text


def _text_password(given: str | None) -> str:
    return chosen_password(given).decode("utf-8", "surrogateescape")


def _row(report: WorldReport, moment: Moment) -> Row:
    return {
        "id": report.world.id,
        "name": report.world.name,
        "account": report.world.account,
        "state": "enabled" if report.world.enabled else "disabled",
        "status": _status(report, moment),
        "players": report.players,
        "zones": report.zones,
        "last_connected": show_moment(report.last_connected),
        "last_address": report.world.last_address,
        "login_version": report.world.login_version,
    }


def _status(report: WorldReport, moment: Moment) -> str:
    status = STATUS.get(report.status, str(report.status))
    # A server that ends in order records its worlds as down; an old "up" means that it did not.
    old = report.updated is None or moment - report.updated > RECORDED
    return "silent" if old and status != "down" else status
