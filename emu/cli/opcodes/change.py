"""The commands of `emu opcodes` that change rows: set, unset, undo, redo, reset, derive."""

from __future__ import annotations

import click

from emu.cli.opcodes.common import (
    NumberType,
    RangeType,
    chosen_range,
    effective_rows,
    present_rows,
    print_changes,
    print_history,
    print_opcodes,
    range_option,
    versions_options,
    warn_of_errors,
    writing,
)
from emu.cli.options import message_names
from emu.cli.tables import format_option
from emu.errors import CommandError
from emu.opcodes.changes import (
    Keep,
    OpcodeRowChange,
    derive,
    parse_insertion,
    plan_reset,
)
from emu.opcodes.table import OpcodeRow, OpcodeTables, VersionRange
from emu.opcodes.text import shipped_rows


def print_change(change: OpcodeRowChange) -> None:
    """Print one changed row."""
    old, new = (None if one is None else one.opcode for one in (change.old, change.new))
    sides = f"{'none' if old is None else old} -> {'none' if new is None else new}"
    click.echo(f"{change.row.range} {change.row.name}: {sides}")


@click.command("set")
@click.argument("name", shell_complete=message_names)
@click.argument("number", type=NumberType())
@versions_options
@click.option("--source", help="How the number is known, for instance a capture.")
@click.option("--note", help="A remark.")
def set_verb(
    *,
    name: str,
    number: int,
    version: int | None,
    version_range: VersionRange | None,
    source: str | None,
    note: str | None,
) -> None:
    """Set the number of a message.

    --version changes the range that applies at that version, for all versions of the range. --range
    names exactly one range, which may be new. A range with few rows adds to the wider range around
    it, so `--range 546-546` corrects one version alone. The number 65535 means that clients of the
    range do not have the message.

    Example: emu opcodes set OP_KeymapLoadMsg 153 --version 546 --note "seen in a capture"
    """
    with writing() as store:
        where = chosen_range(store.tables(), version, version_range)
        plan = store.set(where, name, number, source=source, note=note)
        for change in plan.changes:
            print_change(change)
        if not plan.changes:
            click.echo(f"{where} {name} is {number} already")
        warn_of_errors(store.rows())


@click.command("unset")
@click.argument("name", shell_complete=message_names)
@versions_options
def unset_verb(name: str, version: int | None, version_range: VersionRange | None) -> None:
    """Remove a message from a range.

    Example: emu opcodes unset OP_KeymapLoadMsg --range 540-546
    """
    with writing() as store:
        plan = store.unset(chosen_range(store.tables(), version, version_range), name)
        for change in plan.changes:
            print_change(change)
        warn_of_errors(store.rows())


@click.command("undo")
@click.argument("change", required=False, type=int)
@format_option
def undo_verb(change: int | None, style: str) -> None:
    """Undo a change: the newest one in effect, or one by its number in the history.

    An undo is itself a change, which `emu opcodes redo` reverts. Updates of the shipped tables
    cannot be undone; `emu opcodes reset` restores shipped rows.

    Example: emu opcodes undo
    """
    with writing() as store:
        taken = store.undo(change)
        print_history(taken, style)
        click.echo(f"undid change {taken[0].change} ({len(taken)} rows)", err=True)
        warn_of_errors(store.rows())


@click.command("redo")
@click.argument("change", required=False, type=int)
@format_option
def redo_verb(change: int | None, style: str) -> None:
    """Revert the newest undo, or the undo with this number in the history.

    Without a number, this is possible only if no other change followed the undo.

    Example: emu opcodes redo
    """
    with writing() as store:
        again = store.redo(change)
        print_history(again, style)
        click.echo(f"reverted undo {again[0].change} ({len(again)} rows)", err=True)
        warn_of_errors(store.rows())


@click.command("reset")
@click.argument("name", required=False, shell_complete=message_names)
@range_option
@click.option("--dry-run", is_flag=True, help="Print what would change and write nothing.")
@format_option
def reset_verb(
    name: str | None,
    version_range: VersionRange | None,
    dry_run: bool,
    style: str,
) -> None:
    """Restore the shipped rows: all, or those of one message, one range, or both.

    Rows that are not shipped are removed. Afterwards the rows follow newer versions of the program
    again. `emu opcodes undo` reverts a reset.

    Example: emu opcodes reset OP_KeymapLoadMsg --range 540-546
    """
    # A dry run reads the rows without creating a database.
    if dry_run:
        plan = plan_reset(present_rows(), shipped_rows(), version_range, name)
    else:
        with writing() as store:
            plan = store.reset(version_range, name)
            warn_of_errors(store.rows())
    print_changes(plan.changes, style)
    would = "would be " if dry_run else ""
    click.echo(f"{len(plan.changes)} rows {would}reset, {plan.unchanged} as shipped", err=True)


@click.command("derive")
@click.argument("new", type=RangeType())
@click.option(
    "--from",
    "old",
    type=RangeType(),
    required=True,
    help="The version or exact range to start from.",
)
@click.option(
    "--insert",
    "insertions",
    multiple=True,
    metavar="NAME@N[..LAST]",
    help="A message that is new at N; numbers N to LAST move up by one. May be repeated.",
)
@click.option(
    "--remove",
    "removals",
    multiple=True,
    metavar="NAME",
    help="A message that was removed; numbers behind it move down by one. May be repeated.",
)
@click.option("--replace", is_flag=True, help="Replace the range NEW if it exists.")
@click.option("--dry-run", is_flag=True, help="Print the table and write nothing.")
@format_option
def derive_verb(
    *,
    new: VersionRange,
    old: VersionRange,
    insertions: tuple[str, ...],
    removals: tuple[str, ...],
    replace: bool,
    dry_run: bool,
    style: str,
) -> None:
    """Make the table of a new client build from that of an older one.

    Example: emu opcodes derive 64754 --from 64753 --insert OP_NewThingMsg@212
    """
    steps = [parse_insertion(text) for text in insertions]
    rows = present_rows(to_write=True)
    if not replace and any(row.range == new for row in rows):
        raise CommandError(f"the range {new} exists already; use --replace to replace it")
    base = _base(rows, old)
    made = derive(base, new, insertions=steps, removals=removals, source=f"derived from {old}")
    made.sort(key=lambda row: (row.opcode, row.name))
    if dry_run:
        print_opcodes(made, style)
        return
    with writing() as store:
        placed = ((row.name, row) for row in made)
        keep = Keep.OTHER_RANGES if replace else Keep.ALL
        plan = store.apply_rows(placed, action="derive", keep=keep)
        click.echo(
            f"{new}: {plan.added} rows added, {plan.altered} changed, {plan.removed} removed"
        )
        warn_of_errors(store.rows())


def _base(rows: list[OpcodeRow], old: VersionRange) -> list[OpcodeRow]:
    """Return the rows to start from: those of exactly that range, or in effect at that version."""
    exact = [row for row in rows if row.range == old]
    if exact:
        return exact
    if old.width > 1:
        raise CommandError(f"there is no range {old}; see `emu opcodes versions`")
    return effective_rows(OpcodeTables(rows), old.first)
