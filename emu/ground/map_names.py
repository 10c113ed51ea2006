"""Names of EQ2Emulator's map, region and mesh files: a zone's file name and a range of versions.

Source: docs/protocol/maps.md#names; the world server's search for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from emu.errors import FileFormatError

_RANGE: Final = re.compile(r"(.+)-(\d{1,9})-(\d{1,9})")
_USABLE: Final = re.compile(r"[\w.' -]+")
FIRST: Final = 0
LAST: Final = 0xFFFFFFFF
Kept = TypeVar("Kept")


class MapName(NamedTuple):
    """The zone file that a map belongs to, and the client versions it is for."""

    zone: str
    low: int = FIRST
    high: int = LAST

    @property
    def has_range(self) -> bool:
        """Whether it is for some client versions only."""
        return (self.low, self.high) != (FIRST, LAST)

    def __str__(self) -> str:
        return f"{self.zone}-{self.low}-{self.high}" if self.has_range else self.zone


def read_name(stem: str) -> MapName:
    """Return the meaning of a file's name without its ending; letters count in lower case."""
    lower = stem.lower()
    match = _RANGE.fullmatch(lower)
    if match is None:
        return MapName(lower)
    return MapName(match[1], int(match[2]), int(match[3]))


def check_path(name: MapName, path: str) -> None:
    """Raise `FileFormatError` if a file was made from another zone than its name says.

    `path` is the text at the beginning of a map or region file. A name that could leave the
    folder of the written files is refused as well.
    """
    if not _USABLE.fullmatch(name.zone) or name.zone.startswith("."):
        raise FileFormatError("the file's name is no name of a zone")
    if name.zone not in path.lower():
        raise FileFormatError(
            f"was made from {path!r}, not from a file of {name.zone}", place="byte 0"
        )


def chosen(names: Mapping[MapName, Kept], zone: str, version: int | None) -> Kept | None:
    """Return what is kept for a zone file and a client version; None without it.

    Without a version it is the one without a range, which spawns use. A range that has the
    version comes before the one without a range, the narrowest first.
    """
    lower = zone.lower()
    plain = names.get(MapName(lower))
    if version is None:
        return plain
    fitting = (one for one in names if one.zone == lower and one.low <= version <= one.high)
    best = min(fitting, key=lambda one: one.high - one.low, default=None)
    return None if best is None else names[best]


def zones_of(names: Iterable[MapName]) -> set[str]:
    """Return the zone files that names belong to."""
    return {one.zone for one in names}
