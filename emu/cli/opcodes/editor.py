"""The full-screen editor of opcode tables; needs textual.

Version ranges are on the left, the rows of the chosen range on the right, with a filter. Numbers
with several names are marked. Each edit is written to the database at once, with its history, so a
running server applies it. Edits by others appear within a second. Only changed fields are written,
and only changes of the chosen range are undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Header, Input, Label

from emu.cli.help_screen import HelpScreen
from emu.errors import EmuError
from emu.opcodes.checks import Missing, OpcodeFinding, Severity, check, missing_messages
from emu.opcodes.history import HistoryEntry
from emu.opcodes.store import OpcodeStore
from emu.opcodes.table import OpcodeRow, VersionRange, dead_numbers, is_absent
from emu.opcodes.text import shipped_tables

Save = Callable[[OpcodeRow], str | None]
"""Writes a row; returns None, or the reason if the row cannot be written."""


class EditRow(ModalScreen[None]):
    """A dialog for name, number, source and note of one row; it closes after saving or Escape."""

    CSS = """
    EditRow { align: center middle; }
    #dialog { width: 70; height: auto; border: thick $primary; background: $surface; padding: 0 1; }
    #message { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, row: OpcodeRow | None, version_range: VersionRange, save: Save) -> None:
        """Edit a row; with None a new row of the range."""
        super().__init__()
        self._row = row
        self._range = version_range
        self._save = save

    def compose(self) -> ComposeResult:
        """Create the fields; the name of an existing row cannot be edited."""
        row = self._row
        with Vertical(id="dialog"):
            yield Label(f"{self._range} {row.name}" if row else f"New opcode of {self._range}")
            if row is None:
                yield _field("name", "", "OP_NameMsg")
            yield _field("number", str(row.opcode) if row else "", "decimal, or 0x and hex digits")
            yield _field("source", (row.source or "") if row else "", "how the number is known")
            yield _field("note", (row.note or "") if row else "", "a remark")
            yield Label("Enter saves, Tab: next field, Escape cancels", id="message", markup=False)

    def on_mount(self) -> None:
        """Focus the first field that can be edited."""
        self.query_one("#number" if self._row else "#name", Input).focus()

    @on(Input.Submitted)
    def save(self) -> None:
        """Save and close; if that fails, keep the input and show the reason below it."""
        problem = self._try()
        if problem is None:
            self.dismiss()
        else:
            self.query_one("#message", Label).update(problem)

    def _try(self) -> str | None:
        text = self._typed("number")
        try:
            number = int(text, 0)
        except ValueError:
            return f"{text!r} is not a number"
        name = self._row.name if self._row else self._typed("name")
        row = OpcodeRow(*self._range, name, number, self._typed("source"), self._typed("note"))
        return self._save(row)

    def _typed(self, field: str) -> str:
        """Return a field's text without blanks at its ends; an unchanged text stays as it is."""
        text = self.query_one(f"#{field}", Input).value
        before = getattr(self._row, field, None)
        return text if text == before else text.strip()


def _field(name: str, value: str, hint: str) -> Input:
    field = Input(value, placeholder=hint, id=name)
    field.border_title = name
    return field


REFRESH_INTERVAL = 1.0
"""Seconds between checks for changes by others."""
MOST_FINDINGS = 3
"""Findings that are shown below the rows."""
KEYS = (
    ("Enter, e", "edit the row under the cursor"),
    ("a", "add a row to the range"),
    ("d", "remove the row under the cursor"),
    ("u", "undo the newest change of this range, also by others"),
    ("r", "redo the newest undo of this range"),
    ("/", "filter by text in the name, or by a number"),
    ("c", "show only numbers with several names, or all rows"),
    ("Tab", "move between ranges, filter and rows"),
    ("Escape", "return to the rows"),
    ("q", "quit; all edits are written already"),
)


class OpcodeEditor(App[None]):
    """The editor of one database."""

    TITLE = "Opcode tables"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #ranges { width: 22; height: 1fr; border-right: solid $primary; }
    #rows { height: 1fr; }
    #row { height: auto; max-height: 3; padding: 0 1; text-style: bold; }
    #findings { height: auto; max-height: 4; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit"),
        Binding("a", "add", "Add"),
        Binding("d", "remove", "Remove"),
        Binding("u", "undo", "Undo"),
        Binding("r", "redo", "Redo"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("c", "conflicts", "Conflicts"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("escape", "leave_filter", "Back", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, store: OpcodeStore, *, start: VersionRange | None = None) -> None:
        super().__init__()
        self._store = store
        self._chosen = start
        self._ranges: list[VersionRange] = []
        self._rows: list[OpcodeRow] = []
        """All rows of the chosen range."""
        self._conflicts: dict[str, str] = {}
        self._shown: list[OpcodeRow] = []
        self._missing: list[Missing] = []
        self._only_conflicts = False
        self._mark = 0
        self._ranges_table: DataTable[Text | str] = DataTable(id="ranges", cursor_type="row")
        self._filter = Input(placeholder="filter by name or number", id="filter")
        self._rows_table: DataTable[Text | str] = DataTable(
            id="rows", cursor_type="row", zebra_stripes=True
        )
        self._row = Label("", id="row", markup=False)
        self._findings = Label("", id="findings", markup=False)

    def compose(self) -> ComposeResult:
        """Create the ranges, the filter, the rows, the row under the cursor, and the findings."""
        yield Header()
        with Horizontal():
            yield self._ranges_table
            with Vertical():
                yield self._filter
                yield self._rows_table
                yield self._row
                yield self._findings
        yield Footer()

    def on_mount(self) -> None:
        """Fill both tables, and start to check for changes by others."""
        self.sub_title = str(self._store.path)
        self._rows_table.add_columns("opcode", "name", "conflict", "source", "note")
        self._ranges_table.add_columns("versions", "rows")
        self._fill_ranges()
        self._rows_table.focus()
        self._rows_table.set_interval(REFRESH_INTERVAL, self.show_changes)  # ends with the table

    # -- filling --------------------------------------------------------------------------------

    def show_changes(self) -> None:
        """Show changes by others since the tables were filled."""
        try:
            if self._store.mark() == self._mark:
                return
            # The mark has changed, so there is at least one entry.
            (newest,) = self._store.history(limit=1)
            self._fill_ranges()
        except EmuError as error:
            self._findings.update(str(error))
            return
        self.notify(f"{newest.who} changed the tables ({newest.action} {newest.row.name})")

    def _fill_ranges(self) -> None:
        """Show the ranges, and the rows of the chosen range."""
        self._mark = self._store.mark()
        tables = self._store.tables()
        self._ranges = list(tables.ranges)
        self._missing = list(missing_messages(tables, shipped_tables()))
        table = self._ranges_table
        table.clear()
        for one in self._ranges:
            table.add_row(str(one), str(len(tables.rows(one))), key=str(one))
        if self._chosen not in self._ranges:
            self._chosen = self._ranges[0] if self._ranges else None
        if self._chosen is not None:
            table.move_cursor(row=self._ranges.index(self._chosen))
        self._read_rows()

    def _read_rows(self) -> None:
        """Read the rows of the chosen range again; show them and their findings."""
        self._rows = [] if self._chosen is None else self._store.rows(self._chosen)
        self._conflicts = _conflicts(self._rows)
        self._fill_rows()
        findings = check(self._rows)
        lines = [*self._missing_here(), *_worst(findings)]
        self._findings.update("\n".join(lines[:MOST_FINDINGS]))

    def _missing_here(self) -> Iterator[str]:
        """Yield a line for each span of the chosen range that lacks needed messages."""
        for one in self._missing:
            if self._chosen is not None and one.versions.overlaps(self._chosen):
                names = ", ".join((*one.lost, *one.never))
                yield f"clients {one.versions} cannot be served without {names}"

    def _fill_rows(self) -> None:
        """Show the rows that match the filter; the cursor stays on its row."""
        table = self._rows_table
        index, before = table.cursor_row, self._under_cursor()
        table.clear()
        self._shown = [row for row in self._rows if self._passes(row)]
        for row in self._shown:
            conflict = self._conflicts.get(row.name, "")
            style = "bold red" if conflict else "dim" if is_absent(row.opcode) else ""
            cells = (str(row.opcode), row.name, conflict, row.source or "", row.note or "")
            table.add_row(*(Text(cell, style=style) for cell in cells), key=row.name)
        names = [row.name for row in self._shown]
        if before is not None and before.name in names:
            index = names.index(before.name)
        # The row may be gone; the cursor then stays at its height.
        if names:
            table.move_cursor(row=min(index, len(names) - 1))
        self._describe()

    def _passes(self, row: OpcodeRow) -> bool:
        wanted = self._filter.value.strip().lower()
        if self._only_conflicts and row.name not in self._conflicts:
            return False
        return not wanted or wanted in row.name.lower() or wanted == str(row.opcode)

    @on(DataTable.RowHighlighted, "#rows")
    def _describe(self) -> None:
        """Show the row under the cursor in full, because the table may cut it."""
        row = self._under_cursor()
        text = ""
        if row is not None:
            also = self._conflicts.get(row.name)
            cells = (f"{row.opcode} {row.name}", also and f"also {also}", row.source, row.note)
            text = " | ".join(cell for cell in cells if cell)
        self._row.update(text)

    @on(DataTable.RowHighlighted, "#ranges")
    def choose(self, event: DataTable.RowHighlighted) -> None:
        """Show the rows of the range under the cursor."""
        # The event's row may be outdated, because filling the table moves the cursor as well.
        index = event.data_table.cursor_row
        if 0 <= index < len(self._ranges) and self._ranges[index] != self._chosen:
            self._chosen = self._ranges[index]
            self._read_rows()

    @on(Input.Changed, "#filter")
    def refilter(self) -> None:
        """Apply the filter while it is typed."""
        self._fill_rows()

    @on(Input.Submitted, "#filter")
    def to_rows(self) -> None:
        """Move to the filtered rows."""
        self._rows_table.focus()

    # -- keys -----------------------------------------------------------------------------------

    def action_help(self) -> None:
        """Show the meaning of the keys."""
        self.push_screen(HelpScreen(KEYS))

    def action_filter(self) -> None:
        """Move to the filter."""
        self._filter.focus()

    def action_leave_filter(self) -> None:
        """Move from the filter to the rows."""
        self._rows_table.focus()

    def action_conflicts(self) -> None:
        """Toggle between numbers with several names and all rows."""
        self._only_conflicts = not self._only_conflicts
        self._fill_rows()

    def action_edit(self) -> None:
        """Edit the row under the cursor."""
        row = self._under_cursor()
        if row is not None:
            self.push_screen(EditRow(row, row.range, lambda new: self._write(row, new)))

    @on(DataTable.RowSelected, "#rows")
    def edit_selected(self) -> None:
        """Edit the row that Enter selects."""
        self.action_edit()

    def action_add(self) -> None:
        """Add a row to the range."""
        if self._chosen is not None:
            self.push_screen(EditRow(None, self._chosen, lambda new: self._write(None, new)))

    def action_remove(self) -> None:
        """Remove the row under the cursor."""
        row = self._under_cursor()
        if row is None:
            return
        problem = self._write(row, None)
        if problem is None:
            self.notify(f"{row.name} removed; u restores it")
        else:
            self.notify(problem, severity="error")

    def action_undo(self) -> None:
        """Undo the newest change of the range, also one by others."""
        self._step("undid", self._store.undo)

    def action_redo(self) -> None:
        """Redo the newest undo of the range."""
        self._step("reverted", self._store.redo)

    def _step(self, done: str, step: Callable[..., list[HistoryEntry]]) -> None:
        if self._chosen is None:
            return
        try:
            taken = step(version_range=self._chosen)
        except EmuError as error:
            self.notify(str(error), severity="error")
            return
        self._fill_ranges()
        first = taken[0]
        self.notify(f"{done} change {first.change} of {first.who}: {first.row.name}")

    def _write(self, old: OpcodeRow | None, new: OpcodeRow | None) -> str | None:
        """Write an edit; return None, or one line with the reason if it cannot be written."""
        try:
            self._store.amend(old, new)
        except EmuError as error:
            return str(error)
        self._fill_ranges()
        return None

    def _under_cursor(self) -> OpcodeRow | None:
        index = self._rows_table.cursor_row
        return self._shown[index] if 0 <= index < len(self._shown) else None


def _conflicts(rows: list[OpcodeRow]) -> dict[str, str]:
    """Return the other names of a number, for each name that shares its number."""
    dead = dead_numbers(rows)
    by_number: dict[int, list[str]] = {}
    for row in rows:
        if not is_absent(row.opcode) and row.opcode not in dead:
            by_number.setdefault(row.opcode, []).append(row.name)
    return {
        name: ", ".join(other for other in names if other != name)
        for names in by_number.values()
        if len(names) > 1
        for name in names
    }


def _worst(findings: list[OpcodeFinding]) -> list[str]:
    """Return the errors and warnings as lines."""
    grave = [
        one
        for one in findings
        # Only one range is checked here, and it need not cover the versions before the login.
        if one.severity is not Severity.NOTE and one.code != "uncovered"
    ]  # fmt: skip
    return [f"{one.severity}: {one.message}" for one in grave]
