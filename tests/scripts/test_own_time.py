"""CPU time without garbage collections."""

import gc

import pytest

from emu.scripts.own_time import OwnTime, own_time


def test_collections_do_not_count() -> None:
    now = [10.0]
    measure = OwnTime(lambda: now[0])
    before = measure()
    now[0] += 1.0
    measure.collected("start", {})
    now[0] += 5.0
    measure.collected("stop", {})
    now[0] += 2.0
    assert measure() - before == 3.0


@pytest.mark.slow
def test_the_collector_reports_to_one_measure() -> None:
    assert own_time() is own_time()
    assert gc.callbacks.count(own_time().collected) == 1
    before = own_time()()
    gc.collect()
    assert own_time()() >= before
