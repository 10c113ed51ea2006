"""A client's queue, deadlines and end."""

from __future__ import annotations

import pytest

from emu.errors import StoreError, UnknownOpcode
from emu.login.client import ClientDeadline, ClientState, guarded
from emu.login.events import ClientEnded, ServiceFault, UnknownMessage
from emu.login.settings import LoginServiceConfig
from tests.support.login.login_fakes import run
from tests.support.login.login_harness import Harness, character, delete_request


def test_messages_wait_for_each_other_and_keep_their_order(harness: Harness) -> None:
    harness.authenticator.holds = True
    client, link = harness.asking(b"tester", b"secret")
    harness.send(client, 7)
    harness.send(client, 216, b"no log")
    assert client.state is ClientState.AUTHENTICATING
    assert link.take() == []
    harness.authenticator.release()
    assert [number for number, _ in link.take()] == [4, 8, 4, 10]
    assert sum(client.drops.values()) == 1


def test_a_message_that_comes_while_a_store_works_waits(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(1208)
    harness.store.holds = True
    harness.send(client, "OP_DeleteCharacterRequestMsg", delete_request(5, b"Aldana"))
    harness.send(client, 7)
    assert link.sent == []
    harness.store.release()
    assert link.sent == []
    while harness.store.waiting:
        harness.store.release()
    assert [number for number, _ in link.take()] == [17, 10, 8, 4, 10]


@pytest.mark.parametrize(("waiting", "closed"), [(4, False), (5, True)])
def test_few_messages_wait_before_the_login(harness: Harness, waiting: int, closed: bool) -> None:
    harness.authenticator.holds = True
    client, link = harness.asking(b"tester", b"secret")
    for _ in range(waiting):
        harness.send(client, 9)
    assert (link.closed == "too many messages waiting") == closed
    harness.authenticator.release()
    assert client.is_logged_in == (not closed)


@pytest.mark.parametrize(("waiting", "closed"), [(7, False), (8, True)])
def test_waiting_messages_are_bounded(waiting: int, closed: bool) -> None:
    harness = Harness(LoginServiceConfig(waiting_messages=7))
    harness.store.rows = [character()]
    client, link = harness.login(1208)
    harness.store.holds = True
    harness.send(client, "OP_DeleteCharacterRequestMsg", delete_request(5, b"Aldana"))
    for _ in range(waiting):
        harness.send(client, 9)
    assert (link.closed == "too many messages waiting") == closed


def test_a_client_is_trusted_when_it_is_logged_in_and_not_before(harness: Harness) -> None:
    client, link = harness.asking(b"tester", b"wrong")
    assert not link.trusted
    client, link = harness.asking(b"tester", b"secret")
    assert link.trusted


def test_what_waited_for_a_closed_client_is_not_done(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.store.holds = True
    harness.send(client, 7)
    harness.send(client, 7)
    client.closed()
    harness.store.release()
    assert link.sent == []
    assert not harness.store.waiting


def test_the_end_is_reported_once_whoever_brings_it(harness: Harness) -> None:
    client, link = harness.login(546)
    client.close("test")
    client.closed("too late")
    client.close("again")
    assert link.closed == "test"
    assert [event.reason for event in harness.events.of(ClientEnded)] == ["test"]
    assert client.get_timer() is None


def test_a_closed_client_stays_closed_and_silent(harness: Harness) -> None:
    client, link = harness.login(546)
    client.closed()
    client.set_state(ClientState.LOGGED_IN)
    client.set_deadline(ClientDeadline.PLAY, 5)
    client.send("OP_WorldListMsg", b"")
    harness.send(client, 7)
    assert client.state is ClientState.CLOSED
    assert client.get_timer() is None
    assert link.sent == []


def test_the_shell_is_woken_by_what_it_did_not_bring(harness: Harness) -> None:
    client, link = harness.login(546)
    wakes = link.wakes
    client.set_deadline(ClientDeadline.STATUS, 5)
    assert link.wakes == wakes + 1


def test_nothing_is_logged_in_before_login(harness: Harness) -> None:
    client, _ = harness.connect()
    assert (client.version, client.account_name, client.is_logged_in) == (0, "", False)
    with pytest.raises(RuntimeError):
        _ = client.account_id


def test_a_message_without_a_number_is_a_fault_not_an_error(harness: Harness) -> None:
    client, link = harness.login(546)
    client.send("OP_NoSuchMsg", b"")
    assert link.take() == []
    assert len(harness.events.of(ServiceFault)) == 1


def test_a_handler_s_failure_is_counted_and_goes_no_further(harness: Harness) -> None:
    client, _ = harness.login(546)

    async def fails(error: Exception) -> None:
        raise error

    for error in (StoreError("full"), UnknownOpcode("none")):
        run(guarded(client, "OP_Some", fails(error)))
    assert harness.service.journal.counters["service fault"] == 2
    with pytest.raises(ZeroDivisionError):
        run(guarded(client, "OP_Some", fails(ZeroDivisionError())))


def test_an_unexpected_failure_does_not_block_what_follows(harness: Harness) -> None:
    client, link = harness.login(546)

    async def breaks() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        client.queue_task(breaks)
    harness.send(client, 7)
    assert [number for number, _ in link.take()] == [8, 4, 10]


def test_drops_are_counted_by_reason_for_client_and_service(harness: Harness) -> None:
    client, _ = harness.login(546)
    for _ in range(3):
        harness.send(client, 60000)
    assert client.drops == {"unknown message": 3}
    assert harness.service.journal.counters["unknown message"] == 3
    assert [event.opcode for event in harness.events.of(UnknownMessage)] == [60000]
