"""Rules between several settings. The reader of each setting checks its single value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from emu.config.model import Config
from emu.config.ports import shared_ports
from emu.limits.addresses import is_loopback

SHORTEST_SECRET = 16
"""Characters of the shared secret; a shorter one could be guessed from a recorded login."""
_WEB_ADDRESS = re.compile(r"https?://[^/\s]+(/\S*)?")
LINK_TEXTS = {"name": 200, "account": 29, "advertise": 79, "internal_address": 79}
"""Settings of the world that are sent to login servers, with the bytes of each on the link."""


def contradictions(config: Config) -> Iterator[str]:
    """Yield one line for each rule between settings that is broken."""
    if not config.login.enabled and not config.world.enabled:
        yield "login.enabled, world.enabled: at least one must be true, or there is nothing to run"
    yield from _between_processes(config)
    for port, first in shared_ports(config):
        yield f"{port.key}: {port.address} is {first.key} as well; give it another port"
    yield from _registration(config)
    if any(master.port == 0 for master in config.ogp.masters):
        yield "ogp.masters: each needs the port that it listens on, not 0"
    for key, most in LINK_TEXTS.items():
        if len((getattr(config.world, key) or "").encode()) > most:
            yield f"world.{key}: must have at most {most} bytes in UTF-8"
    yield from _unsafe_pages(config)
    if config.webhook.url and not _WEB_ADDRESS.fullmatch(config.webhook.url):
        yield "webhook.url: must begin with https:// or http:// and a host name"
    if (config.link.certificate is None) != (config.link.tls_listen is None):
        yield "link.certificate, link.tls_listen: TLS needs both of them"


def _registration(config: Config) -> Iterator[str]:
    """Yield the broken rules about the login servers with which the world registers."""
    world = config.world
    servers, fingerprints = world.login_servers, world.login_tls_fingerprints
    if world.enabled and not (config.login.enabled or servers or config.processes.hub):
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
    if not web.admin:
        return
    if not config.login.enabled or not config.world.enabled:
        yield (
            "web.admin: needs login.enabled and world.enabled: accounts sign in with the rank of"
            " their characters"
        )
    if web.listen is None:
        yield "web.admin: needs web.listen, the address of the page"
    elif _is_local(web.listen.host):
        return
    elif web.url is None:
        yield (
            f"web.admin: passwords would cross the network in the clear at {web.listen}; listen on"
            " 127.0.0.1, or set web.url to that of a proxy with TLS"
        )
    elif not web.proxies:
        yield f"web.proxies: must name the proxies that reach {web.listen}; others are refused"


def _between_processes(config: Config) -> Iterator[str]:
    """Yield the broken rules about a world of several processes."""
    processes = config.processes
    is_hub, is_member = processes.listen is not None, processes.hub is not None
    if is_hub and is_member:
        yield "processes.listen, processes.hub: a process is the hub or a member, not both"
    if is_hub or is_member:
        if len(processes.secret) < SHORTEST_SECRET:
            yield f"processes.secret: must have at least {SHORTEST_SECRET} characters"
        if not config.world.enabled:
            yield "processes: only a process with a world can be one of several"
    if is_member:
        yield from _member(config)
    elif processes.hub_tls_fingerprint:
        yield "processes.hub_tls_fingerprint: only a member has it, which needs processes.hub"
    if (processes.zones or processes.certificate) and not is_hub:
        yield (
            "processes.zones, processes.certificate: only the hub has them, which needs"
            " processes.listen"
        )
    yield from _zone_assignments(config)


def _member(config: Config) -> Iterator[str]:
    """Yield the broken rules about a process that is a member."""
    if not config.processes.name:
        yield "processes.name: a member needs one"
    if config.login.enabled or config.world.login_servers:
        yield "login.enabled, world.login_servers: the hub serves logins; turn both off at a member"


def _zone_assignments(config: Config) -> Iterator[str]:
    for entry in config.processes.zones:
        zone, equals, process = entry.partition("=")
        if not (zone.strip() and equals and process.strip()):
            yield f"processes.zones: {entry!r} must be ZONE=PROCESS"


def doubts(config: Config) -> Iterator[str]:
    """Yield one line for each combination that is allowed but probably a mistake."""
    login, world = config.login, config.world
    both = login.enabled and world.enabled and not world.login_servers
    if both and _is_local(world.listen.host) and not _is_local(login.listen.host):
        yield (
            f"login.listen: other machines can log in at {login.listen}, but cannot enter"
            f" the world: world.listen is {world.listen}; set it to an address that they reach"
        )
    hub = config.processes.listen
    if hub is not None and not _is_local(hub.host) and config.processes.certificate is None:
        yield (
            f"processes.listen: {hub} is open to other machines without TLS. Others can read and"
            " change the data on the way; set processes.certificate"
        )


def _is_local(host: str) -> bool:
    return host == "localhost" or is_loopback(host)
