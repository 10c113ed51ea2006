"""The supervisor of login workers, with processes that stand in for the login service."""

from __future__ import annotations

import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from emu.net import supervisor
from emu.net.daemon import CannotStart
from tests.support.running.whole_server import HOST, captured_log, until
from tests.support.running.workers import Supervised, stand_in, supervised

pytestmark = pytest.mark.slow


class Clients:
    """Clients of a UDP port, each with a port of its own."""

    def __init__(self, port: int, count: int) -> None:
        self._sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        for handle in self._sockets:
            handle.connect((HOST, port))
            handle.setblocking(False)

    async def answers(self, *, only: Callable[[int], bool] = lambda _: True) -> dict[int, str]:
        """Ask for each client which worker and process serve it."""
        asked = [number for number in range(len(self._sockets)) if only(number)]
        found: dict[int, str] = {}

        def all_answered() -> bool:
            for number in asked:
                try:
                    while True:
                        worker, process, text = self._sockets[number].recv(100).decode().split()
                        assert text == str(number)
                        found[number] = f"{worker} {process}"
                except BlockingIOError:
                    continue
            return len(found) == len(asked)

        for number in asked:
            self._sockets[number].send(str(number).encode())
        await until(all_answered, "answers", 20)
        return found

    def close(self) -> None:
        for handle in self._sockets:
            handle.close()


@contextmanager
def clients(port: int, count: int = 64) -> Iterator[Clients]:
    found = Clients(port, count)
    try:
        yield found
    finally:
        found.close()


async def test_a_killed_worker_is_replaced_and_no_client_of_another_moves() -> None:
    async with supervised(2) as (one, log):
        await one.ready()
        await log.line("supervisor: ready, 2 workers")
        with clients(one.port) as crowd:
            before = await crowd.answers()
            shares = Counter(before.values())
            assert len(shares) == 2
            assert min(shares.values()) > 8, "the kernel spreads clients by their address"
            victim = next(name for name in shares if name.startswith("1 "))
            os.kill(int(victim.split()[1]), signal.SIGKILL)
            others = await crowd.answers(only=lambda number: before[number] != victim)
            assert others == {key: name for key, name in before.items() if name != victim}
            await log.line(r"worker 1 has ended \(killed by SIGKILL\); it is replaced in 0.1 s")
            after = await crowd.answers()
            assert {key: name.split()[0] for key, name in after.items()} == {
                key: name.split()[0] for key, name in before.items()
            }
            assert victim not in after.values()
    await log.line("supervisor: stopped")


async def test_signals_and_output_of_workers_pass_through() -> None:
    async with supervised(2) as (one, _log):
        await one.ready()
        one.service.reload()
        for index in range(2):
            line = f"worker {index} reads again\n".encode()
            await until(partial(lambda text: text in one.written, line), "the line of a worker")
        assert one.written.count(b"begins\n") == 2


async def test_workers_end_with_their_supervisor_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervisor, "STOP_MARGIN", -0.5)
    async with supervised(2, stand_in(w1="stubborn")) as (one, log):
        await one.ready()
        with clients(one.port) as crowd:
            processes = {int(name.split()[1]) for name in (await crowd.answers()).values()}
    assert "worker 1 does not answer and is killed" in log.text
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


async def test_a_worker_that_cannot_start_ends_the_start_with_its_reason() -> None:
    async with supervised(2, stand_in(w1="broken")) as (one, _log):
        await until(lambda: "end" in one.happened, "the end", 20)
        assert one.happened == ["failed: the database is away", "end"]
        assert b"emu: the database is away\n" in one.written


async def test_a_worker_that_hangs_is_killed_and_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("emu.login.workers.BEAT_SECONDS", 0.7)
    async with supervised(2) as (one, log):
        await one.ready()
        with clients(one.port, 16) as crowd:
            hung = (await crowd.answers())[0]
            os.kill(int(hung.split()[1]), signal.SIGSTOP)
            await log.line(f"worker {hung[0]} does not answer and is killed", 20)
            assert (await crowd.answers())[0].split()[0] == hung[0]


async def test_a_port_in_use_is_one_line_even_when_another_supervisor_shares_it() -> None:
    async with supervised(2) as (one, _log):
        second = Supervised(2, port=one.port)
        with pytest.raises(CannotStart, match=f"cannot listen on TCP {HOST}:{one.port}"):
            second.service.privilegedStartService()
        # Nothing of the failed start is left in the group of sockets.
        await one.ready()
        with clients(one.port) as crowd:
            assert len(await crowd.answers()) == 64


def test_lines_of_any_length_and_form_are_written_whole() -> None:
    written: list[bytes] = []
    ended: list[Any] = []
    process = supervisor.WorkerProcess(written.append, ended.append)
    process.childDataReceived(1, b"a\nb")
    process.childDataReceived(2, b"emu: why\n")
    process.childDataReceived(1, b"c\nleft")
    process.childDataReceived(2, b"x" * (supervisor.LONGEST_LINE + 1))
    assert written == [b"a\n", b"emu: why\n", b"bc\n", b"x" * (supervisor.LONGEST_LINE + 1) + b"\n"]
    process.processEnded(type("Reason", (), {"value": type("V", (), {"exitCode": 3})()})())
    assert written[-1] == b"left\n"
    assert (process.fault, process.outcome, ended) == ("why", "exit status 3", [process])


async def test_systemd_hears_of_the_supervisor_only(tmp_path: Any) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        with captured_log("text"):
            one = Supervised(2)
            one.service._environment = {
                **one.service._environment, "NOTIFY_SOCKET": str(tmp_path / "notify"),
            }  # fmt: skip
            one.service.startService()
            with pytest.raises(BlockingIOError):
                systemd.recv(4096)
            await one.ready()
            assert systemd.recv(4096).decode() == "READY=1\nSTATUS=2 of 2 workers are ready"
            await one.service.stopService()
        heard = systemd.recv(4096).decode()
        assert heard.startswith("STOPPING=1\n")
