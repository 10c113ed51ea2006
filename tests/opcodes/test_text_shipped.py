"""The shipped numbers, against those that the spec's tables and real bytes give."""

from __future__ import annotations

import pytest

from emu.errors import UnknownVersion
from emu.opcodes import OpcodeTable, shipped_tables
from emu.opcodes.checks import CORE, NEEDED_TO_ENTER, check
from emu.opcodes.table import is_absent
from emu.opcodes.text import shipped_rows
from emu.versions import LAST_OLD_CLIENT, LOGIN_VERSION_STEPS, NEWEST_KNOWN

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
    "OP_MailSendMessageMsg": (272, 273, 322, 338, 342),
    "OP_MailGetHeadersReplyMsg": (274, 275, 324, 340, 344),
    "OP_MailGetMessageReplyMsg": (275, 276, 325, 341, 345),
    "OP_MailSendMessageReplyMsg": (276, 277, 326, 342, 346),
    "OP_EqUpdatePlayerMailCmd": (490, 498, 630, 676, 701),
    "OP_EqHelpPathCmd": (453, 460, 588, 634, 659),
    "OP_EqPlaySoundCmd": (431, 438, 565, 611, 636),
    "OP_EqPlaySound3DCmd": (432, 439, 566, 612, 637),
    "OP_ShowZoneTeleporterDestinations": (285, 286, 336, 352, 356),
    "OP_SelectZoneTeleporterDestinatio": (286, 287, 337, 353, 357),
    "OP_WaypointSelectMsg": (282, 283, 333, 349, 353),
    "OP_WaypointUpdateMsg": (283, 284, 334, 350, 354),
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


STEPS = {
    # name: (first version, number), valid until the next; recorded from a server of every range
    "OP_ZoneInfoMsg": ((562, 31), (1096, 32), (1188, 33), (60085, 35)),
    "OP_UpdatePositionMsg": ((562, 36), (908, 37), (1096, 38), (1188, 39), (60085, 41)),
    "OP_ClientCmdMsg": ((562, 53), (908, 55), (1096, 56), (1188, 58), (60085, 60)),
    "OP_SignalMsg": (
        (562, 191), (908, 198), (972, 199), (1045, 203), (1096, 202), (1188, 216), (1204, 217),
        (57003, 218), (60085, 220), (60127, 221),
    ),
    "OP_DefaultGroupOptionsMsg": (
        (562, 175), (908, 180), (972, 181), (1045, 185), (1096, 184), (1188, 196), (1204, 197),
        (57003, 198), (60085, 200), (60127, 201),
    ),
    "OP_EqHearChatCmd": (
        (562, 480), (908, 494), (972, 522), (1045, 541), (1096, 543), (1188, 586), (1198, 587),
        (1204, 588), (1208, 589), (57003, 590), (57015, 594), (57048, 597), (57080, 600),
        (57107, 602), (57121, 604), (58542, 605), (58604, 608), (58647, 609), (60024, 611),
        (60036, 612), (60085, 614), (60127, 615), (60160, 622), (61581, 629), (61608, 627),
        (63119, 641), (63120, 643), (63137, 644), (63167, 640), (63213, 641), (64647, 643),
        (64662, 644), (64678, 647), (64736, 649),
    ),
}  # fmt: skip
RECORDED = (
    562, 838, 908, 927, 972, 1011, 1045, 1086, 1096, 1188, 1195, 1198, 1204, 1208, 57000, 57003,
    57015, 57032, 57048, 57080, 57107, 57121, 58542, 58604, 58647, 60024, 60036, 60085, 60114,
    60127, 60160, 61581, 61608, 63119, 63120, 63136, 63137, 63167, 63213, 64647, 64659, 64662,
    64678, 64736, 64753,
)  # fmt: skip
COMMANDS_AFTER_HEAR_CHAT = {
    "OP_EqDisplayTextCmd": 1, "OP_EqCreateGhostCmd": 2, "OP_EqCreateWidgetCmd": 3,
    "OP_EqCreateSignWidgetCmd": 4, "OP_EqDestroyGhostCmd": 5, "OP_EqUpdateGhostCmd": 6,
    "OP_EqSetControlGhostCmd": 7, "OP_EqSetPOVGhostCmd": 8, "OP_EqCannedEmoteCmd": 20,
    "OP_EqStateCmd": 21, "OP_EqChatChannelUpdateCmd": 76, "OP_EqWhoChannelQueryReplyCmd": 77,
}  # fmt: skip


@pytest.mark.parametrize("version", RECORDED)
def test_the_world_numbers_of_every_recorded_range(version: int) -> None:
    table = at(version)
    for name, steps in STEPS.items():
        expected = [number for first, number in steps if first <= version][-1]
        assert table.get(name) == expected, name
    hear = table.number("OP_EqHearChatCmd")
    for name, offset in COMMANDS_AFTER_HEAR_CHAT.items():
        assert table.get(name) == hear + offset, name


def test_every_table_above_561_lets_a_client_enter() -> None:
    """A table with the login's numbers only would leave its clients outside the world."""
    for first, _, table in shipped_tables().spans():
        if first > LAST_OLD_CLIENT:
            assert [name for name in NEEDED_TO_ENTER if table.get(name) is None] == [], first


@pytest.mark.parametrize("version", [0, 1, 374, *LOGIN_VERSION_STEPS, NEWEST_KNOWN])
def test_every_version_with_a_login_layout_has_the_login_numbers(version: int) -> None:
    assert {name: at(version).get(name) for name in CORE} == CORE
    if version > 374:
        assert at(version).get("OP_PlayCharacterReplyMsg") in (19, 21)


@pytest.mark.parametrize("version", [375, 539, 907, 1026, 1213, 56999, 64754, 70766])
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
