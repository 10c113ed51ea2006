"""The zones a world knows and where new characters begin, read from `data/world/zones.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emu.errors import FileFormatError
from emu.link.batches import ZoneItem
from emu.model import WorldCharacter
from emu.resources import data_file

NO_UNDERWORLD = -1_000_000.0


@dataclass(frozen=True, slots=True)
class ZoneDefinition:
    """One zone: its number, names, and the place where somebody appears."""

    id: int
    name: str
    file: str
    """What clients load it by."""
    description: str
    safe: tuple[float, float, float, float]
    """x, y, z in world units and heading in degrees."""
    underworld: float = NO_UNDERWORLD
    """Height below which somebody has fallen out of the zone."""
    population: int = 0
    """Players of one instance; the next one begins another. 0 is no limit."""
    motd: str = ""
    """What everybody is told who enters."""


class ZoneTable:
    """All zones of a world."""

    def __init__(self, zones: Sequence[ZoneDefinition], start_zone: int) -> None:
        self._zones = {zone.id: zone for zone in zones}
        self._start = start_zone

    def get(self, zone_id: int) -> ZoneDefinition | None:
        """Return a zone by number."""
        return self._zones.get(zone_id)

    def __iter__(self) -> Iterator[ZoneDefinition]:
        """All zones by number."""
        return iter([zone for _, zone in sorted(self._zones.items())])

    def named(self, name: str) -> ZoneDefinition | None:
        """Return a zone by its name, file or number, without regard to case."""
        wanted = name.casefold()
        for zone in self:
            if wanted in (str(zone.id), zone.name.casefold(), zone.file.casefold()):
                return zone
        return None

    def start_zone_of(self, _character: WorldCharacter) -> int:
        """Return the number of the zone where a new character begins."""
        return self._start

    def described(self) -> Sequence[ZoneItem]:
        """Return what login servers are told of each zone, by number.

        Source: docs/protocol/link.md#batches.
        """
        return [
            ZoneItem(zone.id, zone.name, zone.description)
            for _, zone in sorted(self._zones.items())
        ]


def read_zones(path: Path | None = None) -> ZoneTable:
    """Read a zone file, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "zones.toml")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        zones = [_zone(row) for row in document["zone"]]
        start = int(document["start_zone"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: not a zone file: {error!r}") from None
    table = ZoneTable(zones, start)
    if table.get(start) is None:
        raise FileFormatError(f"{path}: start_zone {start} is none of its zones")
    return table


def _zone(row: dict[str, object]) -> ZoneDefinition:
    safe = row["safe"]
    if not isinstance(safe, list) or len(safe) != 4:
        raise ValueError(f"safe of zone {row.get('id')} must be x, y, z, heading")
    x, y, z, heading = (float(number) for number in safe)
    return ZoneDefinition(
        int(str(row["id"])), str(row["name"]), str(row["file"]), str(row["description"]),
        (x, y, z, heading),
        underworld=float(str(row.get("underworld", NO_UNDERWORLD))),
        population=int(str(row.get("population", 0))),
        motd=str(row.get("motd", "")),
    )  # fmt: skip
