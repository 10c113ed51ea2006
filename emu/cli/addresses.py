"""`emu account address`: banned addresses, for logins and for registrations of worlds."""

from __future__ import annotations

import math

import click

from emu.cli.common import VerbGroup, acting, change_store, read_store
from emu.cli.options import end_of, end_options, present
from emu.cli.tables import format_option, print_rows, show_moment
from emu.errors import CommandError
from emu.limits.addresses import normalize_prefix
from emu.store import BannedAddress
from emu.texts import ban_end_text
from emu.times import Moment


@click.group(cls=VerbGroup)
def address() -> None:
    """Manage banned addresses, which apply to players and to worlds.

    Example: emu account address list
    """


@address.command()
@click.argument("prefix")
@end_options
@click.option("--reason", default="", help="The reason, for operators only.")
def ban(prefix: str, until: Moment | None, lasting: float | None, reason: str) -> None:
    """Ban an address, all addresses that begin with PREFIX, or a network.

    A prefix covers whole numbers of an address: 192.0.2 covers 192.0.2.7 but not 192.0.20.1.

    Example: emu account address ban 192.0.2.0/24 --for 2w --reason "guessing passwords"
    """
    moment = present()
    end = end_of(until, lasting, moment)
    # A ban without an end has no time in the database.
    entry = BannedAddress(_clean(prefix), reason, moment, None if end == math.inf else end)
    with change_store() as store:
        state = f"banned until: {ban_end_text(end)}"
        with acting(
            store, f"address {entry.prefix}", f"{entry.prefix} is {state}",
            after=state, reason=reason,
        ) as report:  # fmt: skip
            if not store.login.bans.add(entry):
                report.result += " (the ban was changed)"


@address.command()
@click.argument("prefix")
def unban(prefix: str) -> None:
    """Lift a ban. Write the address as `list` shows it.

    Example: emu account address unban 192.0.2.0/24
    """
    clean = _clean(prefix)
    with (
        change_store() as store,
        acting(store, f"address {clean}", f"{clean} is no longer banned", after="not banned"),
    ):
        if not store.login.bans.lift(clean):
            raise CommandError(f"{clean} is not banned; `emu account address list` shows all")


@address.command("list")
@format_option
def list_addresses(style: str) -> None:
    """List all banned addresses, expired bans included.

    Example: emu account address list
    """
    with read_store() as store:
        bans = store.login.bans.every()
    rows = [
        {
            "prefix": entry.prefix,
            "until": show_moment(entry.until),
            "added": show_moment(entry.added),
            "reason": entry.reason,
        }
        for entry in bans
    ]
    print_rows(rows, style, ("prefix", "until", "added", "reason"))


def _clean(prefix: str) -> str:
    try:
        return normalize_prefix(prefix)
    except ValueError as error:
        raise CommandError(str(error)) from None
