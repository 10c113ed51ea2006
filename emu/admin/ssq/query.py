"""The questions: their text read into values, and written.

Source: docs/protocol/administration/ssq.md#packets. Keywords and names of columns are taken in
either case; a password and a token are not.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ssq.conditions import Condition, ConditionReader, Token, is_word, tokens_of
from emu.errors import MalformedMessage

LONGEST: Final = 4096
"""Bytes of a question."""
MOST_COLUMNS: Final = 64


class Headers(enum.Enum):
    """What the first row of an answer says of the columns."""

    NORMAL = "normal"
    """Their names."""
    COMPACT = "compact"
    """For each that was asked 1, or 0 when it is not there."""
    NULL = "null"
    """Nothing, as all are there; when one is not, as `COMPACT`."""


@dataclass(frozen=True, slots=True)
class Auth:
    """``AUTH password``: asks for a token."""

    password: str


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT columns [WHERE condition] [IDENTIFIED token] [HEADERS form]``.

    Names of columns are in lower case. HEADERS is ours: the protocol names three forms and no way
    to choose one.
    """

    columns: tuple[str, ...]
    where: Condition | None = None
    token: str = ""
    headers: Headers | None = None
    """None for the form that the server prefers."""


@dataclass(frozen=True, slots=True)
class StoredProcedure:
    """``SP name``: a question that the server keeps under a name, in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class ColumnList:
    """``CL [LONG]``: all columns there are, with what they tell when it is long."""

    is_long: bool


@dataclass(frozen=True, slots=True)
class Version:
    """``VERSION``: of the protocol, the game and the server."""


@dataclass(frozen=True, slots=True)
class Ping:
    """``PING``, or ``SP ping``: the shortest answer there is."""


Query = Auth | Select | StoredProcedure | ColumnList | Version | Ping


def pull_query(body: bytes) -> Query:
    """Return the question of a body. Raises `MalformedMessage`."""
    if len(body) > LONGEST:
        raise MalformedMessage("query too long")
    try:
        text = body.decode("utf-8").rstrip("\0\r\n\t ")
    except UnicodeDecodeError:
        raise MalformedMessage("query that is no UTF-8") from None
    if "\0" in text:
        raise MalformedMessage("query with a NUL inside")
    command, rest = (*text.split(maxsplit=1), "", "")[:2]
    return _pull(command.upper(), rest.rstrip())


def _pull(command: str, rest: str) -> Query:
    match command, rest.lower():
        case "AUTH", _:
            return Auth(rest)
        case "SELECT", _:
            return _pull_select(tokens_of(rest))
        case ("SP", "ping") | ("PING", ""):
            return Ping()
        case "SP", name if name and " " not in name:
            return StoredProcedure(name)
        case "CL", ("" | "long") as long:
            return ColumnList(is_long=bool(long))
        case "VERSION", "":
            return Version()
    raise MalformedMessage("unknown query")


def _pull_select(tokens: Sequence[Token]) -> Select:
    columns, at = _pull_columns(tokens)
    where: Condition | None = None
    if at < len(tokens) and tokens[at].says("where"):
        reader = ConditionReader(tokens, at + 1)
        where, at = reader.read(), reader.at
    token, at = _pull_option(tokens, at, "identified")
    form, at = _pull_option(tokens, at, "headers")
    if at != len(tokens):
        raise MalformedMessage("query with more behind its end")
    try:
        headers = Headers(form.lower()) if form else None
    except ValueError:
        raise MalformedMessage("unknown form of headers") from None
    return Select(columns, where, token, headers)


def _pull_columns(tokens: Sequence[Token]) -> tuple[tuple[str, ...], int]:
    """Return the list of columns that a selection begins with, and where it ends."""
    columns: list[str] = []
    at = 0
    while at < len(tokens) and is_word(tokens[at]) and len(columns) < MOST_COLUMNS:
        columns.append(tokens[at].text.lower())
        at += 1
        if at == len(tokens) or not tokens[at].says(","):
            return tuple(columns), at
        at += 1
    raise MalformedMessage("list of columns that is none")


def _pull_option(tokens: Sequence[Token], at: int, word: str) -> tuple[str, int]:
    """Return what stands behind a keyword, empty when it is not here, and where that ends."""
    if at + 1 < len(tokens) and tokens[at].says(word):
        return tokens[at + 1].text, at + 2
    return "", at
