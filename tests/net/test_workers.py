"""Worker threads answer on the reactor, keep their order and their bounds, and end when told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, DeferredList

from emu.errors import DuplicateName, LimitExceeded, StoreError
from emu.net.workers import PasswordWorkers, StoreWorker
from emu.store import AsyncStore, Calls, Store

pytestmark = pytest.mark.usefixtures("collect_garbage")


def password_workers(threads: int = 2, most_waiting: int = 10) -> PasswordWorkers:
    return PasswordWorkers(reactor, threads=threads, most_waiting=most_waiting)  # type: ignore[arg-type]


async def test_a_call_runs_elsewhere_and_answers_here() -> None:
    workers = password_workers()
    here = threading.current_thread()
    assert await workers.run(threading.current_thread) is not here
    assert threading.current_thread() is here
    await workers.stop()


async def test_an_error_belongs_to_the_caller() -> None:
    workers = password_workers()
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)
    assert await workers.run(lambda: 5) == 5
    await workers.stop()


async def test_so_many_run_so_many_wait_and_no_more() -> None:
    workers = password_workers(threads=2, most_waiting=3)
    gate = threading.Event()
    asked = [workers.run(gate.wait) for _ in range(5)]
    assert workers.waiting == 3
    with pytest.raises(LimitExceeded):
        await workers.run(gate.wait)
    gate.set()
    assert [result for _, result in await DeferredList(asked)] == [True] * 5
    assert workers.waiting == 0
    await workers.stop()


async def test_stopping_refuses_what_waits_and_lets_the_rest_end() -> None:
    workers = password_workers(threads=1)
    gate = threading.Event()
    running, waiting = workers.run(gate.wait), workers.run(gate.wait)
    stopped = workers.stop()
    with pytest.raises(LimitExceeded):
        await waiting
    assert not stopped.called
    gate.set()
    assert await running
    await stopped
    with pytest.raises(LimitExceeded):
        await workers.run(gate.wait)


async def test_a_call_that_nobody_waits_for_any_more_is_not_made() -> None:
    workers = password_workers(threads=1)
    gate = threading.Event()
    made: list[int] = []
    running = workers.run(gate.wait)
    waiting = workers.run(lambda: made.append(1))
    waiting.addErrback(lambda failure: failure.trap(CancelledError))
    waiting.cancel()
    gate.set()
    await running
    assert await workers.run(lambda: 5) == 5
    assert made == []
    await workers.stop()


async def test_workers_that_never_worked_stop_at_once() -> None:
    assert password_workers().stop().called
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
        worker.run(lambda number=number: seen.append((number, threading.current_thread())))
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
    asked = [worker.run(lambda n=n: store.add_account(f"a{n}", "", 0.0)) for n in range(300)]
    stopped = worker.stop()
    with pytest.raises(StoreError, match="closing"):
        await worker.run(store.accounts)
    await stopped
    assert worker.waiting == 0
    assert all(success for success, _ in await DeferredList(asked))
    assert len(store.accounts()) == 300
    store.close()


async def test_one_that_fails_in_a_group_spoils_no_other(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "emu.sqlite")
    worker = StoreWorker(reactor, store.transaction)  # type: ignore[arg-type]
    calls = Calls(store, worker.run)
    front = AsyncStore(calls, calls)
    gate = threading.Event()
    blocked = worker.run(gate.wait)
    asked = [worker.run(lambda n=n: store.add_account(n, "", 0.0)) for n in ("A", "a", "B")]
    done = DeferredList(asked, consumeErrors=True)
    gate.set()
    await blocked
    (first, second, third) = await done
    assert first[0]
    assert isinstance(second[1].value, DuplicateName)
    assert third[0]
    found = await front.find_account("b")
    assert found is not None
    assert found.name == "B"
    await worker.stop()
    store.close()
