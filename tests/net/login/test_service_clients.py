import io
import json
import weakref

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import globalLogPublisher

from emu.login.events import AccountLoggedIn, DeleteRefused, LoginRefused
from emu.mailbox import Mailbox
from emu.net import logs
from emu.net.login.service import STORE_WORK, LoginHandler
from emu.net.scheduler import Scheduler, run
from emu.net.watch import RefusalLog, log_event
from emu.session import DatagramDropped, Message, SessionClosed
from tests.support.running.whole_server import captured_log


class FakeClient:
    def __init__(self, link):
        self.link = link
        self.mailbox = Mailbox(link.start, 4)
        self.is_logged_in = True
        self.calls = []
        self.wait_for = None

    def message(self, opcode, payload, now):
        self.link.start(self._answer(opcode, payload, now))

    async def _answer(self, opcode, payload, now):
        if self.wait_for is not None:
            payload = await self.wait_for
        self.calls.append((opcode, payload, now))
        self.link.send(opcode + 1, payload)

    def closed(self, reason):
        self.calls.append(reason)

    def get_timer(self):
        return 5.0

    def handle_timer(self, now):
        self.calls.append(now)


class FakeService:
    def connect(self, link, address, now):
        self.client = FakeClient(link)
        self.client.calls.append((address, now))
        return self.client


class FakeSession:
    def __init__(self):
        self.sent = []

    def send(self, opcode, payload):
        self.sent.append((opcode, payload))

    def close(self):
        self.sent.append("close")


class FakePort:
    def __init__(self):
        self.address = ("127.0.0.1", 4000)
        self.session = FakeSession()
        self.touches = 0
        self.failures = []
        self.busy = []
        self.charged = 0.0

    def send(self, opcode, payload):
        self.session.send(opcode, payload)
        self.touches += 1

    def close(self, _reason=""):
        self.session.close()
        self.touches += 1

    def start(self, work):
        run(work, self._failed, timed=self.timed)

    def _failed(self, failure):
        self.failures.append(failure)
        self.close()

    def wake(self):
        self.touches += 1

    def set_busy(self, *, busy):
        self.busy.append(busy)

    def timed(self, work):
        work()

    def charge(self, seconds):
        self.charged += seconds


@pytest.fixture
def joined():
    port, service = FakePort(), FakeService()
    handler = LoginHandler(port, service, logs.logger("test"), 1.0)
    return handler, port, service.client


def test_messages_reach_the_client_and_answers_the_session(joined) -> None:
    handler, port, client = joined
    handler.handle_event(Message(7, b"x"), 2.0)
    handler.handle_event(SessionClosed("closed by peer"), 3.0)
    assert client.calls == [("127.0.0.1", 1.0), (7, b"x", 2.0), "closed by peer"]
    assert port.session.sent == [(8, b"x")]
    assert port.touches == 1


def test_an_answer_that_comes_later_is_sent_then(joined) -> None:
    handler, port, client = joined
    client.wait_for = Deferred()
    handler.handle_event(Message(7, b"x"), 2.0)
    assert port.session.sent == []
    client.wait_for.callback(b"late")
    assert port.session.sent == [(8, b"late")]


def test_what_a_client_raises_closes_its_session(joined) -> None:
    handler, port, client = joined
    client.wait_for = Deferred()
    handler.handle_event(Message(7, b"x"), 2.0)
    client.wait_for.errback(ZeroDivisionError())
    assert port.session.sent == ["close"]
    assert [failure.type for failure in port.failures] == [ZeroDivisionError]


def test_timers_and_wakes_pass_through(joined) -> None:
    handler, port, client = joined
    assert handler.get_timer() == 5.0
    handler.handle_timer(5.0)
    assert client.calls[-1] == 5.0
    client.link.wake()
    client.link.close("done")
    assert port.touches == 2
    assert port.session.sent == ["close"]
    handler.handle_event(DatagramDropped("bad check"), 1.0)


def test_a_client_whose_session_is_over_is_not_held_in_a_circle() -> None:
    service = FakeService()
    handler = LoginHandler(FakePort(), service, logs.logger("test"), 1.0)
    client, link = weakref.ref(service.client), service.client.link
    handler.handle_event(SessionClosed("closed by peer"), 3.0)
    del service.client
    assert client() is None
    link.wake()


def test_a_client_is_given_nothing_more_while_its_mailbox_works(joined) -> None:
    handler, port, client = joined
    waiting = Deferred()

    async def work():
        await waiting

    client.message = lambda *_message: client.mailbox.put(work)
    client.is_logged_in = False
    handler.handle_event(Message(7, b"x"), 2.0)
    assert port.busy == []
    client.is_logged_in = True
    handler.handle_event(Message(7, b"x"), 2.0)
    assert port.busy == [True]
    assert port.charged == STORE_WORK
    waiting.callback(None)
    assert port.busy == [True, False]


def test_one_line_an_event_with_its_name_for_json() -> None:
    stream = io.StringIO()
    observer = logs.observer("json", stream)
    globalLogPublisher.addObserver(observer)
    try:
        write = log_event(
            logs.logger("login"), RefusalLog(logs.logger("login"), Scheduler(Clock()))
        )
        write(AccountLoggedIn("127.0.0.1", "bob", 3, 546))
        write(LoginRefused("127.0.0.1", "eve", "bad password"))
    finally:
        globalLogPublisher.removeObserver(observer)
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first["event"] == "LoginAccepted"
    assert "bob" in first["text"]
    assert (first["account"], first["account_id"], first["version"]) == ("bob", 3, 546)
    assert second["text"] == "login of eve from 127.0.0.1 refused: bad password"
    assert (second["account"], second["address"]) == ("eve", "127.0.0.1")
    assert second["reason"] == "bad password"
    assert "line" not in second


def test_a_refusal_that_repeats_itself_is_one_line_and_a_sum() -> None:
    refusals = RefusalLog(logs.logger("login"), Scheduler(Clock()))
    with captured_log("text") as log:
        write = log_event(logs.logger("login"), refusals)
        for _ in range(100):
            write(LoginRefused("192.0.2.1", "bob", "bad password"))
            write(DeleteRefused("192.0.2.1", "bob", "Aldana", 1, 7))
        write(AccountLoggedIn("192.0.2.1", "bob", 3, 546))
        write(AccountLoggedIn("192.0.2.1", "bob", 3, 546))
        assert log.text.count("\n") == 4
        refusals.stop()
    assert "99 more logins refused of bob from 192.0.2.1: bad password (99)" in log.text
    assert "99 more deletions refused of bob from 192.0.2.1: refused (99)" in log.text


def test_a_name_of_the_network_stays_short_in_json() -> None:
    stream = io.StringIO()
    observer = logs.observer("json", stream)
    globalLogPublisher.addObserver(observer)
    try:
        log_event(logs.logger("login"), RefusalLog(logs.logger("login"), Scheduler(Clock())))(
            LoginRefused("127.0.0.1", "e\n" * 30_000, "no")
        )
    finally:
        globalLogPublisher.removeObserver(observer)
    assert len(stream.getvalue()) < 1000
