"""The configuration as one object: an attribute for each table of the TOML file.

The tables of the login service, of the world, of nodes and of the listeners for operators are in
`login`, `world`, `node` and `administration`; the others are here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import Factory, frozen

from emu.config.administration import (
    A2sConfig,
    ConsoleConfig,
    GgmpConfig,
    OgpConfig,
    QueryConfig,
    RconConfig,
    SsqConfig,
    WebConfig,
    WebhookConfig,
)
from emu.config.bus import BusConfig
from emu.config.login import LinkConfig, LoginConfig
from emu.config.node import NodeConfig
from emu.config.readers import DATABASE_URL
from emu.config.setting import file_or_none, setting
from emu.config.world import WorldConfig
from emu.database import Where
from emu.limits.rates import TurnRules
from emu.model import Durability
from emu.session import AddressChanges, EndpointConfig

# Sessions state their own defaults, so that they also run without a configuration.
_ENDPOINT: Final = EndpointConfig()
_SESSION: Final = _ENDPOINT.session
_TURNS: Final = TurnRules()


SERVICE_STATE: Final = Path("/var/lib/eq2emu")
"""Folder of files that outlive a restart, for a user without a home folder."""


def state_folder() -> Path:
    """Return the default folder of the database and other files that outlive a restart."""
    # An empty variable counts as not set, as the XDG specification says.
    base = os.environ.get("XDG_STATE_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "eq2emu"
    except RuntimeError:
        # A container may run as a number without a user, and without $HOME.
        return SERVICE_STATE


@frozen
class DatabaseConfig:
    """``[database]``: where the database is, and how it is written."""

    url: Where = setting(
        Factory(lambda: state_folder() / "emu.sqlite"),
        "The database: sqlite:FILE, where a relative name starts at the configuration file's"
        " folder, or postgresql://USER@HOST/DATABASE, which several servers may share. A password"
        " belongs into url_file, EMU_DATABASE_URL or libpq's ~/.pgpass.",
        form=DATABASE_URL,
        unquoted=True,
    )
    url_file: Path | None = file_or_none("A file whose first line is the url, with its password.")
    node_file: Path = setting(
        Factory(lambda: state_folder() / "node.sqlite"),
        "With a database on a server: the SQLite file of this process, for its opcode tables.",
    )
    threads: int = setting(
        2,
        "Connections that read from a database on a server; one more writes.",
        unit="threads",
        limits=(1, 32),
    )
    keep_deleted: float = setting(
        30.0,
        "How long a deleted character is kept and its name stays taken. 0: for ever.",
        unit="days",
        limits=(0, 36500),
    )
    audit_days: float = setting(
        365.0,
        "How long the audit keeps the acts of operators.",
        unit="days",
        limits=(1, 36500),
        live=True,
    )
    durability: Durability = setting(
        Durability.FAST,
        "What a power cut may lose. fast: the last checkpoint_seconds. safe: nothing, at the cost"
        " of a disk write for each change. A killed server loses nothing in either case.",
    )
    checkpoint_seconds: float = setting(
        2.0,
        "Time between two moments when changes are written to disk.",
        unit="seconds",
        limits=(0.1, 3600),
    )
    watch_seconds: float = setting(
        0.5,
        "Time between two checks for a deleted, replaced or overwritten database file.",
        unit="seconds",
        limits=(0.05, 60),
    )
    lock_wait: float = setting(
        1.5,
        "How long a request waits while another program locks the database. Then it is refused"
        " and nothing is changed; the client may try again.",
        unit="seconds",
        limits=(0.1, 60),
    )
    remembered: int = setting(
        2000,
        "Accounts kept in memory, and as many characters, for players that return. Each takes some"
        " kilobytes.",
        unit="rows",
        limits=(0, 1_000_000),
    )

    @property
    def path(self) -> Path:
        """The database file; with a database on a server, the file of this process."""
        return self.url if isinstance(self.url, Path) else self.node_file


@frozen
class LogConfig:
    """``[log]``: the server's log."""

    level: str = setting(
        "info",
        "Least severe level that is written.",
        choices=("debug", "info", "warn", "error"),
        live=True,
    )
    format: str = setting(
        "text", "text for people; json for one object per line.", choices=("text", "json")
    )
    max_bytes: int = setting(
        10_000_000,
        "Start another file when the log of a daemon, or of --logfile, has this size.",
        unit="bytes",
        limits=(10_000, 1 << 40),
    )
    files: int = setting(5, "Older log files that are kept.", unit="files", limits=(1, 1000))


@frozen
class NetworkConfig:
    """``[network]``: limits and timing of every UDP session, of login and world alike."""

    max_sessions: int = setting(
        _ENDPOINT.session_limit,
        "Sessions of one listener at the same time.",
        unit="sessions",
        limits=(1, 1_000_000),
    )
    sessions_per_address: int = setting(
        _ENDPOINT.sessions_per_host_limit,
        "Sessions at the same time from one IP address.",
        unit="sessions",
        limits=(1, 1_000_000),
    )
    half_open_sessions: int = setting(
        _ENDPOINT.half_open_limit,
        "Addresses that requested a session and are not validated yet.",
        unit="addresses",
        limits=(1, 1_000_000),
    )
    session_memory: int = setting(
        _ENDPOINT.memory_limit,
        "Memory that all clients of one listener together can make the server hold. Above it, the"
        " server ends the session that holds most.",
        unit="bytes",
        limits=(1 << 20, 1 << 40),
    )
    held_bytes: int = setting(
        131_072,
        "Data received out of order that is held for one session; clients send little.",
        unit="bytes",
        limits=(2048, 1 << 20),
    )
    waiting_messages: int = setting(
        _SESSION.waiting_message_limit,
        "Messages of one session that may wait to be handled. Further ones are not acknowledged.",
        unit="messages",
        limits=(16, 1 << 20),
    )
    waiting_bytes: int = setting(
        _SESSION.waiting_bytes_limit,
        "Size of these messages together.",
        unit="bytes",
        limits=(4096, 1 << 30),
    )
    session_share: float = setting(
        _TURNS.share,
        "CPU time that one session may use over time; the rest is handled later. Walking takes"
        " less than 0.005.",
        unit="of one core",
        limits=(0.001, 1),
    )
    session_reserve: float = setting(
        _TURNS.reserve,
        "CPU time that a session may use without a pause after it used little.",
        unit="seconds",
        limits=(0.001, 60),
    )
    address_reserve: float = setting(
        _TURNS.address_reserve,
        "The same for one IP address: all of its sessions that have not logged in.",
        unit="seconds",
        limits=(0.001, 600),
    )
    session_slice: float = setting(
        _TURNS.slice,
        "CPU time after which a session's further messages wait until others were handled.",
        unit="seconds",
        limits=(0.0001, 1),
    )
    idle_timeout: float = setting(
        _SESSION.idle_timeout,
        "Close a session after this time without a packet.",
        unit="seconds",
        limits=(1, 3600),
    )
    address_changes: str = setting(
        _ENDPOINT.address_changes.value,
        "Which new address of a client its session may move to, after proof. port: another port of"
        " the same IP address. With a fixed crc_seed no session moves.",
        choices=tuple(one.value for one in AddressChanges),
    )
    shutdown_time: float = setting(
        4.0,
        "Longest time for the whole stop of the server. Players that are not saved by then are"
        " saved by the next start.",
        unit="seconds",
        limits=(1, 60),
        live=True,
    )
    compression_level: int = setting(
        _SESSION.deflate_level,
        "zlib level of data to clients. EQ2Emulator uses 9.",
        limits=(1, 9),
    )
    compression_memory: int = setting(
        _SESSION.deflate_memory_level,
        "zlib memory level; each step doubles the memory of one message.",
        limits=(1, 9),
    )
    compression_threshold: int = setting(
        1000,
        "Compress messages to clients that are larger than this (EQ2Emulator: 128). Movement is"
        " packed already: compression makes it only 2 % smaller and takes a seventh of the CPU.",
        unit="bytes",
        limits=(128, 1 << 20),
    )


@frozen
class TraceConfig:
    """``[trace]``: a capture file of the server's own sessions, **with their keys**."""

    file: Path | None = file_or_none("pcapng file to append to. Empty: off.")
    max_bytes: int = setting(
        100_000_000,
        "Stop the trace when the file has this size.",
        unit="bytes",
        limits=(10_000, 1 << 40),
    )


@frozen
class Config:
    """The whole configuration; each attribute is one table of the TOML file."""

    database: DatabaseConfig = Factory(DatabaseConfig)
    node: NodeConfig = Factory(NodeConfig)
    bus: BusConfig = Factory(BusConfig)
    log: LogConfig = Factory(LogConfig)
    network: NetworkConfig = Factory(NetworkConfig)
    login: LoginConfig = Factory(LoginConfig)
    link: LinkConfig = Factory(LinkConfig)
    world: WorldConfig = Factory(WorldConfig)
    console: ConsoleConfig = Factory(ConsoleConfig)
    rcon: RconConfig = Factory(RconConfig)
    query: QueryConfig = Factory(QueryConfig)
    ogp: OgpConfig = Factory(OgpConfig)
    a2s: A2sConfig = Factory(A2sConfig)
    ssq: SsqConfig = Factory(SsqConfig)
    ggmp: GgmpConfig = Factory(GgmpConfig)
    trace: TraceConfig = Factory(TraceConfig)
    web: WebConfig = Factory(WebConfig)
    webhook: WebhookConfig = Factory(WebhookConfig)
    zone_settings: Mapping[int, Mapping[str, Any]] = attrs.field(init=False, factory=dict)
    """Settings of ``[world]`` that rules of the content file change in single zones, by the zone's
    number; those that the operator has given are not among them."""

    @property
    def console_path(self) -> Path:
        """The socket of the server's local console."""
        # Each database has one server, so a name beside it identifies the console.
        database = self.database.path.absolute()
        return self.console.path or database.with_name(database.name + ".console")
