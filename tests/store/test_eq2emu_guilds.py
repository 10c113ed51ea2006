"""Guilds of EQ2Emulator's worlds, as this world stores them.

Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.guilds import EVERYTHING, Permission, first_ranks
from emu.store.eq2emu_guilds import read_guild, read_member
from emu.times import UNKNOWN
from tests.support.files.eq2emu_players import WOLVES

GUILD, RANKS = WOLVES["guilds"][0], WOLVES["guild_ranks"]
ALDANA = WOLVES["guild_members"][0]


def test_a_guild_has_its_ranks_and_the_usual_ones_besides() -> None:
    guild = read_guild(GUILD, RANKS)
    assert (guild.name, guild.motd, guild.formed) == (
        "The Wolves of 99", "Meet at the inn", 1_500_000_000,
    )  # fmt: skip
    names = [rank.name for rank in guild.ranks]
    assert names == ["Alpha", "Senior Officer", "Beta", *[one.name for one in first_ranks()[3:]]]


def test_permissions_are_the_bits_of_both_columns() -> None:
    leader, _, officer, *_ = read_guild(GUILD, RANKS).ranks
    assert leader.permissions == EVERYTHING
    # An officer of a new guild of EQ2Emulator has 6320242 in the first column.
    assert officer.permissions & 0xFFFFFFFF == 6320242
    assert officer.allows(Permission.REMOVE)
    assert not officer.allows(Permission.INVITE)
    assert officer.permissions >> 32 == EVERYTHING >> 32


def test_a_member_has_its_rank_and_its_notes() -> None:
    member = read_member(ALDANA)
    assert (member.rank, member.joined, member.flags) == (2, 1_600_000_000, 6)
    assert (member.note, member.officer_note) == ("Bakes bread", "Promote soon")
    recruit = read_member({"join_date": None, "note": "a\x00b"})
    assert (recruit.rank, recruit.joined, recruit.note) == (7, UNKNOWN, "")


@pytest.mark.parametrize(
    ("guild", "rank", "reason"),
    [
        ({"name": ""}, {}, "its name is empty"),
        ({"name": "x" * 41}, {}, "too long"),
        ({}, {"rank_id": 8}, "rank_id is out of range"),
        ({}, {"rank_name": ""}, "its rank_name is empty"),
        ({}, {"permission1": -1}, "permission1 is out of range"),
    ],
)
def test_a_guild_that_cannot_be_one_here_is_left_out(
    guild: dict[str, Any], rank: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        read_guild({**GUILD, **guild}, [{**RANKS[1], **rank}])
    with pytest.raises(ValueError, match="rank_id is out of range"):
        read_member({**ALDANA, "rank_id": 8})
