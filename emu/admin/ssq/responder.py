"""Answers SSQ's questions.

The protocol has no proof of address of its own, so whoever shows no token gets one datagram at
most, and is answered seldom (`ANSWER_RULES`). Source: docs/protocol/administration/ssq.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ssq.packets import (
    DATAGRAM_BYTES,
    HEADER_BYTES,
    MOST_PACKETS,
    Joiner,
    body_bytes,
    pull_packet,
    split,
)
from emu.admin.ssq.query import (
    Auth,
    ColumnList,
    Headers,
    Ping,
    Query,
    Select,
    StoredProcedure,
    pull_query,
)
from emu.admin.ssq.rows import NOTHING, PONG, Cell, push_rows
from emu.admin.ssq.selection import Selection, known_columns
from emu.admin.ssq.tables import PROCEDURES, TABLES, Table, Told
from emu.admin.ssq.tokens import Tokens
from emu.errors import MalformedDatagram, MalformedMessage
from emu.limits.answers import AnswerRules
from emu.times import Monotonic

ANSWER_RULES: Final = AnswerRules(
    address_burst=5, address_rate=5.0, share_burst=100.0, share_rate=100.0
)
"""How often an endpoint answers at all: a short question may draw a whole datagram."""
PROTOCOL: Final = 1
"""What a server says that keeps to all of the protocol."""
_TOKEN: Final = re.compile(rb"(?i:\sidentified)\s+[\"']?([0-9a-f]{32})")
"""Where a question shows its token."""
_KEPT: Final = 64
"""Bodies kept of one status: questions that differ."""


@dataclass(frozen=True, slots=True)
class SsqRules:
    """What the responder does."""

    server: str = "eq2emu"
    """What the server program is called."""
    tables: Sequence[Table] = TABLES
    open_packets: int = 1
    """Datagrams of an answer to somebody without a token."""
    open_cells: int = 4000
    """Cells looked at for somebody without a token, compared ones counted."""
    cells: int = 200_000
    """Cells looked at for somebody with a token."""
    headers: Headers = Headers.NORMAL
    """The form of header rows where a question names none."""
    datagram_bytes: int = DATAGRAM_BYTES


class SsqResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(
        self, told: Callable[[Monotonic], Told], tokens: Tokens, rules: SsqRules | None = None
    ) -> None:
        """Answer with what `told` returns; its status is the same for as long as nothing is new."""
        self._told = told
        self.tokens = tokens
        """Who is identified."""
        self._rules = rules or SsqRules()
        self._open = known_columns(self._rules.tables, private=False)
        self._every = known_columns(self._rules.tables, private=True)
        self._joiner = Joiner()
        self._seen: Told | None = None
        self._bodies: dict[bytes, bytes] = {}
        self.counters: Counter[str] = Counter()
        """Questions by what became of them."""
        self.logins: Counter[str] = Counter()
        """Passwords that were given, by result."""

    def configure(self, rules: SsqRules) -> None:
        """Go on with other rules, of the same tables."""
        self._rules = rules
        self._bodies.clear()

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram has a token of its address, or the password."""
        shown = _TOKEN.search(data)
        if shown is not None:
            return self.tokens.accepts(shown[1].decode(), address[0], now)
        if data[HEADER_BYTES : HEADER_BYTES + 4].upper() != b"AUTH":
            return False
        try:
            query = pull_query(data[HEADER_BYTES:])
        except MalformedMessage:
            return False
        return isinstance(query, Auth) and self.tokens.is_password(query.password)

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no question.

        An answer of somebody else is none, so that two servers do not keep each other busy.
        """
        try:
            packet = pull_packet(data)
        except MalformedDatagram as error:
            return self._silence(error.reason)
        question = self._joiner.take(address, packet, now)
        if question is None:
            return self._silence("parts")
        if len(question) < len(NOTHING) or question[0] == 0 or question == NOTHING:
            return self._silence("an answer")
        body = self._body(question, address[0], now)
        return split(packet.id, body, self._rules.datagram_bytes) if body else []

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []

    def _body(self, question: bytes, host: str, now: Monotonic) -> bytes:
        """Return an answer's body, made once for everybody who asks the same; empty for none."""
        told = self._told(now)
        if self._seen is None or told.status is not self._seen.status or len(self._bodies) >= _KEPT:
            self._seen = told
            self._bodies.clear()
        kept = self._bodies.get(question)
        if kept is not None:
            self.counters["answered again"] += 1
            return kept
        try:
            query = pull_query(question)
        except MalformedMessage as error:
            self.counters[error.reason] += 1
            return NOTHING
        if isinstance(query, Auth):
            return self._authenticate(query, host, now)
        if isinstance(query, Select) and query.token:
            return self._select(query, told, private=self.tokens.accepts(query.token, host, now))
        body = self._bodies[question] = self._common(query, told)
        return body

    def _common(self, query: Query, told: Told) -> bytes:
        """Answer what is the same for everybody."""
        match query:
            case Select():
                return self._select(query, told, private=False)
            case StoredProcedure(name) if name in PROCEDURES:
                columns = tuple(PROCEDURES[name].split(","))
                return self._select(Select(columns), told, private=False)
            case StoredProcedure():
                self.counters["unknown procedure"] += 1
                return NOTHING
            case ColumnList(is_long):
                return self._columns(is_long=is_long)
            case Ping():
                self.counters["ping"] += 1
                return PONG
        self.counters["version"] += 1
        values = (PROTOCOL, told.status.game, self._rules.server)
        return push_rows([("PROTO", "GAME", "SERVER"), values])

    def _authenticate(self, query: Auth, host: str, now: Monotonic) -> bytes:
        token = self.tokens.give(query.password, host, now)
        self.logins["accepted" if token else "refused"] += 1
        if token is None:
            self.counters["too many guesses"] += 1
            return b""
        self.counters["authenticated" if token else "wrong password"] += 1
        return push_rows([("token",), (token,)])

    def _select(self, query: Select, told: Told, *, private: bool) -> bytes:
        rules = self._rules
        self.counters["select"] += 1
        known = self._every if private else self._open
        packets = MOST_PACKETS if private else rules.open_packets
        cells = rules.cells if private else rules.open_cells
        room = packets * body_bytes(rules.datagram_bytes)
        body, is_cut = Selection(query, known, rules.headers).body(told, room, cells)
        if is_cut:
            self.counters["cut"] += 1
        return body

    def _columns(self, *, is_long: bool) -> bytes:
        self.counters["columns"] += 1
        listed = [(table, column) for table in self._rules.tables for column in table.columns]
        rows: list[list[Cell]] = [
            [column.name for _, column in listed],
            [table.name for table, _ in listed],
        ]
        if is_long:
            rows.append([column.about for _, column in listed])
        return push_rows(rows)
