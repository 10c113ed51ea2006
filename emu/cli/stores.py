"""What the nouns that work on the database share: opening it, and asking for passwords."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from emu.cli.common import load_config, tell_database
from emu.errors import CommandError
from emu.login.accounts.passwords import MAX_PASSWORD
from emu.store import Store


def look_store() -> Store:
    """Open the configured database to read it; nobody's write is in the way."""
    return Store.look(load_config().database.path)


@contextmanager
def change_store(*, create: bool = False) -> Iterator[Store]:
    """Open the configured database for a change, and say at the end which one it is.

    With `create` it is made when it is not there.
    """
    path = load_config().database.path
    with Store.create(path) if create else Store.open(path) as store:
        yield store
        tell_database(path)


def chosen_password(given: str | None) -> bytes:
    """Return a password's UTF-8 bytes: the given one, or one asked for twice without showing it.

    When standard input is no terminal, its first line is the password. Raises `CommandError` when
    it is empty or too long.
    """
    if given is None and _is_terminal():
        given = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    elif given is None:
        given = sys.stdin.readline().rstrip("\r\n")
    password = str(given).encode("utf-8", "surrogateescape")
    if not password:
        raise CommandError("the password must not be empty")
    if len(password) > MAX_PASSWORD:
        raise CommandError(f"the password must not be longer than {MAX_PASSWORD} bytes")
    return password


def _is_terminal() -> bool:
    return sys.stdin.isatty()
