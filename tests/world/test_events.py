"""The table of game events: who is called, in which order, and what a listener's fault does."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from emu.world.events import (
    Arrived,
    Events,
    Hailed,
    LeftWorld,
    Order,
    Spoken,
    StatusChanged,
    spoken,
)
from emu.world.reports import Fault, Faults, WorldEvent


def player(target: object = None) -> Any:
    return SimpleNamespace(name="Aldana", target=target)


def test_a_listener_that_raises_stops_no_other_listener() -> None:
    lines: list[WorldEvent] = []
    events = Events(Faults(lines.append))
    heard: list[str] = []

    def fails(_event: Spoken) -> None:
        raise ValueError

    events.subscribe(Spoken, fails)
    events.subscribe(Spoken, lambda event: heard.append(event.text))
    events.publish(Spoken(player(), "hello", None))
    assert heard == ["hello"]
    [fault] = lines
    assert isinstance(fault, Fault)
    assert (fault.task, fault.actor) == ("a listener (Spoken)", "Aldana")


def test_a_listener_that_raised_gets_a_second_call() -> None:
    faults = Faults(lambda _line: None)
    events = Events(faults)
    calls: list[str] = []

    def fails_once(_event: LeftWorld) -> None:
        calls.append("first")
        if len(calls) == 1:
            raise ValueError

    def fails_twice(_event: LeftWorld) -> None:
        raise ValueError

    events.subscribe(LeftWorld, fails_once)
    events.subscribe(LeftWorld, lambda _event: calls.append("second"))
    events.subscribe(LeftWorld, fails_twice)
    events.publish_twice(LeftWorld(player()))
    assert calls == ["first", "second", "first"]
    assert faults.counts == {"a listener (LeftWorld)": 2, "a listener (LeftWorld) again": 1}


def test_the_order_is_that_of_the_table_and_then_that_of_subscribing() -> None:
    events = Events(Faults(lambda _line: None))
    calls: list[str] = []

    def listener(name: str) -> Callable[[Arrived], None]:
        return lambda _event: calls.append(name)

    for name, order in (
        ("records", Order.RECORDS), ("scripts", Order.MINDS), ("behaviors", Order.MINDS),
        ("mail", Order.SUBJECTS), ("owner", Order.OWNER), ("groups", Order.SUBJECTS),
    ):  # fmt: skip
        events.subscribe(Arrived, listener(name), order)
    events.publish(Arrived(player(), 0.0))
    assert calls == ["owner", "mail", "groups", "scripts", "behaviors", "records"]


def test_who_subscribes_during_an_event_is_called_from_the_next_one_on() -> None:
    events = Events(Faults(lambda _line: None))
    calls: list[str] = []
    events.subscribe(
        StatusChanged,
        lambda _event: events.subscribe(StatusChanged, lambda _event: calls.append("new")),
    )
    events.publish(StatusChanged())
    assert calls == []
    events.publish(StatusChanged())
    assert calls == ["new"]


@pytest.mark.parametrize("text", ["Hail", "hail, Guard", "HAIL", "hailstorm"])
def test_a_line_that_begins_with_the_word_hails_the_target(text: str) -> None:
    guard: Any = object()
    speaker = player(guard)
    assert spoken(speaker, text) == Hailed(speaker, text, guard)


@pytest.mark.parametrize(("text", "has_target"), [("all hail", True), ("Hail", False)])
def test_any_other_line_is_only_said(text: str, has_target: bool) -> None:
    target: Any = object() if has_target else None
    speaker = player(target)
    assert spoken(speaker, text) == Spoken(speaker, text, target)
