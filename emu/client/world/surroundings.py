"""What a client has around it: ghosts by index, with names, places and all their fields.

Fields are decoded when somebody asks for them; an update of hundreds of ghosts costs no more than
its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from emu.client.world import events
from emu.client.world.walking import Place
from emu.dialects.text import read_name
from emu.errors import MalformedMessage
from emu.sight import Ghost, GhostReader, GhostUpdate
from emu.sight.forms import (
    DESTROY_GHOST,
    FOOTERS,
    HEADING_UNIT,
    INFO,
    POSITION,
    UPDATE_GHOST,
    Layouts,
    read_oversized,
)
from emu.sight.position import FULL_TURN, HALF_TURN

GHOST_COMMANDS: Final = frozenset((*FOOTERS, UPDATE_GHOST, DESTROY_GHOST))


class Seen(NamedTuple):
    """One ghost, by its index, as people want to know it; `distance` is on the ground."""

    ghost: int
    name: str
    level: int
    place: Place
    distance: float


class Surroundings:
    """The ghosts of one zone as one client was told of them."""

    __slots__ = ("_names", "_reader")

    def __init__(self, layouts: Layouts) -> None:
        """Begin with none. Raises `UnknownStruct` for versions whose ghosts nobody wrote down."""
        self._reader = GhostReader(layouts)
        self._names: dict[int, tuple[bytes, str]] = {}

    def __len__(self) -> int:
        return len(self._reader.ghosts)

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._reader.ghosts))

    def __contains__(self, index: int) -> bool:
        return index in self._reader.ghosts

    # what the server says; every method raises MalformedMessage

    def take(self, command: str, payload: bytes) -> events.WorldEvent:
        """Take one of the `GHOST_COMMANDS`, and say what it did."""
        if command == UPDATE_GHOST:
            update = self.update(payload)
            return events.Updated(update.time, tuple(update.entries))
        if command == DESTROY_GHOST:
            index, _ = read_oversized(payload, 0)
            gone = events.Vanished(index, self.name(index))
            self.destroy(index)
            return gone
        index = self.create(command, payload)
        return events.Appeared(index, self.name(index))

    def create(self, command: str, payload: bytes) -> int:
        """Take a command that creates a ghost; returns its index."""
        index: int = self._reader.create(command, payload).header["index"]
        return index

    def update(self, payload: bytes) -> GhostUpdate:
        """Take an update of any number of ghosts. Raises `MalformedMessage`."""
        return self._reader.update(payload)

    def destroy(self, index: int) -> None:
        """Forget a ghost."""
        self._reader.destroy(index)
        self._names.pop(index, None)

    # what one asks

    def name(self, index: int) -> str:
        """Return a ghost's name, empty for one that is not there."""
        ghost = self._reader.ghosts.get(index)
        if ghost is None:
            return ""
        info = ghost.parts[INFO]
        known = self._names.get(index)
        if known is None or known[0] != info:
            name = read_name(self._reader.part_fields(INFO, info)["name"].rstrip("\0"))
            known = self._names[index] = (info, name)
        return known[1]

    def find(self, name: str) -> int | None:
        """Return the index of a ghost by name, without regard to case."""
        wanted = name.casefold()
        return next((index for index in self if self.name(index).casefold() == wanted), None)

    def place(self, index: int) -> Place:
        """Return where a ghost is. Raises `KeyError`."""
        return place_of(self.part(index, POSITION))

    def part(self, index: int, part: int) -> dict[str, Any]:
        """Return the fields of one part of a ghost. Raises `KeyError`."""
        return self._reader.part_fields(part, self._ghost(index).parts[part])

    def fields(self, index: int) -> dict[str, Any]:
        """Return all fields of a ghost: the header's, then each part's under its name.

        Raises `KeyError`.
        """
        return self._reader.ghost_fields(self._ghost(index))

    def part_fields(self, part: int, data: bytes) -> dict[str, Any]:
        """Return the fields of a part from its bytes."""
        return self._reader.part_fields(part, data)

    def near(self, center: Place, farthest: float, *, besides: int) -> list[Seen]:
        """Return what is within a distance, the nearest first, besides the viewer's own ghost."""
        found = []
        for index in self:
            place = self.place(index)
            distance = center.distance_to(place)
            if index != besides and distance <= farthest:
                level = self.part(index, INFO)["level"]
                found.append(Seen(index, self.name(index), level, place, distance))
        return sorted(found, key=lambda one: one.distance)

    def _ghost(self, index: int) -> Ghost:
        return self._reader.ghosts[index]


def place_of(position: dict[str, Any]) -> Place:
    """Return the place that the fields of a position part tell.

    Raises `MalformedMessage` when they lack one.
    """
    try:
        heading = position["pos_heading1"] / HEADING_UNIT
        return Place(
            position["pos_x"],
            position["pos_y"],
            position["pos_z"],
            (heading + HALF_TURN) % FULL_TURN,
        )
    except KeyError:
        raise MalformedMessage("position of a ghost without a place") from None
