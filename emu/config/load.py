"""Read a TOML file and ``key=value`` overrides into a `Config`, or report all that is wrong.

Nothing of a configuration is used before the whole of it is known to be right.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from emu.config.model import Config
from emu.config.rules import contradictions
from emu.config.secrets import take_environment, take_files
from emu.errors import ConfigError, FileFormatError
from emu.files import parse_document, quoted, read_whole

_TABLES = {table.name: table for table in dataclasses.fields(Config)}
MOST_PROBLEMS: Final = 50
"""Lines about one configuration."""
ENVIRONMENT = "EMU_CONFIG"
"""Environment variable that names the configuration file."""
SEARCHED = (Path("emu.toml"), Path("state", "emu.toml"))
"""Files that are looked for in the working directory; the second is what `make run` makes."""


def default_path() -> Path | None:
    """Return the file that ``$EMU_CONFIG`` names, else the first of `SEARCHED` that exists."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    return next((path for path in SEARCHED if path.is_file()), None)


def load(path: Path | None, overrides: Iterable[str] = ()) -> Config:
    """Read a configuration file (none: all defaults) and apply ``table.key=value`` overrides.

    Secrets of the environment stand over the file's. Relative file names count from the
    configuration file's folder. Raises `ConfigError` with one
    problem for each wrong key, or for a file that cannot be read or is not TOML.
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
    merged = {
        name: dict(table) if isinstance(table, dict) else table for name, table in document.items()
    }
    for override in overrides:
        _apply_override(merged, override, problems)
    tables = _read_tables(merged, problems)
    if not problems:
        config = take_files(_anchor(Config(**tables), folder), problems)
        problems += contradictions(config)
    if problems:
        prefix = f"{source}: " if source else ""
        told = [prefix + problem for problem in problems[:MOST_PROBLEMS]]
        left = len(problems) - len(told)
        raise ConfigError([*told, f"{prefix}and {left} more problems"] if left else told)
    return config


def _apply_override(merged: dict[str, Any], override: str, problems: list[str]) -> None:
    key, equals, value = override.partition("=")
    table, dot, name = key.strip().partition(".")
    if not equals or not dot or not name:
        problems.append(f"--set {override}: must be table.key=value, like login.listen=[::]:9100")
        return
    inner = merged.setdefault(table, {})
    if isinstance(inner, dict):
        inner[name] = value.strip()


def _read_tables(merged: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for name, raw in merged.items():
        if name not in _TABLES:
            problems.append(f"[{name}]: unknown table{_nearest(name, list(_TABLES))}")
        elif not isinstance(raw, dict):
            problems.append(f"{name}: must be a table, written as [{name}]")
    for name, table in _TABLES.items():
        raw = merged.get(name, {})
        if isinstance(raw, dict):
            tables[name] = _read_table(name, table.default_factory, raw, problems)  # type: ignore[arg-type]
    return tables


def _read_table(table: str, kind: type, raw: Mapping[str, Any], problems: list[str]) -> Any:
    known = {item.name: item for item in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in known:
            problems.append(f"{table}.{key}: unknown key{_nearest(key, list(known))}")
            continue
        try:
            values[key] = known[key].metadata["reader"](value)
        except ValueError as error:
            given = "" if known[key].metadata.get("secret") else f", not {quoted(value)}"
            problems.append(f"{table}.{key}: {error}{given}")
    return kind(**values)


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else f" (known: {', '.join(known)})"


def _anchor(config: Config, folder: Path) -> Config:
    """Make relative file names count from the configuration file's folder."""
    for table in dataclasses.fields(Config):
        inner = getattr(config, table.name)
        paths = {
            item.name: folder / value
            for item in dataclasses.fields(inner)
            if isinstance(value := getattr(inner, item.name), Path) and not value.is_absolute()
        }
        if paths:
            config = dataclasses.replace(
                config, **{table.name: dataclasses.replace(inner, **paths)}
            )
    return config
