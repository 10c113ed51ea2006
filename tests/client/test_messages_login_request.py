"""The request's bytes, against a real client's datagram and docs/protocol/login.md#request."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client.messages import LOG_SIZE, alert_log, login_request
from emu.errors import CommandError
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.sessions.reference_server import read_login_request
from tests.support.sessions.reference_wire import RECORDED, ReferenceWire


def test_a_real_2006_clients_request_is_reproduced_byte_for_byte() -> None:
    wire = ReferenceWire()
    wire.receive(bytes.fromhex("0001000000025352f60f00000200"), 0.0)
    wire.receive(RECORDED, 0.0)
    assert wire.inbox == [b"\0" + login_request(546, "testlabs", "testpass")]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_server_finds_the_version_where_the_client_puts_it(version: int) -> None:
    read = read_login_request(login_request(version, "tester", "secret"))
    assert (read.user, read.password, read.version) == ("tester", "secret", version)
    assert read.stamped is (version >= 1212)


@pytest.mark.parametrize(
    ("version", "tail"), [(283, 0), (546, 0), (561, 11), (1168, 11), (1188, 20), (1208, 20)]
)
def test_classic_clients_end_the_request_in_their_own_way(version: int, tail: int) -> None:
    assert len(read_login_request(login_request(version, "a", "b")).tail) == tail


def test_newer_clients_fill_the_layout_of_1208() -> None:
    body = login_request(57014, "tester", "secret")
    at = 2 + 2 + 8 + 8 + 8  # two empty strings, name, password, account number and pass code
    low, version, byte4 = struct.unpack_from("<HHB", body, at)
    assert (low, version, byte4) == (0x2E00, 57014, 0x2E)
    assert body[at + 19 :] == b"\x07\x00STATION"


@given(st.text("abcxyzäß0189", max_size=40), st.text("abcxyzäß0189", max_size=40))
def test_any_latin_name_and_password_arrive(user: str, password: str) -> None:
    for version in (546, 1208, 60100):
        read = read_login_request(login_request(version, user, password))
        assert (read.user, read.password) == (user, password)


def test_what_no_client_can_type_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="user name"):
        login_request(546, "ж", "secret")
    with pytest.raises(CommandError, match="password"):
        login_request(546, "tester", "п")
    with pytest.raises(CommandError, match="longer"):
        login_request(546, "x" * 65536, "secret")


@pytest.mark.parametrize(("version", "head"), [(546, 8), (1208, 8), (373, 2)])
def test_the_alert_log_inflates_to_the_recorded_size(version: int, head: int) -> None:
    body = alert_log(version)
    packed = struct.unpack_from("<I" if head == 8 else "<H", body)[0]
    assert packed == len(body) - head
    text = zlib.decompress(body[head:])
    assert len(text) == LOG_SIZE == 4095
    assert text.endswith(b"\0")
    assert body[head : head + 2] == b"\x78\xda"
    if head == 8:
        assert struct.unpack_from("<I", body, 4) == (LOG_SIZE,)
