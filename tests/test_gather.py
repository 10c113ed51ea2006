"""Two things that are waited for at once."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.gather import both
from tests.support.coroutines import finish


async def wait(log: list[str], name: str, *waits: Awaitable[str]) -> str:
    log.append(f"{name} begins")
    for one in waits:
        log.append(await one)
    return name


def test_both_begin_before_either_is_waited_for() -> None:
    log: list[str] = []
    one, two, three = Deferred[str](), Deferred[str](), Deferred[str]()
    work = both(wait(log, "first", one), wait(log, "second", two, three))
    done = Deferred.fromCoroutine(_awaited(work))
    assert log == ["first begins", "second begins"]
    two.callback("two")
    one.callback("one")
    assert log[2:] == ["one", "two"]
    three.callback("three")
    assert done.result == ("first", "second")


async def _awaited(work: both[str, str]) -> tuple[str, str]:
    return await work


def test_the_error_of_one_comes_when_both_are_over() -> None:
    log: list[str] = []
    one, two = Deferred[str](), Deferred[str]()
    done = Deferred.fromCoroutine(_awaited(both(wait(log, "first", one), wait(log, "second", two))))
    one.errback(KeyError("lost"))
    assert not done.called
    two.callback("two")
    assert log[-1] == "two"
    failures: list[BaseException] = []

    def failed(failure: Failure) -> None:
        assert failure.value is not None
        failures.append(failure.value)

    done.addErrback(failed)
    assert [type(one) for one in failures] == [KeyError]


def test_what_waits_for_nothing_needs_no_driver() -> None:
    log: list[str] = []
    assert finish(_awaited(both(wait(log, "a"), wait(log, "b")))) == ("a", "b")


def test_a_wait_that_is_broken_off_ends_both() -> None:
    ended: list[str] = []

    async def hold(name: str) -> str:
        try:
            return await Deferred[str]()
        finally:
            ended.append(name)

    steps = both(hold("first"), hold("second")).__await__()
    next(steps)
    steps.close()
    assert ended == ["first", "second"]
    with pytest.raises(StopIteration):
        next(steps)
