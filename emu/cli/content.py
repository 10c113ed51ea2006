"""`emu content`: the world of EQ2Emulator's community in a content file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from emu.cli.common import CONTENT_NAME, VerbGroup, content_path, load_config
from emu.cli.content_changes import diff, print_changes
from emu.cli.content_edits import edits
from emu.cli.content_maps import import_zone_maps, maps, plan_zone_maps
from emu.cli.content_rules import print_rule_count, print_rules
from emu.cli.content_scripts import call, check_scripts, errors, scripts_folder
from emu.cli.content_texts import lines_of, spawn_lines
from emu.cli.options import present
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows
from emu.content.checks import LeftOut, accept, keys_path, loose_rows, wrong_values
from emu.content.file import ContentFile, ZoneContent
from emu.content.importing import (
    CHECKING,
    ContentReport,
    Finder,
    build_content,
    fresh_file,
    import_content,
    step_back,
)
from emu.content.importing import Progress as ImportProgress
from emu.content.population import ORDINARY, Population, Surroundings
from emu.content.sources import DumpPart, dump_parts
from emu.content.stand_ins import NamedThing
from emu.content.standing import Standing
from emu.content.subjects import SUBJECTS, find
from emu.errors import CommandError
from emu.files import partial_folder
from emu.scripts.folder import ScriptFolder
from emu.scripts.item_scripts import item_scripts_of
from emu.scripts.things import things_of_scripts
from emu.texts import counted, timestamp
from emu.times import Monotonic
from emu.world.population.exporting import standing_fixtures, zone_text
from emu.world.population.listing import zone_definitions
from emu.world.population.reading import read_zone_content, served_zone
from emu.world.reference.functions import signatures

MOST_OF_EACH: Final = 20
MOST_OF_ONE: Final = 1000
_NUMBER: Final = re.compile(r"\d{1,18}")
MOST_NAMES: Final = 5
"""Names of empty tables that a report has."""


file_option = click.option(
    "--file", "path", type=FilePath(dir_okay=False, path_type=Path),
    help=f"The content file; without it the configured one, else {CONTENT_NAME} beside the"
    " database.",
)  # fmt: skip


@click.group(cls=VerbGroup)
def content() -> None:
    """Make and read a content file: the world of EQ2Emulator's public database.

    Example: emu content info
    """


@content.command("import")
@click.argument("dumps", nargs=-1, required=True, type=FilePath(exists=True, path_type=Path))
@click.option(
    "--scripts",
    type=FilePath(exists=True, file_okay=False, path_type=Path),
    help="The folder with SpawnScripts, ZoneScripts ...: count the scripts that are not there; with"
    " --stand-ins make rows for things that scripts name, too.",
)
@click.option(
    "--maps", "maps_from",
    type=FilePath(exists=True, file_okay=False, path_type=Path),
    help="The folder with Maps and Regions of EQ2Emulator: import them, too.",
)  # fmt: skip
@click.option(
    "--stand-ins", is_flag=True,
    help="Make a row for each thing that is named and not described: for dumps without items.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Change nothing; show what would be different.")
@file_option
@format_option
def import_dumps(
    dumps: tuple[Path, ...],
    *,
    scripts: Path | None,
    maps_from: Path | None,
    stand_ins: bool,
    dry_run: bool,
    path: Path | None,
    style: str,
) -> None:
    """Make the content file from DUMPS: SQL files, gzip, zip or tar archives, or folders of them.

    Dumps without any row of the world database are refused. The file before is kept once; `emu
    content back` returns to it. Dumps that have not changed are not read again. An import that is
    interrupted changes nothing. The keys of all rows that are left out are in a file beside the
    content file.

    With --maps each map and each navigation mesh becomes a file in a folder beside the content
    file, and the regions become tables of it. Maps that have not changed are not read again. A map
    that cannot be used is named and skipped; then the exit code is 1.

    The public copies of the database lack the table items. With --stand-ins each thing that
    merchants, loot and others name gets a row for trials; real rows of items are refused then. With
    --scripts the things that scripts give, take or ask for by number get rows, too.

    Example: emu content import worldtables_with_data
    """
    target = path or content_path()
    parts = dump_parts(dumps)
    folder = None if scripts is None else ScriptFolder(scripts)
    find = None if folder is None else folder.find
    named = _named_things(folder) if stand_ins else None
    if dry_run:
        if maps_from is not None:
            plan_zone_maps(maps_from, target)
        _try_import(parts, target, find, named, style)
        return
    found = None
    if maps_from is not None:
        with _progress() as show:
            found = import_zone_maps(maps_from, target, show)
    with _progress() as show:
        report = import_content(
            parts, target, show, moment=timestamp(present()), find_script=find, maps=found,
            stand_ins=named,
        )  # fmt: skip
    _print_report(report)
    if report.stand_ins:
        click.echo(f"stand-ins for things without a description: {report.stand_ins}", err=True)
    if report.left_out:
        click.echo(f"the keys of these rows: {keys_path(target)}", err=True)
    if load_config().world.content != target:
        click.echo(f'to serve it: [world] content = "{target}"', err=True)
    click.echo(target)
    if found is not None and found.faults:
        raise SystemExit(1)


def _named_things(folder: ScriptFolder | None) -> dict[int, NamedThing]:
    """Return what scripts say of things."""
    if folder is None:
        return {}
    known = signatures()
    scripts = item_scripts_of(folder, known)
    return {
        number: NamedThing(name, scripts.get(number, ""))
        for number, name in things_of_scripts(folder, known).items()
    }


def _try_import(
    parts: Sequence[DumpPart],
    target: Path,
    find: Finder | None,
    named: Mapping[int, NamedThing] | None,
    style: str,
) -> None:
    """Build a content file for a comparison with the present one, and remove it."""
    with ExitStack() as stack:
        place = target
        if not target.parent.is_dir():
            # A trial changes nothing, so it makes no folder either.
            place = stack.enter_context(partial_folder()) / target.name
        fresh = stack.enter_context(fresh_file(place))
        with _progress() as show:
            report = build_content(parts, fresh, target, show, find_script=find, stand_ins=named)
        _print_report(report)
        if target.exists():
            print_changes(target, fresh, style)
    click.echo("nothing was changed", err=True)


@contextmanager
def _progress() -> Iterator[ImportProgress]:
    """Yield what shows the progress of an import: a bar on a terminal, else a line each tenth."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("importing", total=None)
        yield lambda done, everything, name: bar.update(
            task, completed=done, total=everything, description=name
        )


def _lines() -> ImportProgress:
    """Return what prints a line for each tenth of an import."""
    printed = 0

    def show(done: int, everything: int, name: str) -> None:
        nonlocal printed
        tenth = 10 * done // everything if everything else 10
        if name == CHECKING:
            click.echo(name, err=True)
        elif tenth > printed:
            printed = tenth
            click.echo(f"{10 * tenth} %: {name}", err=True)

    return show


@content.command()
@click.option("--rules", is_flag=True, help="Show the rules instead, with the settings they give.")
@file_option
@format_option
def info(rules: bool, path: Path | None, style: str) -> None:
    """Count the rows of each table, and what the import left out or changed, by reason.

    The number of dumps and the moment of the import come with it. With --rules each rule of the
    database is shown: a rule with the meaning of a setting is its default, as long as you have not
    given the setting.

    Example: emu content info
    """
    with _open(path) as file:
        if rules:
            print_rules(file, load_config(), style)
            return
        rows: list[Row] = [{"table": name, "rows": count} for name, count in file.counts().items()]
        print_rows(rows, style, ("table", "rows"))
        dumps = file.imports()
        moments = sorted({moment for _, moment, _ in dumps})
        click.echo(f"{counted(len(dumps), 'dump')}, imported {moments[-1]}", err=True)
        for table, reason, count in file.left_out():
            click.echo(f"{table}: {reason}: {counted(count, 'row')}", err=True)
        print_rule_count(file)


@content.command()
@click.option(
    "--scripts", is_flag=False, flag_value="", metavar="[FOLDER]",
    help="Check the Lua scripts instead: those of FOLDER, or of world.scripts.",
)  # fmt: skip
@click.option(
    "--missing", type=click.IntRange(min=0), default=0, metavar="COUNT",
    help="With --scripts: list the COUNT missing functions that most scripts of each kind need.",
)  # fmt: skip
@click.option(
    "--details", is_flag=False, flag_value="", metavar="[CAUSE]",
    help="A line for each row or finding, not only their number by cause; for one CAUSE or all.",
)  # fmt: skip
@file_option
@format_option
def check(
    scripts: str | None, missing: int, details: str | None, path: Path | None, style: str
) -> None:
    """Check the content file: ranges of values, dangling references, version of the check.

    Dangling references are counted and harm nothing. A value that is out of its range is a
    problem: the file was made by another version or was changed. Then the exit code is 1.

    With --scripts the Lua scripts are checked: files that do not compile or do not exist, unknown
    functions, wrong arguments, globals that functions set, loops without an end. Findings are
    counted by cause. The exit code is 1 if there is an error; globals are doubtful and no errors.
    The share of scripts that find all their functions is printed, too.

    Example: emu content check
    """
    target = path or content_path()
    if scripts is not None:
        folder = scripts_folder(Path(scripts) if scripts else None)
        file_there = target if target.is_file() else None
        if not check_scripts(folder, file_there, style, missing, details):
            raise SystemExit(1)
        return
    with _open(target) as file:
        is_checked = file.is_checked
        if not file.zones():
            raise CommandError(f"{target}: has no zones; import the dumps of the database again")
        # Inside, so that the damage of a whole table is one line.
        loose, wrong = loose_rows(target), wrong_values(target)
    _print_left_out([*loose, *wrong])
    if details is not None:
        rows: list[Row] = [
            one._asdict() for one in (*wrong, *loose) if details in ("", one.table, one.reason)
        ]
        print_rows(rows, style, ("table", "key", "reason"))
    if wrong:
        raise CommandError(
            f"{target}: {counted(len(wrong), 'value')} out of range;"
            " make the file anew with `emu content import`"
        )
    if not is_checked:
        # It passed now, so no server asks again.
        accept(target)
    # With details, standard output has the rows alone.
    click.echo(f"{target}: good", err=details is not None)


def _print_left_out(rows: Sequence[LeftOut]) -> None:
    count = Counter((row.table, row.reason) for row in rows)
    for (table, reason), number in count.most_common():
        click.echo(f"{table}: {reason}: {counted(number, 'row')}", err=True)


@content.command()
@click.argument("name")
@click.option("--seed", type=int, default=0, help="Begins the random numbers of the zone.")
@file_option
@format_option
def zone(name: str, seed: int, path: Path | None, style: str) -> None:
    """Show what would stand in the zone NAME: its number, name, file or description.

    Example: emu content zone Antonica
    """
    with _open(path) as file:
        number = file.zone_named(name)
        served = None if number is None else served_zone(file, number)
    if served is None:
        raise CommandError(f"there is no zone {name!r}; `emu content find WORD` searches names")
    found = served.content
    for fault in served.faults:
        click.echo(fault, err=True)
    standing = _standing(found, seed)
    count = Counter(one.template.id for one in standing)
    rows = [_spawn_row(found, number, times) for number, times in sorted(count.items())]
    print_rows(rows, style, ("id", "name", "kind", "standing"))
    click.echo(
        f"{found.zone['description']}: {counted(len(found.placements), 'placement')},"
        f" {counted(len(standing), 'spawn')} standing",
        err=True,
    )


@content.command()
@click.argument("words", nargs=-1, required=True, metavar="[SUBJECT] NUMBER")
@file_option
def show(words: tuple[str, ...], path: Path | None) -> None:
    """Show what the content file has about the spawn NUMBER, or about another SUBJECT.

    A spawn is shown with its appearance, verbs, scripts, loot, wares, spells and places. Subjects
    are those that `emu content find` prints, for instance zone, item, spell, quest or recipe.

    Example: emu content show 120001
    """
    subject, number = _subject(words)
    with _open(path) as file:
        lines = list(
            spawn_lines(file, number) if subject == "spawn" else lines_of(file, subject, number)
        )
    if not lines:
        raise CommandError(
            f"there is no {subject} {number}; `emu content find WORD` searches names"
        )
    for line in lines:
        click.echo(line)


def _subject(words: tuple[str, ...]) -> tuple[str, int]:
    """Return subject and number of the words of a command line."""
    *subjects, number = words
    subject = subjects[0] if subjects else "spawn"
    if len(subjects) > 1 or subject not in SUBJECTS or not _NUMBER.fullmatch(number):
        raise CommandError(
            f"say `emu content show NUMBER`, or a subject before it: {', '.join(SUBJECTS)}"
        )
    return subject, int(number)


@content.command("find")
@click.argument("word")
@click.option(
    "--subject",
    type=click.Choice(list(SUBJECTS)),
    default=None,
    metavar="SUBJECT",
    help=f"Search only this subject, and show up to 1000: {', '.join(SUBJECTS)}.",
)
@file_option
@format_option
def find_names(word: str, subject: str | None, path: Path | None, style: str) -> None:
    """Find spawns, zones, quests, items, spells and all else whose name contains WORD.

    At most 20 of each subject are shown. `emu content show SUBJECT NUMBER` shows one of them.

    Example: emu content find gnoll
    """
    with _open(path) as file:
        found = list(find(file, word, MOST_OF_ONE if subject else MOST_OF_EACH, subject or ""))
    rows: list[Row] = [one._asdict() for one in found]
    print_rows(rows, style, ("subject", "number", "name"))


@content.command()
@click.option("--zone", "name", required=True, help="The zone: number, name, file or description.")
@click.option("--seed", type=int, default=0, help="Begins the random numbers of the zone.")
@file_option
def export(name: str, seed: int, path: Path | None) -> None:
    """Print a zone file with what would stand in a zone: to change it by hand.

    Put it into your folder of zone files, where it replaces the zone of the content file. Scripts,
    respawn times and choices are not in it.

    Example: emu content export --zone Antonica > zones/antonica.toml
    """
    target = path or content_path()
    with _open(target) as file:
        number = file.zone_named(name)
        definitions = {zone.id: zone for zone in zone_definitions(file)}
    served = None if number is None else read_zone_content(target, number)
    if number not in definitions or served is None:
        raise CommandError(f"there is no zone {name!r} that clients can load")
    fixtures = standing_fixtures(served.templates, _standing(served.content, seed))
    click.echo(zone_text(definitions[number], fixtures), nl=False)


def _standing(found: ZoneContent, seed: int) -> list[Standing]:
    """Return what stands in a zone after one roll of its random numbers."""
    surroundings = Surroundings(holidays=ORDINARY)
    return Population(found, Random(seed), surroundings).open(Monotonic(0.0))  # noqa: S311


@content.command()
@file_option
def back(path: Path | None) -> None:
    """Return to the content file before the last import; a second time returns to the new one.

    Example: emu content back
    """
    target = path or content_path()
    step_back(target)
    click.echo(f"{target}: is the file of the import before", err=True)


content.add_command(diff)
content.add_command(edits)
content.add_command(call)
content.add_command(errors)
content.add_command(maps)


def _open(path: Path | None) -> ContentFile:
    return ContentFile(path or content_path())


def _spawn_row(found: ZoneContent, number: int, times: int) -> dict[str, Any]:
    template = found.templates[number]
    name = template.spawn["name"]
    return {"id": number, "name": name, "kind": template.kind.rstrip("s"), "standing": times}


def _print_report(report: ContentReport) -> None:
    total = sum(report.rows.values())
    click.echo(f"{counted(total, 'row')} in {counted(len(report.rows), 'table')}", err=True)
    if report.copied:
        click.echo(f"{counted(len(report.copied), 'dump')} not read again: unchanged", err=True)
    for (table, reason), count in report.left_out.most_common():
        click.echo(f"{table}: {reason}: {counted(count, 'row')}", err=True)
    if report.unread:
        click.echo(f"{counted(len(report.unread), 'table')} of the dumps not used", err=True)
    if report.empty:
        names = ", ".join(report.empty[:MOST_NAMES])
        more = ", ..." if len(report.empty) > MOST_NAMES else ""
        tables = counted(len(report.empty), "table")
        click.echo(f"{tables} without rows in these dumps: {names}{more}", err=True)
