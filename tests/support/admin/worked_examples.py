"""The worked examples of the protocols for administration, and the server that they are about."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from emu.admin.status import NO_ZONE, ListedWorldStatus, PlayerStatus, ServerStatus, ZoneStatus
from emu.times import Monotonic
from tests.support.admin import statuses
from tests.support.admin.statuses import BOB

VECTORS = Path(__file__).parents[2] / "vectors"


def examples(protocol: str) -> list[dict[str, Any]]:
    """The worked examples of a protocol."""
    text = (VECTORS / f"{protocol}.json").read_text(encoding="utf-8")
    read: list[dict[str, Any]] = json.loads(text)["examples"]
    return read


def player_status(number: int, name: str, **values: Any) -> PlayerStatus:
    """Somebody of the worked examples."""
    reported: dict[str, Any] = {
        "level": 10, "race": "Wood Elf", "class_": "Ranger", "zone": NO_ZONE,
        "since": Monotonic(0.0), "ping": 0, "address": "192.0.2.9", "account": 7,
    }  # fmt: skip
    return replace(BOB, id=number, name=name, **(reported | values))


def server_status(**values: Any) -> ServerStatus:
    """The server of the worked examples: two players in one zone."""
    reported: dict[str, Any] = {
        "taken": Monotonic(400.0), "version": "1.2", "map_file": "qeynos_harbor", "add_ons": (),
        "worlds": (ListedWorldStatus("Norrath", up=True, locked=False, players=2),),
        "zones": (ZoneStatus(5, 1, "Qeynos Harbor", "qeynos_harbor", 2, 200, 40, 115),),
        "players": (
            player_status(1, "Bob", since=Monotonic(79.0), ping=50, zone=0),
            player_status(2, "Zo\u00eb", since=Monotonic(391.0), ping=180, zone=0, level=3),
        ),
        "rules": (("motd", "a\nb"), ("path", "c:\\eq2")),
    }  # fmt: skip
    return statuses.server_status(**(reported | values))
