"""A server's status as a test wants it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from emu.admin.status import NO_ZONE, AddOnStatus, PlayerStatus, ServerStatus, ZoneStatus
from emu.times import Monotonic

NOW = Monotonic(1000.0)
BOB = PlayerStatus(
    id=1000, name="Bob", level=20, race="Erudite", class_="Wizard", zone=0,
    since=Monotonic(700.0), ping=50, address="192.0.2.7", link_dead=False, game_master=False,
)  # fmt: skip
ZOE = replace(BOB, id=1001, name="Zoë", zone=NO_ZONE, game_master=True)
HARBOR = ZoneStatus(
    id=12, instance=0, name="Qeynos Harbor", file="qey_harbor", players=1, places=0, spawns=9,
    ping=50,
)  # fmt: skip


def server_status(**changes: Any) -> ServerStatus:
    """Return a server with two players; `changes` are fields that are otherwise."""
    status = ServerStatus(
        taken=NOW, name="Qeynos", game="EverQuest II", version="0.1.0", platform="linux",
        port=9000, since=Monotonic(0.0), locked=False, places=500, online=2, map="Qeynos Harbor",
        map_file="qey_harbor", zones=(HARBOR, replace(HARBOR, instance=1)), players=(BOB, ZOE),
        rules=(("motd", "hi"),),
        add_ons=(AddOnStatus("greeter", "Greets.", "0.1.0", active=True),),
    )  # fmt: skip
    return replace(status, **changes)


def crowd(count: int) -> tuple[PlayerStatus, ...]:
    """Return so many players."""
    return tuple(replace(BOB, id=number, name=f"Player{number:04}") for number in range(count))
