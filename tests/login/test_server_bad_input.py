"""What no client would send, as messages that arrive whole: one answer at most, and no harm.

After each of them the service goes on: another player logs in, and nothing of the bad one is left.
"""

from __future__ import annotations

import struct
import zlib

import pytest

from emu.login.client import Client, ClientState
from emu.login.events import format_event
from emu.model import CreateResponse
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_fakes import FakeLink
from tests.support.login.login_harness import Harness, create_request, str16

LOGIN, CREATE, DELETE, PLAY, LOG = (
    "OP_LoginRequestMsg",
    "OP_CreateCharacterRequestMsg",
    "OP_DeleteCharacterRequestMsg",
    "OP_PlayCharacterRequestMsg",
    "OP_LsClientAlertlogReplyMsg",
)
BAD_NAME, WRONG_VERSION = 1, 6


def login_body(
    name: bytes, password: bytes = b"secret", version: int = 546, head: bytes = bytes(4)
) -> bytes:
    return head + str16(name) + str16(password) + struct.pack("<IIH", 0, 0, version)


def all_is_well(harness: Harness) -> None:
    """Let another player log in and see the worlds."""
    client, link = harness.login(546, b"other", address="192.0.2.99")
    assert len(harness.list_worlds(client, link)) == 3
    for event in harness.events:
        line = format_event(event)
        assert line.isprintable()
        assert len(line) < 400
    assert harness.service.journal.counters["service fault"] == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", WRONG_VERSION),
        (b"\0", WRONG_VERSION),
        (bytes(4) + b"\xff\xffab", WRONG_VERSION),
        (bytes(4) + str16(b"tester") + b"\xff\xffsecret", WRONG_VERSION),
        (b"\xff" * 5000, WRONG_VERSION),
        (login_body(b"tester", version=0), WRONG_VERSION),
        (login_body(b"tester", version=0xFFFF), WRONG_VERSION),
        (login_body(b"\0" * 65535), BAD_NAME),
        (login_body(b"tester\0"), BAD_NAME),
        (login_body(b"   "), BAD_NAME),
        (login_body(b"\xff\xfe\xc0"), BAD_NAME),
        (login_body("te\u202est\u200ber".encode()), BAD_NAME),
        (login_body(b"a\n2026-01-01 login of root accepted"), BAD_NAME),
        (login_body(b"{account} %s {0}"), BAD_NAME),
        (login_body(b"' OR 1=1 --"), BAD_NAME),
        (login_body(b"tester", b"secret\0"), BAD_NAME),
        (login_body(b"tester", b"x" * 65535), BAD_NAME),
    ],
    ids=lambda value: f"{len(value)} bytes {value[4:16].hex()}" if isinstance(value, bytes) else "",
)
def test_a_login_request_that_is_not_one_is_denied_once(
    harness: Harness, body: bytes, code: int
) -> None:
    client, link = harness.connect()
    harness.send(client, LOGIN, body)
    ((number, reply),) = link.take()
    assert (number, reply[0], len(reply)) == (4, code, 34)
    assert client.state is ClientState.REFUSED
    harness.send(client, LOGIN, login_body(b"tester"))
    assert link.take() == []
    harness.pass_time(client, 2.0)
    assert link.closed == "login refused"
    all_is_well(harness)


def test_what_stands_before_the_name_is_not_used_however_much_it_is(harness: Harness) -> None:
    client, _ = harness.connect()
    harness.send(client, LOGIN, login_body(b"tester", head=str16(b"x" * 65535) * 2))
    assert client.is_logged_in
    all_is_well(harness)


def logged_in(version: int) -> tuple[Harness, Client, FakeLink]:
    harness = Harness()
    client, link = harness.login(version)
    return harness, client, link


VERSIONS = [546, 1208, 60114, 64753]
assert set(VERSIONS) <= set(LOGIN_VERSION_STEPS)


def bad_creates(version: int) -> dict[str, bytes]:
    good = create_request(version)
    name = good.index(str16(b"Aldana"))
    return {
        "nothing": b"",
        "cut before the name": good[:name],
        "cut in the name": good[: name + 5],
        "a name longer than the message": good[:name] + b"\xff\xff" + good[name + 2 :],
        "a name of nothing": good[:name] + str16(b"") + good[name + 8 :],
        "a name of 64 bytes": create_request(version, b"A" * 64),
    }


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bad", bad_creates(1208))
def test_a_create_request_that_is_not_one_never_reaches_a_world(version: int, bad: str) -> None:
    harness, client, link = logged_in(version)
    harness.send(client, CREATE, bad_creates(version)[bad])
    ((number, reply),) = link.take()
    assert number == 12
    assert b"Aldana" not in reply
    assert harness.worlds.creates == []
    assert client.state is ClientState.LOGGED_IN
    all_is_well(harness)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -3e38])
def test_looks_that_are_no_numbers_make_a_character_that_can_be_listed(
    version: int, number: float
) -> None:
    harness, client, link = logged_in(version)
    wild = struct.pack("<3f", number, number, number)
    body = create_request(version)
    for usual in ((0.5, 0.75, 1.0), (-0.25, 0.0, 0.5)):
        body = body.replace(struct.pack("<3f", *usual), wild)
    harness.send(client, CREATE, body)
    harness.server.create_answered(CreateResponse(1, 7, 42, 1), harness.now)
    assert b"Aldana" in link.take()[-1][1]
    assert len(harness.list_worlds(client, link)) == 3
    all_is_well(harness)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("body", [b"", b"\0", b"\xff" * 14, bytes(12) + str16(b"\xff\xfe")])
def test_a_delete_request_that_is_not_one_deletes_nothing(version: int, body: bytes) -> None:
    harness, client, link = logged_in(version)
    harness.send(client, DELETE, body)
    refusal, listed = link.take()
    assert refusal[1][0] == 0
    assert listed[0] == 10
    assert harness.worlds.deletes == []
    all_is_well(harness)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("body", [b"", b"\xff" * 3, b"\xff" * 5000])
def test_a_play_request_that_is_not_one_goes_to_no_world(version: int, body: bytes) -> None:
    harness, client, link = logged_in(version)
    harness.send(client, PLAY, body)
    ((_, reply),) = link.take()
    assert reply[0] == 0
    assert harness.worlds.plays == []
    assert client.state is ClientState.LOGGED_IN
    all_is_well(harness)


@pytest.mark.parametrize(
    "body",
    [b"", bytes(8), bytes(8) + b"no zlib", bytes(8) + zlib.compress(bytes(1 << 23))],
    ids=["nothing", "no stream", "no zlib", "a bomb"],
)
def test_a_client_log_that_is_not_one_is_counted_and_not_kept(body: bytes) -> None:
    harness, client, link = logged_in(1208)
    harness.send(client, LOG, body)
    assert client.drops.total() == 1
    assert harness.store.logs == []
    assert link.take() == []
    all_is_well(harness)
