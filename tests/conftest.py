"""Fixtures of every test: async tests run on the reactor, and nothing is left behind on it."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from hypothesis import HealthCheck, settings
from twisted.logger import LogEvent, globalLogPublisher

from tests.support.costly import costly_tests
from tests.support.costs import Costs
from tests.support.examples import middle_cases
from tests.support.flushing import skip_flushes
from tests.support.remembered import remember_databases, remember_documents
from tests.support.scratch import keep_in_memory

# Without bytecode files each worker rewrites and compiles every test module again, and each program
# that a test starts compiles all that it imports. The variable is in the environment of many
# containers, where images have no use for these files.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The collector would look again and again through layouts, tables and tests, which stay: a sixth of
# the CPU time of all tests.
gc.set_threshold(50_000, 20, 50)

skip_flushes()
keep_in_memory()
remember_documents()
remember_databases()

# A quarter of the usual number of examples: there are hundreds of properties, and each run tries
# the same ones. `make nightly` tries twenty times as many, other ones each night.
settings.register_profile(
    "emu",
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.register_profile("quick", parent=settings.get_profile("emu"), max_examples=10)
settings.register_profile(
    "nightly", parent=settings.get_profile("emu"), max_examples=500, derandomize=False
)
settings.load_profile("emu")


# Under nohup the servers of the tests would ignore SIGHUP as well, which some tests send them. A
# handler is not inherited by a new program, and these tests still survive the end of the terminal.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options: the file of the CPU time of each test, and the number of processes."""
    parser.addoption("--cpu-times", type=Path, metavar="FILE", help="write CPU time of each test")
    parser.addoption("--processes", type=int, metavar="N", help="run the tests in N processes")


def pytest_configure(config: pytest.Config) -> None:
    """Measure what tests cost, and run them in several processes if that is wanted."""
    costs = Costs(config.getoption("--cpu-times"))
    config.pluginmanager.register(costs)
    processes = config.getoption("--processes")
    if processes:
        from tests.support.forks import Forks  # noqa: PLC0415  # not every run needs it

        config.pluginmanager.register(Forks(processes, costs))


SERVER = Path(__file__).parent / "server"
"""Tests of a whole server, each with its own: what `make quick` leaves to `make test`."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let a plain `async def` test run under pytest-twisted; otherwise it might pass unrun.

    Tests with the mark `nightly` are for the profile of `make nightly`. The cases of a test
    between the first and the last one get the mark `repeat`, and the tests of `tests/costly.txt`
    the mark `costly`.
    """
    is_slow = cache(lambda path: SERVER in path.parents)  # thousands of tests, a thousand files
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            pytest_twisted.ensureDeferred(item.function)  # marks it
    for item in middle_cases(items):
        item.add_marker(pytest.mark.repeat)
    for item in costly_tests(items):
        item.add_marker(pytest.mark.costly)
    if settings.get_current_profile_name() != "nightly":
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        left_out = set(nightly)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test that needs no reactor.

    pytest-twisted would do it from the reactor, and let that poll before each test and before each
    example of a property.
    """
    test: Any = pyfuncitem.obj
    property_: Any = getattr(test, "hypothesis", None)
    if inspect.iscoroutinefunction(test if property_ is None else property_.inner_test):
        return None
    result = test(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    assert result is None, "only a coroutine is waited for"
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the collector wait while tests are collected: all that is made then stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Set the thousands of tests and all imported code aside: no collection frees any of it."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Find what the tests have left behind; pytest reports the errors of this collection.

    The collections of pytest and of Python's own end then have next to nothing to look through.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def clean_reactor() -> Iterator[None]:
    """Fail a test that leaves a delayed call behind; pytest-twisted would let it pass."""
    from twisted.internet import reactor  # noqa: PLC0415  # after pytest-twisted chose it

    clock: Any = reactor
    before = set(clock.getDelayedCalls())
    yield
    left = [call for call in clock.getDelayedCalls() if call not in before]
    for call in left:
        call.cancel()
    assert not left, f"delayed calls left behind: {[str(call) for call in left]}"


class LoggedFailures:
    """Collects logged failures; a test that expects one takes it out with `flush`."""

    def __init__(self) -> None:
        self.events: list[LogEvent] = []

    def __call__(self, event: LogEvent) -> None:
        if "log_failure" in event:
            self.events.append(event)

    def flush(self, kind: type[BaseException]) -> list[LogEvent]:
        """Remove and return the failures of one exception type."""
        taken = [event for event in self.events if event["log_failure"].check(kind)]
        self.events = [event for event in self.events if event not in taken]
        return taken


@pytest.fixture(autouse=True)
def logged_failures() -> Iterator[LoggedFailures]:
    """Fail a test during which a failure was logged and not expected."""
    observer = LoggedFailures()
    globalLogPublisher.addObserver(observer)
    yield observer
    globalLogPublisher.removeObserver(observer)
    assert not observer.events, [event["log_failure"].getTraceback() for event in observer.events]


@pytest.fixture
def collect_garbage() -> Iterator[None]:
    """Collect after the test, so that a Deferred failing with nobody listening is noticed.

    The modules whose code makes Deferreds ask for it with
    ``pytestmark = pytest.mark.usefixtures("collect_garbage")``. What lives already is set aside:
    looking through all of it after each test would take most of their time.
    """
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser of all tests of this process that want one."""
    from tests.support.foreign.browser import opened_browser  # noqa: PLC0415  # half a second

    with opened_browser() as running:
        yield running


@pytest.fixture(scope="module")
def few_opcodes() -> Iterator[None]:
    """Only the opcode tables of a few clients are shipped."""
    from tests.support.files.opcode_rows import few_rows_shipped  # noqa: PLC0415  # not all need it

    with few_rows_shipped():
        yield
