"""The store's thread answers on the reactor, in order, within bounds, and stops on request."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import DeferredList
from twisted.internet.task import deferLater

from emu.errors import DuplicateName, StoreError, StoreLocked
from emu.net.store_worker import LOCK_TRY, StoreWorker
from emu.store import Store
from emu.store.batches import Batchable
from tests.support.patience import patience

pytestmark = pytest.mark.usefixtures("collect_garbage")


async def test_a_worker_that_never_worked_stops_at_once() -> None:
    assert store_worker([]).stop().called


def store_worker(groups: list[int], **options: Any) -> StoreWorker:
    @contextmanager
    def group() -> Iterator[None]:
        groups.append(1)
        yield

    return StoreWorker(reactor, group, **options)  # type: ignore[arg-type]


async def test_calls_are_carried_out_in_order_by_one_thread() -> None:
    worker = store_worker([])
    seen: list[tuple[int, threading.Thread]] = []
    for number in range(200):
        worker.run(lambda number=number: seen.append((number, threading.current_thread())))  # type: ignore[misc]
    await worker.stop()
    assert [number for number, _ in seen] == list(range(200))
    assert len({thread for _, thread in seen}) == 1


async def test_calls_that_pile_up_share_a_group_and_one_alone_has_none() -> None:
    groups: list[int] = []
    worker = store_worker(groups, most_grouped=8)
    assert await worker.run(lambda: 1) == 1
    assert groups == []
    gate = threading.Event()
    asked = [worker.run(gate.wait), *(worker.run(lambda: True) for _ in range(16))]
    gate.set()
    assert all(result for _, result in await DeferredList(asked))
    assert 2 <= len(groups) <= 3
    await worker.stop()


async def test_a_group_that_cannot_be_stored_fails_for_all_in_it() -> None:
    @contextmanager
    def group() -> Iterator[None]:
        yield
        raise StoreError("disk full")

    worker = StoreWorker(reactor, group)  # type: ignore[arg-type]
    gate = threading.Event()
    first = worker.run(gate.wait)
    asked = [worker.run(lambda: 1), worker.run(lambda: 1 // 0), worker.run(lambda: 1)]
    done = DeferredList([first, *asked], consumeErrors=True)
    gate.set()
    results = await done
    failed = [failure.value for success, failure in results if not success]
    assert [type(error) for error in failed[-3:]] == [StoreError, ZeroDivisionError, StoreError]
    await worker.stop()


async def test_a_bound_on_how_many_wait() -> None:
    worker = store_worker([], most_waiting=2)
    gate = threading.Event()
    asked = [worker.run(gate.wait), worker.run(gate.wait)]
    with pytest.raises(StoreError, match="cannot keep up"):
        await worker.run(gate.wait)
    gate.set()
    await DeferredList(asked)
    await worker.stop()


async def test_stopping_carries_out_what_waits(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "emu.sqlite")
    worker = StoreWorker(reactor, store.transaction)  # type: ignore[arg-type]
    asked = [worker.run(lambda n=n: store.login.accounts.add(f"a{n}", "", 0.0)) for n in range(300)]  # type: ignore[misc]
    stopped = worker.stop()
    with pytest.raises(StoreError, match="closing"):
        await worker.run(store.login.accounts.every)
    await stopped
    assert worker.waiting == 0
    assert all(success for success, _ in await DeferredList(asked))
    assert len(store.login.accounts.every()) == 300
    store.close()


async def test_one_that_fails_in_a_group_spoils_no_other(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "emu.sqlite")
    worker = StoreWorker(reactor, store.transaction)  # type: ignore[arg-type]
    gate = threading.Event()
    blocked = worker.run(gate.wait)
    asked = [worker.run(lambda n=n: store.login.accounts.add(n, "", 0.0)) for n in ("A", "a", "B")]  # type: ignore[misc]
    done = DeferredList(asked, consumeErrors=True)
    gate.set()
    await blocked
    (first, second, third) = await done
    assert first[0]
    assert isinstance(second[1].value, DuplicateName)  # type: ignore[attr-defined]
    assert third[0]
    found = await worker.run(lambda: store.login.accounts.find("b"))
    assert found is not None
    assert found.name == "B"
    await worker.stop()
    store.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the database's write lock as another program does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def lock_worker(store: Store, patience: float) -> StoreWorker:
    store.sqlite.wait_for_locks(LOCK_TRY)
    return StoreWorker(reactor, store.transaction, patience=patience)  # type: ignore[arg-type]


async def test_who_waits_for_a_lock_is_answered_in_time_and_nothing_is_changed(
    tmp_path: Path,
) -> None:
    with Store.create(tmp_path / "emu.sqlite") as store:
        worker = lock_worker(store, 0.3)
        calls = [lambda n=n: store.login.accounts.add(f"a{n}", "", 0.0) for n in range(40)]
        with locked(store.path):
            begun = time.monotonic()
            first = [worker.run(call) for call in calls[:20]]
            await DeferredList(first, consumeErrors=True)
            later = [worker.run(call) for call in calls[20:]]
            results = await DeferredList([*first, *later], consumeErrors=True)
            took = time.monotonic() - begun
        assert took < patience(0.25 * 0.3 * len(calls)), "each waited in its turn"
        assert worker.waiting == 0
        second = await worker.run(store.login.accounts.every)
        assert second == [], "applied behind the back of whoever was refused"
        assert await worker.run(lambda: store.login.accounts.add("b", "", 0.0))
        await worker.stop()
    assert all(isinstance(getattr(one, "value", None), StoreLocked) for _, one in results[20:])


async def test_a_lock_that_ends_in_time_is_waited_for_and_order_stays(tmp_path: Path) -> None:
    with Store.create(tmp_path / "emu.sqlite") as store:
        worker = lock_worker(store, 30.0)
        with locked(store.path):
            asked = [
                worker.run(partial(store.login.accounts.add, f"a{n}", "", 0.0)) for n in range(5)
            ]
            await deferLater(reactor, 3 * LOCK_TRY)  # type: ignore[arg-type]
            assert not any(done.called for done in asked)
        made = [account.id for _, account in await DeferredList(asked)]
        assert made == sorted(made)
        await worker.stop()


async def test_without_patience_a_lock_is_reported_at_once() -> None:
    worker, calls = store_worker([]), list[int]()

    def call() -> None:
        calls.append(1)
        raise StoreLocked("locked")

    with pytest.raises(StoreLocked):
        await worker.run(call)
    assert calls == [1]
    await worker.stop()


async def test_calls_of_one_unit_are_carried_out_in_one_group() -> None:
    groups: list[int] = []
    worker = store_worker(groups, most_grouped=2)
    results = await DeferredList(worker.run_together([partial(int, n) for n in range(5)]))
    assert [result for _, result in results] == [0, 1, 2, 3, 4]
    assert groups == [1]
    await worker.stop()
    assert [
        success
        for success, _ in await DeferredList(worker.run_together([int, int]), consumeErrors=True)
    ] == [False, False]


async def test_reads_of_a_kind_that_wait_are_carried_out_together_and_get_their_own_results() -> (
    None
):
    worker = StoreWorker(reactor, None)  # type: ignore[arg-type]
    asked: list[list[int]] = []

    def halves(_repository: object, values: Sequence[tuple[int]]) -> Sequence[object]:
        asked.append([value for (value,) in values])
        return [StoreError("odd") if value % 2 else value // 2 for (value,) in values]

    calls = [Batchable(None, lambda _, value: value // 2, halves, (value,)) for value in (2, 3, 4)]
    outcomes = await DeferredList(worker.run_together(calls), consumeErrors=True)
    assert asked == [[2, 3, 4]]
    assert [outcomes[0], outcomes[2]] == [(True, 1), (True, 2)]
    assert not outcomes[1][0]
    await worker.stop()
