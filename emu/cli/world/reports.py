"""`emu world reports`: what players reported in the game and worlds relayed."""

from __future__ import annotations

from typing import Any

import click

from emu.cli.stores import look_store
from emu.cli.tables import Row, format_option, print_rows, show_moment
from emu.errors import CommandError

SHORT = ("id", "received", "world", "player", "category", "summary")
COLUMNS = (
    *SHORT, "subcategory", "description", "causes_crash", "reproducible", "version", "account_id",
    "zone_id", "spawn_id", "spawn_name",
)  # fmt: skip


@click.command()
@click.argument("name", required=False)
@click.option("--last", type=click.IntRange(1), help="Only so many, the newest ones.")
@format_option
def reports(name: str | None, last: int | None, style: str) -> None:
    """Show the bug reports of players, of all worlds or of the world NAME, oldest first.

    A table shows what each is about; csv and json have all of it. Of every world the newest 5,000
    are kept.

    Example: emu world reports --format csv > reports.csv
    """
    with look_store() as store:
        names = {report.world.id: report.world.name for report in store.login.worlds.reports()}
        rows = [_row(row, names) for row in store.login.reports.bug_reports()]
        world = store.login.worlds.find(name.strip()) if name is not None else None
    if name is not None:
        if world is None:
            raise CommandError(f"there is no world {name!r}; `emu world list` shows all")
        rows = [row for row in rows if row["world_id"] == world.id]
    print_rows(rows[-(last or 0) :], style, SHORT if style == "table" else COLUMNS)


def _row(row: dict[str, Any], names: dict[int, str]) -> Row:
    """Return a row as it is shown; a world that was removed has no name."""
    world = names.get(row["world_id"], "")
    return row | {"world": world, "received": show_moment(row["received"])}
