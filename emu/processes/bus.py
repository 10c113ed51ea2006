"""The bus of one process: its subscribers and its answerers.

It is the whole bus of a world that is one process. `emu.processes.exchange` joins several of them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import Any, Final

from emu.errors import (
    CommandError,
    EmuError,
    LocalProtocolError,
    StoreError,
    Unanswered,
    public_text,
)
from emu.processes.ports import Note

LONGEST_TOPIC: Final = 120
"""Characters of a topic."""
_TOPIC: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def is_topic(text: str) -> bool:
    """Return whether a text can be a topic: tokens of ``[a-z0-9_-]`` with dots between them."""
    return len(text) <= LONGEST_TOPIC and _TOPIC.fullmatch(text) is not None


# Cached, because each note is checked and the topics are few.
@lru_cache(maxsize=4096)
def check_topic(topic: str) -> None:
    """Raise `LocalProtocolError` for a text that no broker can carry as a topic."""
    if not is_topic(topic):
        raise LocalProtocolError(f"{topic!r} is no topic: use tokens of a-z, 0-9, - and _")


class LocalSubscription:
    """A subscription; the first `cancel` calls its `end`."""

    __slots__ = ("_end",)

    def __init__(self, end: Callable[[], object]) -> None:
        self._end: Callable[[], object] | None = end

    def cancel(self) -> None:
        """End the subscription."""
        end, self._end = self._end, None
        if end is not None:
            end()


class LocalBus:
    """`Bus` for one process. `failed` receives the errors of subscribers."""

    __slots__ = ("_answers", "_failed", "_hear", "_publishing", "_waiting", "is_connected")

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._hear: dict[str, dict[object, Callable[[Note], None]]] = {}
        self._answers: dict[str, dict[object, Callable[[Note], Awaitable[Note]]]] = {}
        self._waiting: deque[tuple[str, Note]] = deque()
        self._publishing = False
        self.is_connected = True
        """Whether other processes can be reached: there are none."""

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note to all subscribers; notes that they publish follow after it."""
        check_topic(topic)
        # A queue, because a subscriber may publish: every subscriber gets all notes in the same
        # order.
        # A copy: the publisher may change its note before a queued one is delivered.
        self._waiting.append((topic, dict(note)))
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._waiting:
                self._deliver(*self._waiting.popleft())
        finally:
            self._publishing = False

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> LocalSubscription:
        """Call `hear` with each note of a topic from now on."""
        check_topic(topic)
        # A key of its own for each subscription, so that one function may subscribe twice.
        place = object()
        self._hear.setdefault(topic, {})[place] = hear
        return LocalSubscription(partial(_forget, self._hear, topic, place))

    def hears(self, topic: str) -> bool:
        """Return whether a topic has a subscriber."""
        return topic in self._hear

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> LocalSubscription:
        """Answer the questions of a topic; of several answerers the newest is asked."""
        check_topic(topic)
        place = object()
        self._answers.setdefault(topic, {})[place] = answer
        return LocalSubscription(partial(_forget, self._answers, topic, place))

    @property
    def topics(self) -> list[str]:
        """Topics whose questions are answered."""
        return list(self._answers)

    def answers(self, topic: str) -> bool:
        """Return whether the questions of a topic are answered."""
        return topic in self._answers

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the answerer of a topic. Raises `Unanswered` and `CommandError`."""
        answers = self._answers.get(topic)
        if answers is None:
            raise Unanswered(f"no process answers {topic}")
        answer = next(reversed(answers.values()))
        try:
            return dict(await answer(dict(note)))
        except EmuError as error:
            if isinstance(error, StoreError):
                self._failed(error)
            # The same error as from another process, so that callers need not know where the
            # answerer is. Players may see the text.
            raise CommandError(public_text(error)) from error

    def _deliver(self, topic: str, note: Note) -> None:
        heard = self._hear.get(topic, {})
        # A copy: a subscriber may subscribe or cancel during the delivery.
        for place, hear in list(heard.items()):
            if place not in heard:  # Cancelled by an earlier subscriber of this note.
                continue
            try:
                hear(note)
            except Exception as error:  # noqa: BLE001  # the others are to hear it all the same
                self._failed(error)


def _forget(places: dict[str, dict[object, Any]], topic: str, place: object) -> None:
    del places[topic][place]
    # Topics that nobody uses would stay for ever otherwise.
    if not places[topic]:
        del places[topic]
