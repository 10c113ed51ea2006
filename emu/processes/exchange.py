"""The bus of several processes, over any broker that carries bytes to all who listen to a subject.

Each process announces itself with ``hello`` when it has connected, and every two seconds with a
``beat``; a process that is silent is gone. Notes carry numbers: none is heard twice, and those that
were lost are counted.

Notes go to the subject ``note.TOPIC``. Questions go to ``node.NAME`` of one process that answers
the topic: every process knows who answers what, so that a question reaches one answerer and fails
at once if there is none. `NODES` is for what all processes need to know.

The transport calls `connected`, `disconnected` and `received`. Nothing that arrives makes them
raise. Malformed messages are counted and reported.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

from emu.errors import CommandError, DuplicateName, EmuError, MalformedMessage, Unanswered
from emu.mailbox import PendingAnswer
from emu.processes.bus import LocalBus, LocalSubscription, check_topic, is_topic
from emu.processes.messages import Message, decode, encode, printable, to_note, to_plain
from emu.processes.peers import Peer
from emu.processes.ports import CAME, GONE, LOST, Note, Subscription
from emu.times import Clock, Monotonic

LONGEST_NAME: Final = 31
"""Characters of a process' name."""
MOST_OTHERS: Final = 1000
"""Processes that can be reached."""
MOST_TOPICS: Final = 1000
"""Topics that one process may answer."""
MOST_NUMBERED: Final = 5000
"""Topics of which a publisher knows its last number; players name channels."""
MOST_WAITING: Final = 5000
"""Unanswered questions of this process, and of each other one."""
NODES: Final = "note.processes"
"""The subject of what all processes need to know; a note, so that brokers keep its order."""


@dataclass(frozen=True, slots=True)
class BusTimes:
    """Times in seconds."""

    beat: float = 2.0
    """Between two beats."""
    silence: float = 5.0
    """Without a message after which a process is gone."""
    grace: float = 3.0
    """The same after a new connection: every process answers ``hello`` at once."""
    patience: float = 4.0
    """Within which an answer must come. A question that arrives later is not carried out."""


class Transport(Protocol):
    """The connection to a broker.

    A message reaches every process that listens to its subject, but not its sender.
    """

    def send(self, subject: str, data: bytes) -> None:
        """Send a message, or drop it; never waits and never raises."""

    def listen(self, subject: str) -> None:
        """Receive the messages of a subject, now and after each new connection."""

    def ignore(self, subject: str) -> None:
        """Receive them no longer."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The functions that the bus needs from its surroundings."""

    clock: Clock
    answer: Callable[[], PendingAnswer]
    """Returns an answer that is not there yet."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine whose result is not awaited."""
    failed: Callable[[Exception], None]
    """Receives errors of subscribers and answerers, and faults of other processes."""


@dataclass(frozen=True, slots=True)
class OwnProcess:
    """How this process appears to the others."""

    name: str
    """A topic of one token, unique among the processes."""
    term: int
    """Higher than that of every earlier process of this name."""
    about: Callable[[], Note] = field(default=dict)
    """Returns the description that the others get."""


@dataclass(slots=True, eq=False)
class _Question:
    """A question of this process that waits for its answer."""

    answer: PendingAnswer
    peer: Peer
    topic: str
    until: float


class _NotAnswered(Exception):  # never leaves this module
    """The process that was asked does not answer this topic any more."""


class Exchange:
    """`Bus` over a `Transport`; call `handle_timer` when `get_timer` says."""

    def __init__(
        self, own: OwnProcess, transport: Transport, shell: Shell, times: BusTimes | None = None
    ) -> None:
        check_topic(own.name)
        self.process = own.name
        self.others: dict[str, dict[str, Any]] = {}
        """Every process that can be reached, with its own description."""
        self.counters: Counter[str] = Counter()
        self.is_connected = False
        self.lag = 0.0
        """The most seconds that a beat of the last round was later than the fastest one."""
        self._own = own
        self._transport = transport
        self._shell = shell
        self._times = times or BusTimes()
        self._local = LocalBus(shell.failed)
        self._peers: dict[str, Peer] = {}
        self._numbers = count(1)
        self._last_numbers: OrderedDict[str, int] = OrderedDict()
        self._questions: OrderedDict[int, _Question] = OrderedDict()
        self._beginnings = count(1)
        self._beat_at = 0.0
        self._impostor = 0
        transport.listen(NODES)
        transport.listen(f"node.{own.name}")

    # -- the port -----------------------------------------------------------------------------

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note to all subscribers of a topic, in every process that can be reached."""
        check_topic(topic)
        number = next(self._numbers)
        before = self._last_numbers.pop(topic, 0)
        self._last_numbers[topic] = number
        # A forgotten topic costs the others only the notice that a note of it was lost.
        if len(self._last_numbers) > MOST_NUMBERED:
            self._last_numbers.popitem(last=False)
        # Sent before the local delivery: a local subscriber may publish a note of its own, which
        # must come after this one.
        self._send(f"note.{topic}", "note", number, before, to_plain(note))
        self._local.publish(topic, note)

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Call `hear` with each note of a topic from now on."""
        is_first = not self._local.hears(topic)
        subscription = self._local.subscribe(topic, hear)
        if is_first:
            self._transport.listen(f"note.{topic}")
        return LocalSubscription(lambda: self._unsubscribe(topic, subscription))

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic."""
        subscription = self._local.answer(topic, answer)
        self._announce("answers", topic)
        return LocalSubscription(lambda: self._stop_answering(topic, subscription))

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the process that answers a topic.

        Raises `Unanswered` and `CommandError`.
        """
        check_topic(topic)
        if self._local.answers(topic):
            return await self._local.request(topic, note)
        asked: set[str] = set()
        while (peer := self._answerer(topic, besides=asked)) is not None:
            asked.add(peer.name)
            try:
                return await self._ask(peer, topic, note)
            # It has stopped to answer, and its announcement is on its way; another may have begun.
            except _NotAnswered:
                peer.topics.pop(topic, None)
        raise Unanswered(f"no process answers {topic}")

    # -- the transport ------------------------------------------------------------------------

    def connected(self) -> None:
        """Note that messages can be sent and that all subjects are listened to."""
        now = self._shell.clock.now()
        self.is_connected = True
        for peer in self._peers.values():
            # Those that live answer the greeting.
            peer.reconnected(now - self._times.silence + self._times.grace)
        self._beat_at = now + self._times.beat
        self._send(NODES, "hello", *self._state(full=True))

    def disconnected(self) -> None:
        """Note that nobody can be reached; the others count as present until they can be again."""
        self.is_connected = False
        self._fail_questions("the connection to the bus is lost", lambda _peer: True)

    def received(self, subject: str, data: bytes) -> None:
        """Handle a message of a subject, without the broker's prefix."""
        self.counters["received"] += 1
        try:
            self._take(subject, decode(data))
        except MalformedMessage as error:
            self.counters[error.reason] += 1
            self._shell.failed(error)
        except Exception as error:  # noqa: BLE001  # one message must not end the connection
            self.counters["faults"] += 1
            self._shell.failed(error)

    def stop(self) -> None:
        """Inform the others that this process goes; call it before the transport stops."""
        if self.is_connected:
            self._send(NODES, "bye")
        self.disconnected()

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due; None while there is no connection."""
        if not self.is_connected:
            return None
        due = self._beat_at
        if self._questions:
            due = min(due, next(iter(self._questions.values())).until)
        return Monotonic(due)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the times that have passed."""
        # All questions wait equally long, so the first one is the first to end.
        while self._questions and next(iter(self._questions.values())).until <= now:
            _, question = self._questions.popitem(last=False)
            self.counters["late answers"] += 1
            question.answer.errback(
                Unanswered(f"no answer about {question.topic} in {self._times.patience:g} seconds")
            )
        if self.is_connected and now >= self._beat_at:
            self._beat_at = now + self._times.beat
            self.lag = 0.0
            self._send(NODES, "beat", *self._state(full=False))
            for peer in list(self._peers.values()):
                if now - peer.heard_at >= self._times.silence:
                    self._gone(peer, "silent")

    # -- messages -----------------------------------------------------------------------------

    def _send(self, subject: str, kind: str, *values: Any) -> None:
        self.counters["sent"] += 1
        own = self._own
        self._transport.send(subject, encode([kind, own.name, own.term, *values]))

    def _state(self, *, full: bool) -> Iterator[Any]:
        """Yield the values of ``hello`` and ``beat``; only a full one has the answered topics."""
        yield self._shell.clock.now()
        yield to_plain(self._own.about())
        yield _digest_of(self._local.topics)
        yield self._local.topics if full else None

    def _take(self, subject: str, message: Message) -> None:
        """Handle a message. Raises `MalformedMessage`."""
        match message:
            case [str() as kind, str() as name, int() as term, *values] if (
                is_topic(name) and "." not in name and len(name) <= LONGEST_NAME
            ):
                pass
            case _:
                raise MalformedMessage("message without its sender")
        if name == self.process:
            self._take_own_name(term)
        elif kind in ("hello", "beat"):
            self._take_state(kind, name, term, values)
        elif kind == "who":
            # Answered to an unknown process too: both may have missed each other's greeting.
            self._send(f"node.{name}", "beat", *self._state(full=True))
        else:
            peer = self._peers.get(name)
            # Its state follows within two seconds, and shows what this message would have said.
            if peer is None or peer.term != term:
                self.counters["of unknown processes"] += 1
                return
            peer.heard_at = self._shell.clock.now()
            if not (
                self._take_note(peer, subject, [kind, *values])
                or self._take_question(peer, [kind, *values])
            ):
                raise MalformedMessage("message of no known kind")

    def _take_own_name(self, term: int) -> None:
        # A broker may return what this process has sent; another term is another process.
        if term not in (self._own.term, self._impostor):
            self._impostor = term
            self._shell.failed(DuplicateName(f"another process is named {self.process} too"))

    def _take_note(self, peer: Peer, subject: str, message: Message) -> bool:
        """Handle a note, or what a process says of itself; return False for another message."""
        match message:
            case ["note", int() as number, int() as before, plain]:
                self._hear(peer, subject.removeprefix("note."), (number, before), to_note(plain))
            case ["answers", str() as topic]:
                self._answers(peer, topic)
            case ["silent", str() as topic]:
                peer.topics.pop(topic, None)
            case ["bye"]:
                self._gone(peer, "bye")
            case _:
                return False
        return True

    def _take_question(self, peer: Peer, message: Message) -> bool:
        """Handle a question or an answer; return False for another message."""
        match message:
            case ["ask", int() as number, int() | float() as sent, str() as topic, plain]:
                self._asked(peer, (number, sent), topic, to_note(plain))
            case ["answer", int() as number, plain]:
                self._answered(peer, number, to_note(plain))
            case ["failed", int() as number, str() as text]:
                # The text may reach a log or a player, so control characters of another process are
                # removed.
                self._answered(peer, number, CommandError(printable(text)))
            case ["unanswered", int() as number, str() as text]:
                self._answered(peer, number, Unanswered(printable(text)))
            case ["silent there", int() as number]:
                self._answered(peer, number, _NotAnswered())
            case _:
                return False
        return True

    # -- processes ----------------------------------------------------------------------------

    def _take_state(self, kind: str, name: str, term: int, values: list[Any]) -> None:
        """Handle what a process says of itself. Raises `MalformedMessage`."""
        match values:
            case [int() | float() as sent, about, int() as topics, answered]:
                if not math.isfinite(sent):
                    raise MalformedMessage("process without its time")
                described = to_note(about)
            case _:
                raise MalformedMessage("process without its state")
        before = self._peers.get(name)
        peer = self._known(name, term, described, answered)
        if peer is None:
            return
        now = self._shell.clock.now()
        peer.heard_at = now
        self.lag = max(self.lag, peer.lag(sent, now))
        self.others[name] = described
        if answered is not None:
            self._learn_topics(peer, answered)
        elif topics != _digest_of(peer.topics):
            self._send(f"node.{name}", "who")
        if kind == "hello" and peer is before:
            # To it alone: a broker's restart makes everybody greet everybody.
            self._send(f"node.{name}", "beat", *self._state(full=True))
        if peer is before and (kind == "hello" or peer.is_interrupted):
            peer.is_interrupted = False
            self._local.publish(LOST, {"process": name})

    def _known(self, name: str, term: int, about: dict[str, Any], answered: object) -> Peer | None:
        """Return a process, a new one if it can count as reachable; None if not yet."""
        peer = self._peers.get(name)
        if peer is not None and peer.term == term:
            return peer
        if peer is not None and peer.term > term:
            # A process that stood still, while another one of its name was started.
            self.counters["of earlier processes"] += 1
            return None
        if answered is None:
            # Its answerers must be known before its users ask; its answer has them.
            self._send(f"node.{name}", "who")
            return None
        if peer is not None:
            self._gone(peer, "restarted")
        # Against a process with a fault, which must not fill the memory of all others.
        if len(self._peers) >= MOST_OTHERS:
            raise MalformedMessage("more processes than a world has")
        peer = self._peers[name] = Peer(name, term, self._shell.clock.now())
        # First, so that it knows this process when the questions of `CAME`'s subscribers arrive.
        self._send(f"node.{name}", "beat", *self._state(full=True))
        self._learn_topics(peer, answered)
        # Known before the note: a subscriber of `CAME` may ask for the process.
        self.others[name] = about
        self._local.publish(CAME, {**about, "process": name})
        return peer

    def _gone(self, peer: Peer, why: str) -> None:
        self.counters[f"gone: {why}"] += 1
        del self._peers[peer.name]
        self.others.pop(peer.name, None)
        self._fail_questions(f"{peer.name} is gone", lambda asked: asked is peer)
        self._local.publish(GONE, {"process": peer.name})

    # -- notes --------------------------------------------------------------------------------

    def _hear(self, peer: Peer, topic: str, numbers: tuple[int, int], note: dict[str, Any]) -> None:
        # The subscription may have ended while the note was on its way. Nobody but this process
        # may publish `CAME` here.
        if not self._local.hears(topic) or topic in (CAME, GONE, LOST):
            return
        number, before = numbers
        last = peer.numbers.get(topic)
        if last is not None and number <= last:
            self.counters["repeated notes"] += 1
            return
        peer.numbers[topic] = number
        self._local.publish(topic, note)
        if last is not None and before not in (0, last):
            self.counters["gaps"] += 1

    def _unsubscribe(self, topic: str, subscription: Subscription) -> None:
        subscription.cancel()
        if not self._local.hears(topic):
            self._transport.ignore(f"note.{topic}")
            for peer in self._peers.values():
                peer.numbers.pop(topic, None)

    # -- questions ----------------------------------------------------------------------------

    def _announce(self, kind: str, topic: str) -> None:
        if self.is_connected:
            self._send(NODES, kind, topic)

    def _stop_answering(self, topic: str, subscription: Subscription) -> None:
        subscription.cancel()
        if not self._local.answers(topic):
            self._announce("silent", topic)

    def _learn_topics(self, peer: Peer, answered: object) -> None:
        if not isinstance(answered, list) or len(answered) > MOST_TOPICS:
            raise MalformedMessage("process without its topics")
        for topic in [one for one in peer.topics if one not in answered]:
            del peer.topics[topic]
        for topic in answered:
            self._answers(peer, topic)

    def _answers(self, peer: Peer, topic: object) -> None:
        if not isinstance(topic, str) or not is_topic(topic) or len(peer.topics) >= MOST_TOPICS:
            raise MalformedMessage("too many topics, or too long ones")
        # One that is known already keeps its place among the answerers.
        peer.topics.setdefault(topic, next(self._beginnings))

    def _answerer(self, topic: str, besides: set[str]) -> Peer | None:
        """Return the process that began to answer a topic last."""
        peers = [
            peer
            for peer in self._peers.values()
            if topic in peer.topics and peer.name not in besides
        ]
        return max(peers, key=lambda peer: peer.topics[topic], default=None)

    async def _ask(self, peer: Peer, topic: str, note: Note) -> Note:
        if not self.is_connected:
            raise Unanswered("the bus cannot be reached now")
        if len(self._questions) >= MOST_WAITING:
            raise Unanswered("too many questions wait for an answer")
        number, now = next(self._numbers), self._shell.clock.now()
        answer = self._shell.answer()
        until = now + self._times.patience
        # Before it is sent: a broker in memory answers at once.
        self._questions[number] = _Question(answer, peer, topic, until)
        try:
            self._send(f"node.{peer.name}", "ask", number, now, topic, to_plain(note))
        except EmuError:
            del self._questions[number]
            raise
        answered: Note = await answer
        return answered

    def _answered(self, peer: Peer, number: int, answered: Note | Exception) -> None:
        """Complete a question; ignore an answer that comes too late."""
        question = self._questions.get(number)
        # Only the process that was asked may answer.
        if question is None or question.peer is not peer:
            return
        del self._questions[number]
        if isinstance(answered, Exception):
            question.answer.errback(answered)
        else:
            question.answer.callback(answered)

    def _fail_questions(self, why: str, concerns: Callable[[Peer], bool]) -> None:
        """End the questions whose answers can never come."""
        failed = [number for number, one in self._questions.items() if concerns(one.peer)]
        for question in [self._questions.pop(number) for number in failed]:
            question.answer.errback(Unanswered(why))

    def _asked(
        self, peer: Peer, question: tuple[int, float], topic: str, note: dict[str, Any]
    ) -> None:
        number, sent = question
        # Its asker has given up, and may have said so: a late message must not arrive nevertheless.
        if peer.lag(sent, self._shell.clock.now()) > self._times.patience:
            self.counters["late questions"] += 1
        elif not self._local.answers(topic):
            self._send(f"node.{peer.name}", "silent there", number)
        # The other process has the same limit; this one holds even if it has a fault.
        elif peer.asked >= MOST_WAITING:
            why = "too many questions wait for an answer"
            self._send(f"node.{peer.name}", "unanswered", number, why)
        else:
            peer.asked += 1
            self._shell.start(self._reply(peer, number, topic, note))

    async def _reply(self, peer: Peer, number: int, topic: str, note: Note) -> None:
        subject = f"node.{peer.name}"
        try:
            answered = await self._local.request(topic, note)
            self._send(subject, "answer", number, to_plain(answered))
        except Unanswered as error:
            self._send(subject, "unanswered", number, str(error))
        except EmuError as error:
            self._send(subject, "failed", number, str(error))
        except Exception as error:  # noqa: BLE001  # reported here, where its place is known
            self._shell.failed(error)
            self._send(subject, "failed", number, "it failed there")
        finally:
            peer.asked -= 1


def _digest_of(topics: Any) -> int:
    return zlib.crc32("\n".join(sorted(topics)).encode())
