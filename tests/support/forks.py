"""Runs the tests in several processes: forks of the process that has collected them.

``pytest --processes 4`` imports all modules of tests once, and forks after that. A process of its
own for each share would import and collect everything again, which takes longer than most files of
tests. A process takes one file after the other from a queue, so that all end at about the same
time, and the tests of a file share its fixtures. Files with slow tests come first.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import marshal
import mmap
import os
import selectors
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest
import pytest_twisted

from tests.support.costs import Costs, cpu_seconds
from tests.support.examples import read_constants
from tests.support.running.forked import Forking, share

_NUMBER = 4
"""Bytes of a number in the queue of files, and of the size of a message."""


class Others:
    """In place of the next test: one that shares only the fixtures of the whole run."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[pytest.Session]:
        """Return the nodes whose fixtures stay."""
        return [self._session]


@dataclass(slots=True)
class Fork:
    """A process that runs tests, as the collecting process sees it."""

    number: int
    """The number of the process."""
    file: int
    """The descriptor from which its messages come."""
    running: mmap.mmap
    """The place in the order of the test that runs, plus 1, or 0 between two."""
    text: bytearray = field(default_factory=bytearray)

    def messages(self) -> Iterator[tuple[str, Any]] | None:
        """Read what has come; return its whole messages, or None at the end of the process."""
        more = os.read(self.file, 1 << 20)
        self.text += more
        return self._whole() if more else None

    def _whole(self) -> Iterator[tuple[str, Any]]:
        while len(self.text) >= _NUMBER:
            end = _NUMBER + int.from_bytes(self.text[:_NUMBER], "big")
            if len(self.text) < end:
                return
            yield marshal.loads(bytes(self.text[_NUMBER:end]))  # from our own fork
            del self.text[:end]


class Forks:
    """The plugin of the collecting process: it forks, and reports what the forks do."""

    def __init__(self, processes: int, costs: Costs) -> None:
        """Run the tests in so many processes."""
        self._processes = processes
        self._costs = costs
        self._started = 0
        # A byte that all processes see: whether no further test shall start.
        self._stopped = mmap.mmap(-1, 1)
        self._selector = selectors.DefaultSelector()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests in forks, unless there is nothing to run."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        self._session = session
        self._hook = session.config.hook
        self._files = by_file(session.items)
        session.items[:] = [test for tests in self._files for test in tests]
        self._queue = _filled_queue(len(self._files))
        self._forking = Forking()
        self._prepare()
        try:
            for _ in range(min(self._processes, len(self._files))):
                self._fork([])
            self._serve()
        finally:
            self._stopped[0] = 1
            for key in list(self._selector.get_map().values()):
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(key.data.number, 0)
            self._forking.end()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _prepare(self) -> None:
        """Read and make once what each fork would need."""
        read_constants()
        servers = sys.modules.get("tests.support.running.whole_server")
        if servers and any(test.get_closest_marker("slow") for test in self._session.items):
            servers.prepare_servers()
        gc.freeze()

    def _serve(self) -> None:
        """Report what the forks send, until all have ended."""
        while self._selector.get_map():
            for key, _ in self._selector.select():
                fork: Fork = key.data
                messages = fork.messages()
                if messages is None:
                    self._ended(fork)
                    continue
                for kind, content in messages:
                    self._take(kind, content)

    def _take(self, kind: str, content: Any) -> None:
        config = self._session.config
        if kind == "forking":
            self._forking.start()
        elif kind == "error":
            self._fail("the end of a process of tests", ("", None, ""), content)
        else:
            for data in content:
                report = config.hook.pytest_report_from_serializable(config=config, data=data)
                self._hook.pytest_runtest_logreport(report=report)
            self._hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
        if self._session.shouldfail or self._session.shouldstop:
            self._stopped[0] = 1

    def _fail(self, name: str, location: tuple[str, int | None, str], text: str) -> None:
        report = pytest.TestReport(name, location, {}, "failed", text, "call")
        self._hook.pytest_runtest_logreport(report=report)

    def _ended(self, fork: Fork) -> None:
        """Fail the test during which a fork has ended, and let another one run the rest."""
        self._selector.unregister(fork.file)
        os.close(fork.file)
        _, status = os.waitpid(fork.number, 0)
        place = int.from_bytes(fork.running[:], "big") - 1
        if place < 0:
            return
        test = self._session.items[place]
        code = os.waitstatus_to_exitcode(status)
        self._fail(test.nodeid, test.location, f"its process ended, with the status {code}")
        (file,) = (file for file in self._files if test in file)
        left = file[file.index(test) + 1 :]
        self._fork(left)

    def _fork(self, first: list[pytest.Item]) -> None:
        """Start a process that runs some tests, and then the files of the queue."""
        self._started += 1
        reading, writing = os.pipe()
        running = mmap.mmap(-1, _NUMBER)
        # What is printed already would be printed by each of the processes.
        sys.stdout.flush()
        sys.stderr.flush()
        number = os.fork()
        if not number:
            os.close(reading)
            _Runner(self._session, self._stopped, running, self._forking, writing).run(
                self._started, self._costs, first, self._files, self._queue
            )
        os.close(writing)
        self._selector.register(reading, selectors.EVENT_READ, Fork(number, reading, running))


class _Runner:
    """The plugin of a fork: it runs tests, and sends their reports."""

    def __init__(
        self, session: pytest.Session, stopped: mmap.mmap, running: mmap.mmap, forking: Forking,
        file: int,
    ) -> None:  # fmt: skip
        self._session = session
        self._stopped = stopped
        self._running = running
        self._forking = forking
        self._file = file
        self._places = {test: place for place, test in enumerate(session.items)}
        self._reports: list[pytest.TestReport] = []
        # A list of slowest phases wants each of them.
        self._wants_all = session.config.option.durations is not None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the report of a phase of a test until the test is over."""
        self._reports.append(report)

    def _send_reports(self) -> None:
        """Send the reports of a test, without those that would show nothing.

        To make, send and read the reports of all phases takes a millisecond for each test.
        """
        hook, config = self._session.config.hook, self._session.config
        reports, self._reports = self._reports, []
        if not self._wants_all:
            kept = [one for one in reports if not _shows_nothing(one)]
            lost = sum(cpu_seconds(one) for one in reports if _shows_nothing(one))
            vars(kept[0])["cpu_seconds"] = cpu_seconds(kept[0]) + lost
            reports = kept
        self._send(
            "reports",
            [hook.pytest_report_to_serializable(config=config, report=one) for one in reports],
        )

    def run(
        self, number: int, costs: Costs, first: list[pytest.Item],
        files: list[list[pytest.Item]], queue: int,
    ) -> NoReturn:  # fmt: skip
        """Run tests, and end the process; the queue has the places of files."""
        status = 1
        try:
            self._be_a_process(number)
            share(self._forking, lambda: self._send("forking", None))
            costs.start()
            self._run_file(first)
            while not self._stopped[0] and (place := os.read(queue, _NUMBER)):
                self._run_file(files[int.from_bytes(place, "big")])
            self._session._setupstate.teardown_exact(None)
            self._session.config._ensure_unconfigure()
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            status = 0
        except KeyboardInterrupt:
            pass
        except BaseException:  # noqa: BLE001  # the collecting process reports it
            self._send("error", traceback.format_exc())
            status = 0
        finally:
            # The end of the interpreter would free all modules, and so copy the shared memory.
            os._exit(status)

    def _run_file(self, tests: list[pytest.Item]) -> None:
        others: Any = Others(self._session)
        for test, following in zip(tests, [*tests[1:], others], strict=False):
            if self._stopped[0]:
                return
            self._running[:] = (self._places[test] + 1).to_bytes(_NUMBER, "big")
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            # The collecting process counts the failures of all, but it reads them later.
            if self._session.shouldfail or self._session.shouldstop:
                self._stopped[0] = 1
            self._send_reports()
            self._running[:] = bytes(_NUMBER)

    def _be_a_process(self, number: int) -> None:
        """Have nothing in common with the other forks: no files, no reactor, no folder."""
        config = self._session.config
        plugins = config.pluginmanager
        plugins.unregister(name="terminalreporter")
        plugins.register(self)
        capture: Any = plugins.getplugin("capturemanager")
        if capture.is_globally_capturing():
            capture.stop_global_capturing()
            capture.start_global_capturing()
        folders: Any = config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.getbasetemp() / f"process{number}"
        folders._basetemp.mkdir(mode=0o700)
        # Its descriptors, among them that of `epoll`, are shared. Nothing has used it yet.
        reactor = pytest_twisted._instances.reactor
        type(reactor).__init__(reactor)

    def _send(self, kind: str, content: Any) -> None:
        text = marshal.dumps((kind, content))
        message = memoryview(len(text).to_bytes(_NUMBER, "big") + text)
        while message:
            message = message[os.write(self._file, message) :]


def _shows_nothing(report: pytest.TestReport) -> bool:
    """Whether a report says no more than that a fixture was made, or has ended, without output."""
    return report.when != "call" and report.passed and not report.sections


def by_file(tests: list[pytest.Item]) -> list[list[pytest.Item]]:
    """Return the tests of each file; those with most slow tests come first.

    Files whose tests use a browser are two large files in this order: a browser takes a second to
    start, and each process of tests would start its own.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for test in tests:
        files.setdefault(test.path, []).append(test)
    with_browser = [
        path
        for path, file in files.items()
        if any("browser" in getattr(test, "fixturenames", ()) for test in file)
    ]
    for half in (with_browser[::2], with_browser[1::2]):
        for path in half[1:]:
            files[half[0]] += files.pop(path)
    return sorted(
        files.values(),
        key=lambda file: -sum(test.get_closest_marker("slow") is not None for test in file),
    )


def _filled_queue(count: int) -> int:
    """Return a pipe with the numbers below `count`; each read of one is of one process."""
    reading, writing = os.pipe()
    # A pipe takes 64 KiB at once.
    os.write(writing, b"".join(place.to_bytes(_NUMBER, "big") for place in range(count)))
    os.close(writing)
    return reading
