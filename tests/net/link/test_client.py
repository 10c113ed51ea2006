from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_twisted
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from emu.errors import StoreError
from emu.link.messages import (
    LinkMessage,
    LSInfo,
    LSStatus,
    UsertoWorldReq,
    UsertoWorldResp,
    ZoneUpdate,
)
from emu.link.settings import (
    LinkServerConfig,
    LoginServerAddress,
    WorldLinkConfig,
    WorldLinkTimes,
    hash_link_password,
)
from emu.net.link.client import LoginLink
from emu.net.link.server import LinkServer
from emu.net.link.tls import certificate_fingerprint, make_certificate, server_options
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.worlds import RegisteredWorld
from tests.support.login.directory_fakes import Observer, Stores, world_directory
from tests.support.login.scripted_login import ScriptedLogin, ScriptedLoginServer
from tests.support.patience import patience
from tests.support.running.whole_server import captured_log

reactor: Any = _reactor
SCHEDULER = Scheduler(reactor)
pytestmark = pytest.mark.usefixtures("collect_garbage")
PEM = make_certificate("login", datetime.now(UTC))
HASH = hash_link_password("secret")


class FakeWorld:
    """A world that lets everybody in."""

    def __init__(self) -> None:
        self.state = LSStatus(1, 0, 0, 50)
        self.began = 0
        self.broken = False

    def registration(self) -> LSInfo:
        return LSInfo("Norrath", "127.0.0.1", "testlabs", HASH)

    def status(self) -> LSStatus:
        return self.state

    def link_began(self) -> None:
        self.began += 1

    async def answer(self, message: LinkMessage) -> Sequence[LinkMessage]:
        if self.broken:
            raise StoreError("the disk is full")
        if not isinstance(message, UsertoWorldReq):
            return []
        row = (message.account_id, message.char_id, message.world_id)
        return [UsertoWorldResp(*row, 99, 1, "127.0.0.1", 9001, 0, message.from_id)]


class Bench:
    """A world with its link, and as many scripted login servers as a test wants."""

    def __init__(self, logins: int, tls: tuple[int, ...] = ()) -> None:
        self.world = FakeWorld()
        self.logins = [
            ScriptedLoginServer(reactor, server_options(PEM) if number in tls else None)
            for number in range(logins)
        ]
        for login in self.logins:
            login.start()
        self.link: LoginLink

    def start(self, *fingerprints: str, **changes: Any) -> LoginLink:
        servers = tuple(
            LoginServerAddress("127.0.0.1", login.number, print_)
            for login, print_ in zip(
                self.logins, fingerprints or ("",) * len(self.logins), strict=True
            )
        )
        settings = {"retry_first": 0.02, "retry_most": 0.1, "settled_after": 0.2, **changes}
        config = WorldLinkConfig(servers, **settings)
        tasks = Tasks(logger("link"))
        self.link = LoginLink(config, self.world, tasks, reactor, SCHEDULER, random=lambda: 0.5)
        self.link.start()
        return self.link


Make = Callable[..., Bench]


@pytest_twisted.async_yield_fixture
async def make() -> AsyncIterator[Make]:
    benches: list[Bench] = []

    def build(logins: int = 1, tls: tuple[int, ...] = ()) -> Bench:
        benches.append(Bench(logins, tls))
        return benches[-1]

    yield build
    for bench in benches:
        await bench.link.stop()
        for login in bench.logins:
            await login.stop()


async def registered(login: ScriptedLoginServer) -> ScriptedLogin:
    connection = await login.connection().addTimeout(patience(5), reactor)
    info = await connection.received(0x1000)
    assert len(info) == 832
    assert info[451:460] == b"testlabs\0"
    assert info[482:610] == HASH.encode()
    assert len(await connection.received(0x1001)) == 13
    return connection


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await deferLater(reactor, 0.01)
    raise AssertionError("it never came to that")


async def test_a_scripted_login_server_accepts_our_world_and_asks_it(make: Make) -> None:
    bench = make()
    bench.start()
    login = await registered(bench.logins[0])
    login.ask_play(101, 5, from_id=7)
    answer = await login.received(0xAB01)
    assert answer == struct.pack("<IIIIB80sIII", 101, 5, 1, 99, 1, b"127.0.0.1", 9001, 0, 7)
    assert bench.link.server == LoginServerAddress("127.0.0.1", bench.logins[0].number)


@pytest.mark.slow
async def test_status_is_sent_repeatedly_and_at_once_when_the_world_locks(make: Make) -> None:
    bench = make()
    bench.start(end=WorldLinkTimes(status_interval=0.05))
    login = await registered(bench.logins[0])
    bench.world.state = LSStatus(1, 7, 2, 50)
    while await login.received(0x1001) != struct.pack("<iiiB", 1, 7, 2, 50):
        pass
    bench.world.state = LSStatus(-2, 7, 2, 50)
    bench.link.status_changed()
    while await login.received(0x1001) != struct.pack("<iiiB", -2, 7, 2, 50):
        pass


async def test_the_fall_back_is_used_while_the_first_does_not_answer(make: Make) -> None:
    bench = make(2)
    await bench.logins[0].stop()
    bench.start()
    await registered(bench.logins[1])
    assert bench.link.counters["cannot connect"] == 1


@pytest.mark.slow
async def test_the_first_is_taken_again_when_it_is_back(make: Make) -> None:
    bench = make(2)
    await bench.logins[0].stop()
    bench.start(return_to_first=0.1)
    fall_back = await registered(bench.logins[1])
    bench.logins[0].start()
    await registered(bench.logins[0])
    await fall_back.ended()
    assert bench.link.server == LoginServerAddress("127.0.0.1", bench.logins[0].number)
    assert bench.link.counters["returned to the first login server"] == 1
    assert bench.world.began == 2


async def test_a_login_server_that_refuses_is_followed_by_the_next(make: Make) -> None:
    bench = make(2)
    bench.start()
    first = await registered(bench.logins[0])
    first.refuse(b"Bad password")
    await registered(bench.logins[1])
    assert bench.link.counters["refused"] == 1


async def test_a_lost_link_is_made_again_and_unsent_reports_go_with_it(make: Make) -> None:
    bench = make()
    link = bench.start()
    login = await registered(bench.logins[0])
    login.ask_play(101, 5)
    await login.received(0xAB01)
    link.send(ZoneUpdate(101, 5, 1, "settled"))
    assert b"settled" in await login.received(0x2019)
    await bench.logins[0].stop()
    await until(lambda: link.server is None)
    link.send(ZoneUpdate(101, 5, 2, "later"))
    bench.logins[0].start()
    again = await registered(bench.logins[0])
    assert b"later" in await again.received(0x2019)


async def test_reports_wait_until_the_login_server_has_had_time_to_refuse(make: Make) -> None:
    bench = make()
    link = bench.start(settled_after=0.1)
    link.send(ZoneUpdate(101, 5, 2, "early"))
    login = await registered(bench.logins[0])
    await deferLater(reactor, 0.03)
    assert login.frames == []
    assert b"early" in await login.received(0x2019)


async def test_a_request_that_fails_does_not_end_the_link(make: Make) -> None:
    bench = make()
    bench.start()
    login = await registered(bench.logins[0])
    bench.world.broken = True
    login.ask_play(101, 5)
    await until(lambda: bench.link.counters["request failed"] == 1)
    bench.world.broken = False
    login.ask_play(101, 6)
    assert await login.received(0xAB01)


async def test_hostile_bytes_of_a_login_server_are_counted_and_the_link_made_again(
    make: Make,
) -> None:
    bench = make()
    bench.start()
    login = await registered(bench.logins[0])
    login.send(0x201B)
    login.send(0xAB00, bytes(40))
    await login.ended()
    await registered(bench.logins[0])
    assert bench.link.counters["wrong size of UsertoWorldReq"] == 1
    assert bench.link.counters["ResetDatabase is never honored"] == 1


@pytest.mark.slow
async def test_rounds_of_failures_are_further_and_further_apart(make: Make) -> None:
    bench = make(2)
    for login in bench.logins:
        await login.stop()
    link = bench.start(retry_first=0.02, retry_most=0.08)
    delays: list[float] = []
    later = link._later

    def noticed(name: str, delay: float, function: Callable[[], None]) -> None:
        delays.append(delay)
        later(name, delay, function)

    link._later = noticed  # type: ignore[method-assign]
    await until(lambda: len(delays) >= 8)
    assert delays[:8] == [0.0, 0.02, 0.0, 0.04, 0.0, 0.08, 0.0, 0.08]


@pytest.mark.slow
async def test_a_login_server_that_cannot_be_reached_is_logged_once(make: Make) -> None:
    bench = make()
    with captured_log("text") as log:
        await bench.logins[0].stop()
        link = bench.start()
        for times in (1, 2):
            tried = link.counters["cannot connect"]
            await until(lambda tried=tried: link.counters["cannot connect"] >= tried + 3)  # type: ignore[misc]
            assert log.text.count("cannot reach login server 127.0.0.1:") == times
            bench.logins[0].start()
            await registered(bench.logins[0])
            await bench.logins[0].stop()


@pytest.mark.parametrize(("drawn", "delay"), [(0.0, 0.75), (0.5, 1.0), (1.0, 1.25)])
def test_chance_makes_a_delay_shorter_or_longer(drawn: float, delay: float) -> None:
    config = WorldLinkConfig((LoginServerAddress("127.0.0.1", 1),))
    tasks = Tasks(logger("link"))
    link = LoginLink(config, FakeWorld(), tasks, reactor, SCHEDULER, random=lambda: drawn)
    delays: list[float] = []
    link._later = lambda name, delay, function: delays.append(delay)  # type: ignore[method-assign]
    link._running = True
    link._failed(0)
    assert delays == [delay]


async def test_tls_with_the_pinned_certificate(make: Make) -> None:
    bench = make(1, tls=(0,))
    bench.start(certificate_fingerprint(PEM).upper())
    login = await registered(bench.logins[0])
    login.ask_play(101, 5)
    assert await login.received(0xAB01)


async def test_nothing_is_said_to_a_certificate_that_is_not_pinned(make: Make) -> None:
    bench = make(2, tls=(0,))
    bench.start("00" * 32, "")
    refused = await bench.logins[0].connection()
    await registered(bench.logins[1])
    await refused.ended()
    assert refused.reads == []
    assert bench.link.counters["certificate is not the pinned one"] == 1


async def test_a_login_server_that_never_shakes_hands_is_given_up(make: Make) -> None:
    bench = make(2)
    with captured_log("text") as log:
        bench.start("00" * 32, "", connect_timeout=0.1)
        await registered(bench.logins[1])
    assert bench.link.counters["no link established"] == 1
    assert "does not speak TLS on this port); trying again" in log.text
    assert "not the pinned one" not in log.text


async def test_stopping_ends_the_link_and_what_was_tried(make: Make) -> None:
    bench = make()
    link = bench.start()
    login = await registered(bench.logins[0])
    await link.stop()
    await login.ended()
    assert link.server is None
    assert link._calls == {}


@pytest.mark.parametrize("tls", [False, True])
async def test_our_world_registers_with_our_login_server(tls: bool) -> None:
    stores, observer, tasks = (
        Stores(RegisteredWorld(7, "Home", "testlabs", HASH)),
        Observer(),
        Tasks(logger("link")),
    )
    answered: Deferred[None] = Deferred()
    observer.play_answered = lambda answer, now: answered.callback(answer)  # type: ignore[method-assign]
    directory = world_directory(stores, observer, spawn=tasks.spawn, clock=SCHEDULER)
    server = LinkServer(LinkServerConfig(), directory, tasks, reactor, SCHEDULER)
    port = server.listen("127.0.0.1", 0, server_options(PEM) if tls else None).getHost().port  # type: ignore[attr-defined]
    fingerprint = certificate_fingerprint(PEM) if tls else ""
    config = WorldLinkConfig((LoginServerAddress("127.0.0.1", port, fingerprint),))
    link = LoginLink(
        config, FakeWorld(), Tasks(logger("link")), reactor, SCHEDULER, random=lambda: 0.5
    )
    link.start()
    await until(lambda: directory.connected(7) is not None)
    assert directory.request_play(7, 101, 5, "127.0.0.1", reactor.seconds())
    answer: Any = await answered
    assert (answer.access_key, answer.response, answer.port) == (99, 1, 9001)
    await link.stop()
    await until(lambda: directory.connected(7) is None)
    await server.stop()


async def test_a_world_says_when_it_is_registered(make: Make) -> None:
    bench = make()
    with captured_log("text") as log:
        bench.start()
        login = await registered(bench.logins[0])
        assert " registered with" not in log.text
        login.ask_play(101, 5)
        await login.received(0xAB01)
        assert f"link: registered with 127.0.0.1:{bench.logins[0].number}" in log.text


async def test_a_world_that_is_let_be_counts_as_registered(make: Make) -> None:
    bench = make()
    with captured_log("text") as log:
        bench.start(settled_after=0.05)
        await registered(bench.logins[0])
        await until(lambda: " registered with" in log.text)


@pytest.mark.parametrize(
    ("text", "words"),
    [(b"Bad password", "disabled"), (b"Bad password", "banned"), (b"Incorrect version", "versions"),
     (b"Ghost Kick!", "same account"), (b"Whatever", "'Whatever'")],
)  # fmt: skip
async def test_a_refusal_is_logged_with_its_cure(make: Make, text: bytes, words: str) -> None:
    bench = make()
    with captured_log("text") as log:
        bench.start()
        (await registered(bench.logins[0])).refuse(text)
        await until(lambda: "refuses this world" in log.text)
    assert words in log.text
    assert "link: registered with" not in log.text


async def test_a_port_that_speaks_tls_is_logged_once(make: Make) -> None:
    bench = make(1, tls=(0,))
    with captured_log("text") as log:
        bench.start("")
        await until(lambda: bench.link.counters["the port speaks TLS"] >= 3)
    assert log.text.count("speaks TLS on this port: set world.login_tls_fingerprints") == 1
