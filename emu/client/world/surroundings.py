"""The ghosts around a client, by index, and its movement.

`Walker` computes the next step and when it is due. Source:
docs/protocol/world/movement.md#prediction, docs/protocol/world/movement.md#speed.

Fields are decoded when they are read, so an update of hundreds of ghosts costs no more than its
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from emu.client.world import events
from emu.dialects.dialect import read_name
from emu.errors import MalformedMessage
from emu.rules.stance import GREY, Encounter
from emu.structs.packed import read_oversized
from emu.times import Monotonic
from emu.world_stream.deltas import Layouts
from emu.world_stream.ghosts import (
    DESTROY_GHOST,
    FOOTERS,
    HEADING_UNIT,
    INFO,
    POSITION,
    UPDATE_GHOST,
    Ghost,
    GhostReader,
    GhostUpdate,
)
from emu.world_stream.movement import FULL_TURN, Position, from_client, to_client

STEP: Final = 0.25
"""Seconds between two predictions."""
NOWHERE: Final = (0.0, 0.0, 0.0)
RUNNING_SPEED: Final = 8.0
"""World units per second."""
ATTACKABLE: Final = 64
"""The bit of a ghost's flags that says that it can be attacked."""
COMMAND: Final = 2
"""The bit for what shows an icon of its verb; clients up to 546 are sent the hand icon alone."""
FULL_HEALTH = 100
ROOTED: Final = 8
"""The flag of the server's control that keeps a player where it is."""
RUNNING, SITTING = 128, 6336
"""Activities (docs/protocol/world/movement.md#prediction)."""
Place = Position
"""The place of a ghost; a client does not know the grid."""


def is_attackable(visible: Mapping[str, Any]) -> bool:
    """Return whether the fields `VISIBILITY` of a ghost say that it can be attacked."""
    # Clients up to 561 have a field of its own, later ones a bit.
    return bool(visible.get("attackable", int(visible.get("vis_flags", 0)) & ATTACKABLE))


def shows_verb(visible: Mapping[str, Any], info: Mapping[str, Any]) -> bool:
    """Return whether an icon shows the verb of a ghost with the fields `VISIBILITY` and `INFO`.

    Clients of 546 show a hand for some things; in their flags nothing is left of the bit.
    Source: docs/protocol/world/spawns.md#visibility and #info.
    """
    return bool(int(visible.get("vis_flags", 0)) & COMMAND or info.get("hand_icon"))


def fights_viewer(visible: Mapping[str, Any]) -> bool:
    """Return whether the fields `VISIBILITY` of a ghost say that it fights who sees them.

    Also who is in a group with its foe sees that. To others one that fights is grey.
    Source: docs/protocol/world/fights.md#encounters.
    """
    return visible.get("locked_no_loot") == Encounter.LOCKED and visible.get("arrow_color") != GREY


def health_percent(info: Mapping[str, Any]) -> int:
    """Return the health in percent that the fields `INFO` of a ghost say.

    The field is inverted: 0 is full health. Source: docs/protocol/world/spawns.md#info.
    """
    return FULL_HEALTH ^ int(info.get("hp_remaining", 0))


class Stride(NamedTuple):
    """One prediction: the client's place and velocity."""

    place: Place
    speed: float
    activity: int

    def fields(self) -> dict[str, float]:
        """Return the fields of Player_Update."""
        direction = to_client(self.place.heading) % FULL_TURN
        return {
            "activity": self.activity,
            "direction1": direction,
            "direction2": direction,
            "speed": self.speed,
            "x": self.place.x,
            "y": self.place.y,
            "z": self.place.z,
        }


class Walker:
    """The client's place, its goal, and the steps that it sends."""

    __slots__ = ("_due", "_goal", "_last", "_speed", "interval", "is_held", "is_sitting", "place")

    def __init__(self) -> None:
        self.place = Place(0.0, 0.0, 0.0)
        self.interval = STEP
        """Seconds between two steps; bots that walk much may choose more."""
        self.is_sitting = False
        self.is_held = False
        """Whether the server keeps it where it is: it is dead, or a spell holds it."""
        self._goal: Place | None = None
        self._speed = RUNNING_SPEED
        self._due: float | None = None
        self._last = 0.0

    @property
    def goal(self) -> Place | None:
        """The goal of the walk; None when it stands."""
        return self._goal

    def stand_at(self, place: Place) -> None:
        """Stand at another place: the server has moved the character."""
        self.place = place
        self._goal = None
        self._due = None

    def walk_to(self, goal: Place, now: Monotonic, speed: float = RUNNING_SPEED) -> None:
        """Walk to a place; a sitting character stands up. Steps begin now.

        Who is held goes nowhere, as the player of a client sees who presses a key then.
        """
        if self.is_held:
            return
        # A new goal during a walk keeps the times of the steps.
        if self._due is None:
            self._due = self._last = now
        self._goal, self._speed, self.is_sitting = goal, speed, False

    def control(self, flags: int, now: Monotonic, *, is_on: bool) -> None:
        """Stop where it is when the server holds it; let it walk when the server lets it go."""
        if flags & ROOTED:
            self.is_held = is_on
            if is_on and self._goal is not None:
                self.stop(now)

    def stop(self, now: Monotonic) -> None:
        """Stop where the next step would begin, and send that."""
        # The goal is the present place, so the next step arrives at once and has speed 0.
        self._goal = self.place
        self._due = self._last = now

    def get_timer(self) -> Monotonic | None:
        """Return when `step` is due, None when there is nothing to send."""
        return None if self._due is None else Monotonic(self._due)

    def step(self, now: Monotonic) -> Stride:
        """Advance for the time that has passed; the last step, at the goal, has speed 0."""
        goal = self._goal or self.place
        # By the time that has passed and not by the interval, so a late timer does not slow the
        # character.
        way = (now - self._last) * self._speed
        self._last = now
        self.place = self.place.toward(goal, way)
        arrived = self.place[:3] == goal[:3]
        if arrived:
            self._goal = self._due = None
        else:
            self._due = now + self.interval
        activity = SITTING if self.is_sitting else RUNNING
        return Stride(self.place, 0.0 if arrived else self._speed, activity)


GHOST_COMMANDS: Final = frozenset((*FOOTERS, UPDATE_GHOST, DESTROY_GHOST))


class SeenGhost(NamedTuple):
    """One ghost, by its index, for people; `distance` ignores height."""

    ghost: int
    name: str
    level: int
    place: Place
    distance: float


class ClientSurroundings:
    """The ghosts of one zone as this client has received them.

    It iterates over the indexes of the ghosts; an index is this client's number for a spawn.
    """

    __slots__ = ("_names", "_reader")

    def __init__(self, layouts: Layouts) -> None:
        """Begin with none. Raises `UnknownStruct` for versions with unknown ghosts."""
        self._reader = GhostReader(layouts)
        self._names: dict[int, tuple[bytes, str]] = {}

    def __len__(self) -> int:
        return len(self._reader.ghosts)

    def __iter__(self) -> Iterator[int]:
        # A copy, because a caller may remove ghosts while it iterates.
        return iter(list(self._reader.ghosts))

    def __contains__(self, index: int) -> bool:
        return index in self._reader.ghosts

    # Messages of the server; every method raises `MalformedMessage`.

    def handle_command(self, command: str, payload: bytes) -> events.WorldEvent:
        """Handle one of the `GHOST_COMMANDS` and return its event."""
        if command == UPDATE_GHOST:
            update = self.update(payload)
            return events.Updated(update.time, tuple(update.entries))
        if command == DESTROY_GHOST:
            index, _ = read_oversized(payload, 0)
            # The name is read before the ghost is removed.
            gone = events.Vanished(index, self.name(index))
            self.destroy(index)
            return gone
        index = self.create(command, payload)
        return events.Appeared(index, self.name(index))

    def create(self, command: str, payload: bytes) -> int:
        """Handle a command that creates a ghost; return its index."""
        index: int = self._reader.create(command, payload).header["index"]
        return index

    def update(self, payload: bytes) -> GhostUpdate:
        """Handle an update of any number of ghosts. Raises `MalformedMessage`."""
        return self._reader.update(payload)

    def rename(self, payload: bytes) -> None:
        """Handle the new names of a player."""
        self._reader.rename(payload)

    def destroy(self, index: int) -> None:
        """Remove a ghost."""
        self._reader.destroy(index)
        self._names.pop(index, None)

    # Queries.

    def name(self, index: int) -> str:
        """Return a ghost's name, empty for an unknown one."""
        ghost = self._reader.ghosts.get(index)
        if ghost is None:
            return ""
        if "name" in ghost.footer:
            return read_name(ghost.footer["name"])
        info = ghost.parts[INFO]
        # Decoding the info part is slow, so the name is kept until the part changes.
        known = self._names.get(index)
        if known is None or known[0] != info:
            name = read_name(self._reader.part_fields(INFO, info)["name"].rstrip("\0"))
            known = self._names[index] = (info, name)
        return known[1]

    def find(self, name: str) -> int | None:
        """Return the index of the first ghost of a name, in any case of letters, or None."""
        wanted = name.casefold()
        return next((index for index in self if self.name(index).casefold() == wanted), None)

    def place(self, index: int) -> Place:
        """Return the place of a ghost, in world units. Raises `KeyError` for an unknown index.

        A sign that was sent without a place is where the object of its footer is.
        Source: docs/protocol/world/spawns.md#position.
        """
        place = place_of(self.part(index, POSITION))
        footer = self._ghost(index).footer
        if place[:3] == NOWHERE and "widget_x" in footer:
            x, y, z = (footer[f"widget_{axis}"] for axis in "xyz")
            return place._replace(x=x, y=y, z=z)
        return place

    def part(self, index: int, part: int) -> dict[str, Any]:
        """Return the fields of one part of a ghost, by their names in the struct.

        `part` is `POSITION`, `VISIBILITY` or `INFO` of `emu.world_stream.ghosts`. Raises
        `KeyError` for an unknown index.
        """
        return self._reader.part_fields(part, self._ghost(index).parts[part])

    def fields(self, index: int) -> dict[str, Any]:
        """Return all fields of a ghost: the header's, then each part's under its name.

        Raises `KeyError`.
        """
        return self._reader.ghost_fields(self._ghost(index))

    def part_fields(self, part: int, data: bytes) -> dict[str, Any]:
        """Return the fields of a part, decoded from its bytes."""
        return self._reader.part_fields(part, data)

    def near(self, center: Place, farthest: float, *, besides: int) -> list[SeenGhost]:
        """Return the ghosts within a distance in world units, the nearest first.

        `besides` is the index of the viewer's own ghost, which is left out.
        """
        found = []
        for index in self:
            place = self.place(index)
            distance = center.distance_to(place)
            if index != besides and distance <= farthest:
                level = self.part(index, INFO)["level"]
                found.append(SeenGhost(index, self.name(index), level, place, distance))
        return sorted(found, key=lambda one: one.distance)

    def _ghost(self, index: int) -> Ghost:
        return self._reader.ghosts[index]


def place_of(position: dict[str, Any]) -> Place:
    """Return the place in the fields of a position part.

    Raises `MalformedMessage` when a field is missing.
    """
    try:
        heading = position["pos_heading1"] / HEADING_UNIT
        return Place(
            position["pos_x"],
            position["pos_y"],
            position["pos_z"],
            from_client(heading),
        )
    except KeyError:
        raise MalformedMessage("position of a ghost without a place") from None
