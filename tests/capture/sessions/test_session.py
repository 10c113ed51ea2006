"""One followed session: its identity, its keys, what it says about losses."""

from __future__ import annotations

import pytest

from emu.capture.formats.records import Datagram
from emu.capture.sessions.session import FollowedSession, may_be_sealed
from emu.session import Message
from tests.support.sessions.conversations import CLIENT, SERVER, login_request, whole_session

KEY = 0x1234ABCD
MESSAGES = [(True, 0, login_request(546)), *[(False, 8, bytes(40 + n)) for n in range(8)]]


def followed(session_id: int | None = 7, rc4_key: bytes | None = None) -> FollowedSession:
    return FollowedSession(
        CLIENT, SERVER, session_id=session_id, check_key=KEY, form=0, rc4_key=rc4_key
    )


@pytest.fixture(scope="module")
def sealed():
    whole = whole_session(MESSAGES, session_id=7)
    return [one for one in whole.datagrams if one.payload[1] not in (1, 2)]


def test_messages_of_both_directions(sealed):
    session = followed()
    found = [event for one in sealed for event in session.receive(one)]
    assert [(event.opcode, event.payload) for event in found] == [one[1:] for one in MESSAGES]
    assert all(isinstance(event, Message) for event in found)
    assert list(session.left_over()) == []


def test_the_check_identifies_the_session_of_a_datagram(sealed):
    session = followed()
    assert all(session.fits(one.payload) for one in sealed)
    assert not session.fits(sealed[0].payload[:-1] + b"?")
    assert not session.fits(b"")


def test_a_repeated_response_is_the_same_session_until_it_was_used(sealed):
    session = followed()
    assert session.is_same(7, KEY, asked_again=True)
    assert session.is_same(7, KEY, asked_again=False)
    assert not session.is_same(8, KEY, asked_again=False)
    assert not session.is_same(7, KEY + 1, asked_again=False)
    for one in sealed[:-3]:
        list(session.receive(one))
    assert session.is_same(7, KEY, asked_again=False)
    assert not session.is_same(7, KEY, asked_again=True)


def test_an_ended_session_is_not_the_same(sealed):
    session = followed()
    for one in sealed:
        list(session.receive(one))
    assert not session.is_same(7, KEY, asked_again=False)


def test_a_session_met_in_the_middle_takes_the_first_id_it_sees():
    session = followed(session_id=None)
    assert session.is_same(9, KEY, asked_again=False)
    assert session.session_id == 9
    assert not session.is_same(10, KEY, asked_again=False)


def test_a_missing_packet_is_reported_at_the_end(sealed):
    session = followed()
    first = next(n for n, one in enumerate(sealed) if one.source == SERVER and one.payload[1] == 9)
    rest = sealed[:first] + sealed[first + 1 : -4]
    for one in rest:
        list(session.receive(one))
    assert any("is not in the capture" in text for text in session.left_over())


@pytest.mark.parametrize(
    ("payload", "sealed_form"),
    [
        (b"\0\x09\0\0\1\2", True),
        (b"\0\x15\0\0", True),
        (b"\0\x03abc", True),
        (b"\0\x01abcdefghijkl", False),
        (b"\0\x02abc", False),
        (b"\0\x1dabc", False),
        (b"\0\x04abc", False),
        (b"\1\x09abc", False),
        (b"\0\x09", False),
        (b"", False),
    ],
)
def test_what_may_belong_to_a_session(payload, sealed_form):
    assert may_be_sealed(payload) is sealed_form


def test_the_version_is_found_and_a_gap_in_the_tables_is_reported():
    session = followed()
    assert session.find_version(30, b"", lambda _: True) is None
    assert session.version is None
    assert session.find_version(0, login_request(546), lambda number: number == 546) is None
    assert session.version == 546
    text = session.find_version(0, login_request(547), lambda _: False)
    assert session.version == 547
    assert "client version 547" in text


def test_bad_checks_are_reported_with_direction_and_size():
    session = followed()
    assert list(session.receive(Datagram(0.0, SERVER, CLIENT, b"\0\6\0\0"))) == [
        "10.0.0.2:9100 > 10.0.0.1:40001: datagram of 4 bytes: bad check"
    ]
