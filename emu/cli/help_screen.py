"""The list of keys over a full-screen program; needs textual."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Label


class HelpScreen(ModalScreen[None]):
    """The list of keys; any key closes it."""

    CSS = """
    HelpScreen { align: center middle; }
    #help {
        width: 70; max-width: 100%; height: auto; padding: 0 1;
        border: thick $primary; background: $surface;
    }
    """

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        """Show pairs of a key and its action."""
        super().__init__()
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        width = max(len(key) for key, _ in self._lines)
        keys = "\n".join(f"{key.ljust(width)}  {about}" for key, about in self._lines)
        yield Label(f"{keys}\n\nAny key closes this list.", id="help", markup=False)

    def on_key(self) -> None:
        """Close the screen."""
        self.dismiss()
