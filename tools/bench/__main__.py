"""Print benchmark figures: ``python -m tools.bench [SECTION ...]``; by default all but `LONG`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tools.bench import content, fairness
from tools.bench.fairness_players import KINDS
from tools.bench.figures import ROUNDS, Figure, Past, change, read_past, to_json

SECTIONS = {
    "datagrams": "datagrams in, acks out",
    "session_requests": "a SessionRequest",
    "structs": "packet structs, decoded, encoded and packed",
    "logins": "complete logins, wall-clock time and CPU",
    "database": "PostgreSQL compared with SQLite: a login, a saved row",
    "workers": "logins served by two workers on one port",
    "hops": "files and calls of a step, a say, a kick and a login",
    "tree": "size, comments and complexity of the source tree",
    "memory": "resident memory of sessions",
    "idle": "CPU of idle sessions",
    "world": "players who walk, stand, enter and see each other",
    "content": "a whole world of content: import, start, hails, large zones, memory; by name only",
    "walks": "300 creatures on their rounds, before 50 players and without any",
    "fights": "a blow before 20 onlookers, and 1,000 creatures that nobody fights",
    "battle": "a battle of 50 players and 100 creatures in a whole server; by name only",
    "casts": "a cast with a script, and 500 spells that last and act",
    "fight_memory": "what a fighter and a spell that lasts take",
    "quests": "scripts of quests, deaths and steps beside open quests, marks, a journal's memory",
    "things": "a move with its message, a list of 973 wares, a roll of loot, 200 who deal",
    "maps": "heights, lines of sight and ways on generated maps, one of 3 million triangles",
    "presence": "50,000 players: who is where, and what a change costs",
    "fairness": "the cost to the others when one player floods the server",
    "queries": "queries of server lists",
    "page": "the server's page in a browser",
    "metrics": "scrapes by Prometheus",
    "rcon": "commands by RCON",
    "cluster": "many nodes in virtual time",
    "cluster_faults": "a cluster of real processes while its parts fail; not of the default",
}
LONG = {"battle", "cluster_faults", "content"}
"""Sections that take minutes, or need PostgreSQL or a quiet machine: they run by name only."""


@click.command(
    epilog="Examples: python -m tools.bench datagrams --against before.json;"
    " python -m tools.bench content --content content.sqlite --scripts server"
)
@click.argument("sections", nargs=-1, type=click.Choice(sorted(SECTIONS)))
@click.option(
    "--rounds",
    type=click.IntRange(min=ROUNDS),
    default=ROUNDS,
    show_default=True,
    help="Rounds of each figure and its yardstick.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for --against of a later run.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare with the JSON of an earlier run.",
)
@click.option("--files", is_flag=True, help="With hops and tree: list the files too.")
@click.option(
    "--page",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With hops: only write the lists of files into docs/contributing/architecture.md.",
)
@click.option(
    "--players",
    type=click.IntRange(min=1),
    default=fairness.PLAYERS,
    show_default=True,
    help="Players in the zone in the section fairness.",
)
@click.option(
    "--scene",
    "scenes",
    multiple=True,
    help="A scene of the section cluster_faults; the default is all of them.",
)
@click.option(
    "--flood",
    "floods",
    multiple=True,
    type=click.Choice(KINDS),
    help="A flood of the section fairness; the default is all of them.",
)
@click.option(
    "--content", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With the section content: a content file; the default is a generated one.",
)  # fmt: skip
@click.option(
    "--scripts", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With the section content: a folder of scripts; the default is a generated one.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="With the section content: a small world, one round.")
def main(
    sections: tuple[str, ...],
    rounds: int,
    as_json: bool,
    against: Path | None,
    files: bool,
    **more: Any,
) -> None:
    """Measure sections of the benchmark, all of them by default, and print a table of each.

    Every figure is a ratio: how many times its yardstick, which is measured in turn with
    it: a bare Twisted echo of datagrams or of lines, a byte (kB) of RC4 in plain Python, or a
    plain page. What stands under "here" is the figure itself, of this machine at this hour.
    """
    fairness.PLAYERS, fairness.WANTED = more["players"], list(more["floods"])
    content.CONTENT, content.SCRIPTS = more["content"], more["scripts"]
    content.IS_QUICK = more["quick"]
    if (content.CONTENT is None) != (content.SCRIPTS is None):
        raise click.UsageError("--content and --scripts belong together")
    past = _past(against)
    console, found = Console(stderr=as_json), {}
    for name in sections or [name for name in SECTIONS if name not in LONG]:
        with console.status(f"measuring {name}"):
            module = importlib.import_module(f"tools.bench.{name}")
            if hasattr(module, "show") and not as_json and not past:
                wanted = {"page": more["page"]} if name == "hops" else {}
                if name == "cluster_faults":
                    wanted["scenes"] = more["scenes"]
                module.show(console, rounds, files=files, **wanted)
                continue
            found[name] = list(module.report(rounds))
        if not as_json or past:
            console.print(table_of(name, found[name], past))
    if as_json:
        click.echo(to_json(found))


def _past(path: Path | None) -> dict[tuple[str, str], Past]:
    try:
        return {} if path is None else read_past(path)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--against") from error


def table_of(section: str, figures: list[Figure], past: dict[tuple[str, str], Past]) -> Table:
    """Return a table of a section's figures."""
    table = Table(title=f"{section}: {SECTIONS[section]}")
    for column in ("what", "ratio", "spread", "times", "here", "aim"):
        table.add_column(column)
    if past:
        table.add_column("against")
    for figure in figures:
        low, high = figure.ratios[0], figure.ratios[-1]
        row = [
            figure.what,
            _short(figure.ratio),
            f"{_short(low)} - {_short(high)}",
            figure.yardstick,
            f"{_short(figure.figure)} {figure.unit}",
            figure.aim,
        ]
        if past:
            before = past.get((section, figure.what))
            row.append(change(figure, before) if before else "new")
        table.add_row(*row)
    return table


def _short(value: float) -> str:
    """Return a number with three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
