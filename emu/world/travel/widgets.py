"""Doors and lifts: they open, close by themselves, move, and take linked ones with them.

A door turns to its open heading, a lift moves between two points; a widget can do both. An open
door is no obstacle. Nothing here costs time while nothing moves.
Source: docs/guides/travel.md#doors.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines, Timetable
from emu.world.visibility.fields import PASSABLE, TRANSPORT
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

SPEED: Final = 4.0
"""Units a second of a door or a lift that moves."""
STEP: Final = 0.25
"""Seconds between two steps of a move."""
PAUSE: Final = 0.5
"""Seconds in which a second use has no effect: each use is shown to all who are near."""
SHORTEST_SOUND: Final = 6
"""Letters; shorter texts of the data are no files."""
MOVING: Final = frozenset(("door", "lift"))


class WidgetForm(NamedTuple):
    """How a widget opens and closes: what the content file says of it."""

    kind: str = "generic"
    """``door`` and ``lift`` move; others only pass their use on."""
    open_heading: float = -1.0
    """In degrees; below 0 it does not turn."""
    closed_heading: float = -1.0
    """In degrees; below 0 it turns back to the heading of its place."""
    opened: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where it is when open; a 0 keeps the coordinate of its place."""
    closed: tuple[float, float, float] = (0.0, 0.0, 0.0)
    seconds: float = 0.0
    """Seconds until it closes by itself; 0 for never."""
    open_sound: str = ""
    close_sound: str = ""
    linked: int = 0
    """The number of the spawn that opens and closes with it."""
    action: int = 0
    """The number of the spawn that moves instead of it."""

    @property
    def is_lift(self) -> bool:
        """Whether it moves between two points, with who stands on it."""
        return self.kind == "lift" and any((*self.opened, *self.closed))

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> WidgetForm:
        """Return the form that a row of the table `widgets` is."""
        return cls(
            row["kind"], row["open_heading"], row["closed_heading"],
            (row["open_x"], row["open_y"], row["open_z"]),
            (row["close_x"], row["close_y"], row["close_z"]),
            float(row["open_seconds"]), _sound(row["open_sound"]), _sound(row["close_sound"]),
            row["linked_spawn"], row["action_spawn"],
        )  # fmt: skip


def _sound(name: str) -> str:
    return name if len(name) >= SHORTEST_SOUND else ""


@dataclass(slots=True, eq=False)
class Widget:
    """One door or lift of a running zone."""

    zone: Zone
    spawn: Spawn
    number: int
    """Its number in the content file."""
    form: WidgetForm
    is_open: bool = False
    goal: Position | None = None
    """Where it moves to; None while it stands."""
    used: float = float("-inf")


class Due(enum.Enum):
    """What is due for a widget."""

    CLOSE = enum.auto()
    STEP = enum.auto()


class Widgets:
    """The doors and lifts of all running zones."""

    def __init__(
        self,
        timetable: Timetable,
        play: Callable[[Widget, str], object],
        opened: Callable[[Widget], object],
    ) -> None:
        """`play` plays a sound file at a widget to those who are near.

        `opened` is called with a door that has opened or closed.
        """
        self._play = play
        self._opened = opened
        self._by_spawn: dict[int, Widget] = {}
        self._deadlines: Deadlines[Widget, Due] = timetable.deadlines(
            "doors and lifts", self._handle
        )

    def __len__(self) -> int:
        return len(self._by_spawn)

    def add_widget(self, zone: Zone, spawn: Spawn, number: int, form: WidgetForm) -> None:
        """Add a widget that has appeared in a zone."""
        self._by_spawn[spawn.id] = Widget(zone, spawn, number, form)

    def remove(self, spawn: Spawn) -> None:
        """Forget a widget that has left its zone; do nothing for any other spawn."""
        widget = self._by_spawn.pop(spawn.id, None)
        if widget is not None:
            self._deadlines.forget(widget, Due)

    def forget(self, zone: Zone) -> None:
        """Forget the widgets of a zone that ends."""
        for widget in [one for one in self._by_spawn.values() if one.zone is zone]:
            self.remove(widget.spawn)

    def of(self, spawn: Spawn) -> Widget | None:
        """Return the widget that a spawn is; None if it neither moves nor moves another one."""
        return self._by_spawn.get(spawn.id)

    # -- use ------------------------------------------------------------------------------------

    def use(self, spawn: Spawn, now: Monotonic) -> bool:
        """Open what is closed, close what is open; return whether the spawn is such a widget.

        The linked widget, or else the one that it acts on with its link, does the same.
        """
        widget = self.of(spawn)
        if widget is None:
            return False
        if now - widget.used >= PAUSE:
            widget.used = now
            moved = list(self._moved_by(widget))
            opens = not any(one.is_open for one in moved)
            for one in moved:
                self._turn(one, now, opens=opens)
        return True

    def open(self, spawn: Spawn, now: Monotonic, *, silent: bool = False) -> None:
        """Open a widget, without those that are linked."""
        self._set(spawn, now, opens=True, silent=silent)

    def close(self, spawn: Spawn, now: Monotonic, *, silent: bool = False) -> None:
        """Close a widget, without those that are linked."""
        self._set(spawn, now, opens=False, silent=silent)

    def is_open(self, spawn: Spawn) -> bool:
        """Return whether a widget is open."""
        widget = self.of(spawn)
        return widget is not None and widget.is_open

    def _set(self, spawn: Spawn, now: Monotonic, *, opens: bool, silent: bool) -> None:
        widget = self.of(spawn)
        if widget is not None:
            self._turn(widget, now, opens=opens, silent=silent)

    def _moved_by(self, widget: Widget) -> Iterator[Widget]:
        form = widget.form
        if not form.linked and form.action:
            for one in self._numbered(widget.zone, form.action):
                yield one
                yield from self._linked_to(one)
        elif form.kind in MOVING:
            yield widget
            yield from self._linked_to(widget)

    def _linked_to(self, widget: Widget) -> Iterable[Widget]:
        number = widget.form.linked
        return self._numbered(widget.zone, number) if number else ()

    def _numbered(self, zone: Zone, number: int) -> list[Widget]:
        widgets = self._by_spawn.values()
        return [one for one in widgets if one.zone is zone and one.number == number]

    def _turn(self, widget: Widget, now: Monotonic, *, opens: bool, silent: bool = False) -> None:
        """Open or close one widget; do nothing if it is so already."""
        self._deadlines.clear(widget, Due.CLOSE)
        form, spawn = widget.form, widget.spawn
        if opens and form.seconds > 0:
            self._deadlines.set(widget, Due.CLOSE, Monotonic(now + form.seconds))
        if opens is widget.is_open:
            return
        widget.is_open = opens
        if form.kind == "door":
            self._opened(widget)
        # Who rides on an open door must not fall through it.
        if form.kind == "door" and TRANSPORT not in spawn.words:
            spawn.set_word(PASSABLE, on=opens)
        goal = _goal(widget)
        # The heading at once, as clients turn a door smoothly themselves; the way in steps.
        spawn.move(spawn.position._replace(heading=goal.heading))
        widget.goal = goal if goal[:3] != spawn.position[:3] else None
        if widget.goal is not None:
            self._deadlines.set(widget, Due.STEP, Monotonic(now + STEP))
        sound = form.open_sound if opens else form.close_sound
        if sound and not silent:
            self._play(widget, sound)

    # -- time -----------------------------------------------------------------------------------

    def _handle(self, widget: Widget, what: Due, now: Monotonic) -> None:
        """Close a widget, or move it on its way."""
        if what is Due.CLOSE:
            self._turn(widget, now, opens=False)
        elif widget.goal is not None:
            self._step(widget, widget.goal, now)

    def _step(self, widget: Widget, goal: Position, now: Monotonic) -> None:
        at = widget.spawn.position
        left = sum((a - b) ** 2 for a, b in zip(goal[:3], at[:3], strict=True)) ** 0.5
        part = min(1.0, SPEED * STEP / left) if left else 1.0
        x, y, z = (a + (b - a) * part for a, b in zip(at[:3], goal[:3], strict=True))
        if part >= 1.0:
            widget.goal = None
            x, y, z = goal[:3]
        else:
            self._deadlines.set(widget, Due.STEP, Monotonic(now + STEP))
        widget.spawn.move(at._replace(x=x, y=y, z=z))


def _goal(widget: Widget) -> Position:
    """Return where a widget belongs in its present state."""
    form, home = widget.form, widget.spawn.origin
    point, heading = (
        (form.opened, form.open_heading) if widget.is_open else (form.closed, form.closed_heading)
    )
    footer = widget.spawn.footer
    if footer is not None and not footer.with_place:
        # Clients draw it at the place of the model's part, and would not see it move.
        point = (0.0, 0.0, 0.0)
    x, y, z = (there or here for there, here in zip(point, home[:3], strict=True))
    if heading < 0:
        # A widget that only moves keeps the heading that it has.
        heading = home.heading
    return home._replace(x=x, y=y, z=z, heading=heading % 360.0)
