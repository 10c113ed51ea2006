"""Reports of calls that fail, and of calls that take too long."""

from __future__ import annotations

from collections.abc import Callable
from inspect import currentframe
from types import FrameType

import pytest

from emu.world.minds.guard import Budget, OutOfTime, is_behavior, place_of, unguarded


def test_a_call_that_is_well_is_made_and_nothing_reported() -> None:
    made: list[int] = []
    assert Budget(1.0, unguarded, lambda: 0.0).spend(lambda: made.append(1)) == ""
    assert made == [1]


def test_what_raises_is_reported_with_its_place() -> None:
    reason = Budget(1.0, unguarded, lambda: 0.0).spend(lambda: 1 // 0)
    assert "test_guard_budget.py" in reason
    assert "ZeroDivisionError" in reason


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_would_end_the_server_is_reported_as_well(kind: type[BaseException]) -> None:
    def call() -> None:
        raise kind

    assert kind.__name__ in Budget(1.0, unguarded, lambda: 0.0).spend(call)


def test_who_returns_too_late_is_reported() -> None:
    times = iter((5.0, 6.5))
    reason = Budget(1.0, unguarded, lambda: next(times)).spend(lambda: None)
    assert reason == "took longer than 1 s"


def test_who_is_interrupted_is_reported_with_its_place() -> None:
    def guard(_call: Callable[[], object], _seconds: float) -> None:
        raise OutOfTime

    reason = Budget(0.25, guard, lambda: 0.0).spend(lambda: None)
    assert reason.endswith(": took longer than 0.25 s")
    assert "test_guard_budget.py" in reason


@pytest.mark.parametrize(
    ("reason", "parts"),
    [
        ("/a/town.py, line 12: ValueError: no", ("/a/town.py", 12, "ValueError: no")),
        ("took longer than 0.25 s", ("", 0, "took longer than 0.25 s")),
        ("a, line x: y", ("", 0, "a, line x: y")),
    ],
)
def test_a_reason_has_file_line_and_text(reason: str, parts: tuple[str, int, str]) -> None:
    assert place_of(reason) == parts


def test_a_call_runs_until_it_returns() -> None:
    budget = Budget(1.0, unguarded, lambda: 0.0)
    seen: list[bool] = []
    budget.spend(lambda: seen.append(budget.is_spent_on))
    assert seen == [True]
    assert not budget.is_spent_on


@pytest.mark.parametrize(
    ("module", "is_one"),
    [
        ("town", True),
        ("emu.world.zones.zone", False),
        ("emu.world.behaviors.shipped.greeter", True),
        (7, True),
        (None, True),
    ],
)
def test_frames_of_authors_are_known_by_their_module(module: object, *, is_one: bool) -> None:
    frames: list[FrameType | None] = []
    names = {"__name__": module, "look": lambda: frames.append(currentframe().f_back)}  # type: ignore[union-attr]
    exec("look()", names)  # the test's own text
    (frame,) = frames
    assert frame is not None
    assert is_behavior(frame) is is_one
