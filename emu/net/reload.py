"""What a running server takes from a configuration that was read again.

Knows which settings may change while it runs; the parts know how. Everything else stays as it was
at the start, and is named so that the operator knows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

from emu.admin.commands.running import Reload
from emu.config import Config
from emu.errors import ConfigError, EmuError, unusable
from emu.net.logs import logger

_log = logger("server")

LIVE: Final = frozenset(
    {
        "log.level",
        "login.auto_create_accounts", "login.logins_per_address", "login.expansion_flag",
        "login.cities_flag", "login.subscription_level", "login.enabled_races",
        "login.max_characters", "login.long_world_status", "login.swap_equipment_green_blue",
        "login.password_memory_cost", "login.password_iterations",
        "link.unregistered_worlds", "link.server_versions", "link.max_connections",
        "link.connections_per_address",
        "world.locked", "world.max_players", "world.motd", "world.link_dead",
        "world.camp_seconds", "world.save_seconds", "world.message_rate", "world.message_burst",
        "world.chat_rate", "world.chat_burst",
        "world.chat_length", "world.say_distance",
        "world.channels",
        "rcon.password", "rcon.password_file", "rcon.users_file", "rcon.auth_junk_packet",
        "rcon.dialect", "rcon.max_request", "rcon.max_connections",
        "rcon.connections_per_address", "rcon.idle_timeout",
        "ssq.password", "ssq.password_file", "ssq.headers", "ssq.datagram_bytes",
        "web.url", "web.proxies", "web.idle_timeout", "web.session_timeout",
        "ggmp.policy", "ggmp.tokens_file", "ggmp.open_actions", "ggmp.clients_file",
    }
)  # fmt: skip
"""Settings that count from the moment they are read."""


async def reread(reads: Mapping[str, Reload]) -> None:
    """Have everything read again; what is wrong is left as it was, and told in the log."""
    for name, read in reads.items():
        try:
            await read()
        except ConfigError as error:
            for problem in error.problems:
                _log.error("the {name} is as before: {problem}", name=name, problem=problem)
        except (EmuError, OSError) as error:
            reason = unusable(error) if isinstance(error, OSError) else str(error)
            _log.error("the {name} are as before: {reason}", name=name, reason=reason)


def differences(old: Config, new: Config) -> Iterator[str]:
    """Yield ``table.key`` of each setting that is not the same."""
    for table in dataclasses.fields(Config):
        before, after = getattr(old, table.name), getattr(new, table.name)
        for item in dataclasses.fields(before):
            if getattr(before, item.name) != getattr(after, item.name):
                yield f"{table.name}.{item.name}"


def merged(old: Config, new: Config) -> Config:
    """Return the old configuration with the `LIVE` settings of the new one."""
    tables = {}
    for table in dataclasses.fields(Config):
        before, after = getattr(old, table.name), getattr(new, table.name)
        live = {
            item.name: getattr(after, item.name)
            for item in dataclasses.fields(before)
            if f"{table.name}.{item.name}" in LIVE
        }
        tables[table.name] = dataclasses.replace(before, **live)
    return Config(**tables)
