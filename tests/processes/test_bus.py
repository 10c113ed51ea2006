from __future__ import annotations

import pytest

from emu.processes.bus import LocalBus, check_topic
from tests.processes.contracts.bus import BusContract, Buses


class TestLocalBus(BusContract):
    @pytest.fixture
    def buses(self) -> Buses:
        """All processes are this one, and so have one bus."""
        bus = LocalBus([].append)
        return lambda: bus


def test_an_error_of_a_subscriber_is_reported() -> None:
    errors: list[Exception] = []
    bus = LocalBus(errors.append)

    def fails(_note: object) -> None:
        raise ZeroDivisionError

    bus.subscribe("weather", fails)
    bus.publish("weather", {})
    assert [type(error) for error in errors] == [ZeroDivisionError]


def test_one_who_is_cancelled_by_another_hears_nothing_of_the_same_note() -> None:
    heard: list[object] = []
    bus = LocalBus([].append)
    bus.subscribe("weather", lambda _: second.cancel())
    second = bus.subscribe("weather", heard.append)
    bus.publish("weather", {})
    assert heard == []


def test_topics_that_nobody_hears_any_more_leave_nothing_behind() -> None:
    bus = LocalBus([].append)
    bus.subscribe("weather", lambda _: None).cancel()
    assert bus._hear == {}


def test_every_name_of_a_node_may_be_part_of_a_topic() -> None:
    check_topic("presence.rows.zone-a_1")
