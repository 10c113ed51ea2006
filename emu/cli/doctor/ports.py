"""Ports: whether each is free or the server's own, and the room that the system gives them."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.admin.snapshot import Snapshot
from emu.cli.config.check import bind_error
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config
from emu.config.ports import ListeningPort, listening_ports
from emu.errors import ConfigError
from emu.net.hosts import listen_address
from emu.net.udp.shell import RECEIVE_BUFFER

PORTS: Final = "ports"
RECEIVE_LIMIT: Final = Path("/proc/sys/net/core/rmem_max")


def look_at_ports(
    config: Config, running: Snapshot | None, *, is_hidden: bool
) -> Iterator[Finding]:
    """Look at every port of the configuration, and at the system's buffers for UDP.

    `is_hidden`: a server may run that does not tell which ports are its own.
    """
    for port in listening_ports(config):
        try:
            at = listen_address(port.key, port.address)
        except ConfigError as error:
            yield fail(PORTS, str(error), "write an address, or mend the name server")
            continue
        reason = bind_error(port.protocol, at)
        number = None if reason is None else reason.errno or errno.EINVAL
        yield judge_port(port._replace(address=at), number, running, is_hidden=is_hidden)
    if RECEIVE_LIMIT.exists():
        yield judge_buffer(int(RECEIVE_LIMIT.read_text("ascii")))


def judge_port(
    port: ListeningPort, error: int | None, running: Snapshot | None, *, is_hidden: bool = False
) -> Finding:
    """Judge a port by the number of the error that binding it gave, None for none."""
    key, protocol, at = port
    where = f"{key}: {protocol} {at}"
    doors = running.doors if running is not None else ()
    is_ours = any((door.protocol, door.address) == (protocol, str(at)) for door in doors)
    if is_ours:
        return ok(PORTS, f"{where} is the running server's")
    if error is None and running is not None and at.port:
        return warn(
            PORTS, f"{where} is not open, though the server runs",
            "it was set after the start, or closed for lack of users: look into the log, restart",
        )  # fmt: skip
    if error is None:
        return ok(PORTS, f"{where} is free")
    if error == errno.EADDRINUSE and is_hidden:
        return ok(PORTS, f"{where} is taken, probably by the server that cannot be asked")
    if error == errno.EADDRINUSE:
        return fail(
            PORTS, f"{where} is taken by another program",
            f"ss -lunptH 'sport = {at.port}' shows which; stop it, or set {key}",
        )  # fmt: skip
    if error == errno.EADDRNOTAVAIL:
        return fail(
            PORTS, f"{key}: {at.host} is no address of this machine",
            "listen on 0.0.0.0, and put the public address into world.advertise",
        )  # fmt: skip
    if error == errno.EACCES:
        return fail(
            PORTS, f"{where}: ports below 1024 are not for this user",
            f"set {key} to a higher one, or AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit",
        )  # fmt: skip
    return fail(PORTS, f"{where} cannot be opened ({errno.errorcode.get(error)})", f"set {key}")


def judge_buffer(limit: int) -> Finding:
    """Judge the bytes that the system lets wait in one UDP socket."""
    if limit >= RECEIVE_BUFFER:
        return ok(PORTS, f"UDP sockets may hold {limit} bytes")
    return warn(
        PORTS,
        f"UDP sockets hold {limit} bytes at most; a crowd that comes back at once loses datagrams",
        f"sysctl -w net.core.rmem_max={RECEIVE_BUFFER}, and the same in /etc/sysctl.d",
    )
