"""The verbs of `emu content` for Lua scripts: check a folder, call an event of one file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import click

from emu.cli.common import load_config
from emu.cli.console_socket import ConsoleSocket
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows
from emu.content.file import ContentFile
from emu.errors import CommandError, ScriptError
from emu.scripts.checking import Checker, ScriptFinding, endless
from emu.scripts.folder import ScriptFolder
from emu.texts import counted
from emu.world.commands.scripts import ERRORS
from emu.world.reference.functions import signatures, working
from emu.world.reference.trial import Trial, first_arguments

PATIENCE: Final = 5.0
"""Seconds to wait for the server's answer."""
TOGETHER: Final = 500
"""Files that share one runtime while loops are looked for: its memory is freed after them."""
_TRIED: Final = "SpawnScripts/"


class Cause(NamedTuple):
    """How often one kind of finding occurs, with the first as an example."""

    cause: str
    is_error: bool
    findings: int
    files: int
    first: str


def scripts_folder(folder: Path | None) -> ScriptFolder:
    """Return a folder of scripts, the configured one by default. Raises `CommandError`."""
    found = folder or load_config().world.scripts
    if found is None:
        raise CommandError("say which folder: --scripts FOLDER, or [world] scripts in the settings")
    return ScriptFolder(found)


def check_scripts(
    folder: ScriptFolder,
    content: Path | None,
    style: str,
    missing: int = 0,
    details: str | None = None,
) -> bool:
    """Check all scripts of a folder, print what is wrong, and return whether there is no error.

    With a content file, files that it names must exist. `missing`: list so many of the functions
    of each kind of scripts that hinder the most of them. The findings are counted by cause;
    `details` asks for a row for each of one cause, or of all causes if it is empty.
    """
    checker = Checker(folder, signatures(), working())
    findings = list(_findings(checker))
    if content is not None:
        findings += _missing(folder, content)
    causes = _by_cause(findings)
    rows: list[Row]
    if details is None:
        rows = [one._asdict() for one in causes]
        print_rows(rows, style, Cause._fields)
    else:
        for one in causes:
            files = counted(one.files, "file")
            click.echo(f"{one.cause}: {counted(one.findings, 'finding')} in {files}", err=True)
        rows = [
            {"file": one.path, "line": one.line, "kind": one.kind, "text": one.text}
            for one in findings
            if details in ("", one.kind)
        ]
        print_rows(rows, style, ("file", "line", "kind", "text"))
    broken = {one.path for one in findings if one.kind == "compile"}
    _print_coverage(checker, broken, missing)
    return not any(one.is_error for one in findings)


def _by_cause(findings: Collection[ScriptFinding]) -> list[Cause]:
    """Return the causes of findings: errors first, the most frequent ones first."""
    kinds: dict[str, list[ScriptFinding]] = {}
    for one in findings:
        kinds.setdefault(one.kind, []).append(one)
    causes = [
        Cause(kind, found[0].is_error, len(found), len({one.path for one in found}), str(found[0]))
        for kind, found in kinds.items()
    ]
    return sorted(causes, key=lambda one: (not one.is_error, -one.findings, one.cause))


def _findings(checker: Checker) -> Iterator[ScriptFinding]:
    trial: Trial | None = None
    for at, path in enumerate(checker.folder.files()):
        if trial is None or not at % TOGETHER:
            trial = Trial(checker.folder, is_noted=False)
        found = checker.check(path, trial.runtime)
        yield from found
        if path.startswith(_TRIED) and not any(one.kind == "compile" for one in found):
            yield from _loops(trial, path)


def _loops(trial: Trial, path: str) -> Iterator[ScriptFinding]:
    try:
        env = trial.load(path)
    except ScriptError as error:
        yield ScriptFinding(path, error.line, "load", error.text)
    else:
        yield from endless(trial.runtime, env, first_arguments(path))


def _missing(folder: ScriptFolder, content: Path) -> Iterator[ScriptFinding]:
    """Yield the files that the content file names and that are not there."""
    with ContentFile(content) as file:
        for kind, number, name in file.script_names():
            if folder.find(name) is None:
                yield ScriptFinding(
                    name, 0, "missing", f"{kind} {number} names it, and it is not there"
                )


def _print_coverage(checker: Checker, broken: Collection[str], missing: int) -> None:
    """Print how many scripts of each kind find all their functions, and what the others lack."""
    for kind, paths in checker.by_kind(broken).items():
        coverage = checker.count(paths)
        own, with_modules = coverage.shares()
        click.echo(
            f"{kind}: {counted(coverage.files, 'file')}, {own:.1f} % complete,"
            f" {with_modules:.1f} % with their modules",
            err=True,
        )
        for name, count in coverage.missing.most_common(missing):
            lacking, alone = counted(count, "file"), counted(coverage.alone[name], "file")
            click.echo(f"  {name}: {lacking}; nothing else is missing to {alone}", err=True)


@click.command()
@format_option
def errors(style: str) -> None:
    """List the errors of the running server's scripts and behaviors, the most frequent ones first.

    Example: emu content errors
    """
    with ConsoleSocket(load_config().console_path, timeout=PATIENCE) as console:
        reply = console.run(ERRORS)
    if not reply.ok or not isinstance(reply.data, dict):
        raise CommandError(f"{' '.join(reply.lines)}; is an older server running?")
    columns = ("file", "line", "event", "spawn", "text", "count", "before_reload")
    print_rows(reply.data["errors"], style, columns, least=columns[-1:])
    for path in reply.data["switched_off"]:
        click.echo(f"switched off: {path}", err=True)


@click.command()
@click.argument("script")
@click.argument("event")
@click.argument("values", nargs=-1)
@click.option(
    "--scripts", type=FilePath(exists=True, file_okay=False, path_type=Path),
    help="The folder with SpawnScripts, ZoneScripts ...; without it the configured one.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, help="Begins the random numbers of the script.")
def call(script: str, event: str, values: tuple[str, ...], scripts: Path | None, seed: int) -> None:
    """Call the function EVENT of SCRIPT with stand-ins for spawn and player, and print its calls.

    VALUES are further arguments; those that are numbers are passed as numbers.

    Example: emu content call SpawnScripts/Commonlands/guard.lua hailed
    """
    folder = scripts_folder(scripts)
    path = folder.find(script)
    if path is None:
        raise CommandError(f"there is no script {script!r} in {folder.root}")
    trial = Trial(folder, seed=seed)
    try:
        found, result = trial.call(path, event, map(_value, values))
    finally:
        for line in (*trial.printed, *trial.lines):
            click.echo(line)
    if not found:
        raise CommandError(f"{path} has no function {event!r}")
    if result is not None:
        click.echo(f"result: {result}")


def _value(text: str) -> str | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
