"""SSQ queries: their text as values, the condition after WHERE, and the rows of answers.

``or`` binds less than ``and``, and that less than a comparison: a column on the left, a literal on
the right. Numbers are compared as numbers if the column has numbers, texts without regard to case.
Keywords and column names are accepted in either case; a password and a token are not.

Source: docs/protocol/administration/ssq.md#packets, docs/protocol/administration/ssq.md#decisions.
"""

from __future__ import annotations

import enum
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.errors import MalformedMessage

Cell = str | int

ROW_END: Final = b"\n\0"
NOTHING: Final = ROW_END
"""The answer for no data and for errors: one row without cells."""
NULL_HEADER: Final = b"\0" + ROW_END
"""The header row that means: all columns, in the order of the query."""
PONG: Final = b"j\0\n"
"""The answer to a ping, which is not a table."""

_ESCAPES: Final = {"\0": None, "\\": "\\\\", "\n": "\\n"}
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_TABLE: Final = str.maketrans(_ESCAPES)


def push_cell(value: Cell) -> bytes:
    """Return a cell as it is sent, without NULs, which it cannot carry."""
    if isinstance(value, int):
        # Digits need no escape.
        return b"%d\0" % value
    return value.translate(_TABLE).encode("utf-8", "replace") + b"\0"


def push_row(cells: Iterable[Cell]) -> bytes:
    """Return a row as it is sent."""
    return b"".join(map(push_cell, cells)) + ROW_END


def push_rows(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows as they are sent."""
    return b"".join(map(push_row, rows))


def pull_rows(body: bytes) -> list[list[str]]:
    """Return the rows of an answer's body, the header first. Raises `MalformedMessage`.

    A line feed inside a cell may be escaped as the letter n or as itself. Invalid UTF-8 becomes
    U+FFFD.
    """
    # A complete row ends with a line feed of its own, so anything behind it is damage.
    *cells, rest = body.split(b"\0")
    if rest or (cells and cells[-1] != b"\n"):
        raise MalformedMessage("table that does not end with a row")
    rows: list[list[str]] = []
    row: list[str] = []
    for cell in cells:
        if cell == b"\n":
            rows.append(row)
            row = []
        else:
            row.append(_ESCAPED.sub(_unescape, cell.decode("utf-8", "replace")))
    return rows


def _unescape(match: re.Match[str]) -> str:
    letter = match[1]
    return "\n" if letter == "n" else letter


DEEPEST: Final = 8
"""Maximum depth of parentheses."""
MOST_COMPARISONS: Final = 32

# Cells are computed only when a condition needs them.
Finder = Callable[[str], Cell | None]
"""Returns a row's cell by the column's name in lower case, None if the row has none."""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
# Digits are bounded, so that a literal cannot become a huge number.
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?")
_TOKEN: Final = re.compile(r"""\s*(?:("[^"]*"|'[^']*')|(!=|[=<>(),])|([^\s"'=<>!(),]+))""")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query: a word, a symbol, or a quoted text."""

    text: str
    is_quoted: bool = False

    def says(self, word: str) -> bool:
        """Return whether it is a given word or symbol, in lower case."""
        return not self.is_quoted and self.text.lower() == word


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a query. Raises `MalformedMessage`."""
    tokens: list[Token] = []
    # Blanks at the end would match no token.
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None:
            raise MalformedMessage("unreadable query")
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
        """Return whether the comparison is true; false if the cell is missing or not comparable."""
        cell = find(self.column)
        if cell is None:
            return False
        compare = _OPERATORS[self.operator]
        if isinstance(cell, str):
            # casefold and not lower, for letters outside of ASCII.
            return compare(cell.casefold(), self.literal.casefold())
        # A number cannot be compared with a text that is none.
        if _NUMBER.fullmatch(self.literal) is None:
            return False
        return compare(cell, float(self.literal))

    @property
    def size(self) -> int:
        """The number of comparisons."""
        return 1


@dataclass(frozen=True, slots=True)
class JoinedCondition:
    """Conditions joined by ``and``, where `how` is `all`, or by ``or``, where it is `any`."""

    how: Callable[[Iterable[bool]], bool]
    conditions: Sequence[Condition]

    def holds(self, find: Finder) -> bool:
        """Return whether the condition is true."""
        return self.how(condition.holds(find) for condition in self.conditions)

    @property
    def size(self) -> int:
        """The number of comparisons."""
        return sum(condition.size for condition in self.conditions)


Condition = Comparison | JoinedCondition

RESERVED: Final = frozenset(("and", "or", "select", "where", "identified", "headers"))
"""Words that are no column and no literal unless they are quoted."""


def is_word(token: Token) -> bool:
    """Return whether a token may be a column's name or an unquoted literal."""
    return not token.is_quoted and token.text.lower() not in RESERVED and token.text not in _SYMBOLS


_SYMBOLS: Final = frozenset((*_OPERATORS, "(", ")", ","))


class ConditionReader:
    """Parses one condition from tokens, and keeps the position after it."""

    __slots__ = ("_comparisons", "_tokens", "at")

    def __init__(self, tokens: Sequence[Token], at: int) -> None:
        self._tokens = tokens
        self.at = at
        self._comparisons = 0

    def read_condition(self, depth: int = 0) -> Condition:
        """Return the condition at the position. Raises `MalformedMessage`."""
        return self._joined("or", any, lambda: self._read_all(depth))

    def _read_all(self, depth: int) -> Condition:
        return self._joined("and", all, lambda: self._read_one(depth))

    def _joined(
        self, word: str, how: Callable[[Iterable[bool]], bool], read: Callable[[], Condition]
    ) -> Condition:
        conditions = [read()]
        while self._takes(word):
            conditions.append(read())
        # A single condition needs no list around it.
        return conditions[0] if len(conditions) == 1 else JoinedCondition(how, tuple(conditions))

    def _read_one(self, depth: int) -> Condition:
        if not self._takes("("):
            return self._read_comparison()
        # Parentheses are read by recursion, so their depth is bounded.
        if depth >= DEEPEST:
            raise MalformedMessage("too many parentheses")
        inner = self.read_condition(depth + 1)
        if not self._takes(")"):
            raise MalformedMessage("parenthesis without an end")
        return inner

    def _read_comparison(self) -> Comparison:
        # Each comparison is computed for each row.
        self._comparisons += 1
        if self._comparisons > MOST_COMPARISONS:
            raise MalformedMessage("too many comparisons")
        column, sign, literal = self._next(), self._next(), self._next()
        if not is_word(column) or sign.is_quoted or sign.text not in _OPERATORS:
            raise MalformedMessage("malformed condition")
        if not literal.is_quoted and not is_word(literal):
            raise MalformedMessage("malformed condition")
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


LONGEST: Final = 4096
"""Maximum length of a query, in bytes."""
MOST_COLUMNS: Final = 64


class Headers(enum.Enum):
    """The forms of the first row of an answer."""

    NORMAL = "normal"
    """The columns' names."""
    COMPACT = "compact"
    """For each requested column 1, or 0 if it does not exist."""
    NULL = "null"
    """Empty if all columns exist, else as `COMPACT`."""


@dataclass(frozen=True, slots=True)
class Auth:
    """``AUTH password``: requests a token."""

    password: str


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT columns [WHERE condition] [IDENTIFIED token] [HEADERS form]``.

    Column names are in lower case. HEADERS is this server's extension: the protocol defines three
    forms and no way to choose one.
    """

    columns: tuple[str, ...]
    where: Condition | None = None
    token: str = ""
    headers: Headers | None = None
    """None for the form that the server prefers."""


@dataclass(frozen=True, slots=True)
class StoredProcedure:
    """``SP name``: a stored procedure, in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class ColumnList:
    """``CL [LONG] [IDENTIFIED token]``: requests the list of columns, with descriptions if LONG.

    IDENTIFIED is this server's extension: the list is longer than the query.
    """

    is_long: bool
    token: str = ""


@dataclass(frozen=True, slots=True)
class SsqVersion:
    """``VERSION``: of the protocol, the game and the server."""


@dataclass(frozen=True, slots=True)
class Ping:
    """``PING``, or ``SP ping``: the shortest answer."""


Query = Auth | Select | StoredProcedure | ColumnList | SsqVersion | Ping


def pull_query(body: bytes) -> Query:
    """Return the query of a body. Raises `MalformedMessage`."""
    if len(body) > LONGEST:
        raise MalformedMessage("query too long")
    try:
        text = body.decode("utf-8").rstrip("\0\r\n\t ")
    except UnicodeDecodeError:
        raise MalformedMessage("query that is not UTF-8") from None
    if "\0" in text:
        raise MalformedMessage("query with a NUL inside")
    # Two empty texts behind it, so that a command without arguments can be unpacked.
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
        case "CL", _:
            return _pull_columns_wanted(tokens_of(rest))
        case "VERSION", "":
            return SsqVersion()
    raise MalformedMessage("unknown query")


def _pull_columns_wanted(tokens: Sequence[Token]) -> ColumnList:
    is_long = bool(tokens) and tokens[0].says("long")
    token, at = _pull_option(tokens, int(is_long), "identified")
    # Text behind the end would otherwise be ignored without a sign.
    if at != len(tokens):
        raise MalformedMessage("unknown query")
    return ColumnList(is_long, token)


def _pull_select(tokens: Sequence[Token]) -> Select:
    columns, at = _pull_columns(tokens)
    where: Condition | None = None
    if at < len(tokens) and tokens[at].says("where"):
        reader = ConditionReader(tokens, at + 1)
        where, at = reader.read_condition(), reader.at
    token, at = _pull_option(tokens, at, "identified")
    form, at = _pull_option(tokens, at, "headers")
    if at != len(tokens):
        raise MalformedMessage("text after the end of the query")
    try:
        headers = Headers(form.lower()) if form else None
    except ValueError:
        raise MalformedMessage("unknown form of headers") from None
    return Select(columns, where, token, headers)


def _pull_columns(tokens: Sequence[Token]) -> tuple[tuple[str, ...], int]:
    """Return the columns at the start of a selection, and the position after them."""
    columns: list[str] = []
    at = 0
    # The number of columns multiplies the cost of each row.
    while at < len(tokens) and is_word(tokens[at]) and len(columns) < MOST_COLUMNS:
        columns.append(tokens[at].text.lower())
        at += 1
        if at == len(tokens) or not tokens[at].says(","):
            return tuple(columns), at
        at += 1
    raise MalformedMessage("malformed list of columns")


def _pull_option(tokens: Sequence[Token], at: int, word: str) -> tuple[str, int]:
    """Return the word after an optional keyword (empty without it) and the position after it."""
    if at + 1 < len(tokens) and tokens[at].says(word):
        return tokens[at + 1].text, at + 2
    return "", at
