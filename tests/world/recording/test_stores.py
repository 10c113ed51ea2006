"""Repositories whose answers are recorded."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import EmuError, StoreError
from emu.world.recording.stores import Asked, RecordedStore, key_of
from tests.support.coroutines import finish


class Noted:
    def __init__(self) -> None:
        self.answers: list[tuple[str, object, EmuError | None]] = []

    def ask(self, what: str) -> Asked:
        return Asked("a zone", what)

    def answered(self, asked: Asked, value: object = None, error: EmuError | None = None) -> None:
        assert asked.zone == "a zone"
        self.answers.append((asked.name, value, error))


class Letters:
    async def find(self, number: int, *, is_read: bool = False) -> Any:
        if number == 0:
            raise StoreError("the database does not answer")
        return number, is_read


def test_answers_and_errors_are_noted_and_passed_on() -> None:
    noted = Noted()
    store: Any = RecordedStore(noted, "letters", Letters())
    assert finish(store.find(5, is_read=True)) == (5, True)
    with pytest.raises(StoreError):
        finish(store.find(0))
    (first, second) = noted.answers
    assert first == ("letters.find 5", (5, True), None)
    assert second[:2] == ("letters.find 0", None)
    assert isinstance(second[2], StoreError)


def test_a_question_is_known_by_its_call_and_its_first_plain_argument() -> None:
    assert key_of("memories", "of_zone", (12, 0, 200)) == "memories.of_zone 12"
    assert key_of("ledger", "move", (object(), 1.0)) == "ledger.move "
    assert key_of("thread", "run", ()) == "thread.run "
