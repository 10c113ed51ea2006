"""Checks of addresses, ports and the running server."""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.admin.snapshot import Snapshot
from emu.cli.config import bind_error, world_problems
from emu.cli.console_socket import NoServer
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cli.watch.status import QUEUES, ask, read, ticks
from emu.config import Config
from emu.config.ports import ListeningPort, listening_ports
from emu.config.rules import advertised_host, serves_others, unreachable_world
from emu.errors import CommandError, ConfigError
from emu.limits.addresses import is_loopback, parse_host
from emu.net.stream import listen_address
from emu.net.udp.sockets import RECEIVE_BUFFER
from emu.world.registration.registry import is_private

ADDRESSES: Final = "addresses"
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  # nothing is bound here
SHARED: Final = ipaddress.ip_network("100.64.0.0/10")


def check_addresses(config: Config) -> Iterator[Finding]:
    """Check the addresses that the login server and the world send to clients."""
    for found in world_problems(config):
        key = found.text.partition(":")[0]
        judge = fail if found.is_fatal else warn
        yield judge(ADDRESSES, found.text, f"set {key}")
    if config.login.enabled:
        yield judge_login(config.login.listen.host)
    if config.world.enabled:
        yield judge_advertised(config)
        yield from judge_internal(config)
        yield from judge_families(config)


def judge_login(host: str) -> Finding:
    """Judge who can reach the login server at the address that it listens on."""
    if _is_local(host):
        return ok(ADDRESSES, f"only this machine can log in: login.listen is {host}")
    where = "on every address" if host in EVERYWHERE else f"on {host}"
    return ok(ADDRESSES, f"clients log in {where}: cl_ls_address must name one they reach")


def judge_advertised(config: Config) -> Finding:
    """Judge the address that players connect to when they enter the world."""
    unreachable = unreachable_world(config)
    if unreachable is not None:
        return fail(ADDRESSES, f"{unreachable.key}: {unreachable.text}", unreachable.cure)
    is_open, advertised = serves_others(config), advertised_host(config)
    where = f"players connect to the world at {advertised}, UDP {config.world.listen.port}"
    if is_open and _is_shared(advertised):
        return fail(
            ADDRESSES, f"{where}: an address that the provider shares among its customers",
            "ask the provider for a public one, or use a VPN: nothing can be forwarded to it",
        )  # fmt: skip
    if is_open and is_private(advertised) and not config.world.internal_address:
        return warn(
            ADDRESSES, f"{where}: a private address, good in the LAN only",
            "for players from outside set world.advertise to the router's public address,"
            f" world.internal_address to {advertised}, and forward UDP to this machine",
        )  # fmt: skip
    if is_open and not is_private(advertised) and not _is_local(advertised):
        return ok(ADDRESSES, f"{where}; a router on the way must forward it to the same number")
    return ok(ADDRESSES, where)


def judge_internal(config: Config) -> Iterator[Finding]:
    """Judge the address for clients in the LAN."""
    internal = config.world.internal_address
    if internal and not is_private(internal):
        yield warn(
            ADDRESSES, f"world.internal_address is {internal}, which is not a private address",
            "it is for clients in the LAN: set the server's address in the LAN",
        )  # fmt: skip


def judge_families(config: Config) -> Iterator[Finding]:
    """Judge whether the world listens on the address family that is sent to players."""
    advertise, host = config.world.advertise, config.world.listen.host
    # A host name may have addresses of both families, so nothing is certain.
    if advertise is None or _version(advertise) is None or _version(host) is None:
        return
    if _version(advertise) != _version(host) and host != "::":
        yield fail(
            ADDRESSES, f"players connect to {advertise}, but the world listens only on {host}",
            "listen on the same address family: IPv4 clients cannot reach IPv6",
        )  # fmt: skip


def _is_local(host: str) -> bool:
    return host == "localhost" or is_loopback(host)


def _is_shared(host: str) -> bool:
    """Return whether an address is from the shared space of carrier-grade NAT (RFC 6598)."""
    try:
        return parse_host(host) in SHARED
    except ValueError:
        return False


def _version(host: str) -> int | None:
    try:
        return parse_host(host).version
    except ValueError:
        return None


PORTS: Final = "ports"
RECEIVE_LIMIT: Final = Path("/proc/sys/net/core/rmem_max")


def check_ports(config: Config, running: Snapshot | None, *, is_hidden: bool) -> Iterator[Finding]:
    """Check every port of the configuration, and the kernel's buffers for UDP.

    With `is_hidden`, a server may be running whose ports are not known.
    """
    for port in listening_ports(config):
        try:
            at = listen_address(port.key, port.address)
        except ConfigError as error:
            yield fail(PORTS, str(error), "set an address, or fix the name resolution")
            continue
        reason = bind_error(port.protocol, at)
        number = None if reason is None else reason.errno or errno.EINVAL
        yield judge_port(port._replace(address=at), number, running, is_hidden=is_hidden)
    if RECEIVE_LIMIT.exists():
        yield judge_buffer(int(RECEIVE_LIMIT.read_text("ascii")))


def judge_port(
    port: ListeningPort, error: int | None, running: Snapshot | None, *, is_hidden: bool = False
) -> Finding:
    """Judge a port by the error number of binding it, None for success."""
    key, protocol, at = port
    where = f"{key}: {protocol} {at}"
    # The server reports its own ports, because the error of a bind does not name the owner.
    open_ports = running.ports if running is not None else ()
    is_ours = any((one.protocol, one.address) == (protocol, str(at)) for one in open_ports)
    if is_ours:
        return ok(PORTS, f"{where} is the running server's")
    # A setting with port 0 has another number in the running server.
    if error is None and running is not None and at.port:
        return warn(
            PORTS, f"{where} is not open, though the server runs",
            "it was set after the start, or has no users: read the log, restart",
        )  # fmt: skip
    if error is None:
        return ok(PORTS, f"{where} is free")
    if error == errno.EADDRINUSE and is_hidden:
        return ok(PORTS, f"{where} is taken, probably by the server that cannot be asked")
    return _bind_fault(port, error)


def _bind_fault(port: ListeningPort, error: int) -> Finding:
    key, protocol, at = port
    where = f"{key}: {protocol} {at}"
    faults = {
        errno.EADDRINUSE: (
            f"{where} is taken by another program",
            f"ss -lunptH 'sport = {at.port}' shows which; stop it, or set {key}",
        ),
        errno.EADDRNOTAVAIL: (
            f"{key}: {at.host} is no address of this machine",
            "listen on 0.0.0.0, and set world.advertise to the public address",
        ),
        errno.EACCES: (
            f"{where}: this user cannot open ports below 1024",
            f"set {key} to a higher one, or AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit",
        ),
    }
    unknown = f"{where} cannot be opened ({errno.errorcode.get(error)})", f"set {key}"
    return fail(PORTS, *faults.get(error, unknown))


def judge_buffer(limit: int) -> Finding:
    """Judge the bytes that the kernel buffers for one UDP socket."""
    if limit >= RECEIVE_BUFFER:
        return ok(PORTS, f"UDP sockets may hold {limit} bytes")
    return warn(
        PORTS,
        f"UDP sockets hold {limit} bytes: datagrams are lost if many players reconnect",
        f"sysctl -w net.core.rmem_max={RECEIVE_BUFFER}, and the same in /etc/sysctl.d",
    )


SERVER: Final = "server"
SLOW_TICK: Final = 0.1
"""Seconds of a zone's tick from which on players notice a delay."""
LONG_QUEUE: Final = 50


def check_server(path: Path) -> tuple[Snapshot | None, list[Finding]]:
    """Return the status of the running server, None without an answer, and the findings."""
    try:
        return read(ask(path)), []
    except NoServer:
        fix = "start one: emu start; or give emu its --config and run emu as its user"
        return None, [warn(SERVER, f"no server listens at {path}", fix)]
    except CommandError as error:
        fix = "run emu as the server's user; else the server hangs: read its log, restart it"
        return None, [fail(SERVER, str(error), fix)]


def judge_server(now: Snapshot, config: Config) -> Iterator[Finding]:
    """Judge a running server."""
    server = now.server
    yield ok(SERVER, f"{server['name']} runs, process {now.process}, version {server['version']}")
    if config.login.enabled:
        yield judge_worlds([world["name"] for world in now.worlds if world["up"]])
    taken = now.histogram("world_tick_seconds")
    slow = taken.quantile(0.99)
    if slow is not None and slow > SLOW_TICK:
        yield warn(
            SERVER, f"ticks are slow: {ticks(taken)}",
            "reduce the spawns or players of the zone that emu top shows",
        )  # fmt: skip
    for trouble in now.troubles:
        yield warn(SERVER, trouble, "the log has the traceback or the behavior's file")
    for key, name in QUEUES.items():
        waiting = int(now.number(key))
        if waiting > LONG_QUEUE:
            yield warn(
                SERVER, f"{waiting} wait for {name}",
                "a slow disk, or too few of login.password_threads",
            )  # fmt: skip
    if server["locked"]:
        yield warn(SERVER, "its world is locked: only game masters can enter", "emu admin unlock")


def judge_worlds(up: list[str]) -> Finding:
    """Judge the worlds that players can choose."""
    if up:
        return ok(SERVER, f"running worlds: {', '.join(up)}")
    return fail(
        SERVER, "no world is running: players can log in but not play",
        "read the log's lines of link and world; emu world list shows the registered worlds",
    )  # fmt: skip
