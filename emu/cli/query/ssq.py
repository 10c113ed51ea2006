"""`emu query ssq`: any question in SSQ's own words."""

from __future__ import annotations

import json
import random

import click

from emu.admin.ssq.client import PONG_HEADER, SsqQuestion, auth_question, token_of, with_token
from emu.admin.ssq.query import LONGEST
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.moments import passing
from emu.cli.query.socket import PATIENCE, ask
from emu.cli.secrets import password_option
from emu.cli.tables import failures_in, format_option, print_rows
from emu.config import Address
from emu.errors import CommandError


@click.command()
@format_option
@timeout_option(PATIENCE, "Seconds to wait for an answer.")
@password_option
@address_argument
@click.argument("words", nargs=-1, metavar="[QUESTION...]")
def ssq(
    address: Address, words: tuple[str, ...], password: str | None, timeout: float, style: str
) -> None:
    """Ask by Standard Server Queries; SP info without a question.

    With a password a SELECT shows private columns, and long answers come whole.

    Example: emu query ssq 127.0.0.1:26999 "SELECT playername,x-zone WHERE ping > 100"
    """
    with failures_in(style):
        rows, seconds = _told(address, " ".join(words) or "SP info", password, timeout)
        _print(address, rows, seconds, style)


def _told(
    address: Address, text: str, password: str | None, timeout: float
) -> tuple[list[list[str]], float]:
    """Ask, with a token where there is a password.

    Returns the answer's rows, the header row first, and the seconds that they took to come.
    """
    if len(text.encode("utf-8", "replace")) > LONGEST:
        raise CommandError(f"a question has {LONGEST} bytes at most")
    if password is not None:
        token = token_of(_asked(address, auth_question(_packet_id(), password), timeout))
        text = with_token(text, token)
    before = passing()
    rows = _asked(address, SsqQuestion(_packet_id(), text), timeout)
    return rows or [[]], passing() - before


def _print(address: Address, told: list[list[str]], seconds: float, style: str) -> None:
    header, *rows = told
    if not header:
        raise CommandError("the server does not understand, or has none of what was asked")
    if header == PONG_HEADER and not rows:
        milliseconds = round(seconds * 1000, 1)
        pong = f"{address} answers after {milliseconds} ms"
        click.echo(json.dumps({"ms": milliseconds}) if style == "json" else pong)
        return
    names = _distinct(header, max([len(header), *map(len, rows)]))
    print_rows([dict(zip(names, row, strict=False)) for row in rows], style, names)


def _packet_id() -> int:
    return random.randrange(256)  # noqa: S311  # only to tell answers apart


def _distinct(header: list[str], width: int) -> list[str]:
    """Return a name for each cell, a number where the header has none or has it twice."""
    padded = header + [""] * (width - len(header))
    return [
        name if name and padded.count(name) == 1 else f"{name or 'column'} {index}"
        for index, name in enumerate(padded, 1)
    ]


def _asked(address: Address, question: SsqQuestion, patience: float) -> list[list[str]]:
    """Return the rows of an answer. Raises `CommandError` when none comes."""
    ask(address, question, patience)
    return question.rows or []
