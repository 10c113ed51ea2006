"""The audit of a process: questions that come while an act is being stored."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from twisted.internet.defer import Deferred

from emu.audit import AuditedAct, AuditQuestion
from emu.errors import StoreError
from emu.net.admin.service import _AuditTrail
from emu.times import DAY, Moment

MUTE = AuditedAct(
    Moment(9.0 * DAY), "boss", "web", "mute", "character Victim", "", "", "shouting", "done", True
)
ALL = AuditQuestion(subject="", limit=9)


class SlowStore:
    """A store whose next write ends when the test says so."""

    def __init__(self) -> None:
        self.acts: list[AuditedAct] = []
        self.oldest = Moment(0.0)
        self.written: Deferred[None] = Deferred()

    async def add_act(self, act: AuditedAct, oldest: Moment) -> None:
        await self.written
        self.acts.append(act)
        self.oldest = oldest

    async def find(self, question: AuditQuestion) -> Sequence[AuditedAct]:
        return self.acts[: question.limit]


def test_a_question_waits_for_an_act_that_is_being_stored() -> None:
    store = SlowStore()
    trail = _AuditTrail(store)
    trail.keep(MUTE, 2)
    asked = Deferred.fromCoroutine(trail.find(ALL))
    assert not asked.called
    store.written.callback(None)
    assert asked.result == [MUTE]
    assert store.oldest == 7.0 * DAY


@pytest.mark.usefixtures("logged_failures")
def test_an_act_that_cannot_be_stored_holds_up_no_question() -> None:
    store = SlowStore()
    trail = _AuditTrail(store)
    trail.keep(MUTE, 2)
    store.written.errback(StoreError("the disk is full"))
    assert Deferred.fromCoroutine(trail.find(ALL)).result == []
