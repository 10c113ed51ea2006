"""Answers OGP queries; zones are its teams, behaviors its add-ons.

Fields without a meaning in this game (frags, team scores, ...) are left out. So are players'
addresses: the protocol cannot request them with a password yet.

Amplification: a query without a valid challenge of its address gets only a few bytes. An error
answer repeats the query's head and is sent at most once; answers are never answered.

Source: docs/protocol/administration/ogp.md#ours, docs/protocol/administration/ogp.md#splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from emu.admin.ogp.elements import ColorChange, Name
from emu.admin.ogp.fields import (
    NOT_ASSIGNED,
    AddOnFlag,
    PlayerFlag,
    ServerFlags,
)
from emu.admin.ogp.messages import (
    AnswerHead,
    Error,
    OgpContent,
    QueryHead,
    Type,
    find_body,
    is_answer,
    pull_query,
    pull_query_head,
    push_answer,
    push_answer_head,
    with_challenge,
)
from emu.admin.ogp.rules import OgpRules
from emu.admin.status import NO_ZONE, PlayerStatus, ServerStatus, ZoneStatus
from emu.errors import MalformedDatagram, MalformedMessage
from emu.limits.rates import ANY_PORT, Allowance, Challenges, Throttle
from emu.times import Monotonic

POPULATION: Final = 15
"""This server's type of limit, the highest possible number: players, and how many more can join."""
SYSTEMS: Final[Mapping[str, int]] = {"win32": 1, "cygwin": 1, "linux": 2, "darwin": 3}
"""Numbers of operating systems; 0 is any other."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """How the operator wants the server to appear."""

    game_id: int = 0
    host_name_colors: tuple[ColorChange, ...] = ()


class OgpContentSource:
    """Makes the content of a status, once for each status object."""

    def __init__(
        self, status: Callable[[Monotonic], ServerStatus], presentation: Presentation
    ) -> None:
        self._status = status
        self._presentation = presentation
        self._seen: ServerStatus | None = None
        self._kept = OgpContent()

    def content(self, now: Monotonic) -> OgpContent:
        """Return the content; the same object while the status is the same."""
        status = self._status(now)
        if status is not self._seen:
            self._seen = status
            self._kept = content_of(status, self._presentation)
        return self._kept


def content_of(status: ServerStatus, presentation: Presentation) -> OgpContent:
    """Return a status as OGP's content."""
    return OgpContent(
        game_id=presentation.game_id,
        server=_server(status, presentation),
        teams=[_team(zone) for zone in status.zones],
        players=[_player(status, slot, one) for slot, one in enumerate(status.players)],
        rules=status.rules,
        add_ons=[
            {
                "flags": AddOnFlag.ACTIVE if one.active else AddOnFlag(0),
                "short_name": one.name,
                "long_name": one.title,
                "version": one.version,
            }
            for one in status.add_ons
        ],
        limits=_limits(status),
    )


def _server(status: ServerStatus, presentation: Presentation) -> dict[str, Any]:
    return {
        "game_name": status.game,
        "server_flags": ServerFlags(system=SYSTEMS.get(status.platform, 0), password=status.locked),
        "mod": {"name": "", "dir": ""},
        "connect_port": status.port,
        "host_name": Name(status.name, presentation.host_name_colors),
        "map": {"name": status.map, "file": status.map_file},
        "next_map": {"name": "", "file": ""},
        "game_type": "MMORPG",
        "game_mode": "PvE",
        "player_count": status.online,
        "slot_max": status.capacity,
        "bot_count": 0,
        "reserved_slots": 0,
    }


def _team(zone: ZoneStatus) -> dict[str, Any]:
    name = f"{zone.name} {zone.instance + 1}" if zone.instance else zone.name
    return {"name": Name(name), "average_ping": zone.ping, "player_count": zone.players}


def _player(status: ServerStatus, slot: int, player: PlayerStatus) -> dict[str, Any]:
    flags = PlayerFlag.ALIVE | (PlayerFlag.VIP if player.game_master else PlayerFlag(0))
    return {
        "flags": flags,
        "slot": slot,
        "name": Name(player.name),
        # The team of a player who is changing zones does not exist for the moment.
        "team": NOT_ASSIGNED if player.zone == NO_ZONE else player.zone,
        "class": player.class_,
        "race": player.race,
        "score": player.level,
        "id": player.id,
        "global_id": f"eq2:{player.id}",
        "ping": player.ping,
        "time": int(status.taken - player.since),
    }


def _limits(status: ServerStatus) -> list[dict[str, Any]]:
    if not status.places:
        return []
    # Link-dead players occupy their places, too.
    left = max(0, status.places - len(status.players))
    return [{"type": POPULATION, "limit": status.places, "left": left}]


MOST_DATAGRAMS: Final = 127
"""The count is a signed byte."""


_FURTHER: Final = len(push_answer_head(AnswerHead(Type.DEFAULT, None, 1, (1, 0))))
"""Length of the head of a datagram after the first. The first may also have a challenge."""
_CHALLENGE: Final = 4


def capacity(most_bytes: int, count: int) -> int:
    """Return the maximum length of a body in at most `count` datagrams.

    With a challenge it may be four bytes less.
    """
    return count * (most_bytes - _FURTHER)


def split(head: AnswerHead, body: bytes, most_bytes: int, request_id: int) -> list[bytes]:
    """Return the datagrams of an answer, none longer than `most_bytes`.

    A body in several datagrams is identified by `request_id`; a single datagram has one only if the
    head has. The body is cut anywhere, also inside a value, and must fit into `MOST_DATAGRAMS`
    datagrams.
    """
    # One datagram if possible: several need a request id and can be lost in part.
    whole = push_answer_head(head) + body
    if len(whole) <= most_bytes:
        return [whole]
    size = most_bytes - _FURTHER
    first = size if head.challenge is None else size - _CHALLENGE
    cuts = [0, *range(first, len(body), size), len(body)]
    count = len(cuts) - 1
    heads = [
        AnswerHead(head.type, None if number else head.challenge, request_id, (count, number))
        for number in range(count)
    ]
    return [
        push_answer_head(each) + body[start:end]
        for each, start, end in zip(heads, cuts, cuts[1:], strict=False)
    ]


class OgpJoiner:
    """Joins the datagrams of one answer, in any order."""

    __slots__ = ("_bodies", "_count", "_request_id")

    def __init__(self) -> None:
        self._bodies: dict[int, bytes] = {}
        self._count = 0
        self._request_id: int | None = None

    def join(self, head: AnswerHead, body: bytes) -> bytes | None:
        """Handle one datagram; return the whole body when it is complete.

        Raises `MalformedMessage` for datagrams that do not belong together.
        """
        if head.split is None:
            return body
        count, number = head.split
        if not self._bodies:
            self._count, self._request_id = count, head.request_id
        # From the wire: a count of 0 or an index beyond it would never become complete.
        if not 0 <= number < count <= MOST_DATAGRAMS or count != self._count:
            raise MalformedMessage("wrong split")
        # Answers to two queries may arrive mixed; joined, they would look valid.
        if head.request_id != self._request_id:
            raise MalformedMessage("datagram of another answer")
        self._bodies[number] = body
        if len(self._bodies) < count:
            return None
        return b"".join(self._bodies[number] for number in range(count))


LONGEST_QUERY: Final = 512
"""Maximum length of a query, in bytes; the longest useful one has about 60."""
LEAST_BYTES: Final = 500
MOST_BYTES: Final = 1500
DEFAULT_BYTES: Final = 1400
"""Length of an answer datagram: the maximum that a query can request, and the default."""
_KEPT: Final = 64
"""Cached bodies of different queries for one content."""


class _Pulled(NamedTuple):
    """A datagram and its parsed head."""

    data: bytes
    address: tuple[str, int]
    now: Monotonic
    head: QueryHead
    is_proven: bool


class OgpResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(
        self,
        content: Callable[[Monotonic], OgpContent],
        challenges: Challenges,
        rules: OgpRules | None = None,
        *,
        is_banned: Callable[[str], bool] = lambda _host: False,
    ) -> None:
        """Answer with what `content` returns: the same object until the content changes."""
        self._content = content
        self._challenges = challenges
        self._rules = rules or OgpRules()
        self._is_banned = is_banned
        # One answer in some seconds: a banned sender may learn why, and cannot cause a flood.
        self._banned = Throttle(Allowance(1, self._rules.banned_interval), most_keys=1024)
        self._request_id = 0
        self._pulled: _Pulled | None = None
        """The last head that `validates` has parsed; `answer` gets the same datagram next."""
        self._seen: OgpContent | None = None
        self._bodies: dict[tuple[bytes, int], tuple[str, bytes]] = {}
        """By query and maximum length: the counter's name, and the body."""
        self.counters: Counter[str] = Counter()
        """Queries by result."""

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Return whether a datagram has a challenge of its address."""
        self._pulled = None
        try:
            head = pull_query_head(data, find_body(data))
        except (MalformedDatagram, MalformedMessage):
            return False
        is_proven = self._is_validated(head, address[0], now)
        self._pulled = _Pulled(data, address, now, head, is_proven)
        return is_proven

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for a datagram that is not a query."""
        pulled, self._pulled = self._pulled, None
        # Identity is enough: the caller passes the same object, and anything else is parsed again.
        if pulled is not None and (pulled.data is not data or pulled[1:3] != (address, now)):
            pulled = None
        try:
            body = find_body(data)
        except MalformedDatagram as error:
            return self._silence(error.reason)
        # An answer must never cause an answer, or two servers with forged addresses would talk for
        # ever.
        if is_answer(data) or len(data) > LONGEST_QUERY:
            return self._silence("an answer" if is_answer(data) else "too long")
        host = address[0]
        if self._is_banned(host):
            return self._turn_away(host, now)
        try:
            head = pull_query_head(data, body) if pulled is None else pulled.head
        except MalformedMessage:
            return self._error(Error.HEAD, AnswerHead(Type.ERROR))
        number = None
        if not (self._is_validated(head, host, now) if pulled is None else pulled.is_proven):
            # The answer to an unvalidated address is this number in a few bytes, never content.
            number = self._challenges.issue(host, ANY_PORT, now)
        return self._answer(data, body, head, number, now)

    def _is_validated(self, head: QueryHead, host: str, now: Monotonic) -> bool:
        number = head.challenge
        # 0 means that the sender requests a challenge.
        if not number:
            return False
        return self._challenges.accepts(number, host, ANY_PORT, now)

    def _answer(
        self, data: bytes, body: int, head: QueryHead, number: int | None, now: Monotonic
    ) -> list[bytes]:
        """Answer a query with a valid head; `number` is None if its address is validated."""
        kind, _, request_id, most = head
        # The client asks for an id by sending 0.
        if request_id == 0:
            request_id = self._next_request_id()
        if most is None:
            most = DEFAULT_BYTES
        elif not LEAST_BYTES <= most <= MOST_BYTES:
            # Too small a size would divide an answer into hundreds of datagrams.
            return self._error(Error.HEAD, AnswerHead(Type.ERROR, number, request_id))
        # A ping needs no challenge: its answer is a head without content.
        if kind == Type.PING:
            self.counters["pings"] += 1
            return [push_answer_head(AnswerHead(kind, number, request_id))]
        if kind != Type.DEFAULT:
            return self._error(Error.TYPE, AnswerHead(Type.ERROR, number, request_id))
        # No content before the address is proven.
        if number is not None:
            return self._ask_again(data, body, AnswerHead(Type.ERROR, number, request_id))
        try:
            answer_body = self._body(data[body:], most, now)
        except MalformedMessage:
            return self._error(Error.BODY, AnswerHead(Type.ERROR, None, request_id))
        head_of_it = AnswerHead(Type.DEFAULT, None, request_id)
        # Several datagrams need an id even if the query has none.
        return split(head_of_it, answer_body, most, request_id or self._next_request_id())

    def _ask_again(self, data: bytes, body: int, head: AnswerHead) -> list[bytes]:
        """Return the query with a new challenge, which its sender must send again."""
        assert head.challenge is not None  # noqa: S101  # that is what this is for
        try:
            # The client may send this copy back as it is: it needs no state between the two
            # queries.
            copy = with_challenge(data, body, head.challenge)
        except MalformedMessage:
            return self._error(Error.HEAD, head)
        return self._error(Error.CHALLENGE, head, copy)

    def _body(self, asked: bytes, most: int, now: Monotonic) -> bytes:
        """Return the body of an answer, cached for equal queries.

        Raises `MalformedMessage` if the body of the query is malformed.
        """
        content = self._content(now)
        # The key contains the sender's own bytes, so the number of entries must be bounded.
        if content is not self._seen or len(self._bodies) >= _KEPT:
            self._seen = content
            self._bodies.clear()
        kept = self._bodies.get((asked, most))
        if kept is None:
            dialect, query = pull_query(asked, self._rules.dialects)
            body = push_answer(content, query, dialect, capacity(most, self._rules.most_parts))
            kept = self._bodies[asked, most] = f"queries {dialect.name}", body
        reason, body = kept
        self.counters[reason] += 1
        return body

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []

    def _turn_away(self, host: str, now: Monotonic) -> list[bytes]:
        if not self._banned.take(host, now):
            return self._silence("banned")
        return self._error(Error.BANNED, AnswerHead(Type.ERROR))

    def _error(self, error: Error, head: AnswerHead, copy: bytes = b"") -> list[bytes]:
        # The counter's names are fixed texts; nothing of the sender is in them.
        self.counters[f"error {error.name.lower()}"] += 1
        return [push_answer_head(head) + bytes((error,)) + copy]

    def _next_request_id(self) -> int:
        # Never 0, which means "no id".
        self._request_id = self._request_id % 0xFFFFFFFF + 1
        return self._request_id


def master_uplink(game_id: int) -> bytes:
    """Return the heartbeat that a server sends to a master server to be listed there."""
    return push_answer_head(AnswerHead(Type.MASTER)) + game_id.to_bytes(2, "little")
