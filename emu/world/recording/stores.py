"""Repositories whose answers are recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from emu.errors import EmuError


class AnswerLog(Protocol):
    """Notes questions and their answers; `emu.world.recording.recorder.Recorder` does."""

    def ask(self, what: str) -> Asked:
        """Note a question, and return what `answered` needs."""

    def answered(self, asked: Asked, value: object = None, error: EmuError | None = None) -> None:
        """Note an answer, whose handling begins now."""


class Asked:
    """A question to a repository or a thread, and the zone that waits for the answer."""

    __slots__ = ("name", "zone")

    def __init__(self, zone: Any, name: str) -> None:
        self.zone = zone
        self.name = name


def key_of(name: str, method: str, arguments: tuple[Any, ...]) -> str:
    """Return the name of a question: the call, and its first argument if that is a plain value."""
    first = arguments[0] if arguments and isinstance(arguments[0], int | str) else ""
    return f"{name}.{method} {first}"


class RecordedStore:
    """A repository, all of whose answers are noted."""

    def __init__(self, answers: AnswerLog, name: str, store: Any) -> None:
        self._answers = answers
        self._name = name
        self._store = store

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        inner = getattr(self._store, method)

        async def call(*arguments: Any, **others: Any) -> Any:
            answers = self._answers
            asked = answers.ask(key_of(self._name, method, arguments))
            try:
                value = await inner(*arguments, **others)
            except EmuError as error:
                answers.answered(asked, error=error)
                raise
            answers.answered(asked, value)
            return value

        # Not looked up again.
        setattr(self, method, call)
        return call
