"""The guilds of the built-in world: their ranks and members."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from emu.errors import DuplicateName, OutOfDate
from emu.guilds import Guild, GuildChange, GuildMember, GuildRank, GuildSummary, with_leader
from emu.store.repository import Repository, changes, name_key, reads, views
from emu.times import Moment


class GuildRepository(Repository):
    """Guilds by id, and by the characters of their members."""

    __slots__ = ()

    @views
    def find(self, guild_id: int) -> Guild | None:
        """Return a guild with its ranks and members; members of deleted characters are left out."""
        row = self._run(
            "SELECT name, motd, formed, revision FROM guilds WHERE id = ?", (guild_id,)
        ).fetchone()
        if row is None:
            return None
        name, motd, formed, revision = row
        ranks = self._run(
            "SELECT name, permissions FROM guild_ranks WHERE guild_id = ? ORDER BY place",
            (guild_id,),
        )
        members = self._run(
            "SELECT own.id, place, joined, note, officer_note, flags, own.name, own.account_id,"
            " own.level, own.class, own.tradeskill_class, own.tradeskill_level, own.last_played"
            " FROM guild_members JOIN world_characters AS own ON own.id = character_id"
            " WHERE guild_id = ? AND NOT own.deleted ORDER BY joined, own.id",
            (guild_id,),
        )
        return Guild(
            id=guild_id,
            name=name,
            motd=motd,
            formed=Moment(formed),
            revision=revision,
            ranks=tuple(GuildRank(*rank) for rank in ranks),
            members=with_leader({values[0]: _member(*values) for values in members}),
        )

    @reads
    def of_character(self, char_id: int) -> int:
        """Return the id of a character's guild, 0 if it is in none."""
        row = self._run(
            "SELECT guild_id FROM guild_members WHERE character_id = ?", (char_id,)
        ).fetchone()
        return 0 if row is None else int(row[0])

    @reads
    def named(self, name: str) -> int:
        """Return the id of a guild by its name, without regard to case; 0 if there is none."""
        row = self._run("SELECT id FROM guilds WHERE name_key = ?", (name_key(name),)).fetchone()
        return 0 if row is None else int(row[0])

    @reads
    def every(self) -> Sequence[GuildSummary]:
        """Return all guilds by name, each with the number of its members."""
        rows = self._run(
            "SELECT guilds.id, guilds.name, guilds.formed, count(own.id) FROM guilds"
            " LEFT JOIN guild_members ON guild_id = guilds.id"
            " LEFT JOIN world_characters AS own ON own.id = character_id AND NOT own.deleted"
            " GROUP BY guilds.id, guilds.name, guilds.formed, guilds.name_key"
            " ORDER BY guilds.name_key"
        )
        return [GuildSummary(*row) for row in rows]

    @reads
    def revisions(self, guild_ids: Collection[int]) -> Mapping[int, int]:
        """Return the revisions of those of these guilds that exist, by id."""
        condition, values = self._among("id", guild_ids)
        rows = self._run(f"SELECT id, revision FROM guilds WHERE {condition}", (values,))  # noqa: S608
        return {row["id"]: row["revision"] for row in rows}

    @changes
    def create(self, guild: Guild) -> Guild:
        """Store a new guild and return it as `find` does.

        Raises `DuplicateName` if its name is taken, or if one of its members is in a guild.
        """
        self._check_name(guild.name)
        guild_id = self._insert(
            "guilds",
            {
                "name": guild.name, "name_key": name_key(guild.name), "motd": guild.motd,
                "formed": guild.formed, "revision": guild.revision,
            },
        )  # fmt: skip
        self._insert_many(
            "guild_ranks",
            ("guild_id", "place", "name", "permissions"),
            [
                (guild_id, place, rank.name, rank.permissions)
                for place, rank in enumerate(guild.ranks)
            ],
        )
        for member in guild.members.values():
            self._join(guild_id, member)
        found = self.find(guild_id)
        assert found is not None  # noqa: S101  # it was just stored
        return found

    @changes
    def save_change(self, guild_id: int, revision: int, change: GuildChange) -> None:
        """Store a change of the guild as it was at `revision`, all of it or nothing.

        Raises `OutOfDate` if the guild has changed since, or does not exist any more, and
        `DuplicateName` if the new name is taken or the new member is in a guild.
        """
        # First, because it also locks the row: of two processes that change a guild at once, the
        # second one finds another revision.
        row = self._run(
            "UPDATE guilds SET revision = revision + 1 WHERE id = ? AND revision = ?"
            " RETURNING name_key",
            (guild_id, revision),
        ).fetchone()
        if row is None:
            raise OutOfDate("the guild has changed meanwhile")
        if change.name is not None:
            if name_key(change.name) != row[0]:
                self._check_name(change.name)
            self._set("guilds", guild_id, name=change.name, name_key=name_key(change.name))
        if change.motd is not None:
            self._set("guilds", guild_id, motd=change.motd)
        for place, rank in change.ranks.items():
            self._run(
                "UPDATE guild_ranks SET name = ?, permissions = ? WHERE guild_id = ? AND place = ?",
                (rank.name, rank.permissions, guild_id, place),
            )
        for one in change.members:
            self._run(
                "UPDATE guild_members SET place = ?, note = ?, officer_note = ?, flags = ?"
                " WHERE guild_id = ? AND character_id = ?",
                (one.rank, one.note, one.officer_note, one.flags, guild_id, one.char_id),
            )
        if change.left:
            self._run(
                "DELETE FROM guild_members WHERE guild_id = ? AND character_id = ?",
                (guild_id, change.left),
            )
        if change.joined is not None:
            self._join(guild_id, change.joined)

    @changes
    def delete(self, guild_id: int, revision: int = 0) -> bool:
        """Remove a guild with all that belongs to it; return whether it existed.

        With a `revision` it is removed only as it was then. Raises `OutOfDate` if it has changed
        since.
        """
        condition = "id = ? AND (revision = ? OR ? = 0)"
        values = (guild_id, revision, revision)
        if self._run(f"DELETE FROM guilds WHERE {condition}", values).rowcount:  # noqa: S608
            return True
        if self._run("SELECT 1 FROM guilds WHERE id = ?", (guild_id,)).fetchone() is not None:
            raise OutOfDate("the guild has changed meanwhile")
        return False

    def _check_name(self, name: str) -> None:
        taken = self._run("SELECT 1 FROM guilds WHERE name_key = ?", (name_key(name),)).fetchone()
        if taken is not None:
            raise DuplicateName(f"there is a guild {name} already")

    def _join(self, guild_id: int, member: GuildMember) -> None:
        row = self._run(
            "SELECT 1 FROM guild_members WHERE character_id = ?", (member.char_id,)
        ).fetchone()
        if row is not None:
            raise DuplicateName(f"{member.name} is in a guild already")
        self._run(
            "INSERT INTO guild_members (character_id, guild_id, place, joined, note, officer_note,"
            " flags) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                member.char_id, guild_id, member.rank, member.joined, member.note,
                member.officer_note, member.flags,
            ),
        )  # fmt: skip


def _member(char_id: int, rank: int, *values: object) -> GuildMember:
    names = (
        "joined", "note", "officer_note", "flags", "name", "account_id", "level", "class_",
        "tradeskill_class", "tradeskill_level", "last_played",
    )  # fmt: skip
    return GuildMember(char_id=char_id, rank=rank, **dict(zip(names, values, strict=True)))  # type: ignore[arg-type]
