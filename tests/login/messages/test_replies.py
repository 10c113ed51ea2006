"""Payloads byte by byte; the six long examples are those of docs/protocol/login.md#accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu.client.codes import LOGIN_TEXTS
from emu.dialects import BEFORE_LOGIN, Dialect, Dialects, shipped_rules
from emu.errors import StructValueError
from emu.login.messages import replies
from emu.login.settings import LoginServiceConfig
from emu.model import PlayResponse
from emu.opcodes import shipped_tables
from emu.reply_codes import LoginCode
from emu.structs import shipped_catalog

EXAMPLES = {
    546: "000000000000000000000000000000000000000000000001ff7cffffff000000ffff0000",
    1096: "00000000000000000000000000000000010000000000000100ff7cffffff0000ffff00000000ff0000ff"
    "000000000000ffffffffffff1f00feffff0706007465737465720600746573746572",
    57048: "00000000000000000000000000000000010000000000000100ff7cffffff0000ffff0000ee0000000000"
    "ff0000ff000000000000ffffffffffff1f00feffff07060074657374657206007465737465720000",
    57080: "00000000000000000000000000000000010000000000000100ff7cffffff0000ffff0000ee0000000000"
    "ff0000ff000000000000ffffffffffff1f00feffff070600746573746572060074657374657200000000"
    "0000000000000000000000000000000000000000000000",
    60114: "000000000000000000000000000000000100000000000001ff7c000000000000ffff0000ee000000ff00"
    "000000ff000000000000ffffffffffff1f00feffff070600746573746572060074657374657200000000"
    "00000000000000000000000000",
    64753: "00000000000000000000000000000000010000000000000100ff7cffffff00000000000000000000ffff"
    "0000ee000000ff00000000ff000000000000ffffffffffff1f00feffff07060074657374657206007465"
    "7374657200000000000000000000000000",
}
LENGTHS = {  # with the account name "tester", by docs/protocol/login.md#accepted
    561: 36, 562: 36, 842: 36, 843: 40, 1095: 40, 1096: 76, 1142: 80, 1187: 80, 1188: 82,
    1208: 82, 57079: 82, 57080: 107, 60099: 107, 60100: 97, 63180: 97, 63181: 101,
}  # fmt: skip
CONFIG = LoginServiceConfig()


def dialect(version: int) -> Dialect:
    """Return a dialect of any version, with the opcodes of the 2006 client."""
    table = shipped_tables().for_version(546)
    return Dialect(version, table, shipped_catalog(), shipped_rules().for_version(version))


@pytest.mark.parametrize("version", EXAMPLES)
def test_the_acceptance_is_the_example_to_the_byte(version: int) -> None:
    reply = replies.login_reply(dialect(version), CONFIG, "tester", response=LoginCode.ACCEPTED)
    assert reply.hex() == EXAMPLES[version]


@pytest.mark.parametrize("version", EXAMPLES)
def test_a_reply_kept_for_all_is_not_given_to_the_wrong_one(version: int) -> None:
    same = dialect(version)
    other = replace(CONFIG, cities_flag=1)
    asked = [(CONFIG, "tester"), (other, "tester"), (CONFIG, "somebody"), (CONFIG, "tester")]
    for config, account in asked:
        fresh = replies.login_reply(dialect(version), config, account, response=LoginCode.ACCEPTED)
        assert replies.login_reply(same, config, account, response=LoginCode.ACCEPTED) == fresh
    assert len(same.made) == (2 if version == 546 else 0)


@pytest.mark.parametrize("version", EXAMPLES)
def test_the_second_reply_has_code_10_and_account_0(version: int) -> None:
    reply = replies.login_reply(dialect(version), CONFIG, "tester", response=LoginCode.FLAGS)
    wanted = bytearray.fromhex(EXAMPLES[version])
    wanted[0] = 10
    wanted[16:20] = bytes(4)
    assert reply == wanted


@pytest.mark.parametrize("version", LENGTHS)
def test_every_step_has_its_length(version: int) -> None:
    reply = replies.login_reply(dialect(version), CONFIG, "tester", response=LoginCode.ACCEPTED)
    assert len(reply) == LENGTHS[version]


def test_flags_come_from_the_configuration() -> None:
    config = replace(
        CONFIG, expansion_flag=0x1234, cities_flag=0x56, enabled_races=0x9ABC, subscription_level=2
    )
    reply = replies.login_reply(dialect(1096), config, "tester", response=LoginCode.ACCEPTED)
    assert reply[25:27] == b"\x34\x12"
    assert reply[32:36] == b"\xbc\x9a\x00\x00"
    assert reply[38] == 0x56
    assert reply[48:52] == b"\x02\x00\x00\x00"


@pytest.mark.parametrize("code", [1, 6, 9])
def test_the_denial_has_34_bytes_and_speaks_before_login(code: int) -> None:
    dialects = Dialects(shipped_tables, shipped_catalog(), shipped_rules())
    reply = replies.denial(dialects.for_version(BEFORE_LOGIN), code)
    assert reply == bytes([code, 0, 0, 0]) + b"\xff" * 8 + bytes(22)
    assert len(reply) == 34


@pytest.mark.parametrize("name", ["", "Aldana", "x" * 63])
def test_a_create_reply_names_the_character_on_success_only(name: str) -> None:
    raw = name.encode()
    size = len(raw).to_bytes(2, "little")
    success = replies.create_reply(dialect(1188), 7, 1, name)
    assert success == b"\x07\0\0\0\x01" + size + raw
    assert replies.create_reply(dialect(1188), 7, 13, name) == b"\x07\0\0\0\x0d\0\0"
    success = replies.create_reply(dialect(1189), 7, 1, name)
    assert success == b"\x07\0\0\0\xff\xff\xff\xff\x01" + size + raw


def test_a_negative_play_code_is_sent_as_a_byte() -> None:
    assert replies.play_failure(dialect(546), 7, -3)[0] == 253


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_not_sent(port: int) -> None:
    answer = PlayResponse(1, 7, 5, 9, 1, "203.0.113.9", port)
    with pytest.raises(StructValueError):
        replies.play_success(dialect(546), answer)


def test_only_a_wrong_name_or_password_is_called_one() -> None:
    for reason in ("bad password", "no such account", "name not allowed"):
        assert replies.denial_code(reason) == 1
    for reason in ("busy", "server problem", "too many attempts", "banned", "disabled", ""):
        assert replies.denial_code(reason) not in (0, 1, 10)


def test_the_code_of_an_unknown_reason_is_one_that_clients_do_not_know() -> None:
    assert LoginCode.UNKNOWN_REASON > 1
    assert LoginCode.UNKNOWN_REASON not in LOGIN_TEXTS
