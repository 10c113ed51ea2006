"""Windows, rewards and letters with things: EQ2Emulator's recordings, where they are at hand."""

from __future__ import annotations

from collections import Counter

import pytest

from emu.errors import MalformedMessage
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.structs.packed import EXAMINE_INFO, read_client_cmds
from tests.support.files.recordings import recorded_rows

OF_THINGS = {
    EXAMINE_INFO, "OP_EqUpdateLootCmd", "OP_EqQuestJournalReplyCmd", "OP_OfferQuestMsg",
    "OP_RewardPackMsg", "OP_QuestReward", "OP_ShowItemCreationProcessUIMsg",
    "OP_MailGetHeadersReplyMsg", "OP_MailGetMessageReplyMsg", "OP_EqUpdatePlayerMailCmd",
    "OP_EqCollectionUpdateCmd", "OP_MapFogDataInitMsg",
}  # fmt: skip


def count(name: str, version: int) -> tuple[Counter[str], int]:
    """Return the messages that decode whole by name, and the windows of zeros."""
    table = shipped_tables().for_version(version)
    whole: Counter[str] = Counter()
    zeros = 0
    for row in recorded_rows(name):
        if row["k"] != "app":
            continue
        body = bytes.fromhex(row["hex"])
        messages = [(table.name(row["op"]), body)]
        if messages[0][0] == "OP_ClientCmdMsg":
            commands = read_client_cmds(body, version, examine_info=table.get(EXAMINE_INFO))
            messages = [(table.name(one.opcode), one.payload) for one in commands]
        for message, payload in messages:
            if message not in OF_THINGS:
                continue
            # A fault of that server: after wearing and taking off it sends a window of zeros.
            if message == EXAMINE_INFO and not any(payload):
                zeros += 1
                continue
            assert is_whole(message, version, payload), (message, payload.hex())
            whole[message] += 1
    return whole, zeros


def is_whole(message: str, version: int, payload: bytes) -> bool:
    for layout in shipped_catalog().for_opcode(message, version):
        try:
            if layout.encode(layout.decode(payload), strict=True) == payload:
                return True
        except MalformedMessage:
            continue
    return False


@pytest.mark.parametrize(
    ("name", "version", "windows"),
    [
        ("items-546-carry", 546, 40), ("items-561-carry", 561, 40), ("items-1096-all", 1096, 40),
        ("items-1208-carry", 1208, 60), ("items-60114-carry", 60114, 60),
        ("fight-1096-priest-a", 1096, 2), ("fight-1208-priest-a", 1208, 2),
        ("fight-60114-priest-a", 60114, 2), ("fight-546-quest-a", 546, 0),
        ("fight-1096-quest-a", 1096, 0), ("fight-1208-quest-a", 1208, 0),
        ("fight-60114-quest-a", 60114, 0),
    ],
)  # fmt: skip
def test_all_but_the_windows_of_zeros_decode_whole(name: str, version: int, windows: int) -> None:
    whole, _ = count(name, version)
    assert whole[EXAMINE_INFO] >= windows
    if not windows:
        assert whole["OP_EqQuestJournalReplyCmd"] > 5
        assert whole["OP_OfferQuestMsg"] > 0
