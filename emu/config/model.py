"""Every setting: its key, type, default, limits and what it is for.

A table of the TOML file is a frozen dataclass. Those of the login service, of the world, of its
processes and of the ports for administrators are in `login`, `world`, `processes` and
`administration`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emu.config import readers
from emu.config.administration import (
    A2sConfig,
    ConsoleConfig,
    GgmpConfig,
    OgpConfig,
    QueryConfig,
    RconConfig,
    SsqConfig,
    WebConfig,
)
from emu.config.login import LinkConfig, LoginConfig
from emu.config.processes import ProcessesConfig
from emu.config.setting import file_or_none, setting
from emu.config.world import WorldConfig
from emu.limits.turns import TurnRules
from emu.model import Durability
from emu.session import EndpointConfig

# What sessions do when nobody says otherwise; such a default is stated there and shown here.
_ENDPOINT: Final = EndpointConfig()
_SESSION: Final = _ENDPOINT.session
_TURNS: Final = TurnRules()


def state_folder() -> Path:
    """Return the folder for what must outlive a restart when the configuration names none."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "state") / "eq2emu"


@dataclass(frozen=True, slots=True)
class DatabaseConfig:
    """``[database]``: where everything is kept."""

    url: Path = field(
        default_factory=lambda: state_folder() / "emu.sqlite",
        metadata={
            "reader": readers.sqlite_url,
            "about": "sqlite:FILE; a relative name counts from the configuration file's folder",
            "secret": False,
        },
    )

    keep_deleted: float = setting(
        30.0,
        readers.number(0, 36500),
        "days a deleted character is kept and its name is taken; 0 = for ever",
    )
    durability: Durability = setting(
        Durability.FAST,
        readers.member(Durability),
        "what a power cut may take back: fast = the last checkpoint_seconds, safe = nothing, for a"
        " disk write with each change; a killed server loses nothing in either case",
    )
    checkpoint_seconds: float = setting(
        2.0, readers.number(0.1, 3600), "seconds between two times that changes are written to disk"
    )
    watch_seconds: float = setting(
        0.5,
        readers.number(0.05, 60),
        "seconds between two looks whether the database file was deleted, replaced or overwritten",
    )

    lock_wait: float = setting(
        1.5,
        readers.number(0.1, 60),
        "seconds that somebody waits while another program locks the database; then the answer is"
        " to try again, and nothing was changed",
    )

    remembered: int = setting(
        2000,
        readers.integer(0, 1_000_000),
        "rows of accounts, and of characters, that are kept in memory for who comes again; each"
        " takes some kilobytes",
    )

    @property
    def path(self) -> Path:
        """The database file."""
        return self.url


@dataclass(frozen=True, slots=True)
class LogConfig:
    """``[log]``: what is written about the server's work."""

    level: str = setting(
        "info", readers.choice("debug", "info", "warn", "error"), "least level that is written"
    )
    format: str = setting(
        "text", readers.choice("text", "json"), "text for people, json for one object a line"
    )
    max_bytes: int = setting(
        10_000_000,
        readers.integer(10_000, 1 << 40),
        "begin another log file when a daemon's, or that of --logfile, has this size",
    )
    files: int = setting(5, readers.integer(1, 1000), "older log files kept beside it")


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """``[network]``: limits and habits of every UDP session, login and world alike."""

    max_sessions: int = setting(
        _ENDPOINT.session_limit, readers.integer(1, 1_000_000), "sessions at once on one endpoint"
    )
    sessions_per_address: int = setting(
        _ENDPOINT.sessions_per_host_limit,
        readers.integer(1, 1_000_000),
        "sessions at once from one IP address",
    )
    half_open_sessions: int = setting(
        _ENDPOINT.half_open_limit,
        readers.integer(1, 1_000_000),
        "addresses that asked and are not validated yet",
    )
    session_memory: int = setting(
        _ENDPOINT.memory_limit,
        readers.integer(1 << 20, 1 << 40),
        "bytes that all players of one endpoint together can make us keep; who holds most goes",
    )
    held_bytes: int = setting(
        131_072,
        readers.integer(2048, 1 << 20),
        "bytes kept for one session of what came out of order; clients send little",
    )
    waiting_messages: int = setting(
        _SESSION.waiting_message_limit,
        readers.integer(16, 1 << 20),
        "messages of one session that may wait to be served; further ones are not acknowledged",
    )
    waiting_bytes: int = setting(
        _SESSION.waiting_bytes_limit,
        readers.integer(4096, 1 << 30),
        "bytes of them",
    )
    session_share: float = setting(
        _TURNS.share,
        readers.number(0.001, 1),
        "part of one core that one session may use over time; what exceeds it is served later."
        " Walking takes less than 0.005",
    )
    session_reserve: float = setting(
        _TURNS.reserve,
        readers.number(0.001, 60),
        "seconds of work that a session may use at once, after it has used little",
    )
    address_reserve: float = setting(
        _TURNS.address_reserve,
        readers.number(0.001, 600),
        "the same of one IP address, for all of its sessions that have not logged in",
    )
    session_slice: float = setting(
        _TURNS.slice,
        readers.number(0.0001, 1),
        "seconds of work after which a session's further messages wait until others were served",
    )
    idle_timeout: float = setting(
        _SESSION.idle_timeout,
        readers.number(1, 3600),
        "seconds of silence after which a session is closed",
    )
    shutdown_time: float = setting(
        4.0,
        readers.number(1, 60),
        "seconds that a stop takes at most, with everything; who is not stored by then is stored by"
        " the next start",
    )
    compression_level: int = setting(
        _SESSION.deflate_level,
        readers.integer(1, 9),
        "zlib level towards clients; 9 is what EQ2Emulator uses",
    )
    compression_memory: int = setting(
        _SESSION.deflate_memory_level,
        readers.integer(1, 9),
        "zlib memory level; each step doubles what one message may use",
    )
    compression_threshold: int = setting(
        1000,
        readers.integer(128, 1 << 20),
        "bytes beyond which a message to clients is compressed; EQ2Emulator: 128. What moves is"
        " packed as it is: compressed once more it is 2 % shorter, for a seventh of the CPU",
    )


@dataclass(frozen=True, slots=True)
class TraceConfig:
    """``[trace]``: writing the server's own sessions to a capture file, **with their keys**."""

    file: Path | None = file_or_none("pcapng file to append to; empty = off")
    max_bytes: int = setting(
        100_000_000, readers.integer(10_000, 1 << 40), "stop tracing when the file has this size"
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration; each attribute is one table of the TOML file."""

    database: DatabaseConfig = field(default_factory=DatabaseConfig)
    log: LogConfig = field(default_factory=LogConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    login: LoginConfig = field(default_factory=LoginConfig)
    link: LinkConfig = field(default_factory=LinkConfig)
    world: WorldConfig = field(default_factory=WorldConfig)
    console: ConsoleConfig = field(default_factory=ConsoleConfig)
    rcon: RconConfig = field(default_factory=RconConfig)
    query: QueryConfig = field(default_factory=QueryConfig)
    ogp: OgpConfig = field(default_factory=OgpConfig)
    a2s: A2sConfig = field(default_factory=A2sConfig)
    ssq: SsqConfig = field(default_factory=SsqConfig)
    ggmp: GgmpConfig = field(default_factory=GgmpConfig)
    processes: ProcessesConfig = field(default_factory=ProcessesConfig)
    trace: TraceConfig = field(default_factory=TraceConfig)
    web: WebConfig = field(default_factory=WebConfig)

    @property
    def console_path(self) -> Path:
        """Where a server with this configuration has its local socket."""
        database = self.database.path.absolute()
        return self.console.path or database.with_name(database.name + ".console")
