"""The garbage collector and the spawns of content."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.net.world import content_memory
from emu.net.world.content import _without_collection
from emu.net.world.content_memory import LEFT, SETTLED, ContentMemory, give_back
from emu.world.zones.zone import Zone
from tests.support.world.zone_files import definition

ANY: Any = None


class Circle:
    """An object that only the collector frees."""

    def __init__(self) -> None:
        self.own = self


class Thread:
    """Carries out calls when it is asked to."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def __call__(self, call: Any) -> Deferred[Any]:
        done: Deferred[Any] = Deferred()
        self.waiting.append(lambda: done.callback(call()))
        return done

    def work(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


def test_the_collector_leaves_spawns_alone_that_have_settled() -> None:
    memory, zone = ContentMemory(lambda: True, Thread()), Zone(definition(9))
    gc.unfreeze()
    for _ in range(SETTLED - 1):
        memory.appeared(zone, ANY, ANY)
    assert not gc.get_freeze_count()
    memory.appeared(zone, ANY, ANY)
    assert gc.get_freeze_count() > 1000


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_collector_is_as_before_after_rows_were_read(is_enabled: bool) -> None:
    if is_enabled:
        gc.enable()
    assert _without_collection(gc.isenabled) is False
    assert gc.isenabled() is is_enabled


@pytest.fixture
def resident(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Let the process have so many bytes; the last one counts."""
    found: list[int | None] = [100]
    monkeypatch.setattr(content_memory, "give_back", lambda: found[-1])
    return found


MUCH = 100 + LEFT


def ended_before(thread: Thread, memory: ContentMemory) -> None:
    """Let a first zone end, whose memory is the least."""
    zone = Zone(definition(9), 7)
    memory.appeared(zone, ANY, ANY)
    memory.ended(zone)
    memory.rest()
    thread.work()


@pytest.mark.slow
@pytest.mark.parametrize(("players", "others", "is_kept"), [
    (False, False, False), (True, False, True), (False, True, True),
])  # fmt: skip
def test_what_is_left_is_searched_when_all_zones_have_ended_and_nobody_waits(
    players: bool, others: bool, is_kept: bool, resident: list[int | None]
) -> None:
    thread = Thread()
    is_anybody_there = False
    memory = ContentMemory(lambda: is_anybody_there, thread)
    ended_before(thread, memory)
    is_anybody_there = players
    resident.append(MUCH)
    zone, other = Zone(definition(9)), Zone(definition(9), 1)
    gone = weakref.ref(Circle())
    if others:
        memory.appeared(other, ANY, ANY)
    for _ in range(SETTLED):
        memory.appeared(zone, ANY, ANY)
    memory.ended(zone)
    assert gone() is not None, "not before the zone has ended"
    thread.work()
    assert (gone() is not None) == is_kept


def test_zones_that_end_together_are_searched_once(
    monkeypatch: pytest.MonkeyPatch, resident: list[int | None]
) -> None:
    searches: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: searches.append(1))
    thread = Thread()
    memory = ContentMemory(lambda: False, thread)
    ended_before(thread, memory)
    resident.append(MUCH)
    zones = [Zone(definition(9), number) for number in range(5)]
    for zone in zones:
        memory.appeared(zone, ANY, ANY)
    for zone in zones:
        memory.ended(zone)
    thread.work()
    assert searches == [1]
    memory.ended(zones[0])
    thread.work()
    assert searches == [1], "nothing has appeared since"


@pytest.mark.slow
@pytest.mark.parametrize(("found", "searched"), [
    ([90, 90 + LEFT - 1], 0), ([90, 90 + LEFT], 1), ([MUCH, MUCH], 1), ([None, None], 2),
])  # fmt: skip
def test_a_search_comes_when_much_is_left_and_not_twice_for_the_same(
    monkeypatch: pytest.MonkeyPatch,
    resident: list[int | None],
    found: list[int | None],
    searched: int,
) -> None:
    searches: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: searches.append(1))
    thread = Thread()
    memory = ContentMemory(lambda: False, thread)
    ended_before(thread, memory)
    for one in found:
        resident.append(one)
        ended_before(thread, memory)
    assert len(searches) == searched


@pytest.mark.slow
def test_a_search_waits_until_scripts_have_forgotten_what_was_in_the_zone(
    resident: list[int | None],
) -> None:
    thread = Thread()
    memory = ContentMemory(lambda: False, thread)
    have_forgotten = memory.after_scripts()
    ended_before(thread, memory)
    resident.append(MUCH)
    gone, zone = weakref.ref(Circle()), Zone(definition(9))
    for _ in range(SETTLED):
        memory.appeared(zone, ANY, ANY)
    memory.ended(zone)
    thread.work()
    assert gone() is not None
    have_forgotten()
    thread.work()
    assert gone() is None


def test_memory_is_given_back_with_any_c_library() -> None:
    resident = give_back()
    assert resident is None or resident > 1_000_000
