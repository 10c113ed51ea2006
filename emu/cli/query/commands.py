"""`emu query`: ask any server how it is, by the protocols that server lists use."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from emu.admin.a2s.client import A2sQuestion
from emu.admin.a2s.messages import Query
from emu.admin.ogp import report
from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import DIALECTS
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.common import VerbGroup, together
from emu.cli.query.socket import PATIENCE, Question, ask
from emu.cli.query.ssq import ssq
from emu.cli.tables import failures_in, json_text, line_format_option, printable
from emu.config import Address

asking_options = together(
    address_argument,
    timeout_option(PATIENCE, "Seconds to wait for each answer."),
    line_format_option,
)


@click.group(cls=VerbGroup)
def query() -> None:
    """Ask a server how it is: ours, or any other that speaks the protocol.

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
    help="Version of the protocol to ask in.",
)
def ogp(*, address: Address, timeout: float, style: str, dialect: str) -> None:
    """Ask by the Open Game Protocol for all that the server tells.

    Example: emu query ogp 127.0.0.1:27016 --json
    """
    version = next(one for one in DIALECTS if one.name == dialect)
    question = OgpQuestion(random.randrange(1, 1 << 31), version)  # noqa: S311  # only to tell apart
    _ask(address, [question], timeout, style)
    assert question.answer is not None  # noqa: S101  # it was answered
    _print(report.as_record(question.answer), style)


@query.command()
@asking_options
def a2s(*, address: Address, timeout: float, style: str) -> None:
    """Ask by Source's server queries for the server, its players and its rules.

    Example: emu query a2s 127.0.0.1:27015 --json
    """
    info, players, rules = (A2sQuestion(one) for one in (Query.INFO, Query.PLAYERS, Query.RULES))
    _ask(address, [info, players, rules], timeout, style)
    assert info.info is not None  # noqa: S101  # it was answered
    told = {
        "info": asdict(info.info),
        "players": [asdict(player) for player in players.players or ()],
        "rules": dict(rules.rules or ()),
    }
    _print(told, style)


def _ask(address: Address, questions: Sequence[Question], patience: float, style: str) -> None:
    """Ask one question after the other."""
    with failures_in(style):
        for question in questions:
            ask(address, question, patience)


def _print(told: Mapping[str, Any], style: str) -> None:
    if style == "json":
        click.echo(json_text(told))
        return
    for line in lines_of(told):
        click.echo(line)


def lines_of(told: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield what was told for people: a name and its value a line, lists below their name."""
    for name, value in told.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from lines_of(value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            yield f"{indent}{name}: {len(value)}"
            for one in value:
                shown = (f"{key} {_text(part)}" for key, part in one.items())
                yield f"{indent}  {', '.join(shown)}"
        else:
            yield f"{indent}{name}: {_text(value)}"


def _text(value: Any) -> str:
    """Return a value on one line; what a server sent may hold controls."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return printable(text)
