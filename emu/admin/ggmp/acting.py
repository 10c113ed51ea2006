"""Does what clients ask of actors, as far as their tokens allow.

Every answer is an ArbData that begins with the numbers of action and actor. An actor's state is
these two, its name, zone, x, y, z and heading; what else there is to say is a word in ASCII
(``done``, ``gone``, ``refused``) with a text behind it where it needs one. Source:
docs/protocol/administration/ggmp.md#actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from emu.admin.ggmp.grants import Action, Grant
from emu.admin.ggmp.messages import Act
from emu.admin.ggmp.orders import ByteOrder
from emu.admin.ggmp.peer import Peer
from emu.admin.ggmp.ports import ActorState, Place, Stage
from emu.admin.ggmp.transfers import Whole
from emu.admin.ggmp.values import Value, ValueType, double, push_values, uint32, utf8
from emu.commands import Use
from emu.errors import CommandError
from emu.times import Monotonic

WHOLE_SERVER: Final = 0
"""The actor that stands for the server."""
MOST_WATCHED: Final = 64
SHORTEST_INTERVAL: Final = 0.1
USUAL_INTERVAL: Final = 1.0
MOST_LISTED: Final = 2000
"""Actors of a zone that are listed."""
LONGEST_TEXT: Final = 512
FARTHEST: Final = 32_000.0
HUNDREDTHS: Final = 100
"""Parts of a world unit in the conditions of a move."""


@dataclass(slots=True)
class Watched:
    """An actor that a client is told of, how often at most, and what it was told."""

    interval: float
    due: Monotonic
    told: ActorState | None = None


@dataclass(slots=True)
class Seat:
    """A client that was let in."""

    id: int
    address: tuple[str, int]
    grant: Grant
    peer: Peer
    since: Monotonic
    heard: Monotonic
    is_validated: bool = True
    """Whether it has shown that it receives what is sent to its address."""
    held: list[Whole] = field(default_factory=list)
    """What it asked before."""
    watched: dict[int, Watched] = field(default_factory=dict)

    def get_timer(self) -> Monotonic | None:
        """Return when something of it is due."""
        due = self.peer.get_timer()
        if not self.watched:
            return due
        times = [watched.due for watched in self.watched.values()]
        return min(times if due is None else [*times, due], default=None)


class Acting:
    """Carries actions out on a stage; `told` hears of all that change something."""

    def __init__(self, stage: Stage, told: Callable[[Use], None]) -> None:
        self._stage = stage
        self._told = told
        self._do = {
            Action.QUERY: self._query,
            Action.WATCH: self._watch,
            Action.SAY: self._say,
            Action.MOVE: self._move,
        }

    def perform(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        """Do what a client asks and answer it."""
        try:
            self._do[_allowed(seat, whole.act.action)](seat, whole, now)
        except CommandError as error:
            _say_word(seat, whole.act, "refused", utf8(str(error)), now=now)

    def report(self, seat: Seat, now: Monotonic) -> None:
        """Tell a client of what it watches, where that is due and something is new."""
        for actor, watched in list(seat.watched.items()):
            if watched.due > now:
                continue
            watched.due = Monotonic(now + watched.interval)
            state = self._stage.find(actor)
            if state is None:
                del seat.watched[actor]
                _say_word(seat, Act(actor, Action.WATCH), "gone", now=now)
            elif state != watched.told:
                watched.told = state
                _say_state(seat, Action.WATCH, state, now=now, wants_ack=False)

    def _query(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        act = whole.act
        if act.actor != WHOLE_SERVER:
            _say_state(seat, Action.QUERY, self._found(act.actor), now=now)
        elif whole.data:
            name = _text(whole.data)
            state = self._stage.named(name)
            if state is None:
                raise CommandError(f"there is no actor {name}")
            _say_state(seat, Action.QUERY, state, now=now)
        elif act.condition1:
            actors = self._stage.inside(act.condition1)[:MOST_LISTED]
            listed = seat.peer.order.push_actors(actors)
            answer = Act(WHOLE_SERVER, Action.QUERY, act.condition1, len(actors))
            seat.peer.send_act(answer, listed, now=now)
        else:
            self._tell_server(seat, now)

    def _tell_server(self, seat: Seat, now: Monotonic) -> None:
        status = self._stage.status(now)
        numbers = (status.online, status.places, len(status.zones), int(status.uptime))
        seat.peer.send_values(
            uint32(Action.QUERY), uint32(WHOLE_SERVER), utf8(status.name), *map(uint32, numbers),
            now=now,
        )  # fmt: skip

    def _watch(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        act = whole.act
        if not act.condition1:
            seat.watched.pop(act.actor, None)
        else:
            self._found(act.actor)
            if act.actor not in seat.watched and len(seat.watched) >= MOST_WATCHED:
                raise CommandError(f"you watch {MOST_WATCHED} actors already")
            asked = act.condition2 / 1000 or USUAL_INTERVAL
            seat.watched[act.actor] = Watched(max(asked, SHORTEST_INTERVAL), now)
        _say_word(seat, act, "done", now=now)
        self.report(seat, now)

    def _say(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        text = _text(whole.data)
        self._change(seat, whole.act, f"say {text}", lambda: self._stage.say(whole.act.actor, text))
        _say_word(seat, whole.act, "done", now=now)

    def _move(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        act = whole.act
        place = _place(whole, self._found(act.actor).place, seat.peer.order)
        line = "move " + " ".join(f"{number:.2f}" for number in place)
        self._change(seat, act, line, lambda: self._stage.move(act.actor, place))
        _say_word(seat, act, "done", now=now)

    def _change(self, seat: Seat, act: Act, line: str, change: Callable[[], None]) -> None:
        """Change something, and tell that it was tried and how it ended."""
        result, ok = "", False
        try:
            change()
            ok = True
        except CommandError as error:
            result = str(error)
            raise
        finally:
            origin = f"ggmp {seat.address[0]}"
            self._told(Use(seat.grant.name, origin, f"actor {act.actor}: {line}", result, ok))

    def _found(self, actor: int) -> ActorState:
        state = self._stage.find(actor)
        if state is None:
            raise CommandError(f"there is no actor {actor}")
        return state


def _allowed(seat: Seat, number: int) -> Action:
    """Return the action of a number, when the client may ask for it."""
    try:
        action = Action(number)
    except ValueError:
        raise CommandError(f"there is no action {number}") from None
    if action not in seat.grant.actions:
        raise CommandError(f"your token does not allow {action.name.lower()}")
    return action


def _say_state(
    seat: Seat, action: Action, state: ActorState, *, now: Monotonic, wants_ack: bool = True
) -> None:
    values = _state_values(action, state, seat.peer.order)
    seat.peer.send_encoded(values, now=now, wants_ack=wants_ack)


@lru_cache(maxsize=1024)
def _state_values(action: Action, state: ActorState, order: ByteOrder) -> bytes:
    """Write a state, once for all who ask before the actor moves."""
    head = uint32(action), uint32(state.id), utf8(state.name), uint32(state.zone)
    return push_values((*head, *map(double, state.place)), order)


def _say_word(seat: Seat, act: Act, word: str, *more: Value, now: Monotonic) -> None:
    seat.peer.send_values(
        uint32(act.action), uint32(act.actor), Value(ValueType.ASCII, word), *more, now=now
    )


def _text(data: bytes) -> str:
    """Return a text that is fit to be shown."""
    text = data.decode("utf-8", "replace").strip()
    if not text or len(text) > LONGEST_TEXT or not text.isprintable():
        raise CommandError(f"a text has 1 to {LONGEST_TEXT} characters on one line")
    return text


def _place(whole: Whole, here: Place, order: ByteOrder) -> Place:
    """Return where a move goes: data are x, y, z and heading as doubles, the heading if it turns.

    Without data the conditions are x and z in hundredths, signed; the rest stays.
    """
    if not whole.data:
        x, z = (_signed(number) / HUNDREDTHS for number in whole.act[2:])
        return _checked(here._replace(x=x, z=z))
    form = order.place if len(whole.data) == order.place.size else order.point
    if len(whole.data) != form.size:
        raise CommandError("a place is three doubles, or four with the heading")
    return _checked(Place(*(*form.unpack(whole.data), here.heading)[:4]))


def _checked(place: Place) -> Place:
    if not all(math.isfinite(number) and abs(number) <= FARTHEST for number in place):
        raise CommandError("this place is outside of the world")
    return place


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
