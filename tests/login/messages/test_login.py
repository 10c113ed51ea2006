"""From a login request to an acceptance or a denial (docs/protocol/login.md)."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.dialects import Dialects, shipped_rules
from emu.errors import MalformedMessage, StoreError, UnknownVersion
from emu.login.client import ClientState
from emu.login.events import AccountLoggedIn, LoginRefused, ServiceFault, SessionReplaced
from emu.login.messages.login import account_of, read_login_request
from emu.login.settings import LoginServiceConfig
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import Harness, classic_login, later_login, login_request


def denial(code: int) -> bytes:
    """Return the message of docs/protocol/login.md#denial."""
    return bytes([code]) + bytes(3) + struct.pack("<iiii4xiIH", -1, -1, 0, 0, 0, 0, 0)


DENIAL = denial(1)
OLD_CLIENT = denial(6)
SOMETHING_ELSE = denial(9)

ACCEPTED_546 = bytes.fromhex(
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 ff 7c ff ff ff 00 00"
    "00 ff ff 00 00"
)  # docs/protocol/login.md#accepted


def refused(harness: Harness) -> list[str]:
    return [event.reason for event in harness.events.of(LoginRefused)]


def test_the_2006_client_gets_its_36_bytes(harness: Harness) -> None:
    client, link = harness.connect()
    harness.send(client, 0, classic_login(b"tester", b"secret", 546))
    assert link.take() == [(4, ACCEPTED_546)]
    assert client.state is ClientState.LOGGED_IN
    assert harness.events == [AccountLoggedIn("192.0.2.1", "tester", 7, 546)]
    assert harness.authenticator.asked == [("tester", b"secret", "192.0.2.1", 546, harness.now)]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_version_step_is_let_in(harness: Harness, version: int) -> None:
    client, link = harness.connect()
    harness.send(client, 0, login_request(b"tester", b"secret", version))
    ((number, reply),) = link.take()
    assert (number, reply[0], client.version) == (4, 0, version)


def test_a_wrong_password_is_denied_and_disconnected_a_second_later(harness: Harness) -> None:
    client, link = harness.asking(b"tester", b"wrong")
    assert link.take() == [(4, DENIAL)]
    assert len(DENIAL) == 34
    assert client.get_timer() == harness.now + 1
    harness.pass_time(client, 0.99)
    assert link.closed is None
    harness.pass_time(client, 0.02)
    assert link.closed == "login refused"
    assert refused(harness) == ["bad password"]
    assert client.get_timer() is None


def test_an_announced_test_login_is_denied_and_not_counted(harness: Harness) -> None:
    harness.service.is_trial = lambda name: name == "tester"
    _, link = harness.asking(b"tester", b"wrong")
    assert link.take() == [(4, DENIAL)]
    assert refused(harness) == []
    assert harness.service.counters["login refused"] == 0


def test_an_unknown_version_is_denied_and_its_datagram_can_leave(harness: Harness) -> None:
    client, link = harness.connect()
    harness.send(client, 0, later_login(b"tester", b"secret", 65000))
    assert link.take() == [(4, OLD_CLIENT)]
    assert link.closed is None
    assert "65000" in refused(harness)[0]
    assert harness.authenticator.asked == []
    harness.pass_time(client, 2)
    assert link.closed is not None


def test_after_a_denial_nothing_is_handled(harness: Harness) -> None:
    client, link = harness.asking(b"tester", b"wrong")
    link.take()
    harness.send(client, 0, login_request(b"tester", b"secret", 546))
    harness.send(client, 7)
    assert link.take() == []
    assert len(harness.authenticator.asked) == 1


@pytest.mark.parametrize("size", [0, 32])
def test_names_that_are_empty_or_too_long_are_refused_unasked(harness: Harness, size: int) -> None:
    client, link = harness.asking(b"a" * size, b"secret")
    assert link.take() == [(4, DENIAL)]
    assert refused(harness) == ["name not allowed"]
    assert harness.authenticator.asked == []


def test_a_name_at_the_limit_is_asked_for() -> None:
    harness = Harness(accounts={"a" * 31: (9, b"secret")})
    client, link = harness.asking(b"A" * 31, b"secret")
    assert link.take()[0][1][0] == 0


@pytest.mark.parametrize(("size", "asked"), [(255, 1), (256, 0)])
def test_a_password_over_its_limit_is_refused_unasked(
    harness: Harness, size: int, asked: int
) -> None:
    client, link = harness.asking(b"tester", b"p" * size)
    assert link.take() == [(4, DENIAL)]
    assert len(harness.authenticator.asked) == asked


def test_a_second_login_of_an_account_ends_the_first(harness: Harness) -> None:
    first, first_link = harness.login(546)
    second, second_link = harness.login(1208, address="192.0.2.2")
    assert first_link.closed == "logged in again from 192.0.2.2"
    assert first.state is ClientState.CLOSED
    assert second.is_logged_in
    assert second_link.closed is None
    assert len(harness.service.logged_in) == 1
    assert [event.address for event in harness.events.of(SessionReplaced)] == ["192.0.2.1"]
    first.closed()
    assert len(harness.service.logged_in) == 1


def test_of_two_logins_at_once_the_later_answer_stays(harness: Harness) -> None:
    harness.authenticator.holds = True
    first, first_link = harness.connect()
    second, second_link = harness.connect()
    for client in (first, second):
        harness.send(client, 0, login_request(b"tester", b"secret", 546))
    harness.authenticator.release()
    harness.authenticator.release()
    assert (first_link.closed is None, second_link.closed is None) == (False, True)
    assert len(harness.service.logged_in) == 1


def test_a_client_that_leaves_while_its_password_is_checked_is_never_logged_in(
    harness: Harness,
) -> None:
    harness.authenticator.holds = True
    client, link = harness.asking(b"tester", b"secret")
    client.closed()
    harness.authenticator.release()
    assert link.sent == []
    assert len(harness.service.logged_in) == 0
    harness.authenticator.holds = False
    harness.login(546)


def test_a_denial_lingers_from_when_it_was_sent_not_from_when_it_was_asked(
    harness: Harness,
) -> None:
    harness.authenticator.holds = True
    client, link = harness.asking(b"tester", b"wrong")
    harness.clock.seconds += 30
    harness.authenticator.release()
    assert client.get_timer() == harness.now + 1
    client.handle_timer(harness.now)
    assert link.closed is None


def test_a_store_that_fails_denies_and_is_reported(harness: Harness) -> None:
    harness.authenticator.error = StoreError("disk full")
    client, link = harness.asking(b"tester", b"secret")
    assert link.take() == [(4, SOMETHING_ELSE)]
    assert [event.reason for event in harness.events.of(ServiceFault)] == ["disk full"]
    assert refused(harness) == ["server problem"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("bad password", 1),
        ("no such account", 1),
        ("name not allowed", 1),
        ("banned", 7),
        ("disabled", 8),
        ("address banned", 8),
        ("busy", 9),
        ("too many attempts", 9),
    ],
)
def test_a_player_is_sent_the_codes_of_the_protocol(
    harness: Harness, reason: str, code: int
) -> None:
    harness.authenticator.refusal = reason
    client, link = harness.asking(b"tester", b"secret")
    assert link.take() == [(4, denial(code))]
    assert refused(harness) == [reason]


def test_nobody_waits_for_the_answer_once_the_client_has_gone(harness: Harness) -> None:
    harness.authenticator.holds = True
    client, _ = harness.asking(b"tester", b"secret")
    assert harness.authenticator.wanted()
    client.closed()
    assert not harness.authenticator.wanted()


def test_an_address_may_have_only_so_many_clients() -> None:
    harness = Harness(LoginServiceConfig(logins_per_address=1))
    first, _ = harness.login(546)
    client, link = harness.asking(b"other", b"secret")
    assert link.take() == [(4, SOMETHING_ELSE)]
    assert refused(harness) == ["too many clients from this address"]
    _, elsewhere = harness.login(546, b"other", address="192.0.2.9")
    assert elsewhere.closed is None
    harness.login(546)  # the same account again takes the place of its own session
    assert first.state is ClientState.CLOSED


def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    harness = Harness(LoginServiceConfig(logins_per_address=1))
    harness.login(546, address="2001:db8::1")
    client, link = harness.connect("2001:db8::2")
    harness.send(client, 0, login_request(b"other", b"secret", 546))
    assert link.take() == [(4, SOMETHING_ELSE)]
    harness.login(546, b"other", address="2001:db8:0:1::2")


def test_an_address_is_free_again_when_its_client_is_gone() -> None:
    harness = Harness(LoginServiceConfig(logins_per_address=1))
    first, _ = harness.login(546)
    first.closed()
    harness.login(546, b"other")


def test_a_client_that_never_logs_in_is_closed(harness: Harness) -> None:
    client, link = harness.connect()
    harness.pass_time(client, 59.9)
    assert link.closed is None
    harness.pass_time(client, 0.2)
    assert link.closed == "did not log in in time"


def test_a_second_login_request_on_the_same_session_changes_nothing(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.send(client, 0, login_request(b"other", b"secret", 546))
    assert link.take() == []
    assert client.account_name == "tester"
    assert client.drops == {"message out of order": 1}


def test_a_name_in_utf8_is_asked_for_as_text_and_echoed_as_bytes() -> None:
    name = "björn".encode()
    harness = Harness(accounts={"björn": (9, b"\xff\xfe")})
    client, link = harness.connect()
    harness.send(client, 0, login_request(name, b"\xff\xfe", 1096))
    assert harness.authenticator.asked[0][:2] == ("björn", b"\xff\xfe")
    assert name in link.take()[0][1]


def test_a_login_is_remembered_once_the_reply_is_on_its_way(harness: Harness) -> None:
    client, link = harness.connect()
    harness.authenticator.forgets = StoreError("the disk is full")
    harness.send(client, 0, classic_login(b"tester", b"secret", 546))
    assert harness.authenticator.logins == [(7, "192.0.2.1", 546, harness.clock.moment())]
    assert link.take() == [(4, ACCEPTED_546)]
    assert client.state is ClientState.LOGGED_IN
    assert [event.reason for event in harness.events.of(ServiceFault)] == ["the disk is full"]


def test_a_refused_login_is_not_remembered(harness: Harness) -> None:
    client, _ = harness.connect()
    harness.send(client, 0, classic_login(b"tester", b"wrong", 546))
    assert harness.authenticator.logins == []


DIALECTS = Dialects(shipped_tables, shipped_catalog(), shipped_rules())

CAPTURED = bytes.fromhex("00000000 0800") + b"testlabs" + b"\x08\0testpass" + bytes(8) + b"\x22\x02"
"""The login request of the real 2006 client (docs/protocol/transport.md#setup), as decrypted."""


def test_the_real_client_s_request_ends_after_its_version() -> None:
    request = read_login_request(CAPTURED, DIALECTS)
    assert (request.account, request.password, request.version) == ("testlabs", b"testpass", 546)
    assert request.account_size == 8


@pytest.mark.parametrize("version", [v for v in LOGIN_VERSION_STEPS if v <= 1208])
def test_the_classic_layout_has_its_version(version: int) -> None:
    request = read_login_request(classic_login(b"someone", b"pass", version), DIALECTS)
    assert (request.account, request.version) == ("someone", version)


@pytest.mark.parametrize("version", [v for v in LOGIN_VERSION_STEPS if v > 1208])
def test_the_later_layout_has_its_version_two_bytes_on(version: int) -> None:
    request = read_login_request(later_login(b"someone", b"pass", version), DIALECTS)
    assert (request.account, request.password, request.version) == ("someone", b"pass", version)


@pytest.mark.parametrize("cut", [0, 1, 10, 36])
def test_a_request_cut_after_its_version_is_enough(cut: int) -> None:
    body = later_login(b"someone", b"pass", 60114)
    end = len(body) - 64 + cut
    assert read_login_request(body[:end], DIALECTS).version == 60114


@pytest.mark.parametrize("version", [0, 400, 60115 + 6, 65000])
def test_a_version_without_opcodes_is_unknown_and_named(version: int) -> None:
    with pytest.raises(UnknownVersion) as caught:
        read_login_request(later_login(b"someone", b"pass", version), DIALECTS)
    assert caught.value.version == version


def test_a_classic_version_that_is_unknown_is_named_when_nothing_follows() -> None:
    with pytest.raises(UnknownVersion) as caught:
        read_login_request(classic_login(b"someone", b"pass", 400), DIALECTS)
    assert caught.value.version == 400


def test_an_unknown_version_still_has_a_name_for_the_log() -> None:
    assert account_of(later_login(b"someone", b"pass", 400), DIALECTS) == "someone"


def test_the_password_is_not_shown() -> None:
    request = read_login_request(classic_login(b"someone", b"hunter2", 546), DIALECTS)
    assert "hunter2" not in repr(request)


@given(st.binary(max_size=120))
def test_any_bytes_give_a_request_or_a_documented_error(body: bytes) -> None:
    with contextlib.suppress(UnknownVersion, MalformedMessage):
        request = read_login_request(body, DIALECTS)
        assert DIALECTS.knows(request.version)
    with contextlib.suppress(MalformedMessage):
        assert isinstance(account_of(body, DIALECTS), str)


def test_an_account_that_logs_in_too_often_is_refused_for_a_while() -> None:
    config = LoginServiceConfig(logins_at_once=3, logins_per_minute=6)
    harness = Harness(config=config)
    for _ in range(3):
        client, _ = harness.login(546)
        client.closed()
    client, link = harness.asking(b"tester", b"secret")
    assert link.take() == [(4, SOMETHING_ELSE)]
    assert client.state is ClientState.REFUSED
    assert refused(harness) == ["too often for one account"]
    harness.clock.seconds += 10.0
    harness.login(546)


def test_wrong_passwords_do_not_use_up_what_an_account_may() -> None:
    harness = Harness(config=LoginServiceConfig(logins_at_once=1))
    for _ in range(5):
        harness.asking(b"tester", b"wrong")
    harness.login(546)


def test_an_address_whose_accounts_log_in_again_and_again_is_refused() -> None:
    config = LoginServiceConfig(logins_at_once=50, address_logins_at_once=2)
    harness = Harness(config=config)
    for _ in range(3):
        client, _ = harness.login(546)
        client.closed()
    harness.asking(b"tester", b"secret")
    assert refused(harness) == ["too often for one address"]
    harness.login(546, address="192.0.2.2")
