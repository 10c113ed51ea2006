"""How many sessions each host has, and which one is closed for a new one."""

from __future__ import annotations

import pytest

from emu.session import EndpointConfig, Role, Session, SessionConfig
from emu.session.admission import SessionAdmission, host_of


def make(**settings) -> SessionAdmission:
    return SessionAdmission(EndpointConfig(**settings), host_of)


def session_of(host: str, port: int) -> Session:
    return Session(SessionConfig(), role=Role.SERVER, check_key=1, address=(host, port))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        (("192.0.2.1", 5), "192.0.2.1"),
        (("127.0.0.1", 5), None),
        (("::1", 5, 0, 0), None),
        (("2001:db8::1", 5, 0, 0), "2001:db8::/64"),
        (("2001:db8::ffff", 5, 0, 0), "2001:db8::/64"),
        (("::ffff:192.0.2.1", 5), "192.0.2.1"),
        (("::ffff:127.0.0.1", 5), None),
        (("fe80::1%eth0", 5, 0, 0), "fe80::/64"),
        (("somewhere", 5), "somewhere"),
        ("somewhere", "somewhere"),
        (17, 17),
    ],
)
def test_hosts_are_counted_by_address_or_network(address, host):
    assert host_of(address) == host


def test_a_host_has_so_many_sessions_and_one_more_when_one_has_gone():
    admission = make(sessions_per_host_limit=2)
    sessions = [session_of("192.0.2.1", port) for port in (1, 2)]
    for session in sessions:
        assert admission.reason_against("192.0.2.1") is None
        admission.count(session)
    assert admission.reason_against("192.0.2.1") == "too many sessions of one host"
    assert admission.reason_against("192.0.2.2") is None
    assert admission.reason_against(None) is None
    admission.remove(sessions[0])
    assert admission.reason_against("192.0.2.1") is None


def test_the_limit_over_all_counts_hosts_without_one_of_their_own_as_well():
    admission = make(session_limit=2)
    for port in (1, 2):
        admission.count(session_of("127.0.0.1", port))
    assert admission.reason_against(None) == "too many sessions"
    admission.remove(session_of("127.0.0.1", 1))
    assert admission.reason_against(None) is None


def test_sessions_without_acknowledgments_push_each_other_out_and_are_not_counted():
    admission = make(half_open_limit=2, session_limit=1)
    first, second, third = (session_of("192.0.2.1", port) for port in (1, 2, 3))
    assert admission.keep(first) is None
    assert admission.keep(second) is None
    assert admission.reason_against("192.0.2.1") is None
    assert admission.keep(third) is first
    admission.remove(first)
    admission.count(second)
    assert list(admission.unacknowledged) == [third]
    assert admission.reason_against("192.0.2.2") == "too many sessions"


def test_an_address_is_barred_for_a_while_or_until_its_session_is_gone():
    admission = make(takeover_pause=5.0)
    session = session_of("192.0.2.1", 1)
    admission.count(session)
    assert not admission.is_barred(session.address, 10.0)
    admission.bar(session.address, 10.0)
    assert admission.is_barred(session.address, 14.9)
    assert not admission.is_barred(session.address, 15.0)
    admission.remove(session)
    assert not admission.is_barred(session.address, 11.0)


def test_no_session_moves_to_a_host_that_has_all_it_may_have():
    admission = make(sessions_per_host_limit=2)
    before, there = ("192.0.2.1", 1), ("192.0.2.2", 9)
    admission.count(session_of("192.0.2.1", 1))
    admission.count(session_of("192.0.2.2", 1))
    assert admission.reason_against_move(before, there) is None
    admission.count(session_of("192.0.2.2", 2))
    assert admission.reason_against_move(before, there) == "too many sessions of one host"
    assert admission.reason_against_move(("192.0.2.2", 1), there) is None
    assert admission.reason_against_move(before, ("127.0.0.1", 9)) is None
    admission.move(("192.0.2.2", 2), before)
    assert admission.reason_against_move(before, there) is None
