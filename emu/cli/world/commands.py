"""`emu world`: the world servers that may register with the login service."""

from __future__ import annotations

import click

from emu.cli.common import VerbGroup
from emu.cli.consoles.admin import console
from emu.cli.moments import present
from emu.cli.secrets import password_option
from emu.cli.stores import change_store, chosen_password, look_store
from emu.cli.tables import Row, format_option, print_rows, show_moment
from emu.cli.world.certificate import certificate, fingerprint
from emu.cli.world.imports import import_eq2emu, import_eq2emu_knowledge
from emu.cli.world.reports import reports
from emu.errors import CommandError
from emu.link.password import hash_link_password
from emu.model import RegisteredWorld
from emu.store import Store, WorldReport
from emu.times import Moment

COLUMNS = (
    "id", "name", "account", "state", "status", "players", "zones", "last_connected",
    "last_address", "login_version",
)  # fmt: skip

LONGEST_NAME = 200
LONGEST_ACCOUNT = 29
"""Characters of LSInfo that count (docs/protocol/link.md#registration)."""

RECORDED = 150.0
"""A running login server records the status of a connected world oftener than this, in seconds."""

STATUS = {1: "up", 0: "not ready", -2: "locked", -3: "full", -4: "down"}


@click.group(cls=VerbGroup)
def world() -> None:
    """World servers that may register here: add, list, disable; certificates; zones; reports.

    A world that is disabled or removed while it is connected is dropped within a minute; other
    changes count when it registers the next time.

    Example: emu world list
    """


world.add_command(certificate)
world.add_command(console)
world.add_command(fingerprint)
world.add_command(import_eq2emu)
world.add_command(import_eq2emu_knowledge)
world.add_command(reports)


@world.command()
@click.argument("name")
@click.option("--account", required=True, help="The account name the world registers with.")
@password_option
@click.option("--description", default="", help="A line about the world, for operators.")
def add(name: str, account: str, password: str | None, description: str) -> None:
    """Let a world register; NAME is what players see, whatever the world calls itself.

    Example: emu world add Antonia --account antonia
    """
    name = _checked("a world's name", name, LONGEST_NAME)
    account = _checked("the account", account, LONGEST_ACCOUNT)
    with change_store(create=True) as store:
        if store.login.worlds.find(name) is not None:
            raise CommandError(f"there is already a world {name!r}")
        hashed = hash_link_password(_text_password(password))
        added = store.login.worlds.add(
            RegisteredWorld(
                id=0, name=name, account=account, password=hashed, description=description
            ),
            present(),
        )
    click.echo(f"added world {added.name!r} with the id {added.id}", err=True)


@world.command("list")
@format_option
def list_worlds(style: str) -> None:
    """List all worlds with what they reported last.

    A status of "silent" means that the login server has stopped since, without saying goodbye.

    Example: emu world list --format json
    """
    with look_store() as store:
        print_rows(
            [_row(report, present()) for report in store.login.worlds.reports()], style, COLUMNS
        )


@world.command()
@click.argument("name")
@password_option
def password(name: str, password: str | None) -> None:
    """Give a world another link password.

    Example: emu world password Antonia
    """
    with change_store() as store:
        found = _find(store, name)
        store.login.worlds.set_password(found.id, hash_link_password(_text_password(password)))
    click.echo(f"world {found.name!r} has a new password", err=True)


@world.command()
@click.argument("name")
def disable(name: str) -> None:
    """Keep a world from registering until it is enabled again.

    Example: emu world disable Antonia
    """
    _set_enabled(name, enabled=False)


@world.command()
@click.argument("name")
def enable(name: str) -> None:
    """Let a disabled world register again.

    Example: emu world enable Antonia
    """
    _set_enabled(name, enabled=True)


@world.command()
@click.argument("name")
@click.option("--characters", is_flag=True, help="Remove it even though it has characters.")
def remove(name: str, characters: bool) -> None:
    """Remove a world for good, with the login server's rows of its characters.

    Example: emu world remove Antonia
    """
    with change_store() as store:
        found = _find(store, name)
        count = store.login.characters.count_of_world(found.id)
        if count and not characters:
            raise CommandError(
                f"world {found.name!r} has {count} characters; disable it instead, or add"
                " --characters"
            )
        store.login.worlds.remove(found.id)
    click.echo(f"removed world {found.name!r} and {count} characters", err=True)


def _find(store: Store, name: str) -> RegisteredWorld:
    found = store.login.worlds.find(name.strip())
    if found is None:
        raise CommandError(f"there is no world {name!r}; `emu world list` shows all")
    return found


def _set_enabled(name: str, *, enabled: bool) -> None:
    with change_store() as store:
        found = _find(store, name)
        store.login.worlds.set_enabled(found.id, enabled)
    click.echo(f"world {found.name!r} is {'enabled' if enabled else 'disabled'}", err=True)


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
    old = report.updated is None or moment - report.updated > RECORDED
    return "silent" if old and status != "down" else status
