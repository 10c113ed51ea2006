"""`emu replay`: plays a recording of a zone without a network."""

from __future__ import annotations

import sys
from itertools import zip_longest
from pathlib import Path

import click

from emu.cli.common import load_config
from emu.cli.paths import FilePath
from emu.errors import CommandError
from emu.net.world.recordings import read_file
from emu.net.world.replaying import Happening, Replay, recorded_events
from emu.texts import counted


@click.command()
@click.argument("file", type=FilePath(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--until", type=click.FloatRange(min=0), default=float("inf"), metavar="T",
    help="Stop T seconds after the beginning.",
)  # fmt: skip
@click.option(
    "--break", "stops", multiple=True, metavar="TYPE",
    help="Stop at the first event of this type, and show who stands where.",
)  # fmt: skip
@click.option(
    "--scripts", type=FilePath(exists=True, file_okay=False, path_type=Path),
    help="Another folder of Lua scripts than that of the configuration.",
)  # fmt: skip
@click.option("--as-recorded", is_flag=True, help="Print what happened then; play nothing.")
def replay(
    file: Path, until: float, stops: tuple[str, ...], scripts: Path | None, *, as_recorded: bool
) -> None:
    """Play a recording of a zone, and print the events.

    `zone record` and players' reports of faults make recordings; set world.record = true. Content,
    behaviors and scripts are those of the configuration. At the end the events are compared with
    those that happened; the exit status is 1 if they differ.

    Example: emu replay recordings/antonica-bug-5.zone --until 60 --break Hailed
    """
    recording = read_file(file)
    header = recording.header
    happened = [one for one in recorded_events(recording) if one.after <= until]
    click.echo(f"{header.zone}: {header.seconds:.1f} seconds, {header.reason}", err=True)
    if as_recorded:
        for one in happened:
            click.echo(one)
        return
    played = Replay(
        recording, load_config(), scripts=scripts, report=lambda line: click.echo(line, err=True)
    )
    unknown = set(stops) - played.kinds()
    if unknown:
        raise CommandError(f"there is no event {', '.join(sorted(unknown))}")
    for one in played.play(until):
        click.echo(one)
        if one.kind in stops:
            click.echo(f"stopped at {one.after:.3f} seconds")
            for line in played.scene():
                click.echo(line)
            return
    if not _is_same(happened, played.events):
        sys.exit(1)


def _is_same(happened: list[Happening], played: list[Happening]) -> bool:
    """Print whether two lists of events are the same, or where they first differ."""
    for before, now in zip_longest(happened, played):
        if before is None or now is None or (before.kind, before.text) != (now.kind, now.text):
            click.echo("the first difference:", err=True)
            click.echo(f"then {before or '(nothing)'}", err=True)
            click.echo(f"now  {now or '(nothing)'}", err=True)
            return False
    click.echo(f"the same as happened: {counted(len(played), 'event')}", err=True)
    return True
