"""Performs the actions that GGMP clients request, within the rights of their tokens.

Every answer is an ArbData that begins with the numbers of action and actor. An actor's state
follows as name, zone, x, y, z and heading. Any other answer is a word in ASCII (``done``, ``gone``,
``refused``), with a text if it needs one.

Source: docs/protocol/administration/ggmp.md#joining, docs/protocol/administration/ggmp.md#actions.
"""

from __future__ import annotations

import enum
import hmac
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from emu.admin.ggmp.messages import (
    MOST_CLIENTS,
    ByteOrder,
    GgmpAct,
    Value,
    ValueType,
    double,
    push_values,
    uint32,
    utf8,
)
from emu.admin.ggmp.peer import GgmpPeer, Whole
from emu.admin.status import ServerStatus
from emu.commands import Use
from emu.errors import CommandError
from emu.limits.addresses import parse_host
from emu.times import Monotonic


class GgmpPlace(NamedTuple):
    """A position in world units, Y up, with the heading in degrees."""

    x: float
    y: float
    z: float
    heading: float


class ActorState(NamedTuple):
    """An actor (a spawn of the world) as tools see it."""

    id: int
    name: str
    zone: int
    place: GgmpPlace


class GgmpWorld(Protocol):
    """The actors and their actions, as the server needs them."""

    def status(self, now: Monotonic) -> ServerStatus:
        """Return the status of the whole server."""

    def find(self, actor: int) -> ActorState | None:
        """Return an actor by its number."""

    def named(self, name: str) -> ActorState | None:
        """Return an actor by its name, players first; case does not matter."""

    def inside(self, zone: int) -> Sequence[int]:
        """Return the actors in all running instances of a zone."""

    def move(self, actor: int, place: GgmpPlace) -> None:
        """Move an actor. Raises `CommandError` for a player or an unknown actor."""

    def say(self, actor: int, text: str) -> None:
        """Let an actor speak, or the server (actor 0) to all players.

        Raises `CommandError` for a player or an unknown actor.
        """


SHORTEST_TOKEN: Final = 16
LONGEST_TOKEN: Final = 255


class GgmpAction(enum.IntEnum):
    """The actions: the action number of an Action message."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are hashed for every datagram

    QUERY = 1
    """Send an actor's state once.

    Actor 0 asks for the server, an actor by name, or a zone's actors.
    """
    WATCH = 2
    """Send an actor's state whenever it has moved."""
    SAY = 3
    MOVE = 4


EVERYTHING: Final = frozenset(GgmpAction)


@dataclass(frozen=True, slots=True)
class Grant:
    """A token with its owner and rights, or the rights of clients without one."""

    name: str
    token: str
    actions: frozenset[GgmpAction]


def read_grants(text: str) -> tuple[Grant, ...]:
    """Return the grants of a file: on each line a name, actions and a token; # begins a comment.

    Actions are words joined by commas (``query,watch``), or ``*`` for all. Raises `CommandError`
    that names the line.
    """
    grants: list[Grant] = []
    for number, (name, actions, token) in _entries(text, 3, "a name, actions and a token"):
        if not SHORTEST_TOKEN <= len(token.encode()) <= LONGEST_TOKEN:
            raise CommandError(
                f"line {number}: a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} bytes"
            )
        grants.append(Grant(name, token, _actions(actions, number)))
    return tuple(grants)


@dataclass(frozen=True, slots=True)
class StaticClient:
    """A client with an agreed number, which only one host may use."""

    number: int
    host: str
    grant: Grant


def read_clients(text: str) -> dict[int, StaticClient]:
    """Return the static clients of a file by their numbers.

    On each line a name, actions, a number and an IP address; # begins a comment. Raises
    `CommandError` that names the line.
    """
    clients: dict[int, StaticClient] = {}
    wanted = "a name, actions, a number and an address"
    for number, (name, actions, client, host) in _entries(text, 4, wanted):
        # `isdecimal` and not `int` alone, which also accepts spaces and underscores.
        if not client.isdecimal() or not 1 <= int(client) <= MOST_CLIENTS:
            raise CommandError(f"line {number}: a client has a number from 1 to {MOST_CLIENTS}")
        if int(client) in clients:
            raise CommandError(f"line {number}: client {client} is listed twice")
        try:
            address = str(parse_host(host))
        except ValueError:
            raise CommandError(f"line {number}: {host} is no IP address") from None
        grant = Grant(name, "", _actions(actions, number))
        clients[int(client)] = StaticClient(int(client), address, grant)
    return clients


def _entries(text: str, count: int, wanted: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that is neither empty nor a comment, with its number."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            if len(words) != count:
                raise CommandError(f"line {number}: must be {wanted}")
            yield number, words


def _actions(words: str, number: int) -> frozenset[GgmpAction]:
    if words == "*":
        return EVERYTHING
    try:
        return frozenset(GgmpAction[word.upper()] for word in words.split(","))
    except KeyError as error:
        known = ", ".join(action.name.lower() for action in GgmpAction)
        raise CommandError(f"line {number}: {error.args[0].lower()} is none of {known}") from None


def grant_of(grants: Sequence[Grant], token: str) -> Grant | None:
    """Return the grant of a token. The time does not depend on which token it is."""
    given = token.encode()
    found: Grant | None = None
    for grant in grants:
        if hmac.compare_digest(given, grant.token.encode()):
            found = grant
    # No early end of the loop: the time would show how far the list was read.
    return found


WHOLE_SERVER: Final = 0
"""The actor number of the server itself."""
MOST_WATCHED: Final = 64
SHORTEST_INTERVAL: Final = 0.1
USUAL_INTERVAL: Final = 1.0
MOST_LISTED: Final = 2000
"""Maximum number of actors in a zone's list."""
LONGEST_TEXT: Final = 512
FARTHEST: Final = 32_000.0
HUNDREDTHS: Final = 100
"""Fractions of a world unit in the conditions of a move."""


@dataclass(slots=True)
class Watched:
    """A watched actor: the seconds between reports, the next one, and the last reported state."""

    interval: float
    due: Monotonic
    reported: ActorState | None = None


@dataclass(slots=True)
class GgmpSubscription:
    """A client that is logged in."""

    id: int
    address: tuple[str, int]
    grant: Grant
    peer: GgmpPeer
    since: Monotonic
    heard: Monotonic
    is_validated: bool = True
    """Whether the client has proven that it receives what is sent to its address."""
    held: list[Whole] = field(default_factory=list)
    """Actions that wait until the address is validated."""
    watched: dict[int, Watched] = field(default_factory=dict)

    def get_timer(self) -> Monotonic | None:
        """Return the time of the next retransmission or report, or None."""
        due = self.peer.get_timer()
        if not self.watched:
            return due
        times = [watched.due for watched in self.watched.values()]
        return min(times if due is None else [*times, due], default=None)


class Acting:
    """Performs actions on the actors of a world; `report_use` is called for every change."""

    def __init__(self, world: GgmpWorld, report_use: Callable[[Use], None]) -> None:
        self._world = world
        self._report_use = report_use
        # A table, so that a new action cannot be forgotten in a chain of conditions.
        self._do = {
            GgmpAction.QUERY: self._query,
            GgmpAction.WATCH: self._watch,
            GgmpAction.SAY: self._say,
            GgmpAction.MOVE: self._move,
        }

    def perform(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        """Perform an action and answer it."""
        try:
            self._do[_allowed(client, whole.act.action)](client, whole, now)
        except CommandError as error:
            # The refusal is an answer, too: without one the client would repeat its request.
            _say_word(client, whole.act, "refused", utf8(str(error)), now=now)

    def report(self, client: GgmpSubscription, now: Monotonic) -> None:
        """Send the states of watched actors that are due and have changed."""
        # A copy, because an actor that is gone is removed.
        for actor, watched in list(client.watched.items()):
            if watched.due > now:
                continue
            # Counted from now and not from the last due time, so a late timer does not cause
            # several reports in a row.
            watched.due = Monotonic(now + watched.interval)
            state = self._world.find(actor)
            if state is None:
                del client.watched[actor]
                _say_word(client, GgmpAct(actor, GgmpAction.WATCH), "gone", now=now)
            elif state != watched.reported:
                # Only changes are sent; most actors stand still.
                watched.reported = state
                # No Ack: the next report replaces a lost one.
                _say_state(client, GgmpAction.WATCH, state, now=now, wants_ack=False)

    def _query(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        act = whole.act
        if act.actor != WHOLE_SERVER:
            _say_state(client, GgmpAction.QUERY, self._found(act.actor), now=now)
        elif whole.data:
            name = _text(whole.data)
            state = self._world.named(name)
            if state is None:
                raise CommandError(f"there is no actor {name}")
            _say_state(client, GgmpAction.QUERY, state, now=now)
        elif act.condition1:
            actors = self._world.inside(act.condition1)[:MOST_LISTED]
            listed = client.peer.order.push_actors(actors)
            answer = GgmpAct(WHOLE_SERVER, GgmpAction.QUERY, act.condition1, len(actors))
            client.peer.send_act(answer, listed, now=now)
        else:
            self._send_server(client, now)

    def _send_server(self, client: GgmpSubscription, now: Monotonic) -> None:
        status = self._world.status(now)
        numbers = (status.online, status.places, len(status.zones), int(status.uptime))
        client.peer.send_values(
            uint32(GgmpAction.QUERY), uint32(WHOLE_SERVER), utf8(status.name), *map(uint32,
            numbers), now=now,
        )  # fmt: skip

    def _watch(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        act = whole.act
        if not act.condition1:
            client.watched.pop(act.actor, None)
        else:
            # Checked, so that a client does not wait for reports of an actor that does not exist.
            self._found(act.actor)
            # Each watched actor costs a comparison for each report, so their number is bounded.
            if act.actor not in client.watched and len(client.watched) >= MOST_WATCHED:
                raise CommandError(f"you watch {MOST_WATCHED} actors already")
            # 0 asks for the usual interval.
            asked = act.condition2 / 1000 or USUAL_INTERVAL
            client.watched[act.actor] = Watched(max(asked, SHORTEST_INTERVAL), now)
        # Before the first state, so that the client knows which action it belongs to.
        _say_word(client, act, "done", now=now)
        self.report(client, now)

    def _say(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        text = _text(whole.data)
        self._change(
            client, whole.act, f"say {text}", lambda: self._world.say(whole.act.actor, text)
        )
        _say_word(client, whole.act, "done", now=now)

    def _move(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        # The present place, because a short move changes only x and z.
        act = whole.act
        place = _place(whole, self._found(act.actor).place, client.peer.order)
        line = "move " + " ".join(f"{number:.2f}" for number in place)
        self._change(client, act, line, lambda: self._world.move(act.actor, place))
        _say_word(client, act, "done", now=now)

    def _change(
        self, client: GgmpSubscription, act: GgmpAct, line: str, change: Callable[[], None]
    ) -> None:
        """Make a change and report the attempt with its result."""
        result, ok = "", False
        try:
            change()
            ok = True
        except CommandError as error:
            result = str(error)
            raise
        finally:
            # Refused attempts are reported, too.
            origin = f"ggmp {client.address[0]}"
            self._report_use(
                Use(
                    client.grant.name, origin, f"actor {act.actor}: {line}", result, ok,
                    f"ggmp {line.partition(' ')[0]}", f"actor {act.actor}",
                )
            )  # fmt: skip

    def _found(self, actor: int) -> ActorState:
        state = self._world.find(actor)
        if state is None:
            raise CommandError(f"there is no actor {actor}")
        return state


def _allowed(client: GgmpSubscription, number: int) -> GgmpAction:
    """Return the action of a number. Raises `CommandError` if the client may not use it."""
    try:
        action = GgmpAction(number)
    except ValueError:
        raise CommandError(f"there is no action {number}") from None
    if action not in client.grant.actions:
        raise CommandError(f"your token does not allow {action.name.lower()}")
    return action


def _say_state(
    client: GgmpSubscription,
    action: GgmpAction,
    state: ActorState,
    *,
    now: Monotonic,
    wants_ack: bool = True,
) -> None:
    values = _state_values(action, state, client.peer.order)
    client.peer.send_encoded(values, now=now, wants_ack=wants_ack)


@lru_cache(maxsize=1024)
def _state_values(action: GgmpAction, state: ActorState, order: ByteOrder) -> bytes:
    """Serialize a state, once for all watchers until the actor moves."""
    head = uint32(action), uint32(state.id), utf8(state.name), uint32(state.zone)
    return push_values((*head, *map(double, state.place)), order)


def _say_word(
    client: GgmpSubscription, act: GgmpAct, word: str, *more: Value, now: Monotonic
) -> None:
    client.peer.send_values(
        uint32(act.action), uint32(act.actor), Value(ValueType.ASCII, word), *more, now=now
    )


def _text(data: bytes) -> str:
    """Return a text for players. Raises `CommandError` unless it is one printable line."""
    # Wrong bytes become marks; a text from a tool must not end its session.
    text = data.decode("utf-8", "replace").strip()
    if not text or len(text) > LONGEST_TEXT or not text.isprintable():
        raise CommandError(f"a text has 1 to {LONGEST_TEXT} characters on one line")
    return text


def _place(whole: Whole, here: GgmpPlace, order: ByteOrder) -> GgmpPlace:
    """Return the destination of a move.

    Data are x, y, z as doubles, and optionally the heading. Without data the conditions are x and z
    in hundredths, signed; height and heading stay.
    """
    if not whole.data:
        x, z = (_signed(number) / HUNDREDTHS for number in whole.act[2:])
        return _checked(here._replace(x=x, z=z))
    # The size alone shows whether the heading follows.
    form = order.place if len(whole.data) == order.place.size else order.point
    if len(whole.data) != form.size:
        raise CommandError("a place is three doubles, or four with the heading")
    return _checked(GgmpPlace(*(*form.unpack(whole.data), here.heading)[:4]))


def _checked(place: GgmpPlace) -> GgmpPlace:
    if not all(math.isfinite(number) and abs(number) <= FARTHEST for number in place):
        # NaN and infinity are valid doubles, but no places: clients would get them as they are.
        raise CommandError("this place is outside of the world")
    return place


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
