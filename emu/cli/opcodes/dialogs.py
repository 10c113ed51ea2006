"""The dialog of the opcode editor: one row's fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from emu.opcodes.rows import OpcodeRow, VersionRange

Save = Callable[[OpcodeRow], str | None]
"""Writes a row; returns why it cannot be, or None when it was."""


class EditRow(ModalScreen[None]):
    """Asks for name, number, source and note of one row, until they can be saved or Escape."""

    CSS = """
    EditRow { align: center middle; }
    #dialog { width: 70; height: auto; border: thick $primary; background: $surface; padding: 0 1; }
    #message { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, row: OpcodeRow | None, version_range: VersionRange, save: Save) -> None:
        """Edit a row, or with None a new one of the range."""
        super().__init__()
        self._row = row
        self._range = version_range
        self._save = save

    def compose(self) -> ComposeResult:
        """Lay out the fields; the name of an existing row stays."""
        row = self._row
        with Vertical(id="dialog"):
            yield Label(f"{self._range} {row.name}" if row else f"New opcode of {self._range}")
            if row is None:
                yield _field("name", "", "OP_NameMsg")
            yield _field("number", str(row.opcode) if row else "", "decimal, or 0x and hex digits")
            yield _field("source", (row.source or "") if row else "", "where it is known from")
            yield _field("note", (row.note or "") if row else "", "a remark")
            yield Label("Enter saves, Tab goes on, Escape leaves", id="message", markup=False)

    def on_mount(self) -> None:
        """Begin in the first field that is to be typed."""
        self.query_one("#number" if self._row else "#name", Input).focus()

    @on(Input.Submitted)
    def save(self) -> None:
        """Save and close; what cannot be saved stays as it was typed, with the reason below."""
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
        """Return a field's text; one that was left as it is keeps even the blanks at its ends."""
        text = self.query_one(f"#{field}", Input).value
        before = getattr(self._row, field, None)
        return text if text == before else text.strip()


def _field(name: str, value: str, hint: str) -> Input:
    field = Input(value, placeholder=hint, id=name)
    field.border_title = name
    return field
