"""Settings of the listeners for operators, their tools, and server lists."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from attrs import frozen

from emu.admin.ggmp.peer import WAIT
from emu.admin.ogp.rules import OgpRules
from emu.admin.rcon import RconDialect, RconRules
from emu.admin.webhook import WebhookEvent, WebhookFormat
from emu.config.readers import (
    COLOR_CHANGE,
    HOST,
    HTTPS_ORIGIN_OR_NONE,
    IP_ADDRESS,
    NETWORK,
    Address,
)
from emu.config.setting import address_or_none, file_or_none, secret_text, setting
from emu.limits.rates import AnswerRules, FailureRules

# The services state their own defaults, so that they also run without a configuration.
_RCON: Final = RconRules()
_FAILURES: Final = FailureRules()
_ANSWERS: Final = AnswerRules()
_OGP: Final = OgpRules()


@frozen
class ConsoleConfig:
    """``[console]``: the socket that `emu admin` and `emu world console` connect to."""

    enabled: bool = setting(True, "Listen on the socket.")
    path: Path | None = file_or_none(
        "UNIX socket; only the server's own user may open it. Empty: the database file's name with"
        " .console appended."
    )
    connections: int = setting(
        64,
        "Consoles at the same time. The server closes the longest idle one to accept another.",
        unit="connections",
        limits=(1, 10_000),
    )


@frozen
class RconConfig:
    """``[rcon]``: Source RCON for administration tools; closed without a password or users."""

    listen: Address = setting(
        Address("127.0.0.1", 27015),
        "Listen here (TCP). Port 0: any free port. Passwords are not encrypted.",
    )
    password: str = secret_text(
        "Password of an administrator; also $EMU_RCON_PASSWORD. Empty: none.", live=True
    )
    password_file: Path | None = file_or_none("File whose first line is the password.", live=True)
    users_file: Path | None = file_or_none(
        "File with further users: one line each, with name, role (guide, gamemaster, admin)"
        " and password.",
        live=True,
    )
    auth_junk_packet: bool = setting(
        _RCON.auth_junk_packet,
        "Send an empty packet before the answer to a login. Few tools need it.",
        live=True,
    )
    dialect: RconDialect = setting(
        _RCON.dialect,
        "Tools to answer best: most tools, only those for Valve's servers, or Minecraft's.",
        live=True,
    )
    max_request: int = setting(
        _RCON.largest_request,
        "Largest packet that is accepted, as its size field counts.",
        unit="bytes",
        limits=(512, 1 << 16),
        live=True,
    )
    max_connections: int = setting(
        2000,
        "Connections at the same time.",
        unit="connections",
        limits=(1, 100_000),
        live=True,
    )
    connections_per_address: int = setting(
        1200,
        "Connections at the same time from one IP address.",
        unit="connections",
        limits=(1, 100_000),
        live=True,
    )
    idle_timeout: float = setting(
        _RCON.idle_timeout,
        "Close a connection after this time without a request.",
        unit="seconds",
        limits=(1, 1e6),
        live=True,
    )
    banned_after: int = setting(
        _FAILURES.banned_after,
        "Ban an IP address after this many wrong passwords.",
        unit="attempts",
        limits=(1, 10_000),
    )
    banned_for: float = setting(
        _FAILURES.banned_for,
        "How long that ban lasts.",
        unit="seconds",
        limits=(1, 1e7),
    )


@frozen
class QueryConfig:
    """``[query]``: rules for OGP, A2S and SSQ, the protocols of server lists."""

    name: str = setting(
        "", "The server's name in server lists. Empty: the world's name.", limits=(0, 63)
    )
    per_address: int = setting(
        int(_ANSWERS.address_rate),
        "Answers to one IP address that sends a challenge or token, and to one UDP port of an"
        " address that does not. Twice as many are allowed without a pause.",
        unit="answers per second",
        limits=(1, 1_000_000),
    )
    unproven_per_address: int = setting(
        int(_ANSWERS.unproven_rate),
        "OGP and A2S answers to all UDP ports of one IP address that sends no challenge. Twice as"
        " many are allowed without a pause. query.per_address applies if it is larger.",
        unit="answers per second",
        limits=(1, 1_000_000),
    )
    per_second: int = setting(
        int(_ANSWERS.share_rate),
        "Answers of one listener to all unknown addresses together. Addresses that sent a challenge"
        " in the last 15 minutes, and queries that carry one, have the same amount each.",
        unit="answers per second",
        limits=(1, 10_000_000),
    )
    unproven_bytes: int = setting(
        262_144,
        "Bytes of OGP, A2S and SSQ answers to all addresses together that sent no challenge or"
        " token in the last 15 minutes. It bounds what spoofed queries can make this server send.",
        unit="bytes per second",
        limits=(10_000, 1_000_000_000),
    )
    addresses: int = setting(
        _ANSWERS.most_addresses,
        "Unknown addresses whose rate is remembered, and as many that sent a challenge.",
        unit="addresses",
        limits=(1, 10_000_000),
    )


@frozen
class OgpConfig:
    """``[ogp]``: the Open Game Protocol, with which tools query players, zones and rules."""

    listen: Address | None = address_or_none(
        "Listen here (UDP). Empty: off. Port 0: any free port."
    )
    dialect: str = setting(
        "auto",
        "Protocol version to answer. auto: both.",
        choices=("auto", "0.91", "0.94"),
    )
    game_id: int = setting(0, "Number of the game, as sent to tools.", limits=(0, 0xFFFF))
    host_name_colors: tuple[tuple[int, int, int], ...] = setting(
        (),
        'Colors of the server\'s name, each as "BYTE:VALUE" or "BYTE:VALUE:COLOR", like "0:0x0a".',
        form=COLOR_CHANGE,
        most=32,
    )
    most_parts: int = setting(
        _OGP.most_parts,
        "Datagrams that one answer may have.",
        unit="datagrams",
        limits=(1, 127),
    )
    masters: tuple[Address, ...] = setting(
        (), "Master servers with which this server registers.", most=8
    )


@frozen
class A2sConfig:
    """``[a2s]``: Source server queries, which today's server lists and monitors use."""

    listen: Address | None = address_or_none(
        "Listen here (UDP). Empty: off. Port 0: any free port."
    )


@frozen
class SsqConfig:
    """``[ssq]``: Standard Server Queries, SQL-like selections about this server."""

    enabled: bool = setting(
        False,
        "Enable SSQ. A spoofed query can be reflected as up to 1,400 bytes; query.unproven_bytes"
        " bounds their sum.",
    )
    listen: Address = setting(
        Address("127.0.0.1", 26999), "Listen here (UDP). Port 0: any free port."
    )
    password: str = secret_text(
        "Password for players' addresses and for long answers; also $EMU_SSQ_PASSWORD. Empty:"
        " nobody gets them.",
        live=True,
    )
    password_file: Path | None = file_or_none("File whose first line is the password.", live=True)
    headers: str = setting(
        "normal",
        "Header row of an answer whose query names none: the columns, 1 and 0 for them, or no"
        " header.",
        choices=("normal", "compact", "null"),
        live=True,
    )
    datagram_bytes: int = setting(
        1400,
        "Size of one datagram of an answer, with its header.",
        unit="bytes",
        limits=(512, 1400),
        live=True,
    )
    per_second: int = setting(
        100,
        "Answers to all unknown addresses together, in place of query.per_second, because SSQ"
        " answers are larger than their queries. query.per_address also applies.",
        unit="answers per second",
        limits=(1, 10_000_000),
    )


class GgmpPolicy(StrEnum):
    """The clients that GGMP admits."""

    TOKEN = "token"  # noqa: S105  # the word of the setting
    OPEN = "open"
    STATIC = "static"


@frozen
class GgmpConfig:
    """``[ggmp]``: tools that watch and control spawns; closed unless the policy admits a tool."""

    listen: Address = setting(
        Address("127.0.0.1", 12358),
        "Listen here (UDP). Port 0: any free port. Tokens are not encrypted.",
    )
    policy: GgmpPolicy = setting(
        GgmpPolicy.TOKEN,
        "Clients to admit. token: those with a token of tokens_file. open: any, with open_actions."
        " static: only those of clients_file.",
        live=True,
    )
    tokens_file: Path | None = file_or_none(
        "File of admitted clients: one line each, with name, actions (query,watch,say,move or *)"
        " and token.",
        live=True,
    )
    open_actions: tuple[str, ...] = setting(
        ("query", "watch"),
        'Actions of clients without a token under the policy "open".',
        choices=("query", "watch", "say", "move"),
        most=4,
        live=True,
    )
    clients_file: Path | None = file_or_none(
        'File for the policy "static": one line each, with name, actions, client number and IP'
        " address.",
        live=True,
    )
    byteorder: str = setting(
        "big",
        "Byte order of all numbers; the protocol's text does not state one.",
        choices=("big", "little"),
    )
    resend_milliseconds: int = setting(
        round(WAIT * 1000),
        "Send a packet again if it is not acknowledged in this time. 200 suits distant clients.",
        unit="milliseconds",
        limits=(10, 1000),
    )

    @property
    def may_be_joined(self) -> bool:
        """Whether the policy and its file admit any client."""
        if self.policy is GgmpPolicy.STATIC:
            return self.clients_file is not None
        return self.policy is GgmpPolicy.OPEN or self.tokens_file is not None


@frozen
class WebConfig:
    """``[web]``: health checks, metrics, JSON and a web page of the running server, over HTTP."""

    listen: Address | None = address_or_none(
        "Listen here (TCP) for the pages and /metrics. Empty: off. Without signing in, visitors"
        " read only the public status, and monitors the metrics.",
    )
    status: bool = setting(
        True,
        "Serve the public status: /status, /status.json and /status.svg, with counts of players,"
        " worlds and open zones.",
        live=True,
    )
    monitors: tuple[str, ...] = setting(
        (),
        "Addresses and networks whose programs read /metrics and the reasons of /readyz without"
        " signing in, like 192.0.2.0/24. This machine always may, except through a proxy.",
        form=NETWORK,
        most=32,
        live=True,
    )
    hosts: tuple[str, ...] = setting(
        (),
        "Names under which browsers and programs reach the page, like emu.example.org. Requests"
        " for localhost, IP addresses, web.listen and web.url are always answered, others are not.",
        form=HOST,
        most=32,
    )
    admin: bool = setting(
        False,
        "Let accounts whose characters have a rank sign in on the page and kick, ban, mute,"
        " broadcast, lock and shut down.",
    )
    url: str | None = setting(
        None,
        "Address of the page behind a TLS proxy, like https://emu.example.org. Empty: no proxy;"
        " web.admin then works only on this machine.",
        form=HTTPS_ORIGIN_OR_NONE,
        live=True,
    )
    proxies: tuple[str, ...] = setting(
        (),
        "IP addresses of the proxies that serve web.url. Empty: the proxy is on this machine.",
        form=IP_ADDRESS,
        most=16,
        live=True,
    )
    idle_timeout: float = setting(
        1800.0,
        "Sign out a user after this time without an action.",
        unit="seconds",
        limits=(60, 1e6),
        live=True,
    )
    session_timeout: float = setting(
        43_200.0,
        "Sign out every user after this time.",
        unit="seconds",
        limits=(60, 1e7),
        live=True,
    )
    connections: int = setting(
        512,
        "Connections at the same time. The server closes the oldest one without a signed-in user"
        " to accept another.",
        unit="connections",
        limits=(1, 100_000),
    )
    connections_per_address: int = setting(
        512,
        "Connections at the same time from one IP address.",
        unit="connections",
        limits=(1, 100_000),
    )
    requests_per_connection: int = setting(
        1000,
        "Close a connection after this many requests.",
        unit="requests",
        limits=(1, 1_000_000),
    )
    request_timeout: float = setting(
        30.0,
        "A request must arrive completely within this time.",
        unit="seconds",
        limits=(1, 3600),
    )
    answer_timeout: float = setting(
        30.0,
        "The client must read an answer within this time.",
        unit="seconds",
        limits=(1, 3600),
    )
    send_buffer: int = setting(
        131_072,
        "Data that the system buffers for a connection that does not read.",
        unit="bytes",
        limits=(4096, 1 << 24),
    )
    work_share: float = setting(
        0.2,
        "CPU time that answers may take while requests wait, as a share of one core.",
        unit="of one core",
        limits=(0.01, 1),
    )
    pages: int = setting(
        50,
        "Operators' pages that are open at the same time. The server closes the oldest one to serve"
        " another.",
        unit="pages",
        limits=(1, 10_000),
    )


@frozen
class WebhookConfig:
    """``[webhook]``: the server reports events to a chat or another program, by HTTP."""

    url: str = secret_text(
        "Address that each event is sent to, as http:// or https://; also $EMU_WEBHOOK_URL. Who"
        " knows a Discord address can write to its channel. Empty: off.",
        live=True,
    )
    url_file: Path | None = file_or_none("File whose first line is the address.", live=True)
    format: WebhookFormat = setting(
        WebhookFormat.DISCORD,
        "The requests are what Discord accepts, or plain JSON objects.",
        live=True,
    )
    events: tuple[WebhookEvent, ...] = setting(
        (
            WebhookEvent.UP, WebhookEvent.DOWN, WebhookEvent.CRASH, WebhookEvent.BAN,
            WebhookEvent.BROADCAST,
        ),
        "The events to send. crash: the server starts and had ended without an orderly stop."
        " enter and leave: players, except hidden ones.",
        live=True,
    )  # fmt: skip
    timeout: float = setting(
        10.0,
        "How long the receiver may take to answer.",
        unit="seconds",
        limits=(0.5, 60),
        live=True,
    )
