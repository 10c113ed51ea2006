"""The shipped numbers, against those that the spec's tables and real bytes give."""

from __future__ import annotations

import pytest

from emu.errors import UnknownVersion
from emu.opcodes import OpcodeTable, shipped_tables
from emu.opcodes.checks import CORE, check
from emu.opcodes.table import is_absent
from emu.opcodes.text import shipped_rows
from emu.versions import LOGIN_VERSION_STEPS, NEWEST_KNOWN

LOGIN = {
    # name: numbers at 283, 546, 561, 1096, 1208, 57048, 57080, 60114, 64753
    # (docs/protocol/opcodes.md#login-numbers)
    "OP_LoginRequestMsg": (0,) * 9,
    "OP_LoginReplyMsg": (4,) * 9,
    "OP_WorldListMsg": (8,) * 9,
    "OP_AllCharactersDescReplyMsg": (10,) * 9,
    "OP_CreateCharacterReplyMsg": (12,) * 9,
    "OP_ReskinCharacterRequestMsg": (None, *(15,) * 8),
    "OP_DeleteCharacterRequestMsg": (15, *(16,) * 6, 18, 18),
    "OP_PlayCharacterRequestMsg": (17, *(18,) * 6, 20, 20),
    "OP_PlayCharacterReplyMsg": (18, *(19,) * 6, 21, 21),
    "OP_KeymapLoadMsg": (142, 153, 153, 161, 174, 175, 175, 177, 178),
    "OP_LsClientBaselogReplyMsg": (198, 213, 213, 224, 239, 240, 240, 243, 244),
    "OP_LsClientCrashlogReplyMsg": (199, 214, 214, 225, 240, 241, 241, 244, 245),
    "OP_LsClientAlertlogReplyMsg": (200, 216, 216, 226, 241, 242, 242, 245, 246),
    "OP_LsClientVerifylogReplyMsg": (201, 217, 217, 227, 242, 243, 243, 246, 247),
}
WORLD = {
    # name: numbers at 546, 561, 1096, 1208, 60114 (docs/protocol/opcodes.md#world-numbers)
    "OP_EqHearChatCmd": (411, 417, 543, 589, 614),
    "OP_EqStateCmd": (430, 437, 564, 610, 635),
    "OP_EqUpdateTargetCmd": (484, 492, 622, 668, 693),
    "OP_ZoneInfoMsg": (29, 29, 32, 33, 35),
    "OP_DoneLoadingUIResourcesMsg": (33, 33, None, None, None),
    "OP_UpdatePositionMsg": (None, None, 38, 39, 41),
    "OP_ClientCmdMsg": (50, 50, 56, 58, 60),
    "OP_ChangeZoneMsg": (67, 67, 73, 77, 79),
    "OP_SignalMsg": (191, 191, 202, 217, 220),
    "OP_ClientFellMsg": (318, 319, 368, 384, 388),
    "OP_CharacterLinkdeadMsg": (346, 348, 396, 413, 417),
}


def at(version: int) -> OpcodeTable:
    return shipped_tables().for_version(version)


@pytest.mark.parametrize("name", LOGIN)
def test_login_numbers(name: str) -> None:
    versions = (283, 546, 561, 1096, 1208, 57048, 57080, 60114, 64753)
    assert tuple(at(version).get(name) for version in versions) == LOGIN[name]


@pytest.mark.parametrize("name", WORLD)
def test_world_numbers(name: str) -> None:
    assert tuple(at(version).get(name) for version in (546, 561, 1096, 1208, 60114)) == WORLD[name]


@pytest.mark.parametrize("version", [0, 1, 374, *LOGIN_VERSION_STEPS, NEWEST_KNOWN])
def test_every_version_with_a_login_layout_has_the_login_numbers(version: int) -> None:
    assert {name: at(version).get(name) for name in CORE} == CORE
    if version > 374:
        assert at(version).get("OP_PlayCharacterReplyMsg") in (19, 21)


@pytest.mark.parametrize("version", [375, 539, 907, 1007, 1212, 56999, 64754, 70766])
def test_unknown_clients_are_refused(version: int) -> None:
    with pytest.raises(UnknownVersion):
        at(version)


def test_nothing_is_wrong_with_the_shipped_rows() -> None:
    rows = shipped_rows()
    assert check(rows, used={row.name for row in rows}) == []
    assert not any(is_absent(row.opcode) for row in rows)
    assert all(row.source for row in rows)


def test_it_is_read_once() -> None:
    assert shipped_tables() is shipped_tables()
    assert shipped_rows() is shipped_rows()
