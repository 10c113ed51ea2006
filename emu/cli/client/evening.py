"""`emu client evening`: a client that plays by itself, and its diary."""

from __future__ import annotations

import json
from typing import Any

import click

from emu.cli.client.common import Target, account_options, on_reactor, server_options
from emu.cli.client.world import character_options
from emu.client.evening.diary import Diary, DiaryEntry
from emu.client.evening.player import Preferences
from emu.client.flow import Entrance
from emu.client.world.surroundings import RUNNING_SPEED


@click.command()
@server_options
@account_options
@character_options
@click.option(
    "--for", "minutes", type=click.FloatRange(min=0, min_open=True), default=150.0,
    show_default=True, metavar="MINUTES", help="Minutes to play at most.",
)  # fmt: skip
@click.option(
    "--level", type=click.IntRange(2, 255), default=10, show_default=True,
    help="The level at which it stops.",
)  # fmt: skip
@click.option(
    "--prefer", "preferences", multiple=True, metavar="WORD",
    help="Prefer answers with this word, for example Fighter or Qeynos; may be repeated.",
)  # fmt: skip
@click.option(
    "--first", multiple=True, metavar="WORD",
    help="Do quests with this word in the title or the category before others; may be repeated."
    " Without it, those with a word of --prefer.",
)  # fmt: skip
@click.option(
    "--refuse", "refused", multiple=True, metavar="WORD",
    help="Take no offer, answer or way with this word; may be repeated.",
)  # fmt: skip
@click.option(
    "--speed", type=click.FloatRange(min=0, min_open=True), default=RUNNING_SPEED,
    show_default=True, help="How fast it runs, in world units per second.",
)  # fmt: skip
@click.option("--talks", is_flag=True, help="Also print what is said, and lines of text.")
@on_reactor
async def evening(
    reactor: Any,
    *,
    target: Target,
    entrance: Entrance,
    minutes: float,
    level: int,
    preferences: tuple[str, ...],
    first: tuple[str, ...],
    refused: tuple[str, ...],
    speed: float,
    talks: bool,
) -> None:
    """Play a character by itself: quests, fights, loot and travel, up to a level; print a diary.

    The player knows what its client is sent, and nothing else. It takes each quest that is
    offered, goes to whom a task names, answers talks, wears what it gets, and fights what gives
    experience. The last line counts the entries of each kind.

    Example: emu client evening 127.0.0.1:9100 --user alice --character Borvik --create --for 10
    """
    from emu.net.client.evening import begin_evening  # noqa: PLC0415  # imports the reactor

    quiet = () if talks else ("talk", "line")
    as_json = target.style == "json"

    def show(entry: DiaryEntry) -> None:
        if entry.kind not in quiet:
            click.echo(json.dumps(entry.record()) if as_json else entry.line())

    diary = Diary(show)
    one = await begin_evening(
        reactor, target.address.host, target.address.port, entrance, diary=diary,
        preferences=Preferences(preferences, refused, first, speed), timeout=target.timeout,
        tables=target.tables,
    )  # fmt: skip
    async with one.client:
        await one.play(minutes * 60, level)
    counts = {kind: diary.counts[kind] for kind in sorted(diary.counts) if kind not in quiet}
    if as_json:
        click.echo(json.dumps({"level": one.player.level, "counts": counts}))
    else:
        shown = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        click.echo(f"level {one.player.level}: {shown}")
