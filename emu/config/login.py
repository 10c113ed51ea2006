"""Settings of the login service, and of the link on which worlds register with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from emu.config.readers import CRC_SEED, Address
from emu.config.setting import address_or_none, file_or_none, secret_text, setting
from emu.link.settings import LinkServerConfig
from emu.login.passwords import AccountConfig, RegistrationConfig
from emu.login.settings import DirectoryConfig, LoginServiceConfig
from emu.session import EndpointConfig

# The services state their own defaults, so that they also run without a configuration.
_ENDPOINT: Final = EndpointConfig()
_ACCOUNTS: Final = AccountConfig()
_LOGIN: Final = LoginServiceConfig()
_DIRECTORY: Final = DirectoryConfig()
_LINK: Final = LinkServerConfig()
_REGISTRATION: Final = RegistrationConfig()


@frozen
class LoginConfig:
    """``[login]``: the login service, to which game clients and world servers connect."""

    enabled: bool = setting(True, "Run the login service in this process.")
    listen: Address = setting(
        Address("127.0.0.1", 9100),
        "Listen here: UDP for game clients, TCP for worlds. Port 0: any free port.",
    )
    workers: int = setting(
        1,
        "Processes that serve this port together, each with its own CPU core. More than one needs"
        " a database server (database.url = postgresql://...) and world.enabled = false.",
        unit="processes",
        limits=(1, 64),
    )
    crc_seed: int | None = setting(
        _ENDPOINT.check_key,
        'Check key of sessions: "random" gives each session its own, a number is used for all'
        " (EQ2Emulator: 0x33624702). With a fixed number, anybody can forge, take over and end"
        " the sessions of others.",
        form=CRC_SEED,
    )
    auto_create_accounts: bool = setting(
        _ACCOUNTS.auto_create, "Create an account when an unknown name logs in.", live=True
    )
    registration: bool = setting(
        False,
        "Let players register accounts and change their own passwords at /account of the web page."
        " Other machines need web.url, a proxy with TLS.",
        live=True,
    )
    invite_code: str = secret_text(
        "Code that players need to register; also $EMU_LOGIN_INVITE_CODE. At least 8 characters."
        " Empty: none.",
        live=True,
    )
    invite_code_file: Path | None = file_or_none("File whose first line is the code.", live=True)
    registrations_per_address: int = setting(
        _REGISTRATION.per_address,
        "Attempts to register an account from one IP address, also for names that are taken.",
        unit="attempts per hour",
        limits=(1, 100_000),
    )
    registrations_per_hour: int = setting(
        _REGISTRATION.in_all,
        "Attempts to register an account from all addresses together.",
        unit="attempts per hour",
        limits=(1, 1_000_000),
    )
    logins_per_address: int = setting(
        _LOGIN.logins_per_address,
        "How many clients from one IP address may be logged in at the same time.",
        unit="clients",
        limits=(1, 100_000),
        live=True,
    )
    logins_at_once: int = setting(
        _LOGIN.logins_at_once,
        "How many times an account may log in without a pause. Further logins are refused until"
        " logins_per_minute allows one.",
        unit="logins",
        limits=(1, 1_000_000),
    )
    logins_per_minute: float = setting(
        _LOGIN.logins_per_minute,
        "How often an account may log in over time.",
        unit="logins per minute",
        limits=(0.1, 1_000_000),
    )
    address_logins_at_once: int = setting(
        _LOGIN.address_logins_at_once,
        "How many repeated logins one IP address may make without a pause. The first login of an"
        " account in ten minutes does not count.",
        unit="logins",
        limits=(1, 1_000_000),
    )
    address_logins_per_minute: float = setting(
        _LOGIN.address_logins_per_minute,
        "How often accounts may log in again from one IP address over time.",
        unit="logins per minute",
        limits=(0.1, 1_000_000),
    )
    expansion_flag: int = setting(
        _LOGIN.expansion_flag,
        "Expansions that clients may use (field unknown5 of the login reply).",
        unit="bit mask",
        limits=(0, 0xFFFF),
        live=True,
    )
    cities_flag: int = setting(
        _LOGIN.cities_flag,
        "Starting cities that clients offer.",
        unit="bit mask",
        limits=(0, 255),
        live=True,
    )
    subscription_level: int = setting(
        _LOGIN.subscription_level,
        "Subscription level sent to clients.",
        limits=(0, 0xFFFFFFFF),
        live=True,
    )
    enabled_races: int = setting(
        _LOGIN.enabled_races,
        "Races that clients offer for new characters.",
        unit="bit mask",
        limits=(0, 0xFFFFFFFF),
        live=True,
    )
    max_characters: int = setting(
        _LOGIN.max_characters,
        "Characters per account, as sent to clients. The login service itself refuses the 101st"
        " character.",
        unit="characters",
        limits=(1, 255),
        live=True,
    )
    creations_per_hour: int = setting(
        _LOGIN.creations_per_hour,
        "How many requests to create a character are passed on to worlds for one account.",
        unit="requests per hour",
        limits=(1, 100_000),
    )
    long_world_status: bool = setting(
        _LOGIN.choices.long_status_only,
        "Send a world's change of status in 8 bytes. False: 7 bytes, as EQ2Emulator does.",
        live=True,
    )
    swap_equipment_green_blue: bool = setting(
        _LOGIN.choices.swap_equipment_green_blue,
        "Swap green and blue of the equipment in the character list, as EQ2Emulator does.",
        live=True,
    )
    password_min_length: int = setting(
        _ACCOUNTS.shortest_password,
        "Minimum length of a new password, whether a player, an operator or a login sets it. Stored"
        " and imported passwords stay valid.",
        unit="characters",
        limits=(1, 64),
        live=True,
    )
    password_memory: float = setting(
        _ACCOUNTS.memory,
        "How long a verified password is remembered, so that the next login is cheap. 0: never.",
        unit="seconds",
        limits=(0, 86400),
    )
    password_memory_cost: int = setting(
        _ACCOUNTS.passwords.memory_cost,
        "Memory that Argon2id uses to hash one password.",
        unit="KiB",
        limits=(8, 1 << 22),
        live=True,
    )
    password_iterations: int = setting(
        _ACCOUNTS.passwords.iterations,
        "Passes that Argon2id makes over its memory.",
        unit="passes",
        limits=(1, 100),
        live=True,
    )
    password_threads: int = setting(
        2, "Worker threads that hash passwords.", unit="threads", limits=(1, 64)
    )
    password_waiting: int = setting(
        512,
        "How many password checks may wait. Further clients are refused: the server is busy.",
        unit="checks",
        limits=(1, 100_000),
    )


@frozen
class LinkConfig:
    """``[link]``: the TCP link on which world servers register with the login service."""

    unregistered_worlds: bool = setting(
        _DIRECTORY.unregistered_worlds,
        "Accept worlds that were not added with `emu world add`.",
        live=True,
    )
    server_versions: tuple[str, ...] = setting(
        _DIRECTORY.server_versions,
        'World server versions to accept; "*" accepts any.',
        limits=(1, 63),
        most=100,
        live=True,
    )
    max_connections: int = setting(
        _LINK.max_connections,
        "World connections at the same time.",
        unit="connections",
        limits=(1, 100_000),
        live=True,
    )
    connections_per_address: int = setting(
        _LINK.connections_per_address,
        "World connections at the same time from one IP address.",
        unit="connections",
        limits=(1, 100_000),
        live=True,
    )
    certificate: Path | None = file_or_none(
        "PEM file with certificate and private key: also accept TLS, on tls_listen."
    )
    tls_listen: Address | None = address_or_none("Listen here for TLS links (TCP). Empty: no TLS.")
