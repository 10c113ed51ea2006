"""A test that is no coroutine is called directly; one that is a coroutine runs on the reactor."""

from __future__ import annotations

import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st


def is_in_reactor() -> bool:
    return pytest_twisted.greenlet.getcurrent() is pytest_twisted._instances.gr_twisted


def test_a_function_is_called_directly() -> None:
    assert not is_in_reactor()


@given(st.just(1))
def test_an_example_is_called_directly(value: int) -> None:
    assert not is_in_reactor()


async def test_a_coroutine_runs_on_the_reactor() -> None:
    assert is_in_reactor()


@given(st.just(1))
async def test_an_example_that_is_a_coroutine_runs_on_the_reactor(value: int) -> None:
    assert is_in_reactor()
