"""Secrets of the configuration: their sources, and the files that expose them to other users.

A secret setting may be in the configuration file, in its own environment variable, or in its own
file, which ``<key>_file`` names. It never needs to be on a command line, which every user of the
machine can read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from emu.config.model import Config
from emu.config.readers import path as file_name
from emu.config.setting import settings_of, with_settings
from emu.files import read_whole

MOST_BYTES = 4096
"""Longest first line of a secret's file, in bytes."""


def secret_keys() -> Iterator[tuple[str, str]]:
    """Yield table and key of every secret setting."""
    for one in settings_of(Config):
        if one.rule.secret:
            yield one.table, one.name


def variable(table: str, key: str) -> str:
    """Return the environment variable of a secret, for instance ``EMU_WORLD_PASSWORD``."""
    return f"EMU_{table}_{key}".upper()


def take_environment(
    document: MutableMapping[str, Any], environment: Mapping[str, str] = os.environ
) -> None:
    """Replace the secrets of a configuration's document by those in the environment."""
    for table, key in (("database", "url"), *secret_keys()):
        value = environment.get(variable(table, key))
        # An empty variable is no secret and must not add a table.
        inner = document.setdefault(table, {}) if value else None
        if isinstance(inner, dict):
            inner[key] = value
            # Otherwise the secret would have two sources, which is reported as a contradiction.
            inner.pop(f"{key}_file", None)


def take_database_url(
    document: MutableMapping[str, Any], folder: Path, problems: list[str]
) -> None:
    """Replace ``database.url_file`` of a document by the URL in the file; add to `problems`."""
    inner = document.get("database")
    name = inner.get("url_file") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(name, str) or not name:
        return
    if "url" in inner:
        problems.append("database.url, database.url_file: set only one of them")
        return
    try:
        path = folder / file_name(name)
    except ValueError:
        # Whoever reads the document next reports the wrong name.
        return
    try:
        inner["url"] = read_secret(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        problems.append(f"database.url_file: {path} cannot be used ({reason})")


def take_files(config: Config, problems: list[str]) -> Config:
    """Return the configuration with the secrets read from their own files; add to `problems`."""
    secrets: dict[str, dict[str, str]] = {}
    for table, key in secret_keys():
        inner = getattr(config, table)
        path: Path | None = getattr(inner, f"{key}_file")
        if path is None:
            continue
        if getattr(inner, key):
            problems.append(f"{table}.{key}, {table}.{key}_file: set only one of them")
            continue
        try:
            secrets[table] = {key: read_secret(path)}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            problems.append(f"{table}.{key}_file: {path} cannot be used ({reason})")
    return with_settings(config, secrets)


def read_secret(path: Path) -> str:
    """Return the first line of a secret's file.

    Raises `OSError`, or `ValueError` when the line is empty, too long or not UTF-8.
    """
    with path.open("rb") as file:
        # One byte more shows whether the line is too long.
        line = file.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise ValueError(f"its first line is longer than {MOST_BYTES} bytes")
    try:
        # Editors add a line break; blanks may belong to the secret.
        secret = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError("its first line is not UTF-8") from None
    if not secret:
        raise ValueError("its first line is empty")
    return secret


def exposed(config: Config, source: Path | None) -> Iterator[str]:
    """Yield a line for each file with secrets that every user of the machine can read.

    `source` is the configuration file. A file that only its group can read is the operator's
    choice, and is not reported.
    """
    for path, what in _secret_files(config, source):
        if _is_open(path):
            yield f"{path} holds {what} and every user of this machine can read it: chmod o= {path}"


def _secret_files(config: Config, source: Path | None) -> Iterator[tuple[Path, str]]:
    yield from _database_files(config, source)
    if config.trace.file is not None:
        yield config.trace.file, "sessions with their keys"
    if config.link.certificate is not None and _has_key(config.link.certificate):
        yield config.link.certificate, "the link's private key"
    if config.rcon.users_file is not None:
        yield config.rcon.users_file, "rcon passwords"
    if config.ggmp.tokens_file is not None:
        yield config.ggmp.tokens_file, "ggmp tokens"
    for table, key in secret_keys():
        inner = getattr(config, table)
        own: Path | None = getattr(inner, f"{key}_file")
        if own is not None:
            yield own, f"{table}.{key}"
        elif source is not None and getattr(inner, key) and _names(source, key):
            yield source, f"{table}.{key}"


def _database_files(config: Config, source: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield the files with accounts, or with the password of the database's server."""
    database = config.database
    if isinstance(database.url, Path):
        yield database.url, "password hashes"
        # SQLite's own files and the backups beside the database hold the same data.
        for path in sorted(database.url.parent.glob(f"{database.url.name}[-.]*")):
            yield path, "password hashes"
    elif database.url_file is not None:
        yield database.url_file, "database.url"
    elif source is not None and database.url.password and _names(source, "url"):
        yield source, "database.url"


def _names(source: Path, key: str) -> bool:
    """Return whether a configuration file has a key; else its value came from elsewhere."""
    try:
        return any(line.strip().startswith(key) for line in source.read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return False


def _has_key(path: Path) -> bool:
    try:
        return b"PRIVATE KEY" in read_whole(path)
    except OSError:
        return False


def _is_open(path: Path) -> bool:
    """Return whether other users may read a file and enter every folder above it."""
    try:
        whole = path.resolve()
        # Without the right to enter each folder above it, others cannot read an open file.
        folders = all(folder.stat().st_mode & stat.S_IXOTH for folder in whole.parents)
        return bool(folders and whole.stat().st_mode & stat.S_IROTH)
    except (OSError, RuntimeError):  # a link that leads to itself
        return False
