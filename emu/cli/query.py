"""`emu query`: queries a server by the protocols of server lists."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import click

from emu.admin.a2s.client import A2sQuestion
from emu.admin.a2s.messages import A2sQuery
from emu.admin.ogp import client
from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import DIALECTS
from emu.admin.ssq.packets import PONG_HEADER, SsqQuestion, auth_question, token_of, with_token
from emu.admin.ssq.query import LONGEST
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.common import VerbGroup, together
from emu.cli.options import passing, password_option
from emu.cli.tables import (
    failures_in,
    format_option,
    json_text,
    line_format_option,
    print_rows,
    printable,
)
from emu.config import Address
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic

TRIES: Final = 3
"""How often an unanswered datagram is sent."""
PATIENCE: Final = 3.0
"""Seconds to wait for an answer, by default."""
_LONGEST: Final = 65535

Question = A2sQuestion | OgpQuestion | SsqQuestion
"""One query to a server, with its retransmissions and the datagrams of its answer.

Its `datagram` is sent, and sent again without an answer. Every received datagram goes to `receive`,
which returns whether to send again at once, until `is_answered`.
"""


def ask(address: Address, question: Question, patience: float) -> None:
    """Send a query until it is answered; lost datagrams are sent again.

    The next address of a name is tried if nothing listens at one. Raises `CommandError` if nothing
    is received within `patience` seconds, or the server refuses.
    """
    try:
        for found in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM):
            with socket.socket(found[0], socket.SOCK_DGRAM) as asker:
                try:
                    asker.connect(found[4])
                    _ask(asker, address, question, patience)
                except ConnectionRefusedError:
                    continue
                return
    except OSError as error:
        raise CommandError(f"{address} cannot be reached ({error.strerror})") from None
    raise CommandError(f"nothing listens on UDP {address}")


def _ask(asker: socket.socket, address: Address, question: Question, patience: float) -> None:
    useless = 0
    # UDP may lose a query or its answer, so the query is repeated.
    for _ in range(TRIES):
        asker.send(question.datagram())
        useless += _listen(asker, question, patience / TRIES)
        if question.is_answered:
            return
    if useless:
        raise CommandError(f"{address} answers, but in another protocol")
    raise CommandError(f"{address} does not answer")


def _listen(asker: socket.socket, question: Question, wait: float) -> int:
    """Receive until the answer is complete, or nothing useful has come for `wait` seconds.

    Returns the number of useless datagrams.
    """
    until, useless = Monotonic(passing() + wait), 0
    # Useless datagrams do not extend the wait.
    while not question.is_answered and (left := until - passing()) > 0:
        asker.settimeout(left)
        try:
            goes_on = question.receive(asker.recv(_LONGEST))
        except TimeoutError:
            break
        except MalformedMessage:
            useless += 1
            continue
        if goes_on:
            # The server has answered in between, so the wait begins again.
            asker.send(question.datagram())
            until = Monotonic(passing() + wait)
    return useless


@click.command()
@format_option
@timeout_option(PATIENCE, "Seconds to wait for an answer.")
@password_option
@address_argument
@click.argument("words", nargs=-1, metavar="[QUESTION...]")
def ssq(
    address: Address, words: tuple[str, ...], password: str | None, timeout: float, style: str
) -> None:
    """Query a server by Standard Server Queries (SSQ); the default query is SP info.

    With a password, SELECT shows private columns, and long answers are complete.

    Example: emu query ssq 127.0.0.1:26999 "SELECT playername,x-zone WHERE ping > 100"
    """
    with failures_in(style):
        rows, seconds = _answered_rows(address, " ".join(words) or "SP info", password, timeout)
        _print(address, rows, seconds, style)


def _answered_rows(
    address: Address, text: str, password: str | None, timeout: float
) -> tuple[list[list[str]], float]:
    """Query with a token if there is a password.

    Returns the answer's rows, the header row first, and the seconds until it came.
    """
    if len(text.encode("utf-8", "replace")) > LONGEST:
        raise CommandError(f"a query has at most {LONGEST} bytes")
    if password is not None:
        token = token_of(_asked(address, auth_question(_packet_id(), password), timeout))
        text = with_token(text, token)
    before = passing()
    rows = _asked(address, SsqQuestion(_packet_id(), text), timeout)
    return rows or [[]], passing() - before


def _print(address: Address, content: list[list[str]], seconds: float, style: str) -> None:
    header, *rows = content
    if not header:
        raise CommandError("the server does not understand the query, or has none of its columns")
    if header == PONG_HEADER and not rows:
        milliseconds = round(seconds * 1000, 1)
        pong = f"{address} answers after {milliseconds} ms"
        click.echo(json.dumps({"ms": milliseconds}) if style == "json" else pong)
        return
    names = _distinct(header, max([len(header), *map(len, rows)]))
    print_rows([dict(zip(names, row, strict=False)) for row in rows], style, names)


def _packet_id() -> int:
    return random.randrange(256)  # noqa: S311  # only distinguishes answers


def _distinct(header: list[str], width: int) -> list[str]:
    """Return a name for each cell, a number if the header has none or has it twice."""
    padded = header + [""] * (width - len(header))
    return [
        name if name and padded.count(name) == 1 else f"{name or 'column'} {index}"
        for index, name in enumerate(padded, 1)
    ]


def _asked(address: Address, question: SsqQuestion, patience: float) -> list[list[str]]:
    """Return the rows of an answer. Raises `CommandError` without one."""
    ask(address, question, patience)
    return question.rows or []


asking_options = together(
    address_argument,
    timeout_option(PATIENCE, "Seconds to wait for each answer."),
    line_format_option,
)


@click.group(cls=VerbGroup)
def query() -> None:
    """Query a server's status: of this server, or of any other with one of the protocols.

    Example: emu query a2s 127.0.0.1:27015
    """


query.add_command(ssq)


@query.command()
@asking_options
@click.option(
    "--dialect",
    type=click.Choice([one.name for one in DIALECTS]),
    default=DIALECTS[0].name,
    show_default=True,
    help="Version of the protocol.",
)
def ogp(*, address: Address, timeout: float, style: str, dialect: str) -> None:
    """Query everything that a server reports by the Open Game Protocol (OGP).

    Example: emu query ogp 127.0.0.1:27016 --json
    """
    version = next(one for one in DIALECTS if one.name == dialect)
    question = OgpQuestion(random.randrange(1, 1 << 31), version)  # noqa: S311  # only distinguishes
    _ask_server(address, [question], timeout, style)
    assert question.answer is not None  # noqa: S101  # it was answered
    _print_answer(client.as_record(question.answer), style)


@query.command()
@asking_options
def a2s(*, address: Address, timeout: float, style: str) -> None:
    """Query the server, its players and its rules by Source server queries (A2S).

    Example: emu query a2s 127.0.0.1:27015 --json
    """
    info, players, rules = (
        A2sQuestion(one) for one in (A2sQuery.INFO, A2sQuery.PLAYERS, A2sQuery.RULES)
    )
    _ask_server(address, [info, players, rules], timeout, style)
    assert info.info is not None  # noqa: S101  # it was answered
    content = {
        "info": asdict(info.info),
        "players": [asdict(player) for player in players.players or ()],
        "rules": dict(rules.rules or ()),
    }
    _print_answer(content, style)


def _ask_server(
    address: Address, questions: Sequence[Question], patience: float, style: str
) -> None:
    """Send the queries one after the other."""
    with failures_in(style):
        for question in questions:
            ask(address, question, patience)


def _print_answer(content: Mapping[str, Any], style: str) -> None:
    if style == "json":
        click.echo(json_text(content))
        return
    for line in lines_of(content):
        click.echo(line)


def lines_of(content: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield an answer as lines for people: a name and its value, lists below their name."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from lines_of(value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            yield f"{indent}{name}: {len(value)}"
            for one in value:
                shown = (f"{key} {_text(row)}" for key, row in one.items())
                yield f"{indent}  {', '.join(shown)}"
        else:
            yield f"{indent}{name}: {_text(value)}"


def _text(value: Any) -> str:
    """Return a value on one line, without the control characters that a server may send."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return printable(text)
