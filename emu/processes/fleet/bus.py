"""The bus of a server that is several processes, over connections to the others.

A member has one connection, to the hub; the hub has one to each member, and hands on what one of
them tells to the rest. Everything that concerns only this process works without any connection.

In every process `CAME` and `GONE` are published when another process can be reached, and when it no
longer can; nobody sends them.
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
from emu.processes.fleet.connection import (
    LONGEST_NAME,
    Frame,
    ProcessJoined,
    printable,
    to_note,
    to_plain,
)
from emu.processes.local import LocalBus, Wish
from emu.processes.ports import CAME, GONE, Note, Subscription

LONGEST_TOPIC: Final = 200
MOST_TOPICS: Final = 1000
"""Topics whose questions are answered at one end of a connection."""
MOST_OTHERS: Final = 256
"""Processes that can be reached."""
MOST_WAITING: Final = 5000
"""Questions of this process, and of each connection, that wait for an answer."""
PATIENCE: Final = 4.0
"""Seconds that an answer may take."""
OWN: Final = frozenset((CAME, GONE))


class ScheduledCall(Protocol):
    """Something that will be done."""

    def cancel(self) -> None:
        """Do it not."""


class Link(Protocol):
    """A connection to a process that is known."""

    def send(self, frame: Frame) -> None:
        """Send a frame; does nothing when the connection is over. Raises `EmuError`."""

    def cut_off(self, reason: str) -> None:
        """End the connection; the bus is told of it as of every end."""


@dataclass(frozen=True, slots=True)
class Shell:
    """What the bus needs of its outside."""

    answer: Callable[[], PendingAnswer]
    """Makes an answer that has not come."""
    later: Callable[[float, Callable[[], None]], ScheduledCall]
    """Has something done after some seconds."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""
    failed: Callable[[Exception], None]
    """Is told what a subscriber or an answerer raised, and what another process did wrong."""


@dataclass(slots=True, eq=False)
class _Other:
    """What is known of the far end of a connection."""

    link: Link
    who: ProcessJoined
    topics: dict[str, None] = field(default_factory=dict)
    """Topics whose questions it can answer."""
    waiting: dict[int, tuple[PendingAnswer, ScheduledCall]] = field(default_factory=dict)
    """Our questions to it."""
    asked: int = 0
    """Its questions to us that are not answered yet."""


class FleetBus:
    """`Bus` over connections. `process` is this process' name."""

    def __init__(self, process: str, shell: Shell) -> None:
        self.process = process
        self.others: dict[str, dict[str, Any]] = {}
        """Every process that can be reached, with what it says of itself."""
        self._shell = shell
        self._local = LocalBus(shell.failed)
        self._ends: dict[Link, _Other] = {}
        self._numbers = count(1)

    # -- the port -------------------------------------------------------------------------------

    def publish(self, topic: str, note: Note) -> None:
        """Tell all subscribers of a topic, in every process that can be reached."""
        self._tell(["note", topic, to_plain(note)])
        self._local.publish(topic, note)

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Have `hear` called with each note of a topic from now on."""
        return self._local.subscribe(topic, hear)

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic. Raises `DuplicateName`.

        When two processes begin at once, one of them is not asked, and told of it.
        """
        if self._end_for(topic) is not None:
            raise DuplicateName(f"somebody answers {topic} already")
        wish = self._local.answer(topic, answer)
        self._tell(["answers", topic])
        return Wish(lambda: self._stop_answering(topic, wish))

    async def request(self, topic: str, note: Note) -> Note:
        """Ask whoever answers a topic. Raises `Unanswered` and `CommandError`."""
        return await self._request(topic, note)

    # -- connections ----------------------------------------------------------------------------

    def joined(self, link: Link, who: ProcessJoined) -> None:
        """Take a connection whose far end has proved who it is.

        It counts as reached when it has said all that it can answer.
        """
        end = _Other(link, who)
        for name, about in self.others.items():
            link.send(["came", name, to_plain(about)])
        for topic in self._topics(besides=end):
            link.send(["answers", topic])
        link.send(["ready"])
        self._ends[link] = end

    def received(self, link: Link, frame: Frame) -> None:
        """Take a frame; one that makes no sense ends the connection."""
        end = self._ends.get(link)
        if end is None:
            return
        try:
            self._take(end, frame)
        except MalformedMessage as error:
            link.cut_off(error.reason)

    def ended(self, link: Link) -> None:
        """Learn that a connection is over; one that never joined is fine."""
        end = self._ends.pop(link, None)
        if end is None:
            return
        for answer, call in end.waiting.values():
            call.cancel()
            answer.errback(Unanswered(f"the connection to {end.who.name} is lost"))
        for topic in end.topics:
            self._tell(["silent", topic])
        for name in [end.who.name] if self._ends else list(self.others):
            self._gone(name)

    # -- what the others say --------------------------------------------------------------------

    def _take(self, end: _Other, frame: Frame) -> None:
        match frame:
            case ["note", str() as topic, plain] if topic not in OWN:
                self._hear(end, topic, to_note(plain))
            case ["ask", int() as number, str() as topic, plain]:
                self._asked(end, number, topic, to_note(plain))
            case ["answer", int() as number, plain]:
                self._answered(end, number, to_note(plain))
            case ["failed", int() as number, str() as text]:
                self._answered(end, number, CommandError(printable(text)))
            case ["unanswered", int() as number, str() as text]:
                self._answered(end, number, Unanswered(printable(text)))
            case ["answers", str() as topic]:
                self._answers(end, topic)
            case ["silent", str() as topic] if topic in end.topics:
                del end.topics[topic]
                self._tell(["silent", topic], besides=end)
            case ["taken", str() as topic]:
                if self._local.answers(topic):
                    self._shell.failed(DuplicateName(f"somebody answers {topic} already"))
            case ["ready"]:
                self._came(end, end.who.name, end.who.about)
            case ["came", str() as name, about] if name and len(name) <= LONGEST_NAME:
                if len(self.others) >= MOST_OTHERS:
                    raise MalformedMessage("more processes than a world has")
                self._came(end, name, to_note(about))
            case ["gone", str() as name]:
                self._gone(name)
            case ["silent", str()]:
                pass  # it was refused here
            case _:
                raise MalformedMessage("frame of no known kind")

    def _hear(self, end: _Other, topic: str, note: dict[str, Any]) -> None:
        self._tell(["note", topic, to_plain(note)], besides=end)
        self._local.publish(topic, note)

    def _answers(self, end: _Other, topic: str) -> None:
        if len(topic) > LONGEST_TOPIC or len(end.topics) >= MOST_TOPICS:
            raise MalformedMessage("too many topics, or too long ones")
        other = self._end_for(topic)
        if self._local.answers(topic) or other not in (None, end):
            end.link.send(["taken", topic])
            return
        end.topics[topic] = None
        self._tell(["answers", topic], besides=end)

    def _came(self, end: _Other, name: str, about: dict[str, Any]) -> None:
        self.others[name] = about
        self._tell(["came", name, to_plain(about)], besides=end)
        self._local.publish(CAME, {**about, "process": name})

    def _gone(self, name: str) -> None:
        if self.others.pop(name, None) is not None:
            self._tell(["gone", name])
            self._local.publish(GONE, {"process": name})

    # -- questions ------------------------------------------------------------------------------

    async def _request(self, topic: str, note: Note, asker: _Other | None = None) -> Note:
        if self._local.answers(topic):
            return await self._local.request(topic, note)
        end = self._end_for(topic, besides=asker)
        if end is None:
            raise Unanswered(f"nobody answers {topic}")
        if len(end.waiting) >= MOST_WAITING:
            raise Unanswered("too many questions wait for an answer")
        number = next(self._numbers)
        end.link.send(["ask", number, topic, to_plain(note)])
        answer = self._shell.answer()
        call = self._shell.later(PATIENCE, lambda: self._too_late(end, number, topic))
        end.waiting[number] = answer, call
        told: Note = await answer
        return told

    def _too_late(self, end: _Other, number: int, topic: str) -> None:
        answer, _ = end.waiting.pop(number)
        answer.errback(Unanswered(f"no answer about {topic} in {PATIENCE:g} seconds"))

    def _answered(self, end: _Other, number: int, told: Note | EmuError) -> None:
        """Take an answer; one that comes too late is nothing."""
        answer, call = end.waiting.pop(number, (None, None))
        if answer is None or call is None:
            return
        call.cancel()
        if isinstance(told, EmuError):
            answer.errback(told)
        else:
            answer.callback(told)

    def _asked(self, end: _Other, number: int, topic: str, note: Note) -> None:
        if end.asked >= MOST_WAITING:
            end.link.send(["unanswered", number, "too many questions wait for an answer"])
            return
        end.asked += 1
        self._shell.start(self._reply(end, number, topic, note))

    async def _reply(self, end: _Other, number: int, topic: str, note: Note) -> None:
        try:
            told = await self._request(topic, note, asker=end)
            end.link.send(["answer", number, to_plain(told)])
        except Unanswered as error:
            end.link.send(["unanswered", number, str(error)])
        except EmuError as error:
            end.link.send(["failed", number, str(error)])
        except Exception as error:  # noqa: BLE001  # the asker is not to wait for it in vain
            self._shell.failed(error)
            end.link.send(["failed", number, "it failed there; its log says why"])
        finally:
            end.asked -= 1

    # -- how ------------------------------------------------------------------------------------

    def _stop_answering(self, topic: str, wish: Subscription) -> None:
        wish.cancel()
        self._tell(["silent", topic])

    def _end_for(self, topic: str, besides: _Other | None = None) -> _Other | None:
        for end in self._ends.values():
            if topic in end.topics and end is not besides:
                return end
        return None

    def _topics(self, besides: _Other) -> list[str]:
        """Return the topics that can be answered by way of this process."""
        others = (end for end in self._ends.values() if end is not besides)
        return [*self._local.topics, *(topic for end in others for topic in end.topics)]

    def _tell(self, frame: Frame, besides: _Other | None = None) -> None:
        for end in list(self._ends.values()):
            if end is not besides:
                end.link.send(frame)
