"""The configuration and the database of a command, and the verbs that several nouns share."""

from __future__ import annotations

import getpass
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from emu.admin.commands.changes import CHANGED, CHANGED_ORIGIN, DETAILS
from emu.audit import AuditedAct
from emu.cli.console_socket import ConsoleSocket
from emu.cli.root_options import root_values
from emu.cli.words import INSTEAD_OF_VERBS, same_verb, wrong_verb
from emu.config import Config, default_path, load
from emu.config.setting import with_settings
from emu.database import Where
from emu.errors import CommandError, FileFormatError
from emu.login.passwords import MAX_PASSWORD
from emu.model import Durability
from emu.store import Store
from emu.texts import counted
from emu.times import DAY, Moment

Command = TypeVar("Command", bound=Callable[..., Any])

CONTENT_NAME = "content.sqlite"
"""The content file's name beside the server database."""
NOTICE = 2.0
"""Seconds to wait until a running server has taken notice of a change."""
LONGEST_ACT = 1000
"""Characters of a change, and of its result, that a running server gets."""
_SENTENCE = 1000
"""Maximum length of a verb's help in its noun's list: longer than any first sentence."""


class VerbGroup(click.Group):
    """A click group that wraps the help of its verbs (click truncates it), and knows synonyms."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, also by a word of the same meaning; the error names the right command."""
        word = args[0]
        if word not in self.commands and not word.startswith("-"):
            if (self.name, word) in INSTEAD_OF_VERBS:
                raise wrong_verb(self, ctx, word)
            verb = same_verb(self, word)
            if verb is None:
                raise wrong_verb(self, ctx, word)
            args = [verb, *args[1:]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with the first sentence of its help."""
        verbs = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(verb.name or "", verb.get_short_help_str(_SENTENCE)) for verb in verbs if verb]
            )


class Switchable(Protocol):
    """A row that operators can disable."""

    @property
    def id(self) -> int:
        """Its number in the database."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def enabled(self) -> bool:
        """Whether it is not disabled."""


def add_switches(
    group: click.Group,
    noun: str,
    cannot: str,
    example: str,
    *,
    find: Callable[[Store, str], Switchable],
    store_enabled: Callable[[Store, int, bool], object],
) -> None:
    """Add the verbs `disable` and `enable` to a group.

    `cannot` says what a disabled `noun` cannot do; `example` is a name for the help. `find` returns
    the row of a name, and raises `CommandError` without one; `store_enabled` changes it.
    """

    def switch(name: str, is_on: bool) -> None:
        with change_store() as store:
            found = find(store, name)
            before, after = ("enabled" if on else "disabled" for on in (found.enabled, is_on))
            result = f"{noun} {found.name!r} is {after}"
            with acting(store, f"{noun} {found.name}", result, before=before, after=after):
                store_enabled(store, found.id, is_on)

    article = "an" if noun[0] in "aeiou" else "a"
    helps = {
        "disable": f"Disable {article} {noun}: it cannot {cannot} until you enable it.",
        "enable": f"Enable a disabled {noun}.",
    }
    for verb, text in helps.items():

        def run(name: str, *, is_on: bool = verb == "enable") -> None:
            switch(name, is_on)

        help_text = f"{text}\n\nExample: emu {noun} {verb} {example}"
        group.command(verb, help=help_text)(click.argument("name")(run))


def add_removal(
    group: click.Group,
    noun: str,
    example: str,
    *,
    find: Callable[[Store, str], Switchable],
    count: Callable[[Store, int], int],
    remove: Callable[[Store, int], object],
) -> None:
    """Add the verb `remove` to a group.

    `example` is a name for the help. `find` returns the row of a name, and raises `CommandError`
    without one; `count` returns how many characters belong to it; `remove` removes it with them.
    """

    def run(name: str, *, characters: bool) -> None:
        with change_store() as store:
            found = find(store, name)
            number = count(store, found.id)
            own = counted(number, "character")
            # The characters' entries go with it, so this needs an option of its own.
            if number and not characters:
                raise CommandError(
                    f"{noun} {found.name!r} has {own}; disable it instead, or add --characters"
                )
            result = f"removed {noun} {found.name!r} and {own}"
            with acting(store, f"{noun} {found.name}", result):
                remove(store, found.id)

    article = "an" if noun[0] in "aeiou" else "a"
    text = (
        f"Remove {article} {noun} for good. Its characters disappear from the login server's list."
        f"\n\nExample: emu {noun} remove {example}"
    )
    option = click.option("--characters", is_flag=True, help="Remove it and its characters.")
    group.command("remove", help=text)(click.argument("name")(option(run)))


def together(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds several arguments and options, in this order."""

    def give(command: Command) -> Command:
        # Stacked decorators apply from the lowest up; reversed, the help has the given order.
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return give


def config_path() -> Path | None:
    """Return the configuration file to read, or None if there is none."""
    given = root_values().config
    return given if given is not None else default_path()


def given_database() -> Path | None:
    """Return the file of ``--db``."""
    return root_values().db


def load_config() -> Config:
    """Return the configuration, with the database of ``--db`` if given.

    Raises `ConfigError` if it is not valid.
    """
    path = config_path()
    config = load(None if path is None else path.absolute())
    given = given_database()
    if given is None:
        return config
    return with_settings(config, {"database": {"url": given.absolute()}})


@contextmanager
def naming(file: object) -> Iterator[None]:
    """Add a file's name to the errors raised while it is read."""
    try:
        yield
    except FileFormatError as error:
        if str(file) in str(error):
            raise
        raise FileFormatError(f"{file}: {error}") from None


def is_terminal() -> bool:
    """Return whether standard input and error are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def print_database(where: Where) -> None:
    """Print on standard error which database a command has changed."""
    place = where.absolute() if isinstance(where, Path) else where
    click.echo(f"database: {place}", err=True)


def content_path() -> Path:
    """Return the path of the content file: the configured one, else beside the server database."""
    config = load_config()
    return config.world.content or config.database.path.with_name(CONTENT_NAME)


def read_store() -> Store:
    """Open the configured database for reading; writers do not block it."""
    return Store.open_for_reading(load_config().database.url)


@contextmanager
def change_store(*, create: bool = False) -> Iterator[Store]:
    """Open the configured database for a change, and print which one it is at the end.

    With `create` it is created if it does not exist.
    """
    config = load_config()
    where = config.database.url
    with Store.create(where) if create else Store.open(where) as store:
        store.database.set_durability(
            Durability.SAFE
        )  # the change must survive a power failure when the command returns
        yield store
        print_database(where)
    # The transaction is complete here, so the server finds the change.
    _notify_server(config)


def _notify_server(config: Config) -> None:
    """Ask a running server to apply changes of accounts and characters now.

    Without an answer it does so by itself soon (``world.review_seconds``).
    """
    with suppress(CommandError), ConsoleSocket(config.console_path, timeout=NOTICE) as console:
        console.run("reload accounts")


@dataclass(slots=True)
class ActingReport:
    """What `acting` prints and reports; a command may change it until its change is stored."""

    result: str


@contextmanager
def acting(
    store: Store, subject: str, result: str, *, before: str = "", after: str = "", reason: str = ""
) -> Iterator[ActingReport]:
    """Store the change that is made inside together with its entry in the audit, and report it.

    `subject` is the changed thing, `before` and `after` are its values; see `emu.audit.AuditedAct`.
    `result` is the line that the command prints. A running server gets the change for its log and
    its webhook.
    """
    command = click.get_current_context().command_path.partition(" ")[2]
    now = Moment(time.time())
    kept = load_config().database.audit_days * DAY
    report = ActingReport(result)
    with store.transaction():
        yield report
        act = AuditedAct(
            now, getpass.getuser(), CHANGED_ORIGIN, command, subject, before, after, reason,
            report.result, ok=True,
        )  # fmt: skip
        store.audit.add_act(act, Moment(now - kept))
    click.echo(report.result, err=True)
    _report(act)


def _report(act: AuditedAct) -> None:
    """Let the log and the webhook of the running server have an act."""
    line = f"{act.command} {act.name} {act.reason}".rstrip()
    given = {"line": line[:LONGEST_ACT]}
    given |= {name: getattr(act, name)[:LONGEST_ACT] for name in ("result", *DETAILS)}
    with (
        suppress(CommandError),
        ConsoleSocket(load_config().console_path, timeout=NOTICE) as console,
    ):
        console.run(f"{CHANGED} {json.dumps(given, ensure_ascii=False)}")


def chosen_password(given: str | None) -> bytes:
    """Return a password's UTF-8 bytes: the given one, or one that is typed twice without echo.

    If standard input is no terminal, its first line is the password. Raises `CommandError` if it is
    empty or too long.
    """
    if given is None and _is_terminal():
        given = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    elif given is None:
        given = sys.stdin.readline().rstrip("\r\n")
    # Bytes that are not UTF-8 reach Python as surrogates and become the same bytes again.
    password = str(given).encode("utf-8", "surrogateescape")
    if not password:
        raise CommandError("the password must not be empty")
    if len(password) > MAX_PASSWORD:
        raise CommandError(f"the password must not be longer than {MAX_PASSWORD} bytes")
    return password


def _is_terminal() -> bool:
    return sys.stdin.isatty()
