"""Settings of the login service: towards clients, and towards the worlds that register."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.config import readers
from emu.config.readers import Address
from emu.config.setting import address_or_none, file_or_none, setting
from emu.link.settings import LinkServerConfig
from emu.login.passwords import AccountConfig
from emu.login.settings import DirectoryConfig, LoginServiceConfig
from emu.session import EndpointConfig

# What the parts do when nobody says otherwise; such a default is stated there and shown here.
_ENDPOINT: Final = EndpointConfig()
_ACCOUNTS: Final = AccountConfig()
_LOGIN: Final = LoginServiceConfig()
_DIRECTORY: Final = DirectoryConfig()
_LINK: Final = LinkServerConfig()


@dataclass(frozen=True, slots=True)
class LoginConfig:
    """``[login]``: the login service that players' clients and world servers connect to."""

    enabled: bool = setting(True, readers.boolean, "serve logins in this process")
    listen: Address = setting(
        Address("127.0.0.1", 9100), readers.address, "UDP for clients, TCP for worlds; port 0 = any"
    )
    crc_seed: int | None = setting(
        _ENDPOINT.check_key,
        readers.crc_seed,
        '"random" for each session, or one number for all (EQ2Emulator: 0x33624702); with a number'
        " anybody can forge, take over and end the sessions of others",
    )
    auto_create_accounts: bool = setting(
        _ACCOUNTS.auto_create, readers.boolean, "make an account when an unknown name logs in"
    )
    logins_per_address: int = setting(
        _LOGIN.logins_per_address,
        readers.integer(1, 100_000),
        "clients logged in at once from one IP address",
    )
    logins_at_once: int = setting(
        _LOGIN.logins_at_once,
        readers.integer(1, 1_000_000),
        "times that an account may log in one after the other; one more is refused for a while",
    )
    logins_per_minute: float = setting(
        _LOGIN.logins_per_minute,
        readers.number(0.1, 1_000_000),
        "times a minute that an account may log in over time",
    )
    address_logins_at_once: int = setting(
        _LOGIN.address_logins_at_once,
        readers.integer(1, 1_000_000),
        "times that accounts may log in again from one IP address; the first login of an account in"
        " ten minutes does not count",
    )
    address_logins_per_minute: float = setting(
        _LOGIN.address_logins_per_minute,
        readers.number(0.1, 1_000_000),
        "the same over time, a minute",
    )
    expansion_flag: int = setting(
        _LOGIN.expansion_flag,
        readers.integer(0, 0xFFFF),
        "expansions clients may use (reply field unknown5)",
    )
    cities_flag: int = setting(
        _LOGIN.cities_flag, readers.integer(0, 255), "starting cities, a bit mask"
    )
    subscription_level: int = setting(
        _LOGIN.subscription_level,
        readers.integer(0, 0xFFFFFFFF),
        "subscription level told to clients",
    )
    enabled_races: int = setting(
        _LOGIN.enabled_races, readers.integer(0, 0xFFFFFFFF), "races clients may choose, a bit mask"
    )
    max_characters: int = setting(
        _LOGIN.max_characters,
        readers.integer(1, 255),
        "characters of an account, told to clients; refused from 100 on",
    )
    creations_per_hour: int = setting(
        _LOGIN.creations_per_hour,
        readers.integer(1, 100_000),
        "create requests of an account handed on to worlds",
    )
    long_world_status: bool = setting(
        _LOGIN.choices.long_status_only,
        readers.boolean,
        "tell worlds' coming and going in 8 bytes; false = 7, as EQ2Emulator",
    )
    swap_equipment_green_blue: bool = setting(
        _LOGIN.choices.swap_equipment_green_blue,
        readers.boolean,
        "swap green and blue of listed equipment, as EQ2Emulator does",
    )
    password_memory: float = setting(
        _ACCOUNTS.memory,
        readers.number(0, 86400),
        "seconds a verified password is remembered; 0 = never",
    )
    password_memory_cost: int = setting(
        _ACCOUNTS.passwords.memory_cost,
        readers.integer(8, 1 << 22),
        "Argon2id memory for one password, in KiB",
    )
    password_iterations: int = setting(
        _ACCOUNTS.passwords.iterations, readers.integer(1, 100), "Argon2id passes"
    )
    password_threads: int = setting(2, readers.integer(1, 64), "worker threads for passwords")
    password_waiting: int = setting(
        512, readers.integer(1, 100_000), "password checks that may wait before clients hear busy"
    )


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """``[link]``: the TCP link on which world servers register with the login service."""

    unregistered_worlds: bool = setting(
        _DIRECTORY.unregistered_worlds,
        readers.boolean,
        "let worlds in that `emu world add` does not know",
    )
    server_versions: tuple[str, ...] = setting(
        _DIRECTORY.server_versions,
        readers.list_of(readers.text(1, 63), 100),
        'world versions let in; "*" is any',
    )
    max_connections: int = setting(
        _LINK.max_connections, readers.integer(1, 100_000), "world connections at once"
    )
    connections_per_address: int = setting(
        _LINK.connections_per_address,
        readers.integer(1, 100_000),
        "world connections at once from one IP address",
    )
    certificate: Path | None = file_or_none("PEM file: also accept TLS on tls_listen")
    tls_listen: Address | None = address_or_none("TCP address for TLS links; empty = none")
