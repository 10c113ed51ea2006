"""What every noun of the `emu` command needs: the configuration and the database it works on.

Owns the options ``--config`` and ``--db``, which may stand before the noun or anywhere behind it,
and how the files they name are found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from emu.config import Config, default_path, load
from emu.config.setting import with_settings
from emu.errors import CommandError, FileFormatError
from emu.login.passwords import MAX_PASSWORD
from emu.model import Durability
from emu.store import Store

Command = TypeVar("Command", bound=Callable[..., Any])

_SENTENCE = 1000
"""Letters of a verb's help that its noun's help shows at most: all of the first sentence."""


@dataclass(slots=True)
class Root:
    """What ``--config`` and ``--db`` said; the `obj` of every click context."""

    config: Path | None = None
    """The configuration file, or None for the default search."""
    db: Path | None = None
    """The database, or None for the configured one."""


class VerbGroup(click.Group):
    """A click group whose list of verbs folds at the terminal's edge, where click cuts it off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with the first sentence of its help."""
        verbs = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(verb.name or "", verb.get_short_help_str(_SENTENCE)) for verb in verbs if verb]
            )


def _keep(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None and param.name is not None:
        setattr(ctx.find_root().ensure_object(Root), param.name, value)


def shared_options() -> list[click.Option]:
    """Return fresh options ``--config`` and ``--db``, which speak to `load_config`."""
    kind: Any = click.Path(dir_okay=False, path_type=Path)
    return [
        click.Option(
            ["--config"], type=kind, callback=_keep, expose_value=False,
            help="Configuration file (TOML); the default is $EMU_CONFIG, ./emu.toml or"
            " ./state/emu.toml, the first there is.",
        ),
        click.Option(
            ["--db"], type=kind, callback=_keep, expose_value=False,
            help="The database (SQLite); the default is the configured one.",
        ),
    ]  # fmt: skip


def share_options(command: click.Command) -> None:
    """Give a command and all below it ``--config`` and ``--db``, where they are not yet."""
    present = {param.name for param in command.params}
    command.params += [one for one in shared_options() if one.name not in present]
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            share_options(inner)


def together(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return what gives a command several arguments and options at once, in this order."""

    def give(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return give


def _root() -> Root:
    """Return what was said to the command that runs."""
    return click.get_current_context().find_root().ensure_object(Root)


def config_path() -> Path | None:
    """Return the configuration file that is to be read, or None when there is none."""
    given = _root().config
    return given if given is not None else default_path()


def given_database() -> Path | None:
    """Return the file that ``--db`` names."""
    return _root().db


def load_config() -> Config:
    """Return the configuration, with the database that ``--db`` names when it does.

    Raises `ConfigError` when it cannot be used.
    """
    path = config_path()
    config = load(None if path is None else path.absolute())
    given = given_database()
    if given is None:
        return config
    return with_settings(config, {"database": {"url": given.absolute()}})


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name the file that a command was given in what is wrong with it."""
    try:
        yield
    except FileFormatError as error:
        if str(file) in str(error):
            raise
        raise FileFormatError(f"{file}: {error}") from None


def is_terminal() -> bool:
    """Say whether somebody sits in front."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def tell_database(path: Path) -> None:
    """Say on standard error which database a command has written to."""
    click.echo(f"database: {path.absolute()}", err=True)


def look_store() -> Store:
    """Open the configured database to read it; nobody's write is in the way."""
    return Store.open_for_reading(load_config().database.path)


@contextmanager
def change_store(*, create: bool = False) -> Iterator[Store]:
    """Open the configured database for a change, and say at the end which one it is.

    With `create` it is made when it is not there.
    """
    path = load_config().database.path
    with Store.create(path) if create else Store.open(path) as store:
        store.database.set_durability(Durability.SAFE)  # a command's change is there for good
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
