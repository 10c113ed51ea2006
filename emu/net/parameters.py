"""From the operator's configuration to the settings of each service.

Fields with the same name are copied; this module lists those that differ in name, unit or shape. It
has no defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from emu.config import Config
from emu.config.world import WorldConfig
from emu.database.where import ServerUrl
from emu.errors import CommandError, ConfigError, StoreError
from emu.files import read_whole
from emu.limits.rates import TurnRules
from emu.link.settings import LoginServerAddress
from emu.login.passwords import AccountConfig, PasswordConfig, RegistrationConfig
from emu.login.settings import CompatibilityChoices, LoginServiceConfig
from emu.session import AddressChanges, EndpointConfig, SessionConfig
from emu.world.rules import (
    AdmissionRules,
    BehaviorRules,
    ChatRules,
    MovementRules,
    WorldRules,
    ZoneRules,
)

if TYPE_CHECKING:
    from emu.world.ports import SubjectRules

Settings = TypeVar("Settings")
Listed = TypeVar("Listed")
HOLD: Final = 6.0
"""Seconds beside the lease of nodes that a world's answer to a play request may take."""


def taken_from(section: Any, kind: type[Settings], **others: Any) -> Settings:
    """Return the settings of a service: a section's fields of the same names, and `others`."""
    known = {field.name for field in attrs.fields(type(section))}
    common = [field.name for field in fields(kind) if field.name in known]  # type: ignore[arg-type]
    return kind(**{name: getattr(section, name) for name in common}, **others)


def endpoint_config(config: Config, check_key: int | None) -> EndpointConfig:
    """Return the settings of one UDP port; `check_key` None is a random one for each session."""
    network = config.network
    session = SessionConfig(
        held_bytes_limit=network.held_bytes,
        waiting_message_limit=network.waiting_messages,
        waiting_bytes_limit=network.waiting_bytes,
        idle_timeout=network.idle_timeout,
        deflate_level=network.compression_level,
        deflate_memory_level=network.compression_memory,
        compression_threshold=network.compression_threshold,
    )
    return EndpointConfig(
        session=session,
        check_key=check_key,
        session_limit=network.max_sessions,
        half_open_limit=network.half_open_sessions,
        memory_limit=network.session_memory,
        sessions_per_host_limit=network.sessions_per_address,
        address_changes=AddressChanges(network.address_changes),
    )


def turn_rules(config: Config) -> TurnRules:
    """Return the limits on the work of one session, the same for both UDP ports."""
    network = config.network
    return TurnRules(
        share=network.session_share,
        reserve=network.session_reserve,
        address_reserve=network.address_reserve,
        slice=network.session_slice,
    )


def keep_deleted(config: Config) -> float:
    """Return the seconds for which a deleted character is kept."""
    # 0 days means that nothing is ever removed.
    return config.database.keep_deleted * 86400.0 or math.inf


def knows_accounts(config: Config) -> bool:
    """Return whether the world uses the accounts of the login service in this process.

    A world that registers with other login servers uses their accounts and account numbers. The
    nodes of a cluster share the accounts of its login nodes.
    """
    return (config.login.enabled or in_cluster(config)) and not config.world.login_servers


def in_cluster(config: Config) -> bool:
    """Return whether the server is a node of a cluster: its database can have several."""
    return isinstance(config.database.url, ServerUrl)


def account_config(config: Config) -> AccountConfig:
    """Return the settings of accounts and passwords for players."""
    login = config.login
    return AccountConfig(
        auto_create=login.auto_create_accounts,
        passwords=PasswordConfig(
            memory_cost=login.password_memory_cost, iterations=login.password_iterations
        ),
        memory=login.password_memory,
        shortest_password=login.password_min_length,
    )


def staff_config(config: Config) -> AccountConfig:
    """Return the settings of accounts on web pages: none is created, no password is cached."""
    return replace(account_config(config), auto_create=False, memory=0.0, is_discreet=True)


def registration_config(config: Config) -> RegistrationConfig:
    """Return the settings for players who register accounts."""
    login = config.login
    return RegistrationConfig(
        enabled=login.registration,
        invite_code=login.invite_code,
        per_address=login.registrations_per_address,
        in_all=login.registrations_per_hour,
        passwords=account_config(config).passwords,
        shortest_password=login.password_min_length,
    )


def login_config(config: Config) -> LoginServiceConfig:
    """Return the settings of the login service for clients."""
    login = config.login
    choices = taken_from(login, CompatibilityChoices, long_status_only=login.long_world_status)
    patience = LoginServiceConfig().play_timeout
    if in_cluster(config):
        # A node holds a player until the lease of a lost one has ended.
        patience = max(patience, config.node.lease + HOLD)
    return taken_from(login, LoginServiceConfig, choices=choices, play_timeout=patience)


def login_servers(config: Config) -> tuple[LoginServerAddress, ...]:
    """Return the login servers that the world registers with, in order of preference."""
    # Without fingerprints every link is plain text.
    prints = config.world.login_tls_fingerprints or ("",) * len(config.world.login_servers)
    return tuple(
        LoginServerAddress(address.host, address.port, fingerprint)
        for address, fingerprint in zip(config.world.login_servers, prints, strict=True)
    )


def read_listed(key: str, path: Path | None, read: Callable[[str], Listed]) -> Listed | None:
    """Return the content of the file in a setting, or None without a file.

    Raises `ConfigError` if it cannot be read.
    """
    if path is None:
        return None
    try:
        return read(read_whole(path).decode("utf-8-sig"))
    except (OSError, ValueError, CommandError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError([f"{key}: {path}: {reason}"]) from None


def read_pem(path: Path, hint: str = "") -> bytes:
    """Return the bytes of a file with certificate or key. Raises `StoreError` with a hint."""
    try:
        return read_whole(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}){hint}") from None


def read_certificate(config: Config) -> bytes | None:
    """Return the PEM text of the link's certificate and key; None if TLS is off.

    Raises `StoreError` if the file cannot be read.
    """
    path = config.link.certificate
    return None if path is None else read_pem(path, "; see [link] certificate")


def world_rules(config: Config) -> WorldRules:
    """Return the rules of the built-in world, and of its zones with settings of their own."""
    zones = {
        zone: _world_rules(attrs.evolve(config.world, **values))
        for zone, values in config.zone_settings.items()
    }
    return replace(_world_rules(config.world), zones=zones)


def _world_rules(world: WorldConfig) -> WorldRules:
    return taken_from(
        world,
        WorldRules,
        camp=world.camp_seconds,
        save_interval=world.save_seconds,
        review=world.review_seconds,
        hear=world.say_distance,
        movement=MovementRules(fastest=world.fastest_move, fastest_fall=world.fastest_fall),
    )


def admission_rules(config: Config) -> AdmissionRules:
    """Return the admission rules of the built-in world."""
    return taken_from(config.world, AdmissionRules)


def rule_set(config: Config) -> SubjectRules:
    """Return all rules of the built-in world."""
    # The commands that only read settings need no world.
    from emu.world.ports import SubjectRules  # noqa: PLC0415

    return SubjectRules(
        world=world_rules(config),
        zones=zone_rules(config),
        chat=chat_rules(config),
        admission=admission_rules(config),
        behaviors=behavior_limits(config),
        locked=config.world.locked,
    )


def zone_rules(config: Config) -> ZoneRules:
    """Return the rules of every zone of the built-in world."""
    # The operator sets a rate, the zone needs the interval in seconds.
    return taken_from(config.world, ZoneRules, tick=1.0 / config.world.update_rate)


def behavior_limits(config: Config) -> BehaviorRules:
    """Return the limits of behaviors in the built-in world."""
    world = config.world
    return BehaviorRules(
        budget=world.behavior_seconds,
        share=world.behavior_share,
        say_rate=world.behavior_rate,
        say_burst=world.behavior_burst,
        hear_rate=world.behavior_hear_rate,
        hear_burst=world.behavior_hear_burst,
    )


def chat_rules(config: Config) -> ChatRules:
    """Return the limits of chat in the built-in world."""
    world = config.world
    return ChatRules(
        longest=world.chat_length,
        burst=world.chat_burst,
        rate=world.chat_rate,
        backlog=world.chat_backlog,
        channels=world.channels,
    )
