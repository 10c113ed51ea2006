"""Opening client logs within bounds (docs/protocol/login.md#client-logs)."""

from __future__ import annotations

import contextlib
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, MalformedMessage, PeerError, StoreError
from emu.login.messages.login import CLIENT_LOG_KINDS, read_client_log
from emu.login.settings import LoginServiceConfig
from emu.model import ClientLog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import Harness

TEXT = b"Alert: something\nAlert: more"


def long_log(text: bytes) -> bytes:
    stream = zlib.compress(text)
    return len(stream).to_bytes(4, "little") + len(text).to_bytes(4, "little") + stream


def test_the_long_header_is_skipped_and_text_ends_at_its_first_nul() -> None:
    body = long_log(TEXT + b"\0garbage")
    assert read_client_log(body, long_header=True, limit=1000) == TEXT.decode()


def test_the_short_header_has_two_bytes() -> None:
    body = b"\x12\x34" + zlib.compress(TEXT)
    assert read_client_log(body, long_header=False, limit=1000) == TEXT.decode()


def test_claimed_sizes_are_not_believed() -> None:
    body = b"\xff" * 8 + zlib.compress(TEXT)
    assert read_client_log(body, long_header=True, limit=1000) == TEXT.decode()


def test_the_limit_is_met_exactly_and_passed_by_one() -> None:
    body = long_log(b"a" * 1000)
    assert len(read_client_log(body, long_header=True, limit=1000)) == 1000
    with pytest.raises(LimitExceeded):
        read_client_log(body, long_header=True, limit=999)


@pytest.mark.slow
def test_a_bomb_is_not_inflated() -> None:
    with pytest.raises(LimitExceeded):
        read_client_log(long_log(b"\0" * 50_000_000), long_header=True, limit=4096)


def test_a_cut_stream_gives_what_is_there() -> None:
    body = long_log(b"".join(b"line %d\n" % n for n in range(500)))[:-300]
    assert read_client_log(body, long_header=True, limit=100_000).startswith("line 0\nline 1\n")


@pytest.mark.parametrize("body", [b"", b"1234567", b"12345678", b"12345678not zlib"])
def test_what_is_no_stream_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_client_log(body, long_header=True, limit=1000)


def test_text_that_is_not_utf8_is_read_as_latin1() -> None:
    assert read_client_log(long_log(b"\xe9"), long_header=True, limit=9) == "\xe9"


@given(st.binary(max_size=200), st.booleans(), st.integers(1, 4096))
def test_any_bytes_give_text_or_a_peer_error(body: bytes, long_header: bool, limit: int) -> None:
    for data in (body, b"12345678" + zlib.compress(body), b"12" + zlib.compress(body)):
        with contextlib.suppress(PeerError):
            assert len(read_client_log(data, long_header=long_header, limit=limit)) <= limit


def test_all_four_kinds_have_their_stored_name() -> None:
    assert sorted(CLIENT_LOG_KINDS.values()) == ["Alert Log", "Base Log", "Crash Log", "Verify Log"]


ALERT = "OP_LsClientAlertlogReplyMsg"
LOG = b"Alert: no such texture\n" * 178


def log(text: bytes = LOG) -> bytes:
    stream = zlib.compress(text)
    return struct.pack("<II", len(stream), len(text)) + stream


def test_the_2006_client_s_alert_log_is_message_216(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.send(client, 216, log())
    assert harness.store.logs == [
        ClientLog("Alert Log", LOG.decode(), 7, "tester", "192.0.2.1", 546, harness.clock.moment())
    ]
    assert link.take() == []
    assert harness.list_worlds(client, link)[0][0] == 8


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_kind_is_stored_for_every_version(harness: Harness, version: int) -> None:
    client, _ = harness.login(version)
    for kind in ("Base", "Crash", "Alert", "Verify"):
        harness.send(client, f"OP_LsClient{kind}logReplyMsg", log())
    kinds = [stored.kind for stored in harness.store.logs]
    assert kinds == ["Base Log", "Crash Log", "Alert Log", "Verify Log"]


@pytest.mark.parametrize("body", [b"", b"\0" * 8, b"\xff" * 500, log()[:8], log(b"\0" * 300_000)])
def test_garbage_is_counted_and_the_session_goes_on(harness: Harness, body: bytes) -> None:
    client, link = harness.login(546)
    harness.send(client, ALERT, body)
    assert sum(client.drops.values()) == 1
    assert link.closed is None
    assert harness.store.logs == []
    assert harness.list_worlds(client, link)[0][0] == 8


def test_before_login_a_log_is_ignored(harness: Harness) -> None:
    client, link = harness.connect()
    harness.send(client, 200, log())
    assert harness.store.logs == []
    assert link.closed is None
    assert client.drops == {"message before login": 1}


def test_a_session_s_logs_are_counted() -> None:
    harness = Harness(LoginServiceConfig(client_logs=2))
    client, _ = harness.login(546)
    for _ in range(3):
        harness.send(client, ALERT, log())
    assert len(harness.store.logs) == 2
    assert client.drops == {"too many client logs": 1}


def test_a_store_that_fails_does_not_disturb_the_session(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.store.error = StoreError("disk full")
    harness.send(client, ALERT, log())
    harness.store.error = None
    assert harness.list_worlds(client, link)[0][0] == 8
