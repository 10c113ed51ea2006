"""How sessions open, stay alive and end."""

from __future__ import annotations

import itertools

import pytest

from emu.errors import LocalProtocolError
from emu.session import (
    CloseReason,
    ConnectionState,
    Role,
    Session,
    SessionClosed,
    SessionConfig,
    SessionEstablished,
)
from emu.wire import (
    KeepAlive,
    OutOfSession,
    Seal,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    pull_packet,
    push_packet,
)
from tests.support.sessions.link import (
    CHECK_KEY,
    KEY_BLOCK,
    SESSION_ID,
    Link,
    connected_link,
    drain,
    make_sessions,
)

SEAL = Seal(CHECK_KEY)


def closings(link, role):
    return [event.reason for event in link.events[role] if isinstance(event, SessionClosed)]


def answer(data, **settings):
    session = Session(SessionConfig(**settings), role=Role.SERVER, check_key=CHECK_KEY)
    session.receive_datagram(data, 0.0)
    return session, session.datagrams_to_send(0.0)


@pytest.mark.parametrize("size", [14, 15, 25])
def test_session_requests_of_14_bytes_and_more_are_answered(size):
    data = (push_packet(SessionRequest(SESSION_ID)) + b"LoginUdp_9\x00")[:size]
    session, (response,) = answer(data)
    assert pull_packet(response) == SessionResponse(SESSION_ID, CHECK_KEY, 512)
    assert session.state is ConnectionState.ESTABLISHED
    assert not session.validated


@pytest.mark.parametrize(
    ("asked", "used"), [(0, 64), (5, 64), (64, 64), (512, 512), (4294967295, 1400)]
)
def test_any_max_length_is_answered_with_one_that_works(asked, used):
    _, (response,) = answer(push_packet(SessionRequest(SESSION_ID, asked)))
    assert pull_packet(response).max_length == used


def test_a_repeated_request_gets_the_same_answer_four_times():
    request = push_packet(SessionRequest(SESSION_ID))
    session, first = answer(request)
    for number in range(1, 4):
        session.receive_datagram(request, number)
        assert session.datagrams_to_send(number) == first
    assert session.get_timer() == 5.0


def test_a_request_for_a_session_in_use_is_dropped(link):
    link.server.receive_datagram(push_packet(SessionRequest(SESSION_ID)), link.now)
    assert link.server.datagrams_to_send(link.now) == []
    assert link.server.drops["repeated session request"] == 1


def test_an_unvalidated_session_is_gone_after_five_seconds():
    session, _ = answer(push_packet(SessionRequest(SESSION_ID)))
    session.handle_timer(4.9)
    assert not session.ended
    session.handle_timer(5.0)
    assert drain(session) == [SessionClosed(CloseReason.UNVALIDATED)]
    assert session.datagrams_to_send(5.0) == []
    assert session.get_timer() is None


def test_a_client_asks_a_dozen_times_with_growing_pauses_and_gives_up():
    client, _ = make_sessions()
    client.connect(0.0)
    times = [0.0]
    sent = client.datagrams_to_send(0.0)
    while (time := client.get_timer()) is not None:
        client.handle_timer(time)
        sent += client.datagrams_to_send(time)
        times.append(time)
    assert sent == [bytes.fromhex("0001000000025352f60f00000200")] * 12
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses == pytest.approx([0.25 * 1.2**tries for tries in range(12)])
    assert drain(client) == [SessionClosed(CloseReason.NO_ANSWER)]


def test_only_a_new_client_can_connect():
    client, server = make_sessions()
    with pytest.raises(LocalProtocolError):
        server.connect(0.0)
    client.connect(0.0)
    with pytest.raises(LocalProtocolError):
        client.connect(0.0)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (SessionResponse(8, 1), "unasked session response"),
        (
            SessionResponse(SESSION_ID, 1, unknown_a=4),
            "session response with unknown check or format",
        ),
        (SessionResponse(SESSION_ID, 1, format=2), "session response with unknown check or format"),
    ],
)
def test_a_client_refuses_other_session_responses(response, reason):
    client, _ = make_sessions()
    client.connect(0.0)
    client.receive_datagram(push_packet(response), 0.1)
    assert client.state is ConnectionState.CLOSED
    assert client.drops[reason] == 1


def test_a_client_takes_the_first_response_and_drops_the_second():
    client, _ = make_sessions()
    client.connect(0.0)
    client.receive_datagram(push_packet(SessionResponse(SESSION_ID, 1)), 0.1)
    client.receive_datagram(push_packet(SessionResponse(SESSION_ID, 2)), 0.2)
    assert client.check_key == 1
    assert client.drops["not allowed now"] == 1
    assert SessionEstablished(SESSION_ID) in drain(client)


def test_silence_of_45_seconds_ends_a_session(link):
    link.loss = 1.0
    silent_since = link.server.last_received
    link.run(44.0 - (link.now - silent_since))
    assert not link.server.ended
    link.run(2.0)
    assert closings(link, Role.SERVER) == closings(link, Role.CLIENT) == [CloseReason.SILENCE]


def test_keep_alive_holds_an_idle_session_open(link):
    link.run(600.0)
    assert not link.client.ended
    assert not link.server.ended
    kinds = {datagram[1] for role, datagram in link.wire if role is Role.CLIENT}
    assert kinds <= {0x03, 0x06, 0x07}  # alone, or joined
    assert link.carried < 150


def test_a_server_echoes_keep_alive_and_a_client_does_not(link):
    keep_alive = SEAL.seal(push_packet(KeepAlive()))
    link.server.receive_datagram(keep_alive, link.now)
    assert link.server.datagrams_to_send(link.now) == [keep_alive]
    link.client.receive_datagram(keep_alive, link.now)
    assert link.client.datagrams_to_send(link.now) == []


def test_forged_datagrams_do_not_keep_a_session_alive(link):
    timer = link.server.last_received
    link.server.receive_datagram(b"\x00\x06\x00\x00", link.now + 1)
    link.server.receive_datagram(push_packet(SessionRequest(SESSION_ID)), link.now + 1)
    assert link.server.last_received == timer


@pytest.mark.parametrize("closer", list(Role))
def test_an_orderly_close_brings_everything_across_first(closer):
    link = connected_link(loss=0.2, seed=3)
    session = link.client if closer is Role.CLIENT else link.server
    other = Role.SERVER if closer is Role.CLIENT else Role.CLIENT
    for number in range(20):
        session.send(number, bytes(range(250)) * 4)
    session.close()
    assert session.state is ConnectionState.CLOSING
    link.run(10.0)
    assert [opcode for opcode, _ in link.messages(other)] == list(range(20))
    assert closings(link, closer) == [CloseReason.LOCAL]
    assert closings(link, other) == [CloseReason.PEER]


def test_both_sides_say_session_disconnect(link):
    link.client.close(6)
    link.run(1.0)
    disconnect = SEAL.seal(push_packet(SessionDisconnect(SESSION_ID, 6)))
    assert link.wire == [(Role.CLIENT, disconnect), (Role.SERVER, disconnect)]


def test_the_last_message_and_the_disconnect_leave_without_an_answer_too(link):
    link.server.send(4, b"denied")
    link.server.close(6)
    first = link.server.datagrams_to_send(link.now)
    assert len(first) == 1  # the disconnect waits for the ack of the denial
    start = link.now
    later = []
    while (timer := link.server.get_timer()) is not None:
        link.server.handle_timer(timer)
        later += link.server.datagrams_to_send(timer)
    disconnect = SEAL.seal(push_packet(SessionDisconnect(SESSION_ID, 6)))
    assert later.count(disconnect) == 2
    assert later.count(first[0]) >= 2
    assert link.server.ended
    assert timer is None
    assert link.server._lifecycle.last_sent - start < 5.0


def test_a_disconnect_is_repeated_after_the_timeout_of_the_path(link):
    """A client that changes zones waits for it."""
    link.client.send(3, b"x")
    link.settle()
    assert link.server.statistics().retransmission_timeout < 0.5
    link.server.close()
    assert len(link.server.datagrams_to_send(link.now)) == 1
    timer = link.server.get_timer()
    assert timer == link.now + link.server.statistics().retransmission_timeout
    link.server.handle_timer(timer)
    assert len(link.server.datagrams_to_send(timer)) == 1
    assert link.server.get_timer() == timer + 0.5


def test_closing_twice_is_closing_once(link):
    link.client.close(6)
    link.client.close(9)
    link.run(2.0)
    assert closings(link, Role.CLIENT) == [CloseReason.LOCAL]
    link.client.close()


def test_a_server_may_begin_where_its_endpoint_has_answered():
    session = Session(SessionConfig(), role=Role.SERVER, check_key=CHECK_KEY)
    session.accept(SESSION_ID, 1400, 3.0)
    assert (session.session_id, session.max_length) == (SESSION_ID, 1400)
    assert session.state is ConnectionState.ESTABLISHED
    assert session.datagrams_to_send(3.0) == []
    session.receive_datagram(SEAL.seal(push_packet(KeepAlive())), 3.1)
    assert drain(session) == [SessionEstablished(SESSION_ID)]


def test_only_a_new_server_can_accept():
    client, server = make_sessions()
    with pytest.raises(LocalProtocolError):
        client.accept(SESSION_ID, 512, 0.0)
    server.accept(SESSION_ID, 512, 0.0)
    with pytest.raises(LocalProtocolError):
        server.accept(SESSION_ID, 512, 0.0)


def test_closing_before_anything_was_agreed_ends_at_once():
    client, server = make_sessions()
    client.connect(0.0)
    for session in (client, server):
        session.close()
        assert drain(session) == [SessionClosed(CloseReason.LOCAL)]


def test_a_disconnect_of_another_session_or_with_a_bad_check_is_dropped(link):
    link.server.receive_datagram(
        SEAL.seal(push_packet(SessionDisconnect(SESSION_ID + 1))), link.now
    )
    link.server.receive_datagram(push_packet(SessionDisconnect(SESSION_ID)) + b"\x00\x00", link.now)
    assert not link.server.ended
    assert dict(link.server.drops) == {"disconnect of another session": 1, "bad check": 1}


def test_a_server_drops_session_response_and_out_of_session(link):
    for packet in (SessionResponse(SESSION_ID, 5), OutOfSession()):
        link.server.receive_datagram(push_packet(packet), link.now)
    assert link.server.drops["not allowed now"] == 2
    link.client.send(1, b"still here")
    link.run(1.0)
    assert link.messages(Role.SERVER) == [(1, b"still here")]


def test_a_client_believes_out_of_session_only_after_a_long_silence(link):
    out_of_session = push_packet(OutOfSession())
    link.client.receive_datagram(out_of_session, link.now)
    assert not link.client.ended
    link.client.receive_datagram(out_of_session, link.client.last_received + 20.0)
    assert link.client.ended


def test_nothing_is_taken_after_the_end(link):
    link.server.discard("enough")
    link.server.receive_datagram(SEAL.seal(push_packet(KeepAlive())), link.now)
    assert link.server.drops["session is over"] == 1
    link.server.handle_timer(link.now + 100)
    assert drain(link.server) == [SessionClosed("enough")]
    assert link.server.datagrams_to_send(link.now) == []


def test_a_session_keeps_no_compressor_between_its_turns(link):
    link.server.send(1, bytes(range(256)) * 2)
    link.server.send(2, bytes(range(256)) * 2)
    deflater = link.server._codec._deflater
    assert deflater.compressor is not None
    link.run(1.0)
    assert deflater.compressor is None
    assert link.server.statistics().bytes_sent < 1000  # the second refers to the first
    link.server.send(3, bytes(range(256)) * 2)
    link.run(1.0)
    message = bytes(range(256)) * 2
    assert link.messages(Role.CLIENT) == [(1, message), (2, message), (3, message)]


def test_a_key_block_is_not_kept_apart_between_clients():
    other = Session(SessionConfig(), role=Role.CLIENT, session_id=1, key_block=KEY_BLOCK[::-1])
    link = connected_link()
    assert other.key is None
    assert link.client.key == KEY_BLOCK[:-9:-1]


def test_a_client_requests_statistics_until_it_can_report_a_round_trip():
    link = Link(*make_sessions(), delay=0.0001)
    link.client.connect(link.now)
    link.run(0.9)
    asked = [pull_packet(d[:-2]) for role, d in link.wire if role is Role.CLIENT and d[1] == 7]
    assert [question.average for question in asked] == [0, 1]  # as the recorded client, then 1 ms
    assert link.server.statistics().retransmission_timeout == pytest.approx(0.2)
    link.run(30.0)
    assert len([d for role, d in link.wire if role is Role.CLIENT and d[1] == 7]) == 2


def test_an_answer_to_an_earlier_statistics_request_counts_too():
    client, server = make_sessions()
    link = Link(client, server, delay=1.0)
    client.connect(link.now)
    link.run(8.0)
    assert client.statistics().smoothed_round_trip == pytest.approx(2.0)
    assert "unasked statistics" in client.drops  # the answers to all the others
