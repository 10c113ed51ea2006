"""Settings of the ports by which administrators, their tools and server lists reach the server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.admin.ggmp.peer import WAIT
from emu.admin.ogp.responder import OgpRules
from emu.admin.rcon.session import DIALECTS, RconRules
from emu.config import readers
from emu.config.readers import Address
from emu.config.setting import address_or_none, file_or_none, secret_text, setting
from emu.limits.rates import AnswerRules, FailureRules

# What the parts do when nobody says otherwise; such a default is stated there and shown here.
_RCON: Final = RconRules()
_FAILURES: Final = FailureRules()
_ANSWERS: Final = AnswerRules()
_OGP: Final = OgpRules()


@dataclass(frozen=True, slots=True)
class ConsoleConfig:
    """``[console]``: the socket by which `emu admin` and `emu world console` reach the server."""

    enabled: bool = setting(True, readers.boolean, "listen on the socket")
    path: Path | None = file_or_none(
        "UNIX socket, open to the server's own user only; empty = the database's name and .console"
    )
    connections: int = setting(
        64, readers.integer(1, 10_000), "consoles at once; the oldest idle one makes room"
    )


@dataclass(frozen=True, slots=True)
class RconConfig:
    """``[rcon]``: Source RCON for administrators' tools; closed without a password or users."""

    listen: Address = setting(
        Address("127.0.0.1", 27015), readers.address, "TCP; port 0 = any; passwords go in the clear"
    )
    password: str = secret_text("password of an administrator, or $EMU_RCON_PASSWORD; empty = none")
    password_file: Path | None = file_or_none("file whose first line is the password")
    users_file: Path | None = file_or_none(
        "further users, on each line name, role (guide, master, administrator) and password"
    )
    auth_junk_packet: bool = setting(
        _RCON.auth_junk_packet,
        readers.boolean,
        "send an empty packet ahead of the login's answer; few tools need it",
    )
    dialect: str = setting(
        _RCON.dialect,
        readers.choice(*DIALECTS),
        "whose tools are understood best: most, those for Valve's servers only, or Minecraft's",
    )
    max_request: int = setting(
        _RCON.largest_request,
        readers.integer(512, 1 << 16),
        "largest packet taken, as its size field counts",
    )
    max_connections: int = setting(2000, readers.integer(1, 100_000), "connections at once")
    connections_per_address: int = setting(
        1200, readers.integer(1, 100_000), "connections at once from one IP address"
    )
    idle_timeout: float = setting(
        _RCON.idle_timeout,
        readers.number(1, 1e6),
        "seconds of silence after which a connection is closed",
    )
    banned_after: int = setting(
        _FAILURES.banned_after,
        readers.integer(1, 10_000),
        "wrong passwords after which an address stays out",
    )
    banned_for: float = setting(
        _FAILURES.banned_for, readers.number(1, 1e7), "seconds for which it stays out"
    )


@dataclass(frozen=True, slots=True)
class QueryConfig:
    """``[query]``: what holds for the ports of OGP, A2S and SSQ, where server lists ask."""

    name: str = setting("", readers.text(0, 63), "name in server lists; empty = the world's")
    per_address: int = setting(
        int(_ANSWERS.address_rate),
        readers.integer(1, 1_000_000),
        "answers a second for one IP address with a challenge or token, and for one UDP port of an"
        " address without; twice as many once",
    )
    unproven_per_address: int = setting(
        int(_ANSWERS.unproven_rate),
        readers.integer(1, 1_000_000),
        "answers a second for all UDP ports of one IP address without a challenge, by OGP and A2S;"
        " twice as many once; query.per_address when that is more",
    )
    per_second: int = setting(
        int(_ANSWERS.share_rate),
        readers.integer(1, 10_000_000),
        "answers a second of each port, for all unknown addresses; as many for addresses that"
        " showed a challenge in the last 15 minutes, and as many for questions that show one",
    )
    addresses: int = setting(
        _ANSWERS.most_addresses,
        readers.integer(1, 10_000_000),
        "unknown addresses remembered at once; as many that showed a challenge",
    )


@dataclass(frozen=True, slots=True)
class OgpConfig:
    """``[ogp]``: the Open Game Protocol, by which tools ask for players, zones and rules."""

    listen: Address | None = address_or_none("UDP; empty = off; port 0 = any")
    dialect: str = setting(
        "auto", readers.choice("auto", "0.91", "0.94"), "version that is answered; auto = both"
    )
    game_id: int = setting(0, readers.integer(0, 0xFFFF), "number of the game, told to tools")
    host_name_colors: tuple[tuple[int, int, int], ...] = setting(
        (),
        readers.list_of(readers.color_change, 32),
        'colors of the name, each "BYTE:VALUE" or "BYTE:VALUE:COLOR", as "0:0x0a"',
    )
    most_parts: int = setting(_OGP.most_parts, readers.integer(1, 127), "datagrams of one answer")
    masters: tuple[Address, ...] = setting(
        (), readers.list_of(readers.address, 8), "master servers that are told of this one"
    )


@dataclass(frozen=True, slots=True)
class A2sConfig:
    """``[a2s]``: Source server queries, which server lists and monitors of today ask."""

    listen: Address | None = address_or_none("UDP; empty = off; port 0 = any")


@dataclass(frozen=True, slots=True)
class SsqConfig:
    """``[ssq]``: Standard Server Queries, selections in the manner of SQL about this server."""

    enabled: bool = setting(
        False, readers.boolean, "answer; a short question may draw 1400 bytes to a forged address"
    )
    listen: Address = setting(Address("127.0.0.1", 26999), readers.address, "UDP; port 0 = any")
    password: str = secret_text(
        "opens players' addresses and long answers, or $EMU_SSQ_PASSWORD; empty = to nobody"
    )
    password_file: Path | None = file_or_none("file whose first line is the password")
    headers: str = setting(
        "normal",
        readers.choice("normal", "compact", "null"),
        "header row where a question names none: columns, 1 and 0 for them, or nothing",
    )
    datagram_bytes: int = setting(
        1400, readers.integer(512, 1400), "of one datagram of an answer, its header included"
    )
    per_second: int = setting(
        100,
        readers.integer(1, 10_000_000),
        "answers a second for all unknown addresses, instead of query.per_second: an answer is"
        " larger than its question; each address has query.per_address",
    )


@dataclass(frozen=True, slots=True)
class GgmpConfig:
    """``[ggmp]``: tools that watch spawns of the world and act; closed while nobody may join."""

    listen: Address = setting(
        Address("127.0.0.1", 12358), readers.address, "UDP; port 0 = any; tokens go in the clear"
    )
    policy: str = setting(
        "token",
        readers.choice("token", "open", "static"),
        "who may join: who shows a token, anybody as well, or the clients of clients_file only",
    )
    tokens_file: Path | None = file_or_none(
        "who may join: on each line name, actions (query,watch,say,move or *) and token"
    )
    open_actions: tuple[str, ...] = setting(
        ("query", "watch"),
        readers.list_of(readers.choice("query", "watch", "say", "move"), 4),
        "what those may do who show no token where the policy is open",
    )
    clients_file: Path | None = file_or_none(
        "for the policy static: on each line name, actions, client number and its IP address"
    )
    byteorder: str = setting(
        "big", readers.choice("big", "little"), "of all numbers; the protocol's text names none"
    )
    resend_milliseconds: int = setting(
        round(WAIT * 1000),
        readers.integer(10, 1000),
        "until what is not acknowledged is sent again; far off, 200",
    )

    @property
    def may_be_joined(self) -> bool:
        """Whether the policy and its file let anybody join."""
        if self.policy == "static":
            return self.clients_file is not None
        return self.policy == "open" or self.tokens_file is not None


@dataclass(frozen=True, slots=True)
class WebConfig:
    """``[web]``: health, metrics, JSON and a page of the running server, over HTTP."""

    listen: Address | None = address_or_none(
        "TCP address of the page and /metrics; empty = off. There is no password to look: keep it"
        " on loopback, or behind a proxy that asks for one",
    )
    hosts: tuple[str, ...] = setting(
        (),
        readers.list_of(readers.host, 32),
        "names by which browsers and programs reach the page, as emu.example.org; besides them"
        " localhost, IP addresses, web.listen and web.url are answered, and no other name",
    )
    admin: bool = setting(
        False,
        readers.boolean,
        "let accounts whose characters have a rank sign in on the page and kick, ban, mute,"
        " broadcast, lock and shut down",
    )
    url: str | None = setting(
        None,
        readers.optional(readers.https_origin),
        "how browsers reach the page through a proxy with TLS, as https://emu.example.org; empty ="
        " without one, for web.admin from this machine only",
    )
    proxies: tuple[str, ...] = setting(
        (),
        readers.list_of(readers.ip_address, 16),
        "IP addresses of the proxies at web.url; empty = on this machine",
    )
    idle_timeout: float = setting(
        1800.0, readers.number(60, 1e6), "seconds without an action until somebody is signed out"
    )
    session_timeout: float = setting(
        43_200.0, readers.number(60, 1e7), "seconds after which everybody has to sign in again"
    )
    connections: int = setting(
        512,
        readers.integer(1, 100_000),
        "connections at once; the oldest one of nobody who is signed in makes room",
    )
    connections_per_address: int = setting(
        512, readers.integer(1, 100_000), "connections at once from one IP address"
    )
    requests_per_connection: int = setting(
        1000, readers.integer(1, 1_000_000), "requests after which a connection is closed"
    )
    request_timeout: float = setting(
        30.0, readers.number(1, 3600), "seconds within which a request has to arrive"
    )
    answer_timeout: float = setting(
        30.0, readers.number(1, 3600), "seconds within which an answer has to be read"
    )
    send_buffer: int = setting(
        131_072,
        readers.integer(4096, 1 << 24),
        "bytes that the system keeps for a connection that does not read",
    )
    work_share: float = setting(
        0.2,
        readers.number(0.01, 1),
        "share of the time of one CPU that answers may take while requests wait",
    )
    pages: int = setting(
        50,
        readers.integer(1, 10_000),
        "pages that are open at once; the oldest one of nobody who is signed in makes room",
    )
