"""`emu status`: the running server at one moment, as plain rows.

Numbers per second come from two snapshots; they are None without an earlier one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from emu.admin.commands.server import SNAPSHOT
from emu.admin.snapshot import HistogramReading, Rates, Snapshot
from emu.admin.status import duration
from emu.cli.common import load_config
from emu.cli.console_socket import ConsoleSocket, NoServer
from emu.cli.tables import json_text, line_format_option, print_record, print_rows
from emu.errors import CommandError, PeerError
from emu.texts import counted

PATIENCE: Final = 5.0
"""Seconds to wait for the server's answer."""


def ask(path: Path) -> Any:
    """Return a snapshot as the server sends it.

    Raises `NoServer` if none is running, `CommandError` for any other answer.
    """
    try:
        with ConsoleSocket(path, timeout=PATIENCE) as console:
            reply = console.run(SNAPSHOT)
    except NoServer as error:
        raise NoServer(f"{error} Start one with: emu run") from None
    if not reply.ok:
        raise CommandError(f"{path}: {' '.join(reply.lines)}; is an older server running?")
    return reply.data


def read(value: Any) -> Snapshot:
    """Return the snapshot of a server's data. Raises `CommandError` for other data."""
    try:
        return Snapshot.of(value)
    except PeerError as error:
        raise CommandError(f"unreadable answer of the server: {error.reason}") from None


Row = dict[str, Any]

SESSION_PORTS: Final = ("login", "world")
"""Ports with sessions, by the metrics' label `port`."""
DROPS: Final = (
    "session_drops",
    "datagrams_refused",
    "login_drops",
    "world_drops",
    "link_drops",
    "world_link_drops",
)
"""Counters of dropped and refused requests; their last label is the reason."""
QUEUES: Final = {
    "passwords_waiting": "passwords",
    "store_waiting": "database",
    "writes_waiting": "writes",
}


def headline(now: Snapshot) -> str:
    """Return the server in one line."""
    server = now.server
    locked = ", locked" if server["locked"] else ""
    up = duration(float(server["uptime"]))
    return f"{server['name']}, {server['version']}, up {up}, process {now.process}{locked}"


def population(now: Snapshot) -> str:
    """Return the number of players."""
    server = now.server
    places = f" of {server['places']}" if server["places"] else ""
    here = counted(int(server["players"]), "player")
    zones = counted(len(now.zones), "zone")
    return f"{here}{places} in {zones}, {server['online']} in all worlds"


def sessions(now: Snapshot) -> str:
    """Return the number of sessions by port."""
    ports = [f"{port} {now.number('sessions_now', port):.0f}" for port in SESSION_PORTS]
    half_open = now.number("sessions_half_open")
    return f"{', '.join(ports)}; {half_open:.0f} not validated yet"


def logins(now: Snapshot) -> str:
    """Return the number of logins by result."""
    results = now.by_last("logins")
    reasons = _listed(now.by_last("logins_refused"))
    text = f"{results.get('accepted', 0):.0f} accepted, {results.get('refused', 0):.0f} refused"
    return f"{text} ({reasons})" if reasons else text


def queues(now: Snapshot) -> str:
    """Return the lengths of the queues."""
    return ", ".join(f"{name} {now.number(key):.0f}" for key, name in QUEUES.items())


def ticks(histogram: HistogramReading) -> str:
    """Return the tick times: median and 99th percentile."""
    half, most = histogram.quantile(0.5), histogram.quantile(0.99)
    if half is None or most is None:
        return "none yet"
    return f"p50 {milliseconds(half)} ms, p99 {milliseconds(most)} ms"


def milliseconds(seconds: float | None) -> float | None:
    """Return a time in milliseconds with suitable digits."""
    if seconds is None:
        return None
    value = seconds * 1000
    return round(value, 0 if value >= 100 else 1 if value >= 1 else 2)


def summary(rates: Rates) -> dict[str, str]:
    """Return the server's state in a few named lines."""
    now = rates.now
    troubles = {"troubles": "; ".join(now.troubles)} if now.troubles else {}
    return {
        "server": headline(now),
        "players": population(now),
        "sessions": sessions(now),
        "logins": logins(now),
        "world ticks": ticks(rates.histogram("world_tick_seconds")),
        "waiting": queues(now),
        **troubles,
    }


def world_rows(now: Snapshot) -> list[Row]:
    """Return the worlds that are registered here."""
    return [
        {
            "world": world["name"],
            "state": "locked" if world["locked"] else "up" if world["up"] else "down",
            "players": world["players"],
        }
        for world in now.worlds
    ]


def zone_rows(rates: Rates) -> list[Row]:
    """Return the running zones, those with the most players first."""
    found = []
    for zone in rates.now.zones:
        taken = rates.histogram("zone_tick_seconds", zone["file"], str(zone["instance"]))
        found.append(
            {
                "zone": zone["name"],
                "instance": zone["instance"],
                "players": zone["players"],
                "spawns": zone["spawns"],
                "ping": zone["ping"],
                "tick_p50_ms": milliseconds(taken.quantile(0.5)),
                "tick_p99_ms": milliseconds(taken.quantile(0.99)),
            }
        )
    return sorted(found, key=lambda row: (-int(row["players"]), str(row["zone"])))


def player_rows(now: Snapshot) -> list[Row]:
    """Return the players with their seconds in the world."""
    return [
        {
            "player": player["name"],
            "level": player["level"],
            "class": player["class_"],
            "zone": player["zone"],
            "ping": player["ping"],
            "online": int(player["online"]),
            "state": "link-dead" if player["link_dead"] else "",
            "address": player["address"],
        }
        for player in now.players
    ]


def listener_rows(now: Snapshot) -> list[Row]:
    """Return the listeners with their numbers of requests."""
    return [
        {
            "listener": one.key,
            "protocol": one.protocol,
            "address": one.address,
            "seen": _listed(one.counters) or _session_counts(now, one.key, one.protocol),
        }
        for one in now.ports
    ]


def traffic_rows(rates: Rates) -> list[Row]:
    """Return the traffic per second of the ports with sessions."""
    return [
        {
            "port": port,
            "sessions": int(rates.now.number("sessions_now", port)),
            "datagrams_in": rates.rate("session_datagrams_received", port),
            "datagrams_out": rates.rate("session_datagrams_sent", port),
            "bytes_in": rates.rate("session_bytes_received", port),
            "bytes_out": rates.rate("session_bytes_sent", port),
            "resent": rates.rate("session_retransmissions", port),
        }
        for port in SESSION_PORTS
        # A process without a world or a login server has no sessions of that port.
        if ((port,) in rates.now.numbers.get("sessions_now", {}))
    ]


def drop_rows(rates: Rates) -> list[Row]:
    """Return drops and refusals by reason: the fastest growing first, then the largest."""
    found = []
    for name in DROPS:
        growing = rates.rates_by_last(name)
        for reason, count in rates.now.by_last(name).items():
            # Without an earlier snapshot the rate is unknown and not zero.
            second = None if rates.before is None else growing.get(reason, 0.0)
            found.append(
                {
                    "dropped_by": name.partition("_")[0],
                    "reason": reason,
                    "count": int(count),
                    "a_second": second,
                }
            )
    return sorted(found, key=lambda row: (-(row["a_second"] or 0), -int(row["count"])))


def growth(rates: Rates) -> list[str]:
    """Return lines of what the server handles per second."""
    lines = [
        f"{row['port']:<5} {row['sessions']} sessions,"
        f" in {short(row['datagrams_in'])}/s {short(row['bytes_in'])}B/s,"
        f" out {short(row['datagrams_out'])}/s {short(row['bytes_out'])}B/s,"
        f" resent {short(row['resent'])}/s"
        for row in traffic_rows(rates)
    ]
    # Without an earlier snapshot nothing is known; a sum would show zero.
    dropped = None if rates.before is None else sum(row["a_second"] for row in drop_rows(rates))
    return [*lines, f"logins {short(rates.rate('logins'))}/s, dropped {short(dropped)}/s"]


def short(number: float | None) -> str:
    """Return a number in about four letters, with k, M or G; a dash if it is not known."""
    if number is None:
        return "-"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def _session_counts(now: Snapshot, key: str, protocol: str) -> str:
    """Return the traffic of a port's sessions."""
    port = key.partition(".")[0]
    if protocol != "UDP" or port not in SESSION_PORTS:
        return ""
    datagrams = {
        f"datagrams {way}": now.number(f"session_datagrams_{counter}", port)
        for way, counter in (("in", "received"), ("out", "sent"))
    }
    return f"sessions {now.number('sessions_now', port):.0f}, {_listed(datagrams) or 'idle'}"


def _listed(counts: Mapping[str, float]) -> str:
    """Return the counts that are not zero, the largest first."""
    ordered = sorted(counts.items(), key=lambda one: -one[1])
    return ", ".join(f"{name} {count:.0f}" for name, count in ordered if count)


NOT_RUNNING: Final = 3
"""The exit status if no server is running, as init scripts expect."""
MOST_DROPS: Final = 5
"""Maximum number of drop reasons that are shown."""


@click.command()
@line_format_option
def status(*, style: str) -> None:
    """Show the state of the server of this configuration.

    Players, sessions, logins by result, tick times, queues; worlds, zones, listeners with their
    requests; the most frequent drops. The exit status is 3 if no server is running, 1 if it does
    not answer.

    Example: emu status
    """
    try:
        value = ask(load_config().console_path)
    except NoServer as error:
        click.echo(f"emu: {error}", err=True)
        sys.exit(NOT_RUNNING)
    if style == "json":
        click.echo(json_text(value))
    else:
        show(read(value))


def show(now: Snapshot) -> None:
    """Print a snapshot for people."""
    rates = Rates(now)
    print_record(summary(rates), "table")
    for found in (
        listener_rows(now),
        world_rows(now),
        zone_rows(rates),
        [_total(row) for row in drop_rows(rates)[:MOST_DROPS]],
    ):
        if found:
            print_rows(found, "table", list(found[0]))


def _total(row: Row) -> Row:
    """Return a row without the values that need two snapshots."""
    return {key: value for key, value in row.items() if key != "a_second"}
