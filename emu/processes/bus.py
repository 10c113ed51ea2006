"""The bus of several processes, over the connections between them.

A member has one connection, to the hub. The hub has one to each member, and forwards each note to
the others. Topics of this process alone work without any connection.

The bus itself publishes `CAME` and `GONE` in every process, when another process can be reached and
when it no longer can; these notes are never sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

from emu.errors import (
    CommandError,
    DuplicateName,
    EmuError,
    MalformedMessage,
    Unanswered,
)
from emu.mailbox import PendingAnswer
from emu.processes.connection import (
    LONGEST_NAME,
    Frame,
    ProcessJoined,
    printable,
    to_note,
    to_plain,
)
from emu.processes.ports import CAME, GONE, Note, Subscription
from emu.processes.shared import LocalBus, LocalSubscription

LONGEST_TOPIC: Final = 200
MOST_TOPICS: Final = 1000
"""Topics that one connection may offer to answer."""
MOST_OTHERS: Final = 256
"""Processes that can be reached."""
MOST_WAITING: Final = 5000
"""Unanswered questions of this process, and of each connection."""
PATIENCE: Final = 4.0
"""Seconds within which an answer must come."""
# The topics that only the bus itself publishes.
OWN: Final = frozenset((CAME, GONE))


class ScheduledCall(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel the call."""


class Link(Protocol):
    """A connection to a process that has joined."""

    def send(self, frame: Frame) -> None:
        """Send a frame; do nothing when the connection is over. Raises `EmuError`."""

    def cut_off(self, reason: str) -> None:
        """End the connection; the bus is then notified by `ended`."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The functions that the bus needs from the shell."""

    answer: Callable[[], PendingAnswer]
    """Returns an answer that is not there yet."""
    later: Callable[[float, Callable[[], None]], ScheduledCall]
    """Schedules a call after some seconds."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine whose result is not awaited."""
    failed: Callable[[Exception], None]
    """Receives errors of subscribers and answerers, and faults of other processes."""


@dataclass(slots=True, eq=False)
class _Peer:
    """The process at the other side of a connection."""

    link: Link
    process: ProcessJoined
    topics: dict[str, None] = field(default_factory=dict)
    """Topics whose questions it answers."""
    waiting: dict[int, tuple[PendingAnswer, ScheduledCall]] = field(default_factory=dict)
    """This process' questions to it."""
    asked: int = 0
    """Its questions that this process has not answered yet."""


class ClusterBus:
    """`Bus` over connections. `process` is the name of this process."""

    def __init__(self, process: str, shell: Shell) -> None:
        self.process = process
        self.others: dict[str, dict[str, Any]] = {}
        """Every process that can be reached, with its own description."""
        self._shell = shell
        self._local = LocalBus(shell.failed)
        self._peers: dict[Link, _Peer] = {}
        self._numbers = count(1)

    # The port.

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note to all subscribers of a topic, in every process that can be reached."""
        # Sent before the local delivery: a local subscriber may publish a note of its own, which
        # must come after this one.
        self._broadcast(["note", topic, to_plain(note)])
        self._local.publish(topic, note)

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Call `hear` with each note of a topic from now on."""
        return self._local.subscribe(topic, hear)

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic. Raises `DuplicateName`.

        If two processes begin at the same time, one of them gets no questions and its `failed` is
        called.
        """
        if self._peer_for(topic) is not None:
            raise DuplicateName(f"{topic} is answered already")
        # Local first: a question that arrives right after the announcement finds the answerer.
        subscription = self._local.answer(topic, answer)
        self._broadcast(["answers", topic])
        # Wrapped, so that the end of the answering is announced too.
        return LocalSubscription(lambda: self._stop_answering(topic, subscription))

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the process that answers a topic.

        Raises `Unanswered` and `CommandError`.
        """
        return await self._request(topic, note)

    # Connections.

    def joined(self, link: Link, process: ProcessJoined) -> None:
        """Add a connection whose other side has proven its name.

        Its process counts as reachable after it has sent the topics that it answers.
        """
        peer = _Peer(link, process)
        # The order matters: a process must know the answerers before "ready" makes its users ask.
        for name, about in self.others.items():
            link.send(["came", name, to_plain(about)])
        for topic in self._topics(besides=peer):
            link.send(["answers", topic])
        link.send(["ready"])
        # Added last: its own state must not be sent back to it by a broadcast.
        self._peers[link] = peer

    def received(self, link: Link, frame: Frame) -> None:
        """Handle a frame; a malformed one ends the connection."""
        # Frames may still arrive on a connection that has ended.
        peer = self._peers.get(link)
        if peer is None:
            return
        try:
            self._take(peer, frame)
        except MalformedMessage as error:
            link.cut_off(error.reason)

    def ended(self, link: Link) -> None:
        """Remove a connection that is over, if it had joined."""
        # Removed first: the broadcasts below must not go to the lost connection.
        peer = self._peers.pop(link, None)
        if peer is None:
            return
        # These answers can never come; without an error their askers would wait for the time limit.
        for answer, call in peer.waiting.values():
            call.cancel()
            answer.errback(Unanswered(f"the connection to {peer.process.name} is lost"))
        # The other members must not send further questions about these topics to the hub.
        for topic in peer.topics:
            self._broadcast(["silent", topic])
        # A member has one connection, to the hub: without it no other process can be reached.
        for name in [peer.process.name] if self._peers else list(self.others):
            self._gone(name)

    # Frames of other processes.

    def _take(self, peer: _Peer, frame: Frame) -> None:
        """Handle a frame; raises `MalformedMessage` for one of no known kind."""
        if not (
            self._take_question(peer, frame)
            or self._take_topic(peer, frame)
            or self._take_process(peer, frame)
        ):
            raise MalformedMessage("frame of no known kind")

    def _take_question(self, peer: _Peer, frame: Frame) -> bool:
        """Handle a note, a question or an answer; return False for another frame."""
        match frame:
            # The bus itself makes the notes of `OWN`; another process must not be able to forge
            # them.
            case ["note", str() as topic, plain] if topic not in OWN:
                self._hear(peer, topic, to_note(plain))
            case ["ask", int() as number, str() as topic, plain]:
                self._asked(peer, number, topic, to_note(plain))
            case ["answer", int() as number, plain]:
                self._answered(peer, number, to_note(plain))
            case ["failed", int() as number, str() as text]:
                # The text may reach a log or a player, so control characters of another process are
                # removed.
                self._answered(peer, number, CommandError(printable(text)))
            case ["unanswered", int() as number, str() as text]:
                self._answered(peer, number, Unanswered(printable(text)))
            case _:
                return False
        return True

    def _take_topic(self, peer: _Peer, frame: Frame) -> bool:
        """Handle which topics a peer answers; return False for another frame."""
        match frame:
            case ["answers", str() as topic]:
                self._answers(peer, topic)
            case ["silent", str() as topic]:
                # A topic that is not listed was refused here because another process answers it.
                if topic in peer.topics:
                    del peer.topics[topic]
                    self._broadcast(["silent", topic], besides=peer)
            case ["taken", str() as topic]:
                if self._local.answers(topic):
                    self._shell.failed(DuplicateName(f"{topic} is answered by another process"))
            case _:
                return False
        return True

    def _take_process(self, peer: _Peer, frame: Frame) -> bool:
        """Handle which processes can be reached; return False for another frame."""
        match frame:
            case ["ready"]:
                self._came(peer, peer.process.name, peer.process.about)
            case ["came", str() as name, about] if name and len(name) <= LONGEST_NAME:
                # The bound is for a process that has the secret but a fault: it must not fill the
                # memory of all others.
                if len(self.others) >= MOST_OTHERS:
                    raise MalformedMessage("more processes than a world has")
                self._came(peer, name, to_note(about))
            case ["gone", str() as name]:
                self._gone(name)
            case _:
                return False
        return True

    def _hear(self, peer: _Peer, topic: str, note: dict[str, Any]) -> None:
        # Not back to the sender: it has delivered the note to itself already.
        # Encoded anew, so that only values of known kinds are passed on.
        self._broadcast(["note", topic, to_plain(note)], besides=peer)
        self._local.publish(topic, note)

    def _answers(self, peer: _Peer, topic: str) -> None:
        if len(topic) > LONGEST_TOPIC or len(peer.topics) >= MOST_TOPICS:
            raise MalformedMessage("too many topics, or too long ones")
        other = self._peer_for(topic)
        # Two processes may begin to answer at the same time. The first announcement that reaches
        # the hub counts; the other process gets "taken".
        if self._local.answers(topic) or other not in (None, peer):
            peer.link.send(["taken", topic])
            return
        peer.topics[topic] = None
        self._broadcast(["answers", topic], besides=peer)

    def _came(self, peer: _Peer, name: str, about: dict[str, Any]) -> None:
        # Known before the note: a subscriber of `CAME` may ask for the process.
        self.others[name] = about
        self._broadcast(["came", name, to_plain(about)], besides=peer)
        self._local.publish(CAME, {**about, "process": name})

    def _gone(self, name: str) -> None:
        # A process may be reported as gone by the hub and by the lost connection; it counts once.
        if self.others.pop(name, None) is not None:
            self._broadcast(["gone", name])
            self._local.publish(GONE, {"process": name})

    # Questions.

    async def _request(self, topic: str, note: Note, asker: _Peer | None = None) -> Note:
        if self._local.answers(topic):
            return await self._local.request(topic, note)
        # The asker is excluded: two processes that both believe the other answers would ask for
        # ever.
        peer = self._peer_for(topic, besides=asker)
        if peer is None:
            raise Unanswered(f"no process answers {topic}")
        if len(peer.waiting) >= MOST_WAITING:
            raise Unanswered("too many questions wait for an answer")
        # Numbers are unique for this process, so an answer needs no topic.
        number = next(self._numbers)
        peer.link.send(["ask", number, topic, to_plain(note)])
        answer = self._shell.answer()
        # Without this limit a process that hangs would keep the questions, and their players
        # waiting, for ever.
        call = self._shell.later(PATIENCE, lambda: self._too_late(peer, number, topic))
        peer.waiting[number] = answer, call
        answered: Note = await answer
        return answered

    def _too_late(self, peer: _Peer, number: int, topic: str) -> None:
        answer, _ = peer.waiting.pop(number)
        answer.errback(Unanswered(f"no answer about {topic} in {PATIENCE:g} seconds"))

    def _answered(self, peer: _Peer, number: int, answered: Note | EmuError) -> None:
        """Complete a question; ignore an answer that comes too late."""
        answer, call = peer.waiting.pop(number, (None, None))
        # The asker has given up meanwhile; for it, the answer came too late.
        if answer is None or call is None:
            return
        call.cancel()
        if isinstance(answered, EmuError):
            answer.errback(answered)
        else:
            answer.callback(answered)

    def _asked(self, peer: _Peer, number: int, topic: str, note: Note) -> None:
        # The other process has the same limit; this one holds even if it has a fault.
        if peer.asked >= MOST_WAITING:
            peer.link.send(["unanswered", number, "too many questions wait for an answer"])
            return
        peer.asked += 1
        self._shell.start(self._reply(peer, number, topic, note))

    async def _reply(self, peer: _Peer, number: int, topic: str, note: Note) -> None:
        try:
            # The hub passes a question on to the member that answers it, but never back to the
            # asker.
            answered = await self._request(topic, note, asker=peer)
            # The connection may have ended meanwhile; sending does nothing then.
            peer.link.send(["answer", number, to_plain(answered)])
        except Unanswered as error:
            peer.link.send(["unanswered", number, str(error)])
        except EmuError as error:
            peer.link.send(["failed", number, str(error)])
        except Exception as error:  # noqa: BLE001  # the asker is not to wait for it in vain
            self._shell.failed(error)
            peer.link.send(["failed", number, "it failed there; its log says why"])
        finally:
            peer.asked -= 1

    # Helpers.

    def _stop_answering(self, topic: str, subscription: Subscription) -> None:
        subscription.cancel()
        self._broadcast(["silent", topic])

    def _peer_for(self, topic: str, besides: _Peer | None = None) -> _Peer | None:
        for peer in self._peers.values():
            # At most one peer has a topic, because `_answers` refuses a second one.
            if topic in peer.topics and peer is not besides:
                return peer
        return None

    def _topics(self, besides: _Peer) -> list[str]:
        """Return the topics that can be answered through this process."""
        others = (peer for peer in self._peers.values() if peer is not besides)
        return [*self._local.topics, *(topic for peer in others for topic in peer.topics)]

    def _broadcast(self, frame: Frame, besides: _Peer | None = None) -> None:
        # A copy: sending may end a connection, which removes its peer.
        for peer in list(self._peers.values()):
            if peer is not besides:
                peer.link.send(frame)
