"""Subscriptions to what happens in a world, and faults that stop nothing else."""

from __future__ import annotations

from typing import Any

from emu.world.events import Fault, Faults, WorldEvent, WorldSubscription


def test_a_listener_that_raises_stops_no_other_listener() -> None:
    events: list[WorldEvent] = []
    said: WorldSubscription[Any, str] = WorldSubscription("said", Faults(events.append))
    heard: list[str] = []

    def fails(_player: Any, _text: str) -> None:
        raise ValueError

    said.subscribe(fails)
    said.subscribe(lambda _player, text: heard.append(text))
    said.publish(None, "hello")
    assert heard == ["hello"]
    [fault] = events
    assert isinstance(fault, Fault)
    assert (fault.task, fault.actor) == ("a listener (said)", "")


def test_a_listener_that_raised_gets_a_second_call() -> None:
    faults = Faults(lambda _event: None)
    left: WorldSubscription[Any] = WorldSubscription("left", faults)
    calls: list[str] = []

    def fails_once(_player: Any) -> None:
        calls.append("first")
        if len(calls) == 1:
            raise ValueError

    left.subscribe(fails_once)
    left.subscribe(lambda _player: calls.append("second"))
    left.publish_twice(None)
    assert calls == ["first", "second", "first"]
    assert faults.counts == {"a listener (left)": 1}


def test_an_event_without_values() -> None:
    changes: list[int] = []
    changed: WorldSubscription[()] = WorldSubscription("status", Faults(lambda _event: None))
    changed.subscribe(lambda: changes.append(1))
    changed.publish()
    assert changes == [1]
