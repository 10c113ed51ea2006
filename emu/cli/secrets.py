"""Passwords on a command line: asked for, piped in, or from the environment or a file.

What stands on a command line every process of the machine can read; the options here are the ways
around it, the same for every command that takes a password.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from emu.config.secrets import read_secret
from emu.errors import CommandError

VARIABLE = "EMU_PASSWORD"


def password_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--password`` and ``--password-file``; it takes `password`, None for neither.

    The environment variable `VARIABLE` counts where neither is given.
    """

    @click.option(
        "--password",
        envvar=VARIABLE,
        show_envvar=True,
        help="The password; without it, it is asked for or read from a pipe. Others on this"
        " machine may see it in the list of processes: rather use one of the other ways.",
    )
    @click.option(
        "--password-file",
        type=click.Path(path_type=Path),
        help="File whose first line is the password.",
    )
    @functools.wraps(command)
    def with_password(
        *values: Any, password: str | None, password_file: Path | None, **named: Any
    ) -> Any:
        return command(*values, password=_chosen(password, password_file), **named)

    return with_password


def given_password(given: str | None) -> str:
    """Return the password of a command line, or one asked for. Raises `CommandError` for none."""
    password = asked_secret("Password") if given is None else given
    if not password:
        raise CommandError(f"no password; give --password-file FILE, or set ${VARIABLE}")
    return password


def asked_secret(what: str) -> str:
    """Return what is typed at a terminal, unseen, or the first line of a pipe; "" for nothing."""
    if sys.stdin.isatty():
        asked = click.prompt(what, hide_input=True, err=True, default="", show_default=False)
        return str(asked)
    return sys.stdin.readline().rstrip("\r\n")


def _chosen(password: str | None, file: Path | None) -> str | None:
    if file is None:
        return password
    if _was_typed("password"):
        raise click.UsageError("give --password or --password-file, not both")
    try:
        return read_secret(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{file}: no password can be read from it ({reason})") from None


def _was_typed(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE
