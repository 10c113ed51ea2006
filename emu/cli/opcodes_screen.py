"""The full-screen editor of opcode tables; needs textual.

Version ranges on the left, the rows of the chosen one on the right, filtered by what is typed.
Numbers with several names are marked. Every edit goes to the database at once, with its history,
so that a running server follows and undo is the database's own.
"""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Header, Input, Label

from emu.errors import EmuError
from emu.opcodes.lints import Finding, Severity, check
from emu.opcodes.names import dead_numbers, is_absent
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.opcodes.shipped import shipped_rows
from emu.opcodes.store import OpcodeStore


class EditRow(ModalScreen[OpcodeRow | None]):
    """Asks for name, number, source and note of one row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, row: OpcodeRow | None, version_range: VersionRange) -> None:
        super().__init__()
        self._row = row
        self._range = version_range

    def compose(self) -> ComposeResult:
        """Lay out the fields; the name of an existing row stays."""
        row = self._row
        with Vertical(id="dialog"):
            yield Label(f"{self._range} {row.name}" if row else f"New opcode of {self._range}")
            if row is None:
                yield Input(placeholder="OP_NameMsg", id="name")
            yield Input(str(row.opcode) if row else "", placeholder="number", id="number")
            yield Input((row.source or "") if row else "", placeholder="source", id="source")
            yield Input((row.note or "") if row else "", placeholder="note", id="note")
            yield Label("Enter saves, Escape leaves", id="message")

    def on_mount(self) -> None:
        """Begin in the first field that is to be typed."""
        self.query_one("#number" if self._row else "#name", Input).focus()

    def action_cancel(self) -> None:
        """Leave without a change."""
        self.dismiss(None)

    @on(Input.Submitted)
    def save(self) -> None:
        """Give the row back when the number is one."""
        text = self.query_one("#number", Input).value.strip()
        try:
            number = int(text, 0)
        except ValueError:
            self.query_one("#message", Label).update(f"{text!r} is not a number")
            return
        name = self._row.name if self._row else self.query_one("#name", Input).value.strip()
        source, note = (
            self.query_one(f"#{one}", Input).value.strip() for one in ("source", "note")
        )
        self.dismiss(OpcodeRow(*self._range, name, number, source, note))


class OpcodeEditor(App[None]):
    """The editor of one database."""

    TITLE = "Opcode tables"
    CSS = """
    #ranges { width: 24; height: 1fr; border-right: solid $primary; }
    #rows { height: 1fr; }
    #told { height: auto; max-height: 4; padding: 0 1; }
    EditRow { align: center middle; }
    #dialog { width: 70; height: auto; border: thick $primary; background: $surface; padding: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit"),
        Binding("a", "add", "Add"),
        Binding("d", "remove", "Remove"),
        Binding("u", "undo", "Undo"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("c", "conflicts", "Conflicts only"),
        Binding("escape", "leave_filter", "Back", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, store: OpcodeStore, *, start: VersionRange | None = None) -> None:
        super().__init__()
        self._store = store
        self._chosen = start
        self._shown: list[OpcodeRow] = []
        self._only_conflicts = False
        self._filling = False

    def compose(self) -> ComposeResult:
        """Lay out ranges, filter, rows and the line of findings."""
        yield Header()
        with Horizontal():
            yield DataTable(id="ranges", cursor_type="row")
            with Vertical():
                yield Input(placeholder="filter by name or number", id="filter")
                yield DataTable(id="rows", cursor_type="row", zebra_stripes=True)
                yield Label("", id="told", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Fill both tables."""
        self.sub_title = str(self._store.path)
        self._rows_table.add_columns("opcode", "name", "source", "note", "conflict")
        self._ranges_table.add_columns("versions", "rows")
        self._fill_ranges()
        self._rows_table.focus()

    @property
    def _ranges_table(self) -> DataTable[Text | str]:
        return self.query_one("#ranges", DataTable)

    @property
    def _rows_table(self) -> DataTable[Text | str]:
        return self.query_one("#rows", DataTable)

    # -- filling --------------------------------------------------------------------------------

    def _fill_ranges(self) -> None:
        """Show the ranges and the rows of the chosen one."""
        tables = self._store.tables()
        table = self._ranges_table
        self._filling = True  # a cleared table reports cursor moves that nobody made
        table.clear()
        for one in tables.ranges:
            table.add_row(str(one), str(len(tables.rows(one))), key=str(one))
        if tables.ranges and self._chosen not in tables.ranges:
            self._chosen = tables.ranges[0]
        if self._chosen is not None:
            table.move_cursor(row=tables.ranges.index(self._chosen))
        self._filling = False
        self._fill_rows()

    def _fill_rows(self) -> None:
        """Show the rows of the chosen range that pass the filter."""
        table = self._rows_table
        cursor = table.cursor_row
        table.clear()
        self._shown = []
        if self._chosen is None:
            return
        rows = self._store.rows(self._chosen)
        findings = check(rows, used={row.name for row in shipped_rows()})
        conflicts = _conflicts(rows)
        wanted = self.query_one("#filter", Input).value.strip().lower()
        for row in rows:
            conflict = conflicts.get(row.name, "")
            if wanted and wanted not in row.name.lower() and wanted != str(row.opcode):
                continue
            if self._only_conflicts and not conflict:
                continue
            style = "bold red" if conflict else "dim" if is_absent(row.opcode) else ""
            cells = (str(row.opcode), row.name, row.source or "", row.note or "", conflict)
            table.add_row(*(Text(cell, style=style) for cell in cells), key=row.name)
            self._shown.append(row)
        if self._shown:
            table.move_cursor(row=min(cursor, len(self._shown) - 1))
        self._tell(_worst(findings))

    def _tell(self, text: str) -> None:
        self.query_one("#told", Label).update(text)

    @on(DataTable.RowHighlighted, "#ranges")
    def choose(self, event: DataTable.RowHighlighted) -> None:
        """Show the rows of the range under the cursor."""
        ranges = {str(one): one for one in self._store.tables().ranges}
        chosen = ranges.get(str(event.row_key.value))
        if not self._filling and chosen is not None and chosen != self._chosen:
            self._chosen = chosen
            self._fill_rows()

    @on(Input.Changed, "#filter")
    def refilter(self) -> None:
        """Apply the filter as it is typed."""
        self._fill_rows()

    @on(Input.Submitted, "#filter")
    def to_rows(self) -> None:
        """Go on in the rows that were found."""
        self._rows_table.focus()

    # -- what the keys do -----------------------------------------------------------------------

    def action_filter(self) -> None:
        """Go to the filter."""
        self.query_one("#filter", Input).focus()

    def action_leave_filter(self) -> None:
        """Go from the filter to the rows."""
        self._rows_table.focus()

    def action_conflicts(self) -> None:
        """Show only numbers with several names, or all rows again."""
        self._only_conflicts = not self._only_conflicts
        self._fill_rows()

    def action_edit(self) -> None:
        """Edit the row under the cursor."""
        row = self._under_cursor()
        if row is not None and self._chosen is not None:
            self.push_screen(EditRow(row, self._chosen), self._save)

    @on(DataTable.RowSelected, "#rows")
    def edit_selected(self) -> None:
        """Edit the row that Enter was pressed on."""
        self.action_edit()

    def action_add(self) -> None:
        """Add a row to the range."""
        if self._chosen is not None:
            self.push_screen(EditRow(None, self._chosen), self._save)

    def action_remove(self) -> None:
        """Remove the row under the cursor."""
        row = self._under_cursor()
        if row is None:
            return
        try:
            self._store.unset(row.range, row.name, action="edit")
        except EmuError as error:
            self.notify(str(error), severity="error")
            return
        self._fill_ranges()
        self.notify(f"{row.name} removed; u brings it back")

    def action_undo(self) -> None:
        """Take back the newest change of the database, whoever made it."""
        try:
            taken = self._store.undo()
        except EmuError as error:
            self.notify(str(error), severity="error")
            return
        self._fill_ranges()
        first = taken[0]
        self.notify(f"took back change {first.change} of {first.who}: {first.row.name}")

    def _save(self, row: OpcodeRow | None) -> None:
        if row is None:
            return
        try:
            self._store.set(
                row.range, row.name, row.opcode, source=row.source, note=row.note, action="edit"
            )
        except EmuError as error:
            self.notify(str(error), severity="error")
            return
        self._fill_ranges()

    def _under_cursor(self) -> OpcodeRow | None:
        index = self._rows_table.cursor_row
        return self._shown[index] if 0 <= index < len(self._shown) else None


def _conflicts(rows: list[OpcodeRow]) -> dict[str, str]:
    """Return for each name that shares its number with others: those others."""
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


def _worst(findings: list[Finding]) -> str:
    """Return the gravest findings as a few lines."""
    grave = [
        one
        for one in findings
        if one.severity is not Severity.NOTE and one.code != "uncovered"
    ]  # fmt: skip
    return "\n".join(f"{one.severity}: {one.message}" for one in grave[:3])
