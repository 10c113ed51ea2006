"""Finding out which client version asks.

Sources: docs/protocol/login.md#request, docs/protocol/login.md#version.
"""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.dialects import Dialects, shipped_rules
from emu.errors import MalformedMessage, UnknownVersion
from emu.login.messages.login_request import account_of, read_login_request
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login_harness import classic_login, later_login

DIALECTS = Dialects(shipped_tables, shipped_catalog(), shipped_rules())

CAPTURED = bytes.fromhex("00000000 0800") + b"testlabs" + b"\x08\0testpass" + bytes(8) + b"\x22\x02"
"""The login request of the real 2006 client (docs/protocol/transport.md#setup), as decrypted."""


def test_the_real_client_s_request_ends_after_its_version() -> None:
    request = read_login_request(CAPTURED, DIALECTS)
    assert (request.account, request.password, request.version) == ("testlabs", b"testpass", 546)
    assert request.account_size == 8


@pytest.mark.parametrize("version", [v for v in LOGIN_VERSION_STEPS if v <= 1208])
def test_the_classic_layout_tells_its_version(version: int) -> None:
    request = read_login_request(classic_login(b"someone", b"pass", version), DIALECTS)
    assert (request.account, request.version) == ("someone", version)


@pytest.mark.parametrize("version", [v for v in LOGIN_VERSION_STEPS if v > 1208])
def test_the_later_layout_tells_its_version_two_bytes_on(version: int) -> None:
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
