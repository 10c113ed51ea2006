"""Guilds of EQ2Emulator's world database.

A guild continues with the members who come from the same database, and with its ranks. Source of
the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from emu.facts import U8
from emu.guilds import (
    EVERYTHING,
    LEADER,
    LONGEST_MOTD,
    LONGEST_NOTE,
    LONGEST_RANK,
    MOST_NAME,
    RANKS,
    RECRUIT,
    Guild,
    GuildMember,
    GuildRank,
    first_ranks,
)
from emu.sqldump.report import Columns, moment, number, text, visible

GUILDS, GUILD_RANKS, GUILD_MEMBERS = "guilds", "guild_ranks", "guild_members"


def read_member(columns: Columns) -> GuildMember:
    """Return a member without its character. Raises `ValueError`."""
    return GuildMember(
        char_id=0,
        rank=number(columns, "rank_id", RECRUIT, most=RANKS - 1),
        joined=moment(columns, "join_date"),
        note=_line(columns, "note", LONGEST_NOTE),
        officer_note=_line(columns, "officer_note", LONGEST_NOTE),
        flags=number(columns, "member_flags", most=U8),
    )


def read_guild(columns: Columns, ranks: Sequence[Columns]) -> Guild:
    """Return a guild without members. Raises `ValueError`."""
    found = list(first_ranks())
    for row in ranks:
        place = number(row, "rank_id", most=RANKS - 1)
        bits = number(row, "permission1") | number(row, "permission2") << 32
        # The leader of a guild has every permission, whatever its row says.
        allowed = EVERYTHING if place == LEADER else bits & EVERYTHING
        found[place] = GuildRank(visible(row, "rank_name", LONGEST_RANK), allowed)
    return Guild(
        name=visible(columns, "name", MOST_NAME),
        motd=_line(columns, "motd", LONGEST_MOTD),
        formed=moment(columns, "formed_on"),
        ranks=tuple(found),
    )


def _line(columns: Columns, name: str, longest: int) -> str:
    """Return a text as one visible line; empty without one."""
    words = " ".join(text(columns, name).split())[:longest]
    return words if words.isprintable() else ""
