"""The client on a simulated network: what it sends, byte by byte, and what it makes of answers."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client import Closed, LoginDenied, LoginPhase, SessionUp, Unexpected, WorldStatus, flow
from emu.client.flow import STEP_TIMEOUT
from emu.errors import LocalProtocolError
from emu.session import SessionConfig
from tests.support.examples import tries
from tests.support.sessions.client_pair import KEY_BLOCK, SESSION_ID, ClientPair
from tests.support.sessions.reference_messages import ACCOUNT, ReferenceCharacter, login_reply
from tests.support.sessions.reference_server import Script
from tests.support.sessions.reference_wire import RECORDED, check_of


def listed(pair: ClientPair) -> None:
    """Bring a pair to where the client knows worlds and characters."""
    run = pair.run(flow.whole_list(), timeout=120.0)
    assert run.failure is None


def test_the_set_up_is_that_of_the_recorded_client(pair: ClientPair) -> None:
    assert pair.run(flow.login()).failure is None
    assert pair.sent[0] == bytes.fromhex("0001000000025352f60f00000200")
    assert pair.received[0] == bytes.fromhex("00025352f60f336247020200000000020000000000")
    statistics = pair.sent[1]
    assert statistics[:2] == b"\x00\x07"
    assert len(statistics) == 42
    assert statistics[4:40] == bytes(20) + struct.pack(">QQ", 2, 1)


def test_key_block_and_login_request_share_one_datagram() -> None:
    pair = ClientPair(Script(password="pass"), password="pass")
    assert pair.run(flow.login()).failure is None
    (datagram,) = (sent for sent in pair.sent if KEY_BLOCK in sent)
    head = b"\x00\x09\x00\x00\x00\x19\x44\xff\xff\xff\xff\x3c\x00\x00\x00" + KEY_BLOCK
    at = datagram.index(head)
    behind = datagram[at + len(head) :]
    assert behind[0] == 1 + 2 + 2 + 8 + 6 + 10  # opcode, strings, numbers
    assert pair.server.wire.key_with_login
    assert pair.server.wire.sizes[0] == 1
    assert pair.server.wire.rc4_key == KEY_BLOCK[:-9:-1]
    assert pair.server.login_body == (
        b"\0\0\0\0\x06\0tester\x04\0pass" + bytes(8) + struct.pack("<H", 546)
    )


def test_a_real_clients_login_datagram_is_sent_byte_for_byte() -> None:
    pair = ClientPair(
        user="testlabs",
        password="testpass",
        key_block=RECORDED[15:75],
        config=SessionConfig(combined_part_limit=1),  # the real client left its Ack out of it
    )
    pair.run(flow.login())
    assert RECORDED in pair.sent


def test_statistics_and_key_request_may_come_in_one_datagram_as_they_once_did(
    pair: ClientPair,
) -> None:
    pair.server.wire.combine = True
    assert pair.run(flow.login()).failure is None
    combined = pair.received[1]
    assert combined[:5] == b"\x00\x03\x28\x00\x08"
    assert combined[43:47] == b"\x4a\x00\x09\x00"


def test_every_sealed_datagram_carries_the_check_of_the_servers_key(pair: ClientPair) -> None:
    listed(pair)
    for datagram in pair.sent[1:]:
        assert check_of(datagram[:-2], 0x33624702) == datagram[-2:]


def test_the_alert_log_is_the_next_message_and_comes_before_the_worlds(pair: ClientPair) -> None:
    listed(pair)
    assert pair.server.requests[:3] == ["login", "alert_log", "worlds"]
    assert pair.client.phase is LoginPhase.ACCEPTED


def test_an_unanswered_session_request_is_repeated_for_ten_seconds_and_then_given_up() -> None:
    pair = ClientPair(Script(silent_from="session"))
    run = pair.run(flow.login())
    assert str(run.failure) == (
        "the session ended at step 'session': no answer to the session request"
    )
    assert pair.sent == [bytes.fromhex("0001000000025352f60f00000200")] * 12
    assert pair.client.phase is LoginPhase.CLOSED
    assert 9.0 < pair.now - 1000.0 < STEP_TIMEOUT, "a server that is down is reported as down"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_the_first_datagrams_may_be_lost_either_way(count: int) -> None:
    for way in ("lost_out", "lost_in"):
        lost = {way: lambda number: 0 < number <= count}
        pair = ClientPair(**lost)
        listed(pair)
        assert pair.client.worlds[1].name == "Antonia Bayle"


@tries(15)
@given(st.integers(0, 1 << 32))
def test_a_login_survives_a_network_that_loses_one_in_five(seed: int) -> None:
    chance = random.Random(seed)
    script = Script(version=1096, characters=[ReferenceCharacter(5, 1, "Testa")])
    pair = ClientPair(
        script,
        lost_out=lambda number: number > 1 and chance.random() < 0.2,
        lost_in=lambda number: number > 2 and chance.random() < 0.2,
    )
    run = pair.run(flow.whole_login(pair.client, play_name="testa"), timeout=60.0)
    assert run.failure is None
    assert len(pair.server.play_requests) == 1


def test_world_status_is_taken_in_both_lengths(pair: ClientPair) -> None:
    listed(pair)
    pair.settle(1.0)
    assert [event for event in pair.client.events if isinstance(event, WorldStatus)] == [
        WorldStatus(1, up=True, locked=False)
    ] * 2
    pair.server.wire.send(6, struct.pack("<IBBB", 1, 0, 0, 0), pair.now)
    pair.settle(1.0)
    assert not pair.client.worlds[1].up


def test_a_denied_client_asks_for_nothing_more() -> None:
    pair = ClientPair(password="wrong")
    run = pair.run(flow.login())
    assert str(run.failure) == "login denied: bad user name or password (code 1)"
    pair.settle(1.0)
    assert pair.server.requests == ["login"]
    with pytest.raises(LocalProtocolError, match="login denied"):
        pair.client.request_worlds()


@pytest.mark.parametrize("code", [2, 6, 7, 8, 11, 12, 99])
def test_every_code_but_acceptance_and_flags_is_a_denial(code: int) -> None:
    pair = ClientPair(Script(denial_code=code), password="wrong")
    pair.run(flow.login())
    assert pair.client.phase is LoginPhase.DENIED
    (denied,) = (event for event in pair.client.events if isinstance(event, LoginDenied))
    assert denied.code == code


def test_a_session_response_for_another_session_is_not_taken() -> None:
    pair = ClientPair(Script(silent_from="session"))
    pair.settle(0.1)
    answer = struct.pack(">HIIBBBII", 2, SESSION_ID ^ 1, 0x33624702, 2, 0, 0, 512, 0)
    pair.client.receive_datagram(answer, pair.now)
    assert pair.client.phase is LoginPhase.CONNECTING
    assert sum(pair.client.drops.values()) == 1
    assert pair.client.next_event() is None


def test_datagrams_with_a_wrong_check_change_nothing(pair: ClientPair) -> None:
    listed(pair)
    forged = b"\x00\x05" + struct.pack(">IH", SESSION_ID, 6)
    pair.client.receive_datagram(forged + check_of(forged, 0x12345678), pair.now)
    assert pair.client.phase is LoginPhase.ACCEPTED
    assert sum(pair.client.drops.values()) == 1


def test_the_servers_disconnect_ends_the_session(pair: ClientPair) -> None:
    listed(pair)
    pair.client.events.clear()
    pair.server.wire.disconnect()
    pair.settle(0.1)
    assert pair.client.phase is LoginPhase.CLOSED
    assert isinstance(pair.client.next_event(), Closed)


def test_close_notifies_the_server(pair: ClientPair) -> None:
    listed(pair)
    assert pair.run(flow.close()).failure is None
    assert pair.server.wire.disconnected


def test_a_client_that_never_connected_closes_at_once(pair: ClientPair) -> None:
    pair.client.phase = LoginPhase.NEW
    pair.client.close()
    assert list(pair.client.events) == [Closed("closed by this side")]


def test_connecting_twice_is_an_error_of_the_caller() -> None:
    with pytest.raises(LocalProtocolError, match="connect"):
        ClientPair().client.connect(0.0)


@pytest.mark.parametrize("method", ["request_worlds", "load_keymap"])
def test_nothing_can_be_asked_before_the_login(pair: ClientPair, method: str) -> None:
    with pytest.raises(LocalProtocolError, match="not possible now"):
        getattr(pair.client, method)()


def test_a_second_acceptance_sends_no_second_log(pair: ClientPair) -> None:
    listed(pair)
    pair.server.wire.send(4, login_reply(546), pair.now)
    pair.settle(1.0)
    assert pair.server.requests.count("alert_log") == 1


@tries(60)
@given(st.lists(st.binary(max_size=80), max_size=20), st.sampled_from(["new", "up", "listed"]))
def test_garbage_from_the_server_raises_nothing(datagrams: list[bytes], where: str) -> None:
    pair = ClientPair()
    if where == "up":
        pair.run(flow.session())
    elif where == "listed":
        listed(pair)
    for datagram in datagrams:
        pair.client.receive_datagram(datagram, pair.now)
        sealed = b"\0" + datagram
        pair.client.receive_datagram(sealed + check_of(sealed, 0x33624702), pair.now)
        pair.client.datagrams_to_send(pair.now)


@tries(40)
@given(st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=200)), max_size=10))
def test_garbage_inside_the_cipher_becomes_events(messages: list[tuple[int, bytes]]) -> None:
    pair = ClientPair()
    listed(pair)
    for opcode, body in messages:
        pair.server.wire.send(opcode, body, pair.now)
    pair.settle(1.0)
    assert pair.client.phase is LoginPhase.ACCEPTED
    assert not pair.client.drops


def test_events_nobody_fetches_do_not_gather_without_end(pair: ClientPair) -> None:
    listed(pair)
    for _ in range(40):
        for _ in range(10):
            pair.server.push_status(1, pair.now)
        pair.settle(0.2)
    assert len(pair.client.events) == 256


def test_an_unreadable_answer_is_reported_with_its_name(pair: ClientPair) -> None:
    listed(pair)
    pair.client.events.clear()
    pair.server.wire.send(19, b"\x01", pair.now)
    pair.settle(0.5)
    (event,) = pair.client.events
    assert isinstance(event, Unexpected)
    assert event.name == "OP_PlayCharacterReplyMsg"


def test_the_session_id_and_account_are_known_to_the_owner(pair: ClientPair) -> None:
    run = pair.run(flow.whole_list())
    assert run.steps[0].event == SessionUp(SESSION_ID)
    assert pair.client.account_id == 77
    assert pair.client.version == 546
    assert ACCOUNT == "tester"
