"""Our zone-in beside the recorded ones: the same messages in the same order, of the same sizes.

The world is given what EQ2Emulator's had, read from the recording itself: names, skills, hotkeys,
titles and the greeting. What stays different is said where it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from emu.model import Hotkey, Title
from emu.structs.packed import read_client_cmds, unpack
from emu.world.knowledge import Knowledge, Skill
from emu.world.rules import ChatRules, WorldRules
from tests.support.files.recordings import recording
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import KNOWLEDGE, Client, WorldHarness

RECORDINGS = [(546, "546-zonein-alone", 4897), (561, "561-two-players", 4908)]
MANDATORY = (
    "OP_PopulateSkillMapsMsg", "OP_LoginReplyMsg", "OP_SetRemoteCmdsMsg", "OP_KnownLanguagesMsg",
    "OP_ZoneInfoMsg", "OP_ChatRelationshipUpdateMsg", "OP_DoneSendingInitialEntitiesMsg",
    "OP_EqCreateGhostCmd", "OP_EqSetPOVGhostCmd", "OP_EqSetControlGhostCmd",
    "OP_UpdateCharacterSheetMsg", "OP_DoneLoadingUIResourcesMsg",
)  # fmt: skip
"""What docs/protocol/world/entering.md#order does not allow to leave out, or says to try."""
SAME_SIZE = (
    "OP_PopulateSkillMapsMsg", "OP_LoginReplyMsg", "OP_QuickbarInitMsg",
    "OP_EqQuestJournalUpdateCmd", "OP_EqCollectionUpdateCmd", "OP_EqFactionUpdateCmd",
    "OP_KnownLanguagesMsg", "OP_ChatRelationshipUpdateMsg", "OP_MoveableObjectPlacementCriteri",
    "OP_GameWorldTimeMsg", "OP_DoneSendingInitialEntitiesMsg", "OP_EqSetPOVGhostCmd",
    "OP_EqSetControlGhostCmd", "OP_UpdateSkillBookMsg", "OP_UpdateSpellBookMsg",
    "OP_DoneLoadingUIResourcesMsg", "OP_UpdateInventoryMsg", "OP_TitleUpdateMsg",
    "OP_DefaultGroupOptionsMsg", "OP_UpdateRecipeBookMsg", "OP_EqDisplayTextCmd",
    "OP_EqAvailWorldChannelsCmd",
)  # fmt: skip
SAME_BYTES = frozenset(SAME_SIZE) - {
    "OP_EqQuestJournalUpdateCmd",  # the CRC of a name, which differs from the compared one
    "OP_ChatRelationshipUpdateMsg",  # the account's number
    "OP_GameWorldTimeMsg",  # the time of day
    "OP_QuickbarInitMsg",  # the slots in another order
    "OP_EqSetControlGhostCmd",  # there one more, for nobody, comes before one's own
    "OP_UpdateSkillBookMsg",  # one skill of a fighter stands there with its lower value
}


@dataclass
class Recorded:
    """The messages that a recording's first client was sent until it stood, commands by name."""

    reported: list[tuple[str, bytes]]
    version: int

    def first(self, name: str) -> bytes:
        return next(payload for reported, payload in self.reported if reported == name)

    def fields(self, struct: str) -> dict[str, Any]:
        layout = dialect(self.version).layout(struct)
        definition = layout.definition
        return layout.decode(self.first(definition.opcode_type or definition.opcode_name))


def zone_in(version: int, name: str) -> Recorded:
    def messages() -> Iterator[tuple[str, bytes]]:
        table = dialect(version).table
        for row in recording(name)[1]:
            if row["k"] != "app" or row["c"] != "A" or row["d"] != "s2c":
                continue
            payload = bytes.fromhex(row["hex"])
            if row["name"] != "OP_ClientCmdMsg":
                yield row["name"], payload
                continue
            for command in read_client_cmds(payload, version):
                yield table.name(command.opcode) or "", command.payload

    reported = []
    for message in messages():
        reported.append(message)
        if message[0] == "OP_UpdateRecipeBookMsg":
            break
    return Recorded(reported, version)


def ours(recorded: Recorded) -> Client:
    """Let somebody in whose world has what the recorded one had."""
    skills = recorded.fields("WS_SkillMap")["skill_array"]
    keys = recorded.fields("WS_QuickBarInit")["ability_array"]
    titles = recorded.fields("WS_TitleUpdate")["titles_array"]
    channels = recorded.fields("WS_AvailWorldChannels")["channel_array"]
    zone = recorded.fields("WS_ZoneInfo")
    motd = recorded.fields("WS_DisplayText")["text"]
    harness = WorldHarness(WorldRules(name=zone["server1"], motd=motd))
    harness.chat.rules = ChatRules(channels=tuple(row["channel_name"] for row in channels))
    harness.world.knowledge = Knowledge(
        skills=[
            Skill(row["skill_id"], row["name"], "", row["description"],
                  *((known.type, known.shown) if known else ()))
            for row in skills
            for known in [KNOWLEDGE.skills.get(row["skill_id"])]
        ],
        beginners=KNOWLEDGE.beginners,
        older=KNOWLEDGE.older,
    )  # fmt: skip
    return harness.stand(
        5, recorded.version, name=zone["char_name"], class_=1, last_played=1.0,
        hotkeys=tuple(
            Hotkey(row["hotbar"], row["slot"], row["type"], row["icon"], row["icon_type"],
                   row["id"], row["unique_id"], row["text"])
            for row in keys
        ),
        titles=tuple(Title(row["title"], bool(row["prefix"])) for row in titles),
    )  # fmt: skip


@pytest.fixture(params=RECORDINGS, ids=["546", "561"])
def pair(request: pytest.FixtureRequest) -> tuple[Recorded, Client, int]:
    version, name, sheet = request.param
    recorded = zone_in(version, name)
    return recorded, ours(recorded), sheet


def firsts(names: list[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name in MANDATORY]


def test_mandatory_messages_come_in_the_recorded_order(pair: tuple[Recorded, Client, int]) -> None:
    recorded, client, _ = pair
    there = firsts([name for name, _ in recorded.reported])
    here = firsts(client.names)
    assert set(here) == set(there) == set(MANDATORY)
    # Ghosts of the neighbours come before one's own there; and relations cross the client's answer.
    late = {"OP_EqCreateGhostCmd", "OP_EqSetControlGhostCmd"}
    assert [name for name in here if name not in late] == [
        name for name in there if name not in late
    ]


def test_all_that_is_sent_there_is_sent_here(pair: tuple[Recorded, Client, int]) -> None:
    recorded, client, _ = pair
    elsewhere = {"OP_EqCreateSignWidgetCmd", "OP_EqCreateWidgetCmd"}  # what stood in its zone
    assert {name for name, _ in recorded.reported} - elsewhere == set(client.names)


@pytest.mark.parametrize("name", SAME_SIZE)
def test_where_the_content_is_equal_so_is_the_size(
    pair: tuple[Recorded, Client, int], name: str
) -> None:
    recorded, client, _ = pair
    sent = next(payload for reported, payload in client.log if reported == name)
    assert len(sent) == len(recorded.first(name))
    if name in SAME_BYTES:
        assert sent.hex() == recorded.first(name).hex()


def test_zone_info_differs_by_its_website_and_no_more(pair: tuple[Recorded, Client, int]) -> None:
    recorded, client, _ = pair
    theirs = recorded.fields("WS_ZoneInfo")
    (own,) = client.decoded("WS_ZoneInfo")
    changed = {name for name, value in own.items() if value != theirs[name]}
    allowed = {"auction_website", "upload_page", "upload_key", "x", "y", "z", "year", "month",
               "day", "hour", "minute", "underworld"}  # fmt: skip
    assert changed <= allowed
    texts = ("auction_website", "upload_page", "upload_key")
    lengths = [sum(len(fields[name]) for name in texts) for fields in (theirs, own)]
    (payload,) = [payload for name, payload in client.log if name == "OP_ZoneInfoMsg"]
    assert len(recorded.first("OP_ZoneInfoMsg")) - lengths[0] == len(payload) - lengths[1]


def test_the_sheet_is_as_large_as_there(pair: tuple[Recorded, Client, int]) -> None:
    recorded, client, size = pair
    (sent,) = [payload for name, payload in client.log if name == "OP_UpdateCharacterSheetMsg"]
    for payload in (recorded.first("OP_UpdateCharacterSheetMsg"), sent):
        sheet, end = unpack(payload, size, recorded.version)
        assert (len(sheet), end) == (size, len(payload))
