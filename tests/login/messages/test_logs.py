"""Client logs never disturb a session.

Sources: docs/protocol/login.md#client-logs, docs/protocol/login.md#flow.
"""

from __future__ import annotations

import struct
import zlib

import pytest

from emu.errors import StoreError
from emu.login.settings import LoginServiceConfig
from emu.model import ClientLog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login_harness import Harness

ALERT = "OP_LsClientAlertlogReplyMsg"
TEXT = b"Alert: no such texture\n" * 178


def log(text: bytes = TEXT) -> bytes:
    stream = zlib.compress(text)
    return struct.pack("<II", len(stream), len(text)) + stream


def test_the_2006_client_s_alert_log_is_message_216() -> None:
    harness = Harness()
    client, link = harness.login(546)
    harness.send(client, 216, log())
    assert harness.store.logs == [
        ClientLog("Alert Log", TEXT.decode(), 7, "tester", "192.0.2.1", 546, harness.clock.moment())
    ]
    assert link.take() == []
    assert harness.list_worlds(client, link)[0][0] == 8


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_kind_is_stored_for_every_version(version: int) -> None:
    harness = Harness()
    client, _ = harness.login(version)
    for kind in ("Base", "Crash", "Alert", "Verify"):
        harness.send(client, f"OP_LsClient{kind}logReplyMsg", log())
    kinds = [stored.kind for stored in harness.store.logs]
    assert kinds == ["Base Log", "Crash Log", "Alert Log", "Verify Log"]


@pytest.mark.parametrize("body", [b"", b"\0" * 8, b"\xff" * 500, log()[:8], log(b"\0" * 300_000)])
def test_garbage_is_counted_and_the_session_goes_on(body: bytes) -> None:
    harness = Harness()
    client, link = harness.login(546)
    harness.send(client, ALERT, body)
    assert sum(client.drops.values()) == 1
    assert link.closed is None
    assert harness.store.logs == []
    assert harness.list_worlds(client, link)[0][0] == 8


def test_before_login_a_log_is_ignored() -> None:
    harness = Harness()
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


def test_a_store_that_fails_does_not_disturb_the_session() -> None:
    harness = Harness()
    client, link = harness.login(546)
    harness.store.error = StoreError("disk full")
    harness.send(client, ALERT, log())
    harness.store.error = None
    assert harness.list_worlds(client, link)[0][0] == 8
