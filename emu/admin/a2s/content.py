"""What A2S tells of our server.

Source: docs/protocol/administration/a2s.md#ours.
"""

from __future__ import annotations

from typing import Final

from emu.admin.a2s.messages import Info, Player
from emu.admin.status import ServerStatus
from emu.counts import counted

FOLDER: Final = "eq2"
_SYSTEMS: Final = {"win32": "w", "cygwin": "w", "darwin": "m"}
_BYTE: Final = 0xFF


def info_of(status: ServerStatus) -> Info:
    """Return the server as a list shows it: full only when it is, however many a byte can say."""
    places = min(status.room or _BYTE, _BYTE)
    is_full = status.online >= status.room > 0
    return Info(
        name=status.name,
        map=status.map_file,
        folder=FOLDER,
        game=status.game,
        players=status.online if is_full else min(status.online, places - 1),
        places=places,
        version=status.version,
        system=_SYSTEMS.get(status.platform, "l"),
        private=status.locked,
        port=status.port,
        keywords=",".join(_keywords(status)),
    )


def _keywords(status: ServerStatus) -> list[str]:
    """Return words to search for, and the numbers that are too large for a byte."""
    words = [FOLDER, "pve"]
    if status.online >= _BYTE:
        words.append(f"players:{status.online}")
    if status.places > _BYTE:
        words.append(f"places:{status.places}")
    return words


def players_of(status: ServerStatus) -> list[Player]:
    """Return the players; their score is their level."""
    return [
        Player(player.name, player.level, status.taken - player.since) for player in status.players
    ]


def rules_of(status: ServerStatus) -> list[tuple[str, str]]:
    """Return the rules, with the counts in full, the zones and the behaviors, by name."""
    rules = dict(status.rules) | {
        "players": str(status.online),
        "uptime": str(int(status.uptime)),
    }
    for zone in status.zones:
        rules[f"zone {zone.file} {zone.instance}"] = counted(zone.players, "player")
    for one in status.add_ons:
        rules[f"behavior {one.name}"] = one.version
    return sorted(rules.items())
