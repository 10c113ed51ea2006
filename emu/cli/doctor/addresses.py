"""Addresses: what clients are told, and whether they can go there."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from emu.cli.config.check import look_at_world
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config
from emu.limits.addresses import is_loopback, parse_host
from emu.world.registration.addresses import is_private

ADDRESSES: Final = "addresses"
SHARED: Final = ipaddress.ip_network("100.64.0.0/10")
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  # nothing is bound here


def look_at_addresses(config: Config) -> Iterator[Finding]:
    """Look at what the login server and the world tell clients."""
    for found in look_at_world(config):
        key = found.text.partition(":")[0]
        judge = fail if found.grave else warn
        yield judge(ADDRESSES, found.text, f"set {key}")
    if config.login.enabled:
        yield judge_login(config.login.listen.host)
    if config.world.enabled:
        yield judge_told(config)
        yield from judge_internal(config)
        yield from judge_families(config)


def judge_login(host: str) -> Finding:
    """Judge who can reach the login server by the address it listens on."""
    if _is_local(host):
        return ok(ADDRESSES, f"only this machine can log in: login.listen is {host}")
    where = "on every address" if host in EVERYWHERE else f"on {host}"
    return ok(ADDRESSES, f"clients log in {where}: cl_ls_address must name one they reach")


def judge_told(config: Config) -> Finding:
    """Judge where players are sent when they enter the world."""
    listen, advertise = config.world.listen, config.world.advertise
    is_open = not _is_local(config.login.listen.host) or not config.login.enabled
    told = advertise or ("127.0.0.1" if listen.host in EVERYWHERE else listen.host)
    where = f"players are told that the world is at {told}, UDP {listen.port}"
    if _is_local(listen.host) and is_open:
        return fail(
            ADDRESSES, f"others can log in, and not enter: world.listen is {listen}",
            "set world.listen to an address that they reach, or 0.0.0.0",
        )  # fmt: skip
    if _is_local(told) and is_open:
        return fail(
            ADDRESSES, f"{where}, which is themselves",
            "set world.advertise to the address that players reach",
        )  # fmt: skip
    if is_open and _is_shared(told):
        return fail(
            ADDRESSES, f"{where}: an address that the provider shares among its customers",
            "ask the provider for a public one, or use a VPN: nothing can be forwarded to it",
        )  # fmt: skip
    if is_open and is_private(told) and not config.world.internal_address:
        return warn(
            ADDRESSES, f"{where}: a private address, good in the LAN only",
            "for players from outside set world.advertise to the router's public address,"
            f" world.internal_address to {told}, and forward UDP to this machine",
        )  # fmt: skip
    if is_open and not is_private(told) and not _is_local(told):
        return ok(ADDRESSES, f"{where}; a router on the way must forward it to the same number")
    return ok(ADDRESSES, where)


def judge_internal(config: Config) -> Iterator[Finding]:
    """Judge the address for clients in the LAN."""
    internal = config.world.internal_address
    if internal and not is_private(internal):
        yield warn(
            ADDRESSES, f"world.internal_address is {internal}, which is no private address",
            "it is for clients in the LAN: set the server's address there",
        )  # fmt: skip


def judge_families(config: Config) -> Iterator[Finding]:
    """Judge whether the world listens on the kind of address that players are told."""
    advertise, host = config.world.advertise, config.world.listen.host
    if advertise is None or _version(advertise) is None or _version(host) is None:
        return
    if _version(advertise) != _version(host) and host != "::":
        yield fail(
            ADDRESSES, f"players are told {advertise}, and the world listens on {host} only",
            "listen on the same kind of address: IPv6 and IPv4 do not reach each other",
        )  # fmt: skip


def _is_local(host: str) -> bool:
    return host == "localhost" or is_loopback(host)


def _is_shared(host: str) -> bool:
    """Say whether an address is one of those that providers put whole towns behind (RFC 6598)."""
    try:
        return parse_host(host) in SHARED
    except ValueError:
        return False


def _version(host: str) -> int | None:
    try:
        return parse_host(host).version
    except ValueError:
        return None
