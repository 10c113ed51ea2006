"""What stands behind WHERE: read with care for who wrote it, then asked of each row.

``or`` binds less than ``and``, that less than a comparison: a column left, a literal right. Numbers
are compared as numbers where the column has numbers; texts without regard to case. Source:
docs/protocol/administration/ssq.md#decisions.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ssq.rows import Cell
from emu.errors import MalformedMessage

DEEPEST: Final = 8
"""Parentheses inside each other."""
MOST_COMPARISONS: Final = 32

Finder = Callable[[str], Cell | None]
"""Returns a row's cell of a column by its name in lower case, None for what the row has not."""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?")
_TOKEN: Final = re.compile(r"""\s*(?:("[^"]*"|'[^']*')|(!=|[=<>(),])|([^\s"'=<>!(),]+))""")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query: a word, a symbol, or what stood in quotation marks."""

    text: str
    is_quoted: bool = False

    def says(self, word: str) -> bool:
        """Say whether it is a word or symbol, given in lower case."""
        return not self.is_quoted and self.text.lower() == word


def tokens_of(text: str) -> list[Token]:
    """Return the pieces of a query. Raises `MalformedMessage`."""
    tokens: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None:
            raise MalformedMessage("query that is none")
        quoted, symbol, word = match.groups()
        tokens.append(Token(quoted[1:-1], is_quoted=True) if quoted else Token(symbol or word))
        at = match.end()
    return tokens


@dataclass(frozen=True, slots=True)
class Comparison:
    """``column operator literal``."""

    column: str
    operator: str
    literal: str

    def holds(self, find: Finder) -> bool:
        """Say whether it is so; it is not for what the row has not, or cannot be compared."""
        cell = find(self.column)
        if cell is None:
            return False
        compare = _OPERATORS[self.operator]
        if isinstance(cell, str):
            return compare(cell.casefold(), self.literal.casefold())
        if _NUMBER.fullmatch(self.literal) is None:
            return False
        return compare(cell, float(self.literal))

    @property
    def size(self) -> int:
        """How many comparisons it is."""
        return 1


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions joined by ``and``, where `how` is `all`, or by ``or``, where it is `any`."""

    how: Callable[[Iterable[bool]], bool]
    parts: Sequence[Condition]

    def holds(self, find: Finder) -> bool:
        """Say whether it is so."""
        return self.how(part.holds(find) for part in self.parts)

    @property
    def size(self) -> int:
        """How many comparisons it is."""
        return sum(part.size for part in self.parts)


Condition = Comparison | Joined

RESERVED: Final = frozenset(("and", "or", "select", "where", "identified", "headers"))
"""Words that are no column and no literal unless they stand in quotation marks."""


def is_word(token: Token) -> bool:
    """Say whether a piece may be a column's name or a literal without quotation marks."""
    return not token.is_quoted and token.text.lower() not in RESERVED and token.text not in _SYMBOLS


_SYMBOLS: Final = frozenset((*_OPERATORS, "(", ")", ","))


class ConditionReader:
    """Reads one condition from pieces of a query, and says where it ended."""

    __slots__ = ("_comparisons", "_tokens", "at")

    def __init__(self, tokens: Sequence[Token], at: int) -> None:
        self._tokens = tokens
        self.at = at
        self._comparisons = 0

    def read(self, depth: int = 0) -> Condition:
        """Return the condition that begins here. Raises `MalformedMessage`."""
        return self._joined("or", any, lambda: self._read_all(depth))

    def _read_all(self, depth: int) -> Condition:
        return self._joined("and", all, lambda: self._read_one(depth))

    def _joined(
        self, word: str, how: Callable[[Iterable[bool]], bool], read: Callable[[], Condition]
    ) -> Condition:
        parts = [read()]
        while self._takes(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else Joined(how, tuple(parts))

    def _read_one(self, depth: int) -> Condition:
        if not self._takes("("):
            return self._read_comparison()
        if depth >= DEEPEST:
            raise MalformedMessage("too many parentheses")
        inner = self.read(depth + 1)
        if not self._takes(")"):
            raise MalformedMessage("parenthesis without an end")
        return inner

    def _read_comparison(self) -> Comparison:
        self._comparisons += 1
        if self._comparisons > MOST_COMPARISONS:
            raise MalformedMessage("too many comparisons")
        column, sign, literal = self._next(), self._next(), self._next()
        if not is_word(column) or sign.is_quoted or sign.text not in _OPERATORS:
            raise MalformedMessage("condition that is none")
        if not literal.is_quoted and not is_word(literal):
            raise MalformedMessage("condition that is none")
        return Comparison(column.text.lower(), sign.text, literal.text)

    def _next(self) -> Token:
        if self.at >= len(self._tokens):
            raise MalformedMessage("condition without an end")
        self.at += 1
        return self._tokens[self.at - 1]

    def _takes(self, word: str) -> bool:
        if self.at < len(self._tokens) and self._tokens[self.at].says(word):
            self.at += 1
            return True
        return False
