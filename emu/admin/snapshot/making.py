"""The server's side: status, measures, open ports and last lines become one JSON value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from emu.admin.status import OpenDoor, ServerStatus
from emu.admin.web import api
from emu.measures import Reading
from emu.measures.families import Buckets
from emu.times import Monotonic


def snapshot_value(
    status: ServerStatus,
    now: Monotonic,
    readings: Iterable[Reading],
    doors: Iterable[OpenDoor],
    *,
    lines: Sequence[str],
    process: int,
) -> dict[str, Any]:
    """Return what `Snapshot.of` reads; `process` is the server's process id.

    `status` may be a second older than the readings, which are of `now`.
    """
    players = zip(api.players(status), status.players, strict=True)
    return {
        "process": process,
        "taken": now,
        "server": api.summary(status),
        "worlds": api.worlds(status),
        "zones": api.zones(status),
        "players": [{**told, "address": player.address} for told, player in players],
        "doors": [asdict(door) for door in doors],
        "measures": {reading.family.name: _values(reading) for reading in readings},
        "log": list(lines),
    }


def _values(reading: Reading) -> list[list[Any]]:
    """Return pairs of label values and a number, or the buckets of a histogram."""
    return [
        [list(labels), asdict(value) if isinstance(value, Buckets) else value]
        for labels, value in reading.values.items()
    ]
