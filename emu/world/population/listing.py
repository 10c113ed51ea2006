"""The zones and starting places that a content file lists, as the atlas has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from emu.content.file import ContentFile
from emu.content.rules import STARTING_ZONES, ZONE_POPULATION, Rules, read_rules, rules_in_force
from emu.link.messages import MAX_ZONE_FILE
from emu.world.population.files import read_starts
from emu.world.zones.definitions import INSTANCE_KINDS, Start, ZoneDefinition
from emu.world_stream.movement import Position

MOST_PLAYERS: Final = 100_000
"""The largest `population` of a zone."""
LONGEST_LOCK: Final = 31_536_000
"""Seconds that a copy of a zone stays a player's: a year."""
ANY: Final = 255
"""The value of starting places for "any" class, race, choice or deity."""
NO_PLACE: Final = -999_999.0
RULE_FLAG: Final = 8
"""The starting places that the community's own rules choose; those without a flag fit any rule.

A content file without the rule has these.
"""
FARTHEST: Final = 100_000.0
_FROM: Final = Path("content")
"""Where a fault of a starting place is."""


def zone_definitions(file: ContentFile) -> Iterator[ZoneDefinition]:
    """Yield the zones of a content file that clients can load."""
    rules = read_rules(file)
    for row in file.zones():
        name, path = row["name"], row["file"]
        if not name or not path or len(path.encode()) > MAX_ZONE_FILE:
            continue
        x, y, z = (row[f"safe_{axis}"] for axis in "xyz")
        if max(abs(x), abs(y), abs(z)) > FARTHEST:
            x = y = z = 0.0
        yield ZoneDefinition(
            id=row["id"], name=name, file=path, description=row["description"] or name,
            safe=Position(x, y, z, row["safe_heading"] % 360.0),
            underworld=row["underworld"], motd=row["message"], min_level=row["min_level"],
            max_level=row["max_level"], min_status=row["min_status"],
            instance=_instance_kind(row["instance_type"]), lockout=_seconds(row["lockout_time"]),
            reenter=_seconds(row["reenter_time"]), linger=row["shutdown_time"],
            experience=row["xp_modifier"] or 1.0,
            can_bind=bool(row["can_bind"]), can_gate=bool(row["can_gate"]),
            can_evac=bool(row["can_evac"]), population=_population(rules, row["id"]),
        )  # fmt: skip


def _population(rules: Rules, zone_id: int) -> int:
    """Return how many players one copy of a zone takes, 0 for any number."""
    value = rules.of_zone(zone_id).get(ZONE_POPULATION, "").strip()
    return min(int(value), MOST_PLAYERS) if value.isdecimal() else 0


def _instance_kind(name: str) -> str:
    """Return whose copies a zone has, by the name of its type; homes and others have none."""
    if name == "quest_instance":
        return "solo"
    kind = name.partition("_")[0]
    return kind if kind in INSTANCE_KINDS else ""


def _seconds(value: int) -> float:
    return float(min(max(0, value), LONGEST_LOCK))


def starting_places(file: ContentFile, known: Callable[[int], bool]) -> tuple[Start, ...]:
    """Return the starting places of a content file that lead to known zones."""
    rows = []
    value = rules_in_force(file).get(STARTING_ZONES, "").strip()
    flag = int(value) if value.isdecimal() else RULE_FLAG
    for place in file.table("starting_zones"):
        is_chosen = not place["rule_flag"] or place["rule_flag"] & flag
        if not known(place["zone_id"]) or not is_chosen:
            continue
        row: dict[str, Any] = {"zone": place["zone_id"]}
        at = [place[axis] for axis in ("x", "y", "z", "heading")]
        if NO_PLACE not in at:
            row["place"] = at
        conditions = (("class", "class"), ("race", "race"), ("city", "choice"), ("deity", "deity"))
        for key, column in conditions:
            if place[column] != ANY:
                row[key] = [place[column]]
        if place["min_version"] or place["max_version"]:
            row["versions"] = [place["min_version"], place["max_version"] or 0xFFFFFFFF]
        rows.append(row)
    return read_starts(_FROM, rows, int)
