"""One session that sends much, and the others: whose turn it is, and who pays for what."""

from __future__ import annotations

import random

import pytest
from twisted.internet.task import Clock

from emu.limits.rates import TurnRules
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Dispatcher, Outbox
from emu.net.udp.session_port import Accounting, HostPort
from emu.session import Endpoint, EndpointConfig, Message, Session, SessionClosed
from emu.times import Monotonic
from emu.wire import KeepAlive, push_packet
from tests.support.sessions.players import new_client

RULES = TurnRules(share=0.05, reserve=0.1, address_reserve=0.3, slice=0.002)


class OneTurnAtATime:
    """A scheduler whose next turn comes when a test says so, as it does in a real reactor."""

    def __init__(self, clock: Clock) -> None:
        scheduler = Scheduler(clock)
        self.now, self.moment = scheduler.now, scheduler.moment
        self.arm, self.drop = scheduler.arm, scheduler.drop
        self.soon_to_be_called = []

    def soon(self, function):
        call = Planned(self.soon_to_be_called, function)
        self.soon_to_be_called.append(call)
        return call

    def turn(self) -> None:
        for call in list(self.soon_to_be_called):
            call.cancel()
            call.function()


class Planned:
    def __init__(self, calls, function) -> None:
        self.calls = calls
        self.function = function

    def cancel(self) -> None:
        self.calls.remove(self)


class CostlySending:
    """A tracer that takes some time for each datagram that is sent."""

    def __init__(self, work: Work, seconds: float) -> None:
        self.work = work
        self.seconds = seconds
        self.sent: list[HostPort] = []

    def datagram(self, _moment, source, destination, _data) -> None:
        if source == self.work.dispatcher.own:
            self.work.seconds += self.seconds
            self.sent.append(destination)

    def key(self, *_keys) -> None:
        raise NotImplementedError


class Work:
    """Handlers whose every message takes the time that it says, in tenths of a millisecond.

    The clock of the work is virtual: it stands still but for that.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses = 0.0
        """Seconds of `seconds` in which the system ran other programs."""
        self.pause_of_message = 0.0
        self.done: list[tuple[HostPort, int]] = []
        self.handlers: dict[HostPort, Worker] = {}
        self.clock = Clock()
        self.scheduler = OneTurnAtATime(self.clock)
        endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
        self.accounting = Accounting(RULES, self.read, lambda: self.seconds - self.pauses)
        self.dispatcher = Dispatcher(
            endpoint, self.scheduler, self.make, logger("test"), accounting=self.accounting
        )
        self.wire: list[tuple[bytes, HostPort]] = []
        self.dispatcher.outbox = Outbox(None, self.put)
        self.clients: dict[HostPort, Session] = {}

    def put(self, data: bytes, address: HostPort) -> None:
        self.wire.append((data, address))

    def read(self) -> float:
        return self.seconds

    def make(self, port, _now) -> Worker:
        self.handlers[port.address] = Worker(self, port)
        return self.handlers[port.address]

    def connect(self, address: HostPort, *, has_account: bool = True) -> Session:
        client = self.clients[address] = new_client(address[1])
        client.connect(self.clock.seconds())
        for _ in range(12):
            self.give(address)
            self.turn()
            self.answer()
        assert client.key is not None
        if has_account:
            self.handlers[address].port.charge_to(address[1])
        return client

    def give(self, *addresses: HostPort) -> None:
        """Bring what clients have to send in one wake-up of the reactor, as the shell does."""
        datagrams = [
            (data, address)
            for address in addresses
            for data in self.clients[address].datagrams_to_send(self.clock.seconds())
        ]
        self.dispatcher.receive_datagrams(datagrams)
        self.dispatcher.serve_touched()

    def answer(self) -> None:
        sent, self.wire = self.wire, []
        for data, address in sent:
            client = self.clients[address]
            client.receive_datagram(data, self.clock.seconds())
            while client.next_event() is not None:
                pass

    def turn(self) -> None:
        """Let the reactor have one turn."""
        self.scheduler.turn()

    def run(self, seconds: float, step: float = 0.01) -> None:
        for _ in range(round(seconds / step)):
            self.clock.advance(step)
            for _ in range(10):
                self.turn()
            self.answer()

    def say(self, address: HostPort, count: int, tenths: int = 10) -> None:
        for _ in range(count):
            self.clients[address].send(5, bytes([tenths]))

    def done_for(self, address: HostPort) -> int:
        return sum(one == address for one, _ in self.done)


class Worker:
    def __init__(self, work: Work, port) -> None:
        self.work = work
        self.port = port
        self.is_slow = False
        self.events = []
        port.session.trust()

    def handle_event(self, event, now) -> None:
        self.events.append(event)
        if isinstance(event, Message):
            self.work.seconds += event.payload[0] / 10_000 + self.work.pause_of_message
            self.work.pauses += self.work.pause_of_message
            self.work.done.append((self.port.address, event.payload[0]))
            if self.is_slow:
                self.port.set_busy(busy=True)

    def get_timer(self):
        return None

    def held_bytes(self):
        return 0


ONE, TWO, THREE = (("127.0.0.1", 40001), ("127.0.0.1", 40002), ("127.0.0.1", 40003))


@pytest.fixture
def work():
    found = Work()
    yield found
    found.dispatcher.abandon()
    assert found.clock.getDelayedCalls() == []


def test_one_who_sends_much_waits_for_those_who_send_little(work) -> None:
    work.connect(ONE)
    work.connect(TWO)
    work.say(ONE, 50)
    work.give(ONE)
    assert work.done_for(ONE) == 3  # one, and two milliseconds of others
    work.say(TWO, 1)
    work.give(TWO)
    assert work.done[3:] == [(TWO, 10)]
    work.turn()
    assert work.done_for(ONE) == 6


def test_many_reads_of_one_turn_have_one_share_of_it(work) -> None:
    """A turn reads the socket several times; each read must not have a share of its own."""
    for address in (ONE, TWO, THREE):
        work.connect(address)
    for address in (ONE, TWO, THREE):
        work.say(address, 1, tenths=45)
        work.dispatcher.receive_datagrams([
            (data, address) for data in work.clients[address].datagrams_to_send(0.0)
        ])  # fmt: skip
    for _ in range(3):
        work.dispatcher.serve_read()
    assert len(work.done) == 1
    work.turn()  # still the turn of these reads
    assert len(work.done) == 1
    work.dispatcher.serve_read()
    assert len(work.done) == 1, "the rest was there first"
    work.turn()
    assert len(work.done) == 2
    for _ in range(2):
        work.turn()
    assert len(work.done) == 3


def test_those_who_wait_take_turns(work) -> None:
    for address in (ONE, TWO, THREE):
        work.connect(address)
        work.say(address, 9, tenths=20)
    work.give(ONE, TWO, THREE)
    for _ in range(6):
        work.turn()
    order = [address for address, _ in work.done]
    assert order[:12] == [ONE, ONE, TWO, TWO, THREE, THREE] * 2


def test_one_turn_of_the_reactor_serves_no_more_than_two_slices_of_what_waits(work) -> None:
    addresses = [("127.0.0.1", 41000 + number) for number in range(30)]
    for address in addresses:
        work.connect(address)
        work.say(address, 5, tenths=20)
    work.give(*addresses)
    before = work.seconds
    work.turn()
    assert work.seconds - before == pytest.approx(2 * RULES.slice)


def test_the_messages_of_one_session_keep_their_order(work) -> None:
    work.connect(ONE)
    for number in range(100):
        work.clients[ONE].send(5, bytes([number % 7]))
    work.give(ONE)
    work.run(20.0)
    assert [tenths for _, tenths in work.done] == [number % 7 for number in range(100)]


def test_a_session_gets_its_share_over_time_and_is_not_ended(work) -> None:
    work.connect(ONE)
    work.say(ONE, 950)
    work.give(ONE)
    work.run(10.0)
    assert work.seconds <= RULES.share * 10.0 + RULES.reserve + 2 * RULES.slice
    assert work.seconds >= RULES.share * 10.0
    assert not work.clients[ONE].ended
    assert work.accounting.late_sessions > 10
    work.run(30.0)
    assert work.done_for(ONE) == 950


def test_one_that_is_late_is_acknowledged_meanwhile(work) -> None:
    client = work.connect(ONE)
    work.say(ONE, 400)
    work.give(ONE)
    work.run(1.0)
    assert work.done_for(ONE) < 400
    assert client.statistics().packets_in_flight == 0
    work.handlers[ONE].port.session.send(6, b"x")
    work.handlers[ONE].port.touch()
    work.turn()
    assert work.wire


def test_one_expensive_message_delays_no_longer_than_the_bound_of_debt(work) -> None:
    work.connect(ONE)
    work.clients[ONE].send(5, bytes([250]))
    for _ in range(10):
        work.clients[ONE].send(5, bytes([250]))  # a quarter of a second in all
    work.say(ONE, 1, tenths=1)
    work.give(ONE)
    work.run(6.0)
    assert work.done[-1] == (ONE, 1)


def test_what_others_do_is_charged_to_nobody_else(work) -> None:
    for address in (ONE, TWO):
        work.connect(address)
    work.say(ONE, 950)
    work.give(ONE)
    for _ in range(200):
        work.say(TWO, 1, tenths=1)
        work.give(TWO)
        work.run(0.02)
    assert work.done_for(TWO) == 200
    assert not work.handlers[TWO].port.holds


def test_the_end_of_a_session_is_delivered_at_once_before_waiting_messages(work) -> None:
    client = work.connect(ONE)
    work.say(ONE, 950)
    work.give(ONE)
    work.run(0.5)
    handler = work.handlers[ONE]
    left = 950 - work.done_for(ONE)
    assert left > 500
    from_peer = client._last_datagram()
    work.dispatcher.receive_datagrams([(from_peer, ONE)])
    work.dispatcher.serve_touched()
    assert isinstance(handler.events[-1], SessionClosed)
    assert work.dispatcher.session_count == 0
    assert 950 - work.done_for(ONE) > left - 5


def test_a_handler_that_is_busy_gets_nothing_before_it_says_so(work) -> None:
    work.connect(ONE)
    handler = work.handlers[ONE]
    handler.is_slow = True
    work.say(ONE, 3, tenths=1)
    work.give(ONE)
    assert work.done_for(ONE) == 1
    work.run(1.0)
    assert work.done_for(ONE) == 1
    handler.port.set_busy(busy=False)
    work.turn()
    assert work.done_for(ONE) == 2


def test_work_outside_of_a_turn_is_charged_as_well(work) -> None:
    work.connect(ONE)

    def later() -> None:
        work.seconds += 0.2

    work.handlers[ONE].port.timed(later)
    work.say(ONE, 1, tenths=1)
    work.give(ONE)
    assert work.done_for(ONE) == 0
    work.run(2.0)
    assert work.done_for(ONE) == 1


def test_datagrams_that_cost_too_much_to_read_are_dropped_for_a_while(work) -> None:
    client = work.connect(ONE)
    work.connect(TWO)

    work.dispatcher.tracer = CostlySending(work, 0.0001)
    keep_alive = client._received.seal.seal(push_packet(KeepAlive()))
    for _ in range(3000):
        work.dispatcher.receive_datagrams([(keep_alive, ONE)])
        work.dispatcher.serve_touched()
        work.run(0.0001, step=0.0001)
    assert work.accounting.unread_datagrams > 500
    assert work.dispatcher.session_count == 2
    work.say(TWO, 1, tenths=0)
    work.give(TWO)
    assert work.done_for(TWO) == 1
    work.run(20.0)
    work.say(ONE, 1, tenths=0)
    work.give(ONE)
    assert work.done_for(ONE) == 1


def test_what_is_sent_in_the_name_of_a_session_is_not_charged_to_it(work) -> None:
    """Whoever forges its address does not know its check key."""
    work.connect(ONE)
    work.run(1.0)
    port = work.handlers[ONE].port
    for _ in range(10_000):
        work.dispatcher.receive_datagrams([(b"\0\x09\0\0forged!", ONE)])
    work.dispatcher.serve_touched()
    work.dispatcher._charge(port, work.clock.seconds())
    assert port.budget.spent(work.clock.seconds()) < 0.01
    assert not port.holds


def test_sessions_of_one_account_share_what_it_may_use(work) -> None:
    """Otherwise each new session would begin with a full budget."""
    for number in range(8):
        address = ("127.0.0.1", 42000 + number)
        work.connect(address)
        work.handlers[address].port.charge_to(7)
        work.say(address, 100)
        work.give(address)
        work.run(0.5)
        work.dispatcher.receive_datagrams([(work.clients[address]._last_datagram(), address)])
        work.dispatcher.serve_touched()
    assert work.seconds <= RULES.share * 4.0 + RULES.reserve + 0.02
    work.connect(ONE)
    work.handlers[ONE].port.charge_to(8)
    before = work.seconds
    work.say(ONE, 50)
    work.give(ONE)
    work.run(0.5)
    assert work.seconds - before == pytest.approx(0.05)


def test_sessions_without_an_account_share_what_their_address_may_use(work) -> None:
    """Else whoever logs in again and again, or is refused, would begin anew each time."""
    for number in range(40):
        address = ("192.0.2.7", 42000 + number)
        work.connect(address, has_account=False)
        work.say(address, 40)
        work.give(address)
        work.run(0.1)
        work.dispatcher.receive_datagrams([(work.clients[address]._last_datagram(), address)])
        work.dispatcher.serve_touched()
    assert work.seconds <= RULES.share * 4.0 + RULES.address_reserve + 0.05
    before = work.seconds
    elsewhere = ("192.0.2.8", 42000)
    work.connect(elsewhere, has_account=False)
    work.say(elsewhere, 40)
    work.give(elsewhere)
    work.run(0.2)
    assert work.seconds - before == pytest.approx(0.04)


def test_accounts_that_owe_nothing_are_forgotten(work) -> None:
    accounting = Accounting(RULES, budget_limit=4)
    work.connect(ONE)
    port = work.handlers[ONE].port
    for account in range(20):
        accounting.charge_to(port, account, Monotonic(1.0))
    assert len(accounting._budgets) <= 4


def test_many_sessions_with_something_to_send_leave_others_a_turn_between(work) -> None:
    addresses = [("127.0.0.1", 43000 + number) for number in range(60)]
    for address in addresses:
        work.connect(address)
    work.connect(ONE)
    tracer = work.dispatcher.tracer = CostlySending(work, 0.001)
    sent = tracer.sent
    for address in addresses:
        work.handlers[address].port.session.send(6, b"shouted")
        work.handlers[address].port.touch()
    work.turn()
    assert 0 < len(sent) < 60
    work.say(ONE, 1, tenths=1)
    work.give(ONE)
    assert work.done_for(ONE) == 1  # before those who were left
    for _ in range(30):
        work.turn()
    assert {*addresses, ONE} == set(sent)


def test_no_session_pays_for_a_pause_of_the_whole_process(work) -> None:
    """On a busy machine the system takes the processor away in the middle of a message."""
    work.connect(ONE)
    work.connect(TWO)
    work.pause_of_message = 0.5
    for _ in range(5):
        for address in (ONE, TWO):
            work.say(address, 1)
        work.give(ONE, TWO)
        work.run(1.0)
    assert work.done_for(ONE) == work.done_for(TWO) == 5
    assert work.accounting.late_sessions == work.accounting.unread_datagrams == 0


@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_a_session_pays_for_its_own_work_with_and_without_pauses(work, pause: float) -> None:
    work.connect(ONE)
    work.pause_of_message = pause
    work.say(ONE, 950)
    work.give(ONE)
    work.run(10.0)
    assert work.accounting.late_sessions > 10
    assert work.seconds - work.pauses <= RULES.share * 10.0 + RULES.reserve + 2 * RULES.slice
    assert work.seconds - work.pauses >= RULES.share * 10.0
