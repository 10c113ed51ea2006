"""The bus of a server that is one process: notes are heard at once, questions answered in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from emu.errors import CommandError, DuplicateName, EmuError, Unanswered
from emu.processes.ports import Note


class Wish:
    """A subscription: calls `end` the first time it is cancelled."""

    __slots__ = ("_end",)

    def __init__(self, end: Callable[[], object]) -> None:
        self._end: Callable[[], object] | None = end

    def cancel(self) -> None:
        """Hear no more."""
        end, self._end = self._end, None
        if end is not None:
            end()


class LocalBus:
    """`Bus` for one process. `failed` is told what a subscriber raises."""

    __slots__ = ("_answers", "_failed", "_hear", "_publishing", "_waiting")

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._hear: dict[str, dict[object, Callable[[Note], None]]] = {}
        self._answers: dict[str, Callable[[Note], Awaitable[Note]]] = {}
        self._waiting: deque[tuple[str, Note]] = deque()
        self._publishing = False

    def publish(self, topic: str, note: Note) -> None:
        """Tell all subscribers of a topic; what a subscriber publishes comes after this note."""
        self._waiting.append((topic, dict(note)))
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._waiting:
                self._deliver(*self._waiting.popleft())
        finally:
            self._publishing = False

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Wish:
        """Have `hear` called with each note of a topic from now on."""
        place = object()
        self._hear.setdefault(topic, {})[place] = hear
        return Wish(partial(self._forget, topic, place))

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Wish:
        """Answer the questions of a topic. Raises `DuplicateName`."""
        if topic in self._answers:
            raise DuplicateName(f"somebody answers {topic} already")
        self._answers[topic] = answer
        return Wish(partial(self._answers.pop, topic))

    @property
    def topics(self) -> list[str]:
        """Topics whose questions are answered."""
        return list(self._answers)

    def answers(self, topic: str) -> bool:
        """Say whether somebody answers the questions of a topic."""
        return topic in self._answers

    async def request(self, topic: str, note: Note) -> Note:
        """Ask whoever answers a topic. Raises `Unanswered` and `CommandError`."""
        answer = self._answers.get(topic)
        if answer is None:
            raise Unanswered(f"nobody answers {topic}")
        try:
            return dict(await answer(dict(note)))
        except EmuError as error:
            raise CommandError(str(error)) from error

    def _deliver(self, topic: str, note: Note) -> None:
        heard = self._hear.get(topic, {})
        for place, hear in list(heard.items()):
            if place not in heard:  # cancelled by one who heard it before
                continue
            try:
                hear(note)
            except Exception as error:  # noqa: BLE001  # the others are to hear it all the same
                self._failed(error)

    def _forget(self, topic: str, place: object) -> None:
        del self._hear[topic][place]
        if not self._hear[topic]:
            del self._hear[topic]
