"""`emu audit`: what operators have changed. Works on the database, also while a server runs."""

from __future__ import annotations

from typing import Any

import click

from emu.audit import AuditedAct, AuditQuestion
from emu.cli.common import read_store
from emu.cli.options import present, read_duration
from emu.cli.tables import Row, format_option, print_rows, show_moment
from emu.times import Moment

MOST_ACTS = 100_000
COLUMNS = (
    "moment", "who", "way", "command", "subject", "before", "after", "reason", "result", "ok",
)  # fmt: skip


@click.command()
@click.argument("subject", nargs=-1)
@click.option("--who", default="", help="The beginning of the operator's name.")
@click.option("--command", default="", help="The beginning of the command: account ban.")
@click.option(
    "--last",
    callback=lambda _ctx, _param, text: None if text is None else read_duration(text),
    help="Only acts of this time until now: 90m, 12h, 7d, 2w.",
)
@click.option(
    "--limit", type=click.IntRange(1, MOST_ACTS), default=100, show_default=True,
    help="How many acts to list.",
)  # fmt: skip
@format_option
def audit(subject: tuple[str, ...], last: float | None, style: str, **chosen: Any) -> None:
    """List what operators have changed, the newest first.

    SUBJECT chooses what was changed: a kind, a name, or both. Kinds are account, character,
    address, guild, world, node, zone, server, petition, placement, spawn and actor. "way" says how
    the operator acted: game, console, rcon, web or ggmp with an address, or emu for this program.
    Acts that the server has refused are listed, too. database.audit_days says how long acts are
    kept.

    Example: emu audit account alice --last 30d
    """
    since = None if last is None else Moment(present() - last)
    question = AuditQuestion(subject=" ".join(subject), since=since, **chosen)
    with read_store() as store:
        acts = store.audit.find(question)
    least = ("result", "before", "way")
    print_rows([_row(act) for act in acts], style, COLUMNS, least=least)


def _row(act: AuditedAct) -> Row:
    return {**act._asdict(), "moment": show_moment(act.moment)}
