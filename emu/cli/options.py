"""Options that several nouns share: times, passwords, and shell completion of names.

Every process of the machine can read a command line. So each command that needs a password also
takes it from a file, an environment variable, a pipe or the terminal.
"""

from __future__ import annotations

import functools
import math
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from emu.cli.common import together
from emu.cli.paths import FilePath
from emu.config.secrets import read_secret
from emu.errors import CommandError, EmuError
from emu.times import Moment, Monotonic


def message_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the opcode names of the database or the program that begin with the typed text."""
    # Only shells ask for this, and the tables take long to import.
    from emu.cli.opcodes.common import present_rows  # noqa: PLC0415
    from emu.opcodes.text import shipped_rows  # noqa: PLC0415

    try:
        with ctx.scope(cleanup=False):
            rows = present_rows()
    except EmuError:  # a prompt has no place for errors: complete from the program's own names
        rows = list(shipped_rows())
    return _beginning({row.name for row in rows}, incomplete)


def struct_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the names of the shipped structs that begin with the typed text."""
    from emu.structs import shipped_catalog  # noqa: PLC0415

    return _beginning(set(shipped_catalog().names()), incomplete)


def _beginning(names: set[str], incomplete: str) -> list[str]:
    """Return the names with a given beginning; case does not matter."""
    return sorted(name for name in names if name.lower().startswith(incomplete.lower()))


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,5})([smhdw])")


def read_duration(text: str) -> float:
    """Return the seconds of a duration such as ``90m``, ``12h``, ``7d`` or ``2w``."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is no duration; write it like 90m, 12h, 7d or 2w")
    return float(int(match[1]) * _UNITS[match[2]])


def present() -> Moment:
    """Return the wall-clock time."""
    return Moment(time.time())


def read_moment(text: str) -> Moment:
    """Return the unix time of a date, or of date and time; UTC unless it has an offset."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no date; write it like 2030-12-31 or 2030-12-31T18:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Moment(moment.timestamp())


end_options = together(
    click.option(
        "--until",
        callback=lambda _ctx, _param, text: None if text is None else read_moment(text),
        help="End of the ban in UTC, like 2030-12-31T18:00.",
    ),
    click.option(
        "--for",
        "lasting",
        callback=lambda _ctx, _param, text: None if text is None else read_duration(text),
        help="Duration of the ban: 90m, 12h, 7d, 2w.",
    ),
)
"""``--until`` and ``--for``; `end_of` evaluates them."""


def end_of(until: Moment | None, lasting: float | None, moment: Moment) -> Moment:
    """Return an end: a moment, a moment after a duration, or never (``math.inf``)."""
    if until is not None and lasting is not None:
        raise click.UsageError("give --until or --for, not both")
    if until is not None and until <= moment:
        raise click.UsageError("--until is in the past")
    if lasting is not None:
        return Moment(moment + lasting)
    return Moment(math.inf) if until is None else until


def passing() -> Monotonic:
    """Return the monotonic time."""
    return Monotonic(time.monotonic())


VARIABLE = "EMU_PASSWORD"


def password_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--password`` and ``--password-file``; the command gets `password`, None for neither.

    The environment variable `VARIABLE` is used if neither is given.
    """

    @click.option(
        "--password",
        envvar=VARIABLE,
        show_envvar=True,
        help="The password; by default it is read from the terminal or a pipe. Others on this"
        " machine may see it in the list of processes: rather use one of the other ways.",
    )
    @click.option(
        "--password-file",
        type=FilePath(path_type=Path),
        help="File whose first line is the password.",
    )
    @functools.wraps(command)
    def with_password(
        *values: Any, password: str | None, password_file: Path | None, **named: Any
    ) -> Any:
        return command(*values, password=_chosen(password, password_file), **named)

    return with_password


def given_password(given: str | None) -> str:
    """Return the given password, or ask for one. Raises `CommandError` for an empty one."""
    password = asked_secret("Password") if given is None else given
    if not password:
        raise CommandError(f"no password; give --password-file FILE, or set ${VARIABLE}")
    return password


def asked_secret(what: str) -> str:
    """Return a secret typed without echo, or the first line of a pipe; "" for nothing."""
    if sys.stdin.isatty():
        asked = click.prompt(what, hide_input=True, err=True, default="", show_default=False)
        return str(asked)
    return sys.stdin.readline().rstrip("\r\n")


def _chosen(password: str | None, file: Path | None) -> str | None:
    if file is None:
        return password
    # The environment variable gives way to the file; only a typed password contradicts it.
    if _was_typed("password"):
        raise click.UsageError("give --password or --password-file, not both")
    try:
        return read_secret(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{file}: cannot read a password from it ({reason})") from None


def _was_typed(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE
