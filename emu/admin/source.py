"""A server's status as a Source server's command ``status`` shows it, which tools parse."""

from __future__ import annotations

from emu.admin.status import PlayerStatus, ServerStatus

COLUMNS = "# userid name uniqueid connected ping loss state adr"


def status_lines(status: ServerStatus) -> list[str]:
    """Return the lines of a status: the server, then its players.

    The map is a file and a point, as there; nobody looks at a dedicated server's point.
    """
    head = {
        "hostname": status.name,
        "version": f"{status.version} ({status.game})",
        "port": str(status.port),
        "map": f"{status.map_file or 'none'} at: 0 x, 0 y, 0 z",
        "uptime": duration(status.uptime),
        "worlds": ", ".join(world.name for world in status.worlds) or "none",
        "zones": _zones(status),
        "locked": "yes" if status.locked else "no",
        "players": f"{len(status.players)} humans, 0 bots ({status.room} max)",
    }
    lines = [f"{name:<8}: {value}" for name, value in head.items()]
    return [*lines, "", COLUMNS, *(_row(status, player) for player in status.players)]


def _zones(status: ServerStatus) -> str:
    """Return how many zones run, and the one where most players are."""
    busiest = f", most players in {status.map}" if status.players else ""
    return f"{len(status.zones)}{busiest}"


def duration(seconds: float) -> str:
    """Return a duration as ``[hours:]minutes:seconds``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _row(status: ServerStatus, player: PlayerStatus) -> str:
    """Return a player's line; the state of one whose link is gone is "spawning", as there."""
    connected = duration(status.taken - player.since)
    state = "spawning" if player.link_dead else "active"
    return (
        f'#{player.id:>7} "{player.name}" EQ2:{player.id} {connected} {player.ping} 0 {state}'
        f" {player.address}"
    )
