"""The world's asynchronous repositories."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from emu.processes.ports import ModelSource, WorldCharacterStore
from emu.store import Store
from emu.store.asynchronous import Run, StoreConnections
from emu.store.asynchronous_world import MODELS_KEPT, MOST_MODELS, AsyncModels, AsyncWorldCharacters
from tests.store.test_asynchronous import ways_of
from tests.support.coroutines import finish
from tests.support.database.stores import run_inline, saved_state, world_character
from tests.support.times import ManualClock

T = TypeVar("T")


@pytest.fixture
def ways(store: Store) -> StoreConnections:
    return ways_of(store)


def recorded(taken: list[str], name: str) -> Run:
    """Return a `Run` that notes its name."""

    def run(call: Callable[[], T]) -> Awaitable[T]:
        taken.append(name)
        return run_inline(call)

    return run


def test_models(store: Store, ways: StoreConnections) -> None:
    port: ModelSource = AsyncModels(ways, lambda one: one.login.models)
    store.login.models.add("hair/a", 5)
    assert finish(port.model_numbers(["hair/a", "hair/b"])) == {"hair/a": 5}


def test_models_are_read_once_a_minute(store: Store, ways: StoreConnections) -> None:
    taken, clock = list[str](), ManualClock()
    counted = replace(ways, read=recorded(taken, "read"))
    port = AsyncModels(counted, lambda one: one.login.models, clock.now)
    for _ in range(3):
        assert finish(port.model_numbers(["hair/a", "hair/b"])) == {}
    assert taken == ["read"], "a path without a number is kept, too"
    store.login.models.add("hair/a", 5)
    assert finish(port.model_numbers(["hair/c", "hair/b"])) == {}
    assert taken == ["read"] * 2, "only what is missing"
    clock.seconds += MODELS_KEPT
    assert finish(port.model_numbers(["hair/a"])) == {"hair/a": 5}
    finish(port.model_numbers([f"hair/{number}" for number in range(MOST_MODELS)]))
    finish(port.model_numbers(["other"]))
    assert len(port._numbers) == 1


def test_world_characters(ways: StoreConnections) -> None:
    port: WorldCharacterStore = AsyncWorldCharacters(ways, lambda one: one.world.characters)
    added = finish(port.create(world_character()))
    finish(port.save_character(added.id, saved_state(added, last_played=77.0)))
    found = finish(port.find(added.id))
    assert found is not None
    assert found.last_played == 77.0
    assert finish(port.of_account(1)) == [found]
    assert not finish(port.delete(2, added.id))
    assert finish(port.delete(1, added.id))


def test_a_save_that_somebody_awaits_waits_for_no_others(ways: StoreConnections) -> None:
    taken: list[str] = []
    counted = replace(ways, later=recorded(taken, "later"), persistent=recorded(taken, "at once"))
    port = AsyncWorldCharacters(counted, lambda one: one.world.characters)
    made = finish(port.create(world_character()))
    finish(port.save_character(made.id, saved_state(made)))
    finish(port.save_character(made.id, saved_state(made, 2), is_awaited=True))
    assert taken == ["later", "at once"]
    assert finish(port.find(made.id)).revision == 2
