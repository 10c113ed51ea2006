"""Reads a TOML file and ``key=value`` overrides into a `Config`, or reports every problem.

No part of a configuration is used before all of it has been checked. A reload changes the settings
that are declared `live`; others need a restart.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from emu.config.content_rules import defaults_of_content
from emu.config.model import Config
from emu.config.rules import contradictions
from emu.config.secrets import take_database_url, take_environment, take_files
from emu.config.setting import (
    SETTINGS,
    Setting,
    settings_of,
    tables_of,
    with_settings,
)
from emu.database import ServerUrl
from emu.errors import ConfigError, FileFormatError
from emu.files import parse_document, read_whole
from emu.schema import TableFault, TableFaults, unknown_key

_TABLES: Final = tuple(table.name for table in tables_of(Config))
_REMOVED: Final = {
    "processes": (
        "is replaced; several processes serve one world by a shared [database] url, a [bus] url"
        " and a [node] name each"
    )
}
"""Tables of earlier releases, with what replaces them."""
MOST_PROBLEMS: Final = 50
"""Problems of one configuration that are listed; the rest are counted."""
ENVIRONMENT = "EMU_CONFIG"
"""Environment variable that names the configuration file."""
SEARCHED = (Path("emu.toml"), Path("state", "emu.toml"))
"""Files searched in the working directory, in order; `make run` makes the second."""


def default_path() -> Path | None:
    """Return the file that ``$EMU_CONFIG`` names, else the first of `SEARCHED` that exists."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    return next((path for path in SEARCHED if path.is_file()), None)


def load(path: Path | None, overrides: Iterable[str] = ()) -> Config:
    """Read a configuration file (none: all defaults) and apply ``table.key=value`` overrides.

    Secrets in the environment replace the file's. Relative file names start at the configuration
    file's folder. Raises `ConfigError` with a problem for each wrong key, or with one for a file
    that cannot be read or is not TOML.
    """
    document: dict[str, Any] = {}
    if path is not None:
        try:
            document = parse_document(read_whole(path), path)
        except OSError as error:
            raise ConfigError(
                [f"{path}: cannot be read ({error.strerror}); check --config, or ${ENVIRONMENT}"]
            ) from None
        except FileFormatError as error:
            raise ConfigError([str(error)]) from None
    take_environment(document)
    return parse(document, overrides, folder=path.parent if path else Path(), source=path)


def parse(
    document: Mapping[str, Any],
    overrides: Iterable[str] = (),
    *,
    folder: Path = Path(),
    source: Path | None = None,
) -> Config:
    """Check a parsed document and overrides as a whole and return the finished `Config`."""
    problems: list[str] = []
    # Copies, because overrides must not change the caller's document.
    merged = {
        name: dict(table) if isinstance(table, dict) else table for name, table in document.items()
    }
    for override in overrides:
        _apply_override(merged, override, problems)
    take_database_url(merged, folder, problems)
    try:
        config = SETTINGS.read_table(Config, merged)
    except TableFaults as error:
        problems += map(_problem, error.faults)
    # Files are read and rules between settings checked only if each setting alone is right.
    if not problems:
        config = _with_rules(take_files(_anchor(config, folder), problems), merged)
        problems += contradictions(config)
    if problems:
        prefix = f"{source}: " if source else ""
        lines = [prefix + problem for problem in problems[:MOST_PROBLEMS]]
        left = len(problems) - len(lines)
        raise ConfigError([*lines, f"{prefix}and {left} more problems"] if left else lines)
    return config


def _with_rules(config: Config, document: Mapping[str, Any]) -> Config:
    """Let the rules of the content file be the defaults of what the operator has not set."""
    given = document.get("world", {})
    found = defaults_of_content(config.world.content if config.world.enabled else None, given)
    config = with_settings(config, {"world": found.world}) if found.world else config
    return with_zone_settings(config, found.zones) if found.zones else config


def with_zone_settings(config: Config, zones: Mapping[int, Mapping[str, Any]]) -> Config:
    """Return a configuration with other values of settings in single zones."""
    made = with_settings(config, {})
    object.__setattr__(made, "zone_settings", zones)
    return made


def _apply_override(merged: dict[str, Any], override: str, problems: list[str]) -> None:
    key, equals, value = override.partition("=")
    table, dot, name = key.strip().partition(".")
    if not equals or not dot or not name:
        problems.append(f"--set {override}: must be table.key=value, like login.listen=[::]:9100")
        return
    inner = merged.setdefault(table, {})
    if isinstance(inner, dict):
        if (table, name) == ("database", "url"):
            if _has_password(value):
                problems.append(
                    "--set database.url: a password on a command line is shown to every user of"
                    " this machine; use database.url_file, EMU_DATABASE_URL or ~/.pgpass"
                )
            inner.pop("url_file", None)
        # Always text: the reader of the setting makes the value, as for a text in the file.
        inner[name] = value.strip()


def _has_password(url: str) -> bool:
    try:
        return bool(ServerUrl.parse(url).password)
    except ValueError:
        return False


def _problem(fault: TableFault) -> str:
    """Return a fault as a line for the operator; one of a whole table names it as TOML does."""
    # A fault of a whole table has a path of one key.
    if len(fault.path) != 1:
        return str(fault)
    (name,) = fault.path
    if name in _REMOVED:
        return f"[{name}]: {_REMOVED[name]}"
    if name not in _TABLES:
        return f"[{name}]: {unknown_key(str(name), _TABLES, 'table')}"
    return f"{name}: must be a table, written as [{name}]"


def _anchor(config: Config, folder: Path) -> Config:
    """Make relative file names start at the configuration file's folder."""
    tables: dict[str, dict[str, Path]] = {}
    for one in settings_of(config):
        value = one.value(config)
        if isinstance(value, Path) and not value.is_absolute():
            tables.setdefault(one.table, {})[one.name] = folder / value
    return with_settings(config, tables)


LIVE: Final = frozenset(one.key for one in settings_of(Config) if one.rule.live)
"""Keys of the settings that a reload applies, as ``table.key``."""


def differences(old: Config, new: Config) -> list[Setting]:
    """Return the settings whose values differ, sorted by key."""
    changed = [one for one in settings_of(Config) if one.value(old) != one.value(new)]
    return sorted(changed, key=lambda one: one.key)


def merged(old: Config, new: Config) -> Config:
    """Return the old configuration with the live settings of the new one."""
    tables: dict[str, dict[str, Any]] = {}
    for one in settings_of(Config):
        if one.rule.live:
            tables.setdefault(one.table, {})[one.name] = one.value(new)
    return with_zone_settings(with_settings(old, tables), new.zone_settings)
