"""`emu opcodes`: the commands that show, compare and check opcode tables.

The commands that change rows, import and export, and the editor are in modules of this package.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from emu.cli.common import VerbGroup, naming
from emu.cli.opcodes.change import (
    derive_verb,
    redo_verb,
    reset_verb,
    set_verb,
    undo_verb,
    unset_verb,
)
from emu.cli.opcodes.common import (
    RangeType,
    effective_rows,
    file_rows,
    is_database,
    present_history,
    present_rows,
    print_history,
    print_opcodes,
    range_rows,
    version_option,
    versions_options,
)
from emu.cli.opcodes.edit import edit_verb
from emu.cli.opcodes.files import export_verb, import_verb
from emu.cli.options import message_names
from emu.cli.paths import FilePath
from emu.cli.tables import format_option, print_rows
from emu.errors import CommandError
from emu.opcodes.changes import OpcodeDifference, Rejected, compare_rows, compare_tables
from emu.opcodes.checks import Severity, check, errors
from emu.opcodes.files import read_rows
from emu.opcodes.table import (
    CUT_LENGTH,
    OpcodeRow,
    OpcodeTable,
    OpcodeTables,
    VersionRange,
    is_absent,
    row_problem,
)
from emu.opcodes.text import shipped_tables


@click.group(cls=VerbGroup)
def opcodes() -> None:
    """Show, compare, check and edit the opcode tables.

    A running server applies a change within two seconds, for sessions that begin after it.

    Example: emu opcodes list --version 546
    """


for _verb in (
    set_verb, unset_verb, undo_verb, redo_verb, reset_verb, derive_verb,
    import_verb, export_verb, edit_verb,
):  # fmt: skip
    opcodes.add_command(_verb)


@opcodes.command()
@format_option
def versions(style: str) -> None:
    """List the client version ranges.

    `rows` counts the range's own rows, `opcodes` the numbers of its clients with all wider ranges.
    `overlaps` names ranges with versions in common; the narrower one wins.

    Example: emu opcodes versions
    """
    tables = OpcodeTables(present_rows())
    rows: list[dict[str, Any]] = []
    for one in tables.ranges:
        own = tables.rows(one)
        others = [str(other) for other in tables.ranges if other != one and other.overlaps(one)]
        rows.append(
            {
                "first_version": one.first,
                "last_version": one.last,
                "rows": len(own),
                "opcodes": len(tables.for_version(one.first)),
                "placeholders": sum(is_absent(row.opcode) for row in own),
                "overlaps": " ".join(others),
            }
        )
    print_rows(
        rows, style,
        ("first_version", "last_version", "rows", "opcodes", "placeholders", "overlaps"),
    )  # fmt: skip


@opcodes.command("list")
@versions_options
@click.option("--filter", "text", default="", help="Only names that contain this text, any case.")
@format_option
def list_verb(
    *,
    version: int | None,
    version_range: VersionRange | None,
    text: str,
    style: str,
) -> None:
    """List opcodes: those of one client version, of exactly one range, or all rows.

    For a version, the rows are those in effect, without placeholders.

    Example: emu opcodes list --version 546 --filter keymap --format csv
    """
    rows = present_rows()
    if version is not None:
        rows = effective_rows(OpcodeTables(rows), version)
    elif version_range is not None:
        rows = range_rows(rows, version_range)
    chosen = [row for row in rows if text.lower() in row.name.lower()]
    print_opcodes(chosen, style)


@opcodes.command()
@click.argument("opcode", metavar="NAME|NUMBER", shell_complete=message_names)
@version_option
@format_option
def show(opcode: str, version: int | None, style: str) -> None:
    """Show one message in all ranges, or the meaning of a number in each.

    The exit status is 1 if no range has it.

    Example: emu opcodes show OP_KeymapLoadMsg
    """
    rows = present_rows()
    if version is not None:
        rows = effective_rows(OpcodeTables(rows), version)
    try:
        number = int(opcode, 0)
    except ValueError:
        # People type names without prefix and ending, and some tables have cut names.
        names = {name.lower() for name in (opcode, f"OP_{opcode}", f"OP_{opcode}Msg")}
        names |= {name[:CUT_LENGTH] for name in names if len(name) > CUT_LENGTH}
        found = [row for row in rows if row.name.lower() in names]
    else:
        found = [row for row in rows if row.opcode == number]
    if not found:
        where = "" if version is None else f" at client version {version}"
        raise CommandError(f"there is no opcode {opcode}{where}; try `emu opcodes list --filter`")
    print_opcodes(found, style)


@opcodes.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@versions_options
@click.option("--both", is_flag=True, help="Only names that both sides have.")
@click.option("--exit-code", is_flag=True, help="Exit status 1 if there are differences.")
@format_option
def diff(
    *,
    first: str,
    second: str,
    version: int | None,
    version_range: VersionRange | None,
    both: bool,
    exit_code: bool,
    style: str,
) -> None:
    """Compare by name: two client versions, two ranges, or two files.

    A and B are versions (546), ranges (540-546), databases, dumps or other files of opcodes. For
    two files, the ranges that both have are compared, with --range only that range; with --version
    the tables of that client version are compared. Placeholders count as no number.

    Example: emu opcodes diff login.sql.gz world.sql.gz --range 540-546
    """
    found, only = _differences((first, second), version, version_range)
    if both:
        found = [one for one in found if one.first is not None and one.second is not None]
    print_rows([one._asdict() for one in found], style, OpcodeDifference._fields)
    for name, ranges in only:
        click.echo(f"only in {name}: {', '.join(map(str, ranges))}", err=True)
    if exit_code and (found or only):
        sys.exit(1)


def _differences(
    operands: tuple[str, str],
    version: int | None,
    version_range: VersionRange | None,
) -> tuple[list[OpcodeDifference], list[tuple[str, list[VersionRange]]]]:
    sides = [_operand(one) for one in operands]
    chosen = version if version is not None else version_range
    # --version and --range apply to the operands that name no version.
    wanted = [chosen if one is None else one for _, one in sides]
    named = [one for one in wanted if one is not None]
    if not named:
        found, left, right = compare_rows(sides[0][0], sides[1][0])
        only = zip(operands, (left, right), strict=True)
        return found, [(name, ranges) for name, ranges in only if ranges]
    tables = [
        _table(rows, named[0] if one is None else one)
        for (rows, _), one in zip(sides, wanted, strict=True)
    ]
    return compare_tables(*tables), []


def _table(rows: list[OpcodeRow], wanted: int | VersionRange) -> OpcodeTable:
    """Return the table of a client version, or of exactly one range."""
    if isinstance(wanted, VersionRange):
        own = [row for row in rows if row.range == wanted]
        return OpcodeTables(own or rows).for_version(wanted.first)
    return OpcodeTables(rows).for_version(wanted)


def _operand(text: str) -> tuple[list[OpcodeRow], int | VersionRange | None]:
    """Return the rows of an operand, and its version or range if it names one."""
    if text.isdecimal():
        return present_rows(), int(text)
    if text.replace("-", "").isdecimal():
        return present_rows(), RangeType().convert(text, None, None)
    path = Path(text)
    if not path.exists():
        raise CommandError(
            f"{text}: no such file; name a file, a version like 546, or a range like 540-546"
        )
    return file_rows(path), None


@opcodes.command("check")
@click.argument("file", required=False, type=FilePath(exists=True, path_type=Path))
@click.option(
    "--level",
    type=click.Choice([str(one) for one in Severity]),
    default=str(Severity.NOTE),
    show_default=True,
    help="The lowest severity that is shown.",
)
@format_option
def check_verb(file: Path | None, level: str, style: str) -> None:
    """Check the database, or a FILE before an import; the exit status is 1 on errors.

    A running server refuses tables with errors.

    Example: emu opcodes check opcodes.sql.gz --format json
    """
    rejected: list[Rejected] = []
    if file is None:
        rows = present_rows()
    else:
        rows = []
        for place, row in _placed(file):
            problem = row_problem(row)
            if problem is None:
                rows.append(row)
            else:
                rejected.append(Rejected(place, problem))
    # A file without version 0 (before the login) is an addition, so it may lack needed messages.
    whole = file is None or OpcodeTables(rows).covers(0)
    found = check(
        rows,
        rejected=rejected,
        shipped=shipped_tables() if whole else None,
    )
    # Severities are declared from the gravest to the least.
    grave = list(Severity)[: list(Severity).index(Severity(level)) + 1]
    shown: list[dict[str, Any]] = [one._asdict() for one in found if one.severity in grave]
    for cells in shown:
        cells["severity"] = str(cells["severity"])
    print_rows(shown, style, ("severity", "code", "range", "message"), least=("code",))
    if not shown:
        click.echo("no findings", err=True)
    if errors(found):
        sys.exit(1)


def _placed(file: Path) -> list[tuple[str, OpcodeRow]]:
    if is_database(file):
        return [(str(row.range), row) for row in file_rows(file)]
    with naming(file):
        return list(read_rows(file))


@opcodes.command()
@click.option("--name", help="Only this message.", shell_complete=message_names)
@click.option("--change", type=int, help="Only this change.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@format_option
def history(name: str | None, change: int | None, limit: int, style: str) -> None:
    """Show all changes with user and time, the newest first.

    Rows of one command have the same number in `change`, the argument of `emu opcodes undo`.

    Example: emu opcodes history --name OP_KeymapLoadMsg
    """
    entries = present_history(name=name, change=change, limit=limit)
    print_history(entries, style)
