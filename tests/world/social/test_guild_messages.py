"""The messages of the guild window, read by a decoder of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.dialects.dialect import wire_texts
from emu.guilds import LEADER, RECRUIT, Guild, GuildMember, GuildRank
from emu.model import Present
from emu.times import Moment
from emu.world.social.guild_messages import (
    MEMBER,
    MEMBERS,
    UPDATE,
    MemberRows,
    ShownMember,
    member_fields,
    present_of,
    update_fields,
)
from tests.support.examples import tries
from tests.support.world.ghost_views import dialect
from tests.support.world.guild_bytes import guild_member, guild_members, guild_update
from tests.support.world.worlds import WorldHarness

VERSIONS = (546, 561, 843, 927, 1008, 1096, 1142, 1188, 1208, 57080, 60085, 60114, 64753)
GUEST = GuildMember(char_id=6, name="Borvik", note="grüßt", officer_note="sly")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@pytest.mark.slow
@given(
    st.sampled_from(VERSIONS), TEXTS, TEXTS,
    st.lists(st.tuples(TEXTS, st.integers(0, (1 << 45) - 1)), min_size=8, max_size=8),
)  # fmt: skip
@tries(30)
def test_any_guild_is_read_as_it_was(
    version: int, name: str, motd: str, ranks: list[tuple[str, int]]
) -> None:
    guild = Guild(
        id=7, name=name, motd=motd, formed=Moment(1_700_000_000.0),
        ranks=tuple(GuildRank(*rank) for rank in ranks),
        members={5: GuildMember(char_id=5, account_id=8), 6: GuildMember(char_id=6, account_id=8)},
    )  # fmt: skip
    payload = dialect(version).encode_known(UPDATE, wire_texts(update_fields(guild)))
    shown = guild_update(payload, version)
    assert (shown.name, shown.motd, shown.guild_id, shown.formed) == (name, motd, 7, 1_700_000_000)
    assert shown.ranks == ranks
    assert shown.accounts == 1
    assert shown.members == (2 if version > 561 else 0)


@given(
    st.sampled_from(VERSIONS),
    st.tuples(TEXTS, TEXTS, TEXTS),
    st.integers(0, 7),
    st.integers(0, 255),
)
@tries(30)
def test_any_member_is_read_as_it_was(
    version: int, texts: tuple[str, str, str], rank: int, level: int
) -> None:
    zone, note, officer_note = texts
    member = GuildMember(
        char_id=0x01020304, name="Borvik", rank=rank, note=note, officer_note=officer_note, flags=2,
        class_=3, level=level, last_played=Moment(5.9),
    )  # fmt: skip
    fields = {"guild_id": 9, **member_fields(member, None, zone)}
    payload = dialect(version).encode_known(MEMBER, wire_texts(fields))
    guild_id, row = guild_member(payload, version)
    assert guild_id == 9
    assert (row.char_id, row.name, row.klass, row.level) == (0x01020304, "Borvik", 3, level)
    assert (row.rank, row.flags, row.last_login) == (rank, 2, 5)
    assert (row.zone, row.note, row.officer_note) == (zone, note, officer_note)
    listed = {"guild_id": 9, "num_members": 2, "member_array": [fields, fields]}
    payload = dialect(version).encode_known(MEMBERS, wire_texts(listed))
    assert guild_members(payload, version) == (9, 0, [row, row])


@pytest.mark.parametrize("version", [546, 1208])
def test_each_member_gets_a_list_of_its_own(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version, name="Aldana", level=30)
    two = harness.stand(6, version, name="Borvik", zone_id=12)
    one.types("/guild create The Wolves")
    one.types("/guild invite Borvik")
    two.types("/guild accept")
    one.types("/set_guild_officer_note Borvik sly")
    one.types("/guild promote Borvik")
    for client, number, officer_note in ((one, 5, "sly"), (two, 6, "")):
        sent = [body for name, body in client.log if name == "OP_GuildMembershipResponseMsg"][-1]
        guild_id, recipient, rows = guild_members(sent, version)
        assert (guild_id, recipient) == (1, number)
        assert [(row.name, row.rank, row.zone, row.officer_note) for row in rows] == [
            ("Aldana", LEADER, "Isle of Refuge", ""),
            ("Borvik", RECRUIT - 1, "Antonica", officer_note),
        ]
    two.types("/guild leave")
    sent = [body for name, body in two.log if name == "OP_GuildUpdateMsg"][-1]
    assert guild_update(sent, version).guild_id == 0


def test_a_hidden_member_is_not_present() -> None:
    member = GuildMember(char_id=5)
    hidden, shown = Present(1, 5, 12, hidden=True), Present(1, 5, 12)
    assert present_of(member, {5: hidden}.get) is None
    assert present_of(member, {5: shown}.get) is shown
    assert present_of(member, {}.get) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_list_of_kept_rows_is_what_the_layout_writes(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version, name="Aldana", level=30)
    one.types("/guild create The Wolves")
    guild, rows = harness.guilds.rows[1], MemberRows()
    for level in (30, 30, 31):
        present = Present(1, 5, 325, name="Aldana", level=level)
        shown = [ShownMember(guild.members[5], present, "Isle"), ShownMember(GUEST, None, "")]
        one.log.clear()
        rows.send(one.player, guild, shown)
        fields = [member_fields(*row) for row in shown]
        whole = {"guild_id": 1, "character_id_to": 5, "num_members": 2, "member_array": fields}
        expected = dialect(version).encode_known(MEMBERS, wire_texts(whole))
        assert one.log == [("OP_GuildMembershipResponseMsg", expected)]
        rows.send(one.player, guild, shown)
        assert one.log[1] == one.log[0]
