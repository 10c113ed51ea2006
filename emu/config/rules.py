"""Rules between several settings. The reader of each setting checks its single value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from emu.config.model import Config
from emu.config.ports import shared_ports
from emu.limits.addresses import is_loopback, reachable
from emu.system import HAS_POSIX

SHORTEST_INVITE_CODE = 8
LARGEST_PORT = 65535
_WEB_ADDRESS = re.compile(r"https?://[^/\s]+(/\S*)?")
LINK_TEXTS = {"name": 200, "account": 29, "advertise": 79, "internal_address": 79}
"""Settings of the world that are sent to login servers, with the bytes of each on the link."""


def contradictions(config: Config) -> Iterator[str]:
    """Yield one line for each rule between settings that is broken."""
    if not config.login.enabled and not config.world.enabled:
        yield "login.enabled, world.enabled: at least one must be true, or there is nothing to run"
    for port, first in shared_ports(config):
        yield f"{port.key}: {port.address} is {first.key} as well; give it another port"
    yield from _registration(config)
    yield from _workers(config)
    # Port 0 lets a listener choose; nothing can be sent to it.
    if any(master.port == 0 for master in config.ogp.masters):
        yield "ogp.masters: each needs the port that it listens on, not 0"
    for key, most in LINK_TEXTS.items():
        # The link counts bytes of UTF-8, so letters beyond ASCII count more than once.
        if len((getattr(config.world, key) or "").encode()) > most:
            yield f"world.{key}: must have at most {most} bytes in UTF-8"
    yield from _unsafe_pages(config)
    if config.webhook.url and not _WEB_ADDRESS.fullmatch(config.webhook.url):
        yield "webhook.url: must begin with https:// or http:// and a host name"
    if (config.link.certificate is None) != (config.link.tls_listen is None):
        yield "link.certificate, link.tls_listen: TLS needs both of them"


def _workers(config: Config) -> Iterator[str]:
    """Yield the reasons why several workers could not serve the login port."""
    if config.login.workers == 1:
        return
    if not config.login.enabled:
        yield "login.workers: needs login.enabled; only the login port can have several"
    if not HAS_POSIX:
        yield "login.workers: on Windows the login port has one process; set workers = 1"
    if isinstance(config.database.url, Path):
        yield (
            "login.workers: several processes cannot share a SQLite file; set database.url to"
            " postgresql://USER@HOST/DATABASE, or workers = 1"
        )
    page = config.web.listen
    if page is not None and page.port + config.login.workers - 1 > LARGEST_PORT:
        yield "login.workers, web.listen: each worker has a page, on the ports from web.listen on"
    if config.world.enabled:
        yield (
            "login.workers: needs world.enabled = false; run the world as a server of its own with"
            " the same database"
        )


def _registration(config: Config) -> Iterator[str]:
    """Yield the broken rules about the login servers with which the world registers."""
    world = config.world
    servers, fingerprints = world.login_servers, world.login_tls_fingerprints
    # In a cluster, a node with a login service registers the world.
    in_cluster = not isinstance(config.database.url, Path)
    if world.enabled and not (config.login.enabled or servers or in_cluster):
        yield "world.login_servers: must name a login server when login.enabled is false"
    if servers and not (world.account and world.password):
        yield "world.account, world.password: must be set when world.login_servers names any"
    if any(server.port == 0 for server in servers):
        yield "world.login_servers: each needs the port that it listens on, not 0"
    if fingerprints and len(fingerprints) != len(servers):
        yield "world.login_tls_fingerprints: must hold one for each of world.login_servers"


def _unsafe_pages(config: Config) -> Iterator[str]:
    """Yield the reasons why signing in on the web page would be impossible or unsafe."""
    web = config.web
    if web.proxies and web.url is None:
        yield "web.proxies: needs web.url, the address at which the proxies serve the page"
    if config.login.registration:
        yield from _registration_by_web(config)
        yield from _clear_passwords(config, "login.registration")
    if web.admin:
        if not config.login.enabled or not config.world.enabled:
            yield (
                "web.admin: needs login.enabled and world.enabled: accounts sign in with the rank"
                " of their characters"
            )
        yield from _clear_passwords(config, "web.admin")


def _registration_by_web(config: Config) -> Iterator[str]:
    """Yield the reasons why players could not register."""
    # An empty code means that players need none.
    if 0 < len(config.login.invite_code) < SHORTEST_INVITE_CODE:
        yield f"login.invite_code: must have at least {SHORTEST_INVITE_CODE} characters"
    if not config.login.enabled:
        yield "login.registration: needs login.enabled, the service whose accounts players register"


def _clear_passwords(config: Config, key: str) -> Iterator[str]:
    """Yield the reasons why passwords would not reach the page of a setting, or not safely."""
    web = config.web
    if web.listen is None:
        yield f"{key}: needs web.listen, the address of the page"
    # Only this machine reaches the page, so no password crosses the network.
    elif _is_local(web.listen.host):
        return
    elif web.url is None:
        yield (
            f"{key}: passwords would cross the network in the clear at {web.listen}; listen on"
            " 127.0.0.1, or set web.url to that of a proxy with TLS"
        )
    # Both settings have this fault; it is reported once, for registration if that is on.
    elif not web.proxies and (key == "login.registration" or not config.login.registration):
        yield f"web.proxies: must name the proxies that reach {web.listen}; others are refused"


class Doubt(NamedTuple):
    """A combination of settings that is allowed but probably a mistake."""

    key: str
    text: str
    cure: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}; {self.cure}"


def serves_others(config: Config) -> bool:
    """Return whether players on other machines can log in and choose the world."""
    if config.login.enabled and not config.world.login_servers:
        return not _is_local(config.login.listen.host)
    # If all login servers are on this machine, players elsewhere cannot choose this world.
    servers = [one.host for one in config.world.login_servers]
    return not all(map(_is_local, servers))


def advertised_host(config: Config) -> str:
    """Return the host that clients are sent when they enter the world."""
    return config.world.advertise or reachable(config.world.listen.host)


def unreachable_world(config: Config) -> Doubt | None:
    """Return why players on other machines can log in but not enter, None if nothing is wrong."""
    world = config.world
    if not world.enabled or not serves_others(config):
        return None
    if _is_local(world.listen.host):
        where = f" at {config.login.listen}" if config.login.enabled else ""
        return Doubt(
            "world.listen",
            f"other machines can log in{where}, but cannot enter the world: it is {world.listen}",
            "set it to an address that they reach, or 0.0.0.0",
        )
    host = advertised_host(config)
    if _is_local(host):
        return Doubt(
            "world.advertise",
            f"players get the address {host}, which only this machine can reach",
            "set it to the address that players reach",
        )
    return None


def doubts(config: Config) -> Iterator[str]:
    """Yield one line for each combination that is allowed but probably a mistake."""
    unreachable = unreachable_world(config)
    if unreachable is not None:
        yield str(unreachable)
    if config.login.registration and config.web.url is None:
        yield (
            "login.registration: only this machine reaches the page; for other players set web.url"
            " to the address of a proxy with TLS"
        )


def _is_local(host: str) -> bool:
    return host == "localhost" or is_loopback(host)
