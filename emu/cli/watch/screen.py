"""The full-screen view of `emu top`; needs textual.

State and traffic are above, one of five tables below. A thread asks the server, so that keys work
while it does not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Input, Label, Tab, Tabs
from textual.worker import get_current_worker

from emu.admin.snapshot import Rates, Snapshot
from emu.admin.status import duration
from emu.cli.help_screen import HelpScreen
from emu.cli.tables import printable
from emu.cli.watch import status
from emu.cli.watch.status import Row
from emu.errors import EmuError

MOST_ROWS: Final = 300
"""Maximum number of rows of one table: more than a screen shows, few enough to stay fast."""

VIEWS: Final[dict[str, Callable[[Rates], list[Row]]]] = {
    "players": lambda rates: status.player_rows(rates.now),
    "zones": status.zone_rows,
    "listeners": lambda rates: status.listener_rows(rates.now),
    "drops": status.drop_rows,
    "log": lambda rates: [{"line": line} for line in reversed(rates.now.log)],
}
"""The tables by name; one is shown at a time."""


class Live:
    """One server through its restarts, and the user's view of it."""

    def __init__(self) -> None:
        self.rates: Rates | None = None
        self.trouble = ""
        """Why the last snapshot failed; empty if it succeeded."""
        self.restarts = 0
        self.paused = False
        self.view = "players"
        self.wanted = ""
        """The filter: a text that a row must contain."""
        self._orders: dict[str, tuple[str, bool]] = {}

    def took(self, now: Snapshot) -> None:
        """Handle a new snapshot."""
        before = self.rates.now if self.rates is not None else None
        # Another process id means a restart, after which all counters begin at zero.
        if before is not None and before.process != now.process:
            self.restarts += 1
        self.rates = Rates.between(before, now)
        self.trouble = ""

    def failed(self, reason: str) -> None:
        """Handle a failed snapshot; the last good one stays."""
        self.trouble = reason

    def banner(self) -> str:
        """Return a warning above the numbers; empty without one."""
        if self.paused:
            return "PAUSED; p continues"
        if self.trouble:
            return f"NO ANSWER, trying again: {self.trouble}"
        if self.restarts:
            return f"the server has restarted {self.restarts}x since this view was opened"
        return ""

    def lines(self) -> list[str]:
        """Return the server's state and its traffic."""
        if self.rates is None:
            return ["waiting for the server"]
        shown = status.summary(self.rates)
        speaking = shown.pop("server"), shown.pop("players")
        named = (f"{name} {text}" for name, text in shown.items())
        return [*speaking, *named, *status.growth(self.rates)]

    # -- the table ------------------------------------------------------------------------------

    @property
    def order(self) -> tuple[str, bool]:
        """The column that rows are sorted by (empty for none), and whether in reverse."""
        return self._orders.get(self.view, ("", False))

    def sort_by(self, column: str) -> None:
        """Sort by a column; reverse if rows are sorted by it already."""
        before, backwards = self.order
        self._orders[self.view] = (column, not backwards if column == before else False)

    def sort_by_next(self) -> None:
        """Sort by the next column; after the last one, by none."""
        columns = ["", *self.columns()]
        at = columns.index(self.order[0]) if self.order[0] in columns else 0
        self._orders[self.view] = (columns[(at + 1) % len(columns)], False)

    def reverse(self) -> None:
        """Reverse the order."""
        column, backwards = self.order
        self._orders[self.view] = (column, not backwards)

    def columns(self) -> list[str]:
        """Return the columns of the table; none without rows."""
        found = self._all_rows()
        return list(found[0]) if found else []

    def table(self) -> tuple[list[list[str]], int]:
        """Return the cells of the displayed rows, and the number of the other rows."""
        column, backwards = self.order
        chosen = arranged(self._all_rows(), column, wanted=self.wanted, backwards=backwards)
        shown = [[cell(name, value) for name, value in row.items()] for row in chosen[:MOST_ROWS]]
        return shown, len(chosen) - len(shown)

    def _all_rows(self) -> list[Row]:
        return VIEWS[self.view](self.rates) if self.rates is not None else []


def arranged(
    found: Sequence[Row], column: str, *, wanted: str = "", backwards: bool = False
) -> list[Row]:
    """Return the rows that contain a text, sorted by a column, or unsorted without one."""
    text = wanted.strip().casefold()
    chosen = [
        row
        for row in found
        if not text or any(text in cell(name, one).casefold() for name, one in row.items())
    ]
    if column:
        return sorted(chosen, key=lambda row: _rank(row.get(column)), reverse=backwards)
    return chosen[::-1] if backwards else chosen


def cell(column: str, value: Any) -> str:
    """Return a value as text."""
    if value is None:
        return "-"
    if column == "online":
        return duration(value)
    if isinstance(value, float):
        return status.short(value)
    return printable(str(value))


def _rank(value: Any) -> tuple[int, float, str]:
    """Return the sort key of a value: missing values, then numbers, then texts."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return 2, 0.0, str(value).casefold()


KEYS = (
    ("1 to 5", "players, zones, listeners, drops, log"),
    ("s", "sort by the next column; a click on a column sorts by it"),
    ("r", "reverse the order"),
    ("/", "filter the rows; Enter returns to them"),
    ("Escape", "show all rows again"),
    ("p", "pause or continue"),
    ("q", "quit"),
)


class TopScreen(App[None]):
    """The view of one server."""

    TITLE = "emu top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #banner { width: 100%; height: 1; background: $error; color: $text; display: none; }
    #banner.shown { display: block; }
    #state { width: 100%; height: auto; max-height: 50%; }
    #filter { height: 1; border: none; padding: 0; display: none; }
    #filter.open { display: block; }
    #rows { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"show('{name}')", name.capitalize(), show=False)
          for number, name in enumerate(VIEWS, 1)),
        Binding("s", "sort", "Sort"),
        Binding("r", "reverse", "Reverse"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "leave_filter", "All rows", show=False),
        Binding("p", "pause", "Pause"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]  # fmt: skip

    def __init__(self, ask: Callable[[], Snapshot], every: float) -> None:
        """Show what `ask` returns, every `every` seconds; it may raise `EmuError`."""
        super().__init__()
        self._ask = ask
        self._every = every
        self._asking = False
        self._columns: list[str] = []
        self.live = Live()
        self._banner = Label("", id="banner", markup=False)
        self._state = Label("", id="state", markup=False)
        self._filter = Input(placeholder="filter", id="filter")
        self._rows: DataTable[Text] = DataTable(id="rows", cursor_type="row", zebra_stripes=True)

    def compose(self) -> ComposeResult:
        """Lay out the warning, state and traffic, the names of the tables, and one table."""
        yield self._banner
        yield self._state
        yield Tabs(*(Tab(name.capitalize(), id=name) for name in VIEWS))
        yield self._filter
        yield self._rows
        yield Footer()

    def on_mount(self) -> None:
        """Start asking the server."""
        self._rows.focus()
        self._show()
        self.ask()
        self.set_interval(self._every, self.ask)

    def ask(self) -> None:
        """Ask the server, unless an earlier request is still pending."""
        if not self._asking and not self.live.paused:
            self._asking = True
            self.run_worker(self._ask_there, thread=True)

    def _ask_there(self) -> None:
        """Ask the server; runs in a thread."""
        found: Snapshot | str
        try:
            found = self._ask()
        except EmuError as error:
            found = str(error)
        # The screen may have been closed while the server was asked.
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._answered, found)

    def _answered(self, found: Snapshot | str) -> None:
        self._asking = False
        if isinstance(found, str):
            self.live.failed(found)
        # After a pause the display must not change, even if an answer was on its way.
        elif not self.live.paused:
            self.live.took(found)
        self._show()

    def _show(self) -> None:
        """Update everything; the cursor keeps its place."""
        live = self.live
        banner = live.banner()
        self._banner.set_class(bool(banner), "shown")
        self._banner.update(banner)
        self._state.update("\n".join(live.lines()))
        self._show_rows()

    def _show_rows(self) -> None:
        table, live = self._rows, self.live
        # Clearing a table resets its cursor and scroll position, so both are restored below.
        row, at = table.cursor_row, table.scroll_offset
        self._show_columns(live.columns())
        cells, besides = live.table()
        for one in cells:
            # A plain string would be read as markup, and names come from players.
            table.add_row(*(Text(text) for text in one))
        table.move_cursor(row=min(row, max(0, table.row_count - 1)), scroll=False)
        table.scroll_to(at.x, at.y, animate=False)
        table.border_subtitle = f"and {besides} more" if besides else ""

    def _show_columns(self, columns: list[str]) -> None:
        """Replace the table's columns, and mark the one that rows are sorted by."""
        sorted_by, backwards = self.live.order
        marks = {sorted_by: " v" if backwards else " ^"}
        titles = [name.replace("_", " ") + marks.get(name, "") for name in columns]
        if titles == self._columns:
            self._rows.clear()
            return
        self._columns = titles
        self._rows.clear(columns=True)
        for name, title in zip(columns, titles, strict=True):
            self._rows.add_column(title, key=name)

    # -- what keys and the mouse do -------------------------------------------------------------

    @on(Tabs.TabActivated)
    def chosen(self, event: Tabs.TabActivated) -> None:
        """Show another table."""
        self.live.view = event.tab.id or self.live.view
        self._rows.move_cursor(row=0)
        self._show_rows()

    @on(DataTable.HeaderSelected)
    def sort_by(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the clicked column."""
        self.live.sort_by(str(event.column_key.value))
        self._show_rows()

    @on(Input.Changed, "#filter")
    def refilter(self) -> None:
        """Filter while the user types."""
        self.live.wanted = self._filter.value
        self._show_rows()

    @on(Input.Submitted, "#filter")
    def to_rows(self) -> None:
        """Move the focus to the rows."""
        self._rows.focus()

    def action_show(self, name: str) -> None:
        """Show a table by its name."""
        self.query_one(Tabs).active = name

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.live.sort_by_next()
        self._show_rows()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self.live.reverse()
        self._show_rows()

    def action_filter(self) -> None:
        """Move the focus to the filter."""
        self._filter.add_class("open")
        self._filter.focus()

    def action_leave_filter(self) -> None:
        """Clear the filter."""
        self._filter.value = ""
        self._filter.remove_class("open")
        self._rows.focus()

    def action_pause(self) -> None:
        """Pause or continue."""
        self.live.paused = not self.live.paused
        self._show()
        self.ask()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(KEYS))
