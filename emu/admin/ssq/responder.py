"""Answers SSQ queries, and keeps the tokens of clients that have sent the password.

A password attempt is charged before the comparison. An address without budget gets no answer: it
does not learn whether the password was right.

SSQ proves an address only by a token, so that a spoofed query without one could be used for
amplification. Such a query gets at most one datagram as its answer (the column list, which is
short, is always whole), and its bytes draw on the budget of all unproven addresses
(`emu.limits.answer_bytes`).

Source: docs/protocol/administration/ssq.md.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.admin.ssq.packets import (
    DATAGRAM_BYTES,
    HEADER_BYTES,
    MOST_PACKETS,
    SsqJoiner,
    body_bytes,
    pull_packet,
    split,
)
from emu.admin.ssq.query import (
    NOTHING,
    PONG,
    Auth,
    Cell,
    ColumnList,
    Headers,
    Ping,
    Query,
    Select,
    StoredProcedure,
    pull_query,
    push_rows,
)
from emu.admin.ssq.tables import PROCEDURES, TABLES, Selection, SsqContent, SsqTable, known_columns
from emu.errors import MalformedDatagram, MalformedMessage
from emu.limits.addresses import address_key
from emu.limits.rates import Allowance, Throttle
from emu.times import Monotonic

TOKEN_BYTES: Final = 16
IDLE: Final = 900.0
"""Seconds after which an unused token expires."""
# However often it is used: a token that leaks is of no use for long.
LONGEST: Final = 3600.0
"""Seconds after which every token expires."""
MOST_TOKENS: Final = 1024
GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong passwords of one address (of a /64 network in IPv6): five a minute."""


class _Holder(NamedTuple):
    host: str
    given: Monotonic
    used: Monotonic


class SsqTokens:
    """The tokens; each is valid only for the address that requested it."""

    def __init__(self, password: str, random: Callable[[int], bytes]) -> None:
        """Without a password nobody gets a token; `random` returns unpredictable bytes."""
        self._password = password.encode()
        self._random = random
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
        # By address and bounded, because anybody can send from any number of forged addresses.
        self._guesses = Throttle(GUESSES, most_keys=10_000)

    def judge(self, password: str, host: str, now: Monotonic) -> bool | None:
        """Return whether a password is right; None, unchecked, if the address has no budget left.

        A right one is refunded. Without a configured password every one is wrong.
        """
        key = address_key(host)
        # Charged before the comparison: concurrent guesses cannot share the last attempt.
        if not self._guesses.take(key, now):
            return None
        # A wrong encoding must be a wrong password and no exception.
        given = password.encode("utf-8", "surrogatepass")
        # In constant time; and an empty configured password is never right, not even for an empty
        # guess.
        is_right = hmac.compare_digest(given, self._password) and bool(self._password)
        if is_right:
            self._guesses.give_back(key, now)
        return is_right

    def give(self, host: str, now: Monotonic) -> str:
        """Return a new token for an address."""
        token = self._random(TOKEN_BYTES).hex()
        self._holders[token] = _Holder(host, now, now)
        # The one that is unused for longest: `accepts` moves each used token to the end.
        if len(self._holders) > MOST_TOKENS:
            self._holders.popitem(last=False)
        return token

    def accepts(self, token: str, host: str, now: Monotonic) -> bool:
        """Return whether a token belongs to an address; the use extends its time."""
        holder = self._holders.get(token)
        # The port is not compared: a browser or a monitor may send each query from another one.
        if holder is None or holder.host != host:
            return False
        if now - holder.used > IDLE or now - holder.given > LONGEST:
            del self._holders[token]
            return False
        self._holders[token] = holder._replace(used=now)
        self._holders.move_to_end(token)
        return True


PROTOCOL: Final = 1
"""The protocol version of a server that implements all of it."""
_TOKEN: Final = re.compile(rb"(?i:\sidentified)\s+[\"']?([0-9a-f]{32})")
"""Finds the token in a query."""
_WHOLE: Final = 0
"""Second byte of a query in one datagram."""
_KEPT: Final = 64
"""Cached bodies of different queries for one status."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A datagram whose password was compared; `is_right` is what `SsqTokens.judge` returned."""

    data: bytes
    address: tuple[str, int]
    is_right: bool | None


@dataclass(frozen=True, slots=True)
class SsqRules:
    """The settings of the responder."""

    server: str = "eq2emu"
    """The name of the server program."""
    tables: Sequence[SsqTable] = TABLES
    open_packets: int = 1
    """Datagrams of an answer to a sender without a token."""
    open_cells: int = 4000
    """Cells read for a sender without a token, including those of conditions."""
    cells: int = 200_000
    """Cells read for a sender with a token."""
    headers: Headers = Headers.NORMAL
    """The form of header rows if a query names none."""
    datagram_bytes: int = DATAGRAM_BYTES


class SsqResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(
        self,
        content: Callable[[Monotonic], SsqContent],
        tokens: SsqTokens,
        rules: SsqRules | None = None,
        *,
        guessed: Callable[[str], object] = lambda _host: None,
    ) -> None:
        """Answer with what `content` returns; its status stays the same object until it changes.

        `guessed` is called with the address of each wrong password that was compared.
        """
        self._content = content
        self._guessed = guessed
        self.tokens = tokens
        """The tokens that were given."""
        self._rules = rules or SsqRules()
        self._open = known_columns(self._rules.tables, private=False)
        self._every = known_columns(self._rules.tables, private=True)
        self._joiner = SsqJoiner()
        self._judged: _Judged | None = None
        """The datagram whose password `validates` has compared: one attempt is charged once."""
        self._seen: SsqContent | None = None
        self._bodies: dict[bytes, bytes] = {}
        self.counters: Counter[str] = Counter()
        """Queries by result."""
        self.logins: Counter[str] = Counter()
        """Passwords by result."""

    def configure(self, rules: SsqRules) -> None:
        """Change the rules; the tables stay the same."""
        self._rules = rules
        # Both caches were made under the old rules.
        self._judged = None
        self._bodies.clear()

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Return whether a datagram has a token of its address, or the password.

        `answer`, which gets the same datagram next, does not compare the password again.
        """
        self._judged = None
        shown = _TOKEN.search(data)
        # A token in the text of any query counts, so the query need not be parsed twice.
        if shown is not None:
            return self.tokens.accepts(shown[1].decode(), address[0], now)
        # Only a login in a single datagram proves anything; everything else is not worth parsing
        # here.
        if data[HEADER_BYTES : HEADER_BYTES + 4].upper() != b"AUTH" or data[1] != _WHOLE:
            return False
        try:
            query = pull_query(data[HEADER_BYTES:])
        except MalformedMessage:
            return False
        if not isinstance(query, Auth):
            return False
        is_right = self.tokens.judge(query.password, address[0], now)
        self._judged = _Judged(data, address, is_right)
        return is_right is True

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for a datagram that is not a query.

        Answers of other servers get none, so that two servers never answer each other endlessly.
        """
        try:
            packet = pull_packet(data)
        except MalformedDatagram as error:
            return self._silence(error.reason)
        question = self._joiner.join(address, packet, now)
        if question is None:
            return self._silence("parts")
        # These are forms of answers. Answering them could start an endless exchange between two
        # servers.
        if len(question) < len(NOTHING) or question[0] == 0 or question == NOTHING:
            return self._silence("an answer")
        judged, self._judged = self._judged, None
        # The caller promises the same datagram; if it is another one, its password must be
        # compared.
        if judged is not None and (judged.data, judged.address) != (data, address):
            judged = None
        body = self._body(question, address[0], now, judged)
        return split(packet.id, body, self._rules.datagram_bytes) if body else []

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []

    def _body(self, question: bytes, host: str, now: Monotonic, judged: _Judged | None) -> bytes:
        """Return an answer's body, cached for equal queries; empty for none."""
        content = self._content(now)
        if (
            self._seen is None
            or content.status is not self._seen.status
            # Every query text is an entry, so anybody could fill the memory with different ones.
            or len(self._bodies) >= _KEPT
        ):
            self._seen = content
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
        match query:
            # Never cached: its answer depends on the sender and must be charged each time.
            case Auth(password):
                if judged is None:
                    judged_right = self.tokens.judge(password, host, now)
                else:
                    judged_right = judged.is_right
                # Empty without budget: then no datagram is sent.
                body = self._authenticate(judged_right, host, now)
            # Never cached: only its own sender may see private columns.
            case Select(token=token) if token:
                private = self.tokens.accepts(token, host, now)
                body = self._select(query, content, private=private)
            case _:
                body = self._bodies[question] = self._common(query, content)
        return body

    def _common(self, query: Query, content: SsqContent) -> bytes:
        """Answer a query whose answer is the same for all senders."""
        match query:
            case Select():
                return self._select(query, content, private=False)
            case StoredProcedure(name) if name in PROCEDURES:
                columns = tuple(PROCEDURES[name].split(","))
                return self._select(Select(columns), content, private=False)
            case StoredProcedure():
                self.counters["unknown procedure"] += 1
                return NOTHING
            case ColumnList(is_long=is_long):
                self.counters["columns"] += 1
                return self._columns(is_long=is_long)
            case Ping():
                self.counters["ping"] += 1
                return PONG
        self.counters["version"] += 1
        values = (PROTOCOL, content.status.game, self._rules.server)
        return push_rows([("PROTO", "GAME", "SERVER"), values])

    def _authenticate(self, is_right: bool | None, host: str, now: Monotonic) -> bytes:
        """Answer a password; without budget (None) there is no answer."""
        self.logins["accepted" if is_right else "refused"] += 1
        if is_right is None:
            self.counters["too many guesses"] += 1
            return b""
        if not is_right:
            self._guessed(host)
        self.counters["authenticated" if is_right else "wrong password"] += 1
        return push_rows([("token",), (self.tokens.give(host, now) if is_right else "",)])

    def _select(self, query: Select, content: SsqContent, *, private: bool) -> bytes:
        rules = self._rules
        self.counters["select"] += 1
        known = self._every if private else self._open
        # A sender with a token is known to receive there, so its answer may be longer.
        packets = MOST_PACKETS if private else rules.open_packets
        cells = rules.cells if private else rules.open_cells
        most_bytes = packets * body_bytes(rules.datagram_bytes)
        body, is_cut = Selection(query, known, rules.headers).body(content, most_bytes, cells)
        if is_cut:
            self.counters["cut"] += 1
        return body

    def _columns(self, *, is_long: bool) -> bytes:
        """Return the list of all columns: how a client learns them."""
        listed = [(table, column) for table in self._rules.tables for column in table.columns]
        rows: list[list[Cell]] = [
            [column.name for _, column in listed],
            [table.name for table, _ in listed],
        ]
        if is_long:
            rows.append([column.about for _, column in listed])
        return push_rows(rows)
