"""Every setting: its key, type, default, limits and what it is for.

A table of the TOML file is a frozen dataclass. Those of the ports for administrators are in
`administration`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

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
from emu.config.readers import Address
from emu.config.setting import setting


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
        20000, readers.integer(1, 1_000_000), "sessions at once on one endpoint"
    )
    sessions_per_address: int = setting(
        64, readers.integer(1, 1_000_000), "sessions at once from one IP address"
    )
    half_open_sessions: int = setting(
        16384,
        readers.integer(1, 1_000_000),
        "addresses that asked and proved nothing yet",
    )
    session_memory: int = setting(
        256 * 1024 * 1024,
        readers.integer(1 << 20, 1 << 40),
        "bytes that all players of one endpoint together can make us keep; who holds most goes",
    )
    held_bytes: int = setting(
        131_072,
        readers.integer(2048, 1 << 20),
        "bytes kept for one session of what came out of order; clients send little",
    )
    idle_timeout: float = setting(
        45.0, readers.number(1, 3600), "seconds of silence after which a session is closed"
    )
    compression_level: int = setting(
        6, readers.integer(1, 9), "zlib level towards clients; 9 is what EQ2Emulator uses"
    )
    compression_memory: int = setting(
        4, readers.integer(1, 9), "zlib memory level; each step doubles memory per active session"
    )


@dataclass(frozen=True, slots=True)
class LoginConfig:
    """``[login]``: the login service that players' clients and world servers connect to."""

    enabled: bool = setting(True, readers.boolean, "serve logins in this process")
    listen: Address = setting(
        Address("127.0.0.1", 9100), readers.address, "UDP for clients, TCP for worlds; port 0 = any"
    )
    crc_seed: int | None = setting(
        None,
        readers.crc_seed,
        '"random" for each session, or one number for all (EQ2Emulator: 0x33624702); with a number'
        " anybody can forge, take over and end the sessions of others",
    )
    auto_create_accounts: bool = setting(
        False, readers.boolean, "make an account when an unknown name logs in"
    )
    logins_per_address: int = setting(
        32, readers.integer(1, 100_000), "clients logged in at once from one IP address"
    )
    expansion_flag: int = setting(
        0x7CFF, readers.integer(0, 0xFFFF), "expansions clients may use (reply field unknown5)"
    )
    cities_flag: int = setting(0xFF, readers.integer(0, 255), "starting cities, a bit mask")
    subscription_level: int = setting(
        0xFFFFFFFF, readers.integer(0, 0xFFFFFFFF), "subscription level told to clients"
    )
    enabled_races: int = setting(
        0xFFFF, readers.integer(0, 0xFFFFFFFF), "races clients may choose, a bit mask"
    )
    max_characters: int = setting(
        7, readers.integer(1, 255), "characters of an account, told to clients; refused from 100 on"
    )
    creations_per_hour: int = setting(
        20, readers.integer(1, 100_000), "create requests of an account handed on to worlds"
    )
    long_world_status: bool = setting(
        False,
        readers.boolean,
        "tell worlds' coming and going in 8 bytes; false = 7, as EQ2Emulator",
    )
    swap_equipment_green_blue: bool = setting(
        False, readers.boolean, "swap green and blue of listed equipment, as EQ2Emulator does"
    )
    password_memory: float = setting(
        900.0, readers.number(0, 86400), "seconds a verified password is remembered; 0 = never"
    )
    password_memory_cost: int = setting(
        19456, readers.integer(8, 1 << 22), "Argon2id memory for one password, in KiB"
    )
    password_iterations: int = setting(2, readers.integer(1, 100), "Argon2id passes")
    password_threads: int = setting(2, readers.integer(1, 64), "worker threads for passwords")
    password_waiting: int = setting(
        512, readers.integer(1, 100_000), "password checks that may wait before clients hear busy"
    )


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """``[link]``: the TCP link on which world servers register with the login service."""

    unregistered_worlds: bool = setting(
        False, readers.boolean, "let worlds in that `emu world add` does not know"
    )
    server_versions: tuple[str, ...] = setting(
        ("*",), readers.list_of(readers.text(1, 63), 100), 'world versions let in; "*" is any'
    )
    max_connections: int = setting(512, readers.integer(1, 100_000), "world connections at once")
    connections_per_address: int = setting(
        16, readers.integer(1, 100_000), "world connections at once from one IP address"
    )
    certificate: Path | None = setting(
        None, readers.optional(readers.path), "PEM file: also accept TLS on tls_listen"
    )
    tls_listen: Address | None = setting(
        None, readers.optional(readers.address), "TCP address for TLS links; empty = none"
    )


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """``[world]``: the built-in world server."""

    enabled: bool = setting(True, readers.boolean, "run a world in this process")
    name: str = setting("Norrath", readers.text(4, 63), "name in the world list, over 3 characters")
    listen: Address = setting(
        Address("127.0.0.1", 9001), readers.address, "UDP for clients; port 0 = any"
    )
    advertise: str | None = setting(
        None, readers.optional(readers.host), "address told to clients; empty = that of listen"
    )
    internal_address: str | None = setting(
        None, readers.optional(readers.host), "address told to clients with private addresses"
    )
    crc_seed: int | None = setting(
        None, readers.crc_seed, '"random" for each session, or one number; see login.crc_seed'
    )
    account: str = setting("", readers.text(0, 29), "link account; empty = the built-in one")
    password: str = setting(
        "",
        readers.text(0, 255),
        "link password, or $EMU_WORLD_PASSWORD; empty = the built-in one",
        secret=True,
    )
    password_file: Path | None = setting(
        None, readers.optional(readers.path), "file whose first line is the link password"
    )
    login_servers: tuple[Address, ...] = setting(
        (), readers.list_of(readers.address, 8), "login servers in order; empty = the one in here"
    )
    login_tls_fingerprints: tuple[str, ...] = setting(
        (),
        readers.list_of(readers.fingerprint_or_none, 8),
        'certificate of each login server, the link to it is then TLS; "" = plain TCP',
    )
    locked: bool = setting(False, readers.boolean, "let only game masters in")
    max_players: int = setting(-1, readers.integer(-1, 5000), "players at once; -1 = no limit")
    creations_per_hour: int = setting(
        20, readers.integer(1, 100_000), "characters that one account may make, deleted ones too"
    )
    max_level: int = setting(50, readers.integer(1, 255), "highest character level")
    name_filter: tuple[str, ...] = setting(
        (), readers.list_of(readers.text(1, 31), 10_000), "words no character name may contain"
    )
    motd: str = setting("", readers.text(0, 500), "what players are greeted with")
    link_dead: float = setting(
        120.0, readers.number(0, 3600), "seconds that a player stays whose client is gone"
    )
    camp_seconds: float = setting(
        20.0, readers.number(0, 255), "seconds from camping to being out of the world"
    )
    save_seconds: float = setting(
        60.0, readers.number(1, 3600), "seconds between two saves of a player's place"
    )
    update_rate: float = setting(
        10.0, readers.number(1, 50), "times a second that players are shown what moved"
    )
    fastest_move: float = setting(
        30.0,
        readers.number(1, 1000),
        "world units a second on the ground that a client is believed; walking is about 10",
    )
    fastest_fall: float = setting(
        120.0, readers.number(1, 10_000), "the same for going up and down"
    )
    message_rate: float = setting(
        100.0,
        readers.number(20, 100_000),
        "messages a second that a client may send over time; one that sends more is sent away."
        " Walking takes about ten",
    )
    message_burst: int = setting(
        1000, readers.integer(100, 1_000_000), "messages that a client may send at once"
    )
    chat_rate: float = setting(
        1.0, readers.number(0.01, 100), "messages a second that a player may say over time"
    )
    chat_burst: int = setting(
        10, readers.integer(1, 1000), "messages that a player may say at once"
    )
    chat_length: int = setting(
        512, readers.integer(1, 4000), "letters of a message; what is longer is cut"
    )
    say_distance: float = setting(
        30.0, readers.number(1, 10_000), "world units within which a say or an emote is heard"
    )
    channels: tuple[str, ...] = setting(
        ("General", "Auction", "Crafting"),
        readers.list_of(readers.text(1, 32), 100),
        "chat channels that players find in the world and may join",
    )
    knowledge: Path | None = setting(
        None,
        readers.optional(readers.path),
        "folder of files with skills, languages and titles, besides the shipped ones; empty = none",
    )
    zones: Path | None = setting(
        None,
        readers.optional(readers.path),
        "folder of zone files that add to the shipped ones or replace them; empty = none",
    )


@dataclass(frozen=True, slots=True)
class TraceConfig:
    """``[trace]``: writing the server's own sessions to a capture file, **with their keys**."""

    file: Path | None = setting(
        None, readers.optional(readers.path), "pcapng file to append to; empty = off"
    )
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
    trace: TraceConfig = field(default_factory=TraceConfig)
    web: WebConfig = field(default_factory=WebConfig)

    @property
    def console_path(self) -> Path:
        """Where a server with this configuration has its local socket."""
        database = self.database.path.absolute()
        return self.console.path or database.with_name(database.name + ".console")
