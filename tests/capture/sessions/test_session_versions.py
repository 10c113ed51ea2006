"""Finding the client version.

Sources: docs/protocol/login.md#version, docs/protocol/world/entering.md#login-by-num.
"""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.sessions.session import find_client_version
from tests.support.sessions.conversations import login_by_number, login_request

KNOWN = frozenset({1, 546, 561, 1096, 1208, 60114})


def covers(version):
    return version in KNOWN


def new_login_request(version, low_word):
    strings = b"\0\0\0\0" + b"\x04\0user" + b"\x04\0pass"
    return strings + struct.pack("<IIHH", 0, 0, low_word, version) + bytes(15) + b"\x07\0STATION"


@pytest.mark.parametrize("version", [546, 561, 1208])
def test_old_clients_have_it_at_the_old_place(version):
    assert find_client_version(0, login_request(version), covers) == version


@pytest.mark.parametrize("low_word", [0, 999, 0xFFFF])
def test_new_clients_have_it_two_bytes_later(low_word):
    assert find_client_version(0, new_login_request(60114, low_word), covers) == 60114


@pytest.mark.parametrize("version", [546, 561, 1096])
def test_world_login_old_place(version):
    assert find_client_version(1, login_by_number(version), covers) == version


@pytest.mark.parametrize(("old_place", "version"), [(0, 1208), (0, 60114), (1208, 60114)])
def test_world_login_new_place(old_place, version):
    # From 1208 on the old place is not believed, even when it holds a known number.
    body = struct.pack("<IIHIH24x", 101, 7, old_place, 0, version)
    assert find_client_version(1, body, covers) == version


@pytest.mark.parametrize("unknown", [0, 546, 0xFFFFFFFF])
def test_world_login_of_the_middle_layout(unknown):
    body = struct.pack("<IIIH20x", 101, 7, unknown, 1096)
    assert find_client_version(1, body, covers) == 1096


def test_recorded_login_by_number():
    # 546-zonein-alone: account 101, key, version 546.
    body = bytes.fromhex("65000000c015d53f22020000000000000000000000000000000000000000")
    assert find_client_version(1, body, covers) == 546


def test_an_unknown_version_is_still_named():
    assert find_client_version(0, login_request(777), covers) == 777
    assert find_client_version(1, login_by_number(400), covers) == 400


def test_other_messages_and_short_ones_have_none():
    assert find_client_version(30, b"\x22\x02" * 20, covers) is None
    assert find_client_version(0, b"", covers) is None
    assert find_client_version(0, b"\xff\xff", covers) is None
    assert find_client_version(1, b"", covers) is None


@given(st.integers(0, 3), st.binary(max_size=80))
def test_no_bytes_raise(opcode, body):
    found = find_client_version(opcode, body, covers)
    assert found is None or 0 < found <= 0xFFFF
