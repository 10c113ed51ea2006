"""Import of the characters of EQ2Emulator's worlds into the built-in world.

The login database lists characters, and each world's own database has the characters themselves.
`WorldImport` stores the characters of a world in the built-in world. `CharacterImport`
(`emu.store.eq2emu`) then lists them there, with appearance and equipment as in the old list.

The table `imported_characters` states which character became which. So a repeated import finds a
character that was renamed, played or deleted since, and does not change it.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from emu.guilds import MOST_MEMBERS, GuildChange, GuildMember
from emu.items.held import Thing, Where
from emu.ledger import Movement, Owner, OwnerKind, Part, Placed, Reason, ThingChanges, What
from emu.link.settings import hash_link_password
from emu.model import BUILT_IN_ACCOUNT, WorldCharacter
from emu.sqldump import ImportReport, RowSource, Tally
from emu.sqldump.report import number
from emu.store.eq2emu_character import BuiltInWorld, Composed, Facts, compose
from emu.store.eq2emu_guilds import GUILD_RANKS, GUILDS, read_guild
from emu.store.eq2emu_houses import ImportedHouse
from emu.store.eq2emu_rows import CHARACTERS, CharacterRows, DumpRow
from emu.store.repository import Repository, changes, reads
from emu.store.store import Store
from emu.times import Moment

MOST_NAMES = 5
"""Names that one line of the report lists."""


@dataclass(frozen=True, slots=True)
class OldWorld:
    """A world of EQ2Emulator whose characters continue in the built-in world."""

    name: str
    """Its name in the login database."""
    dumps: Sequence[RowSource] = ()
    """Its own database: the live one, a dump, or a dump for each table."""


@dataclass(frozen=True, slots=True)
class ContinuedWorld:
    """A world of the login database's dump that the built-in world continues."""

    key: str
    """Key of its link account; it identifies the world in `imported_characters`."""
    name: str
    stored_id: int | None
    """Its id in the store, if an earlier import stored it."""


class ImportedCharacters(Repository):
    """Which characters of other worlds became which characters of the built-in world."""

    @reads
    def find(self, world: str, char_id: int) -> tuple[int, int] | None:
        """Return account id and own id of a character that was imported."""
        row = self._run(
            "SELECT account_id, own_id FROM imported_characters WHERE world = ? AND char_id = ?",
            (world, char_id),
        ).fetchone()
        return None if row is None else (row["account_id"], row["own_id"])

    @reads
    def has_world(self, world: str) -> bool:
        """Return whether any character of a world was imported."""
        found = self._run("SELECT 1 FROM imported_characters WHERE world = ? LIMIT 1", (world,))
        return found.fetchone() is not None

    @reads
    def has_any(self, world: str, own_ids: Collection[int]) -> bool:
        """Return whether one of some characters of the built-in world came from a world."""
        condition, values = self._among("own_id", own_ids)
        found = self._run(
            f"SELECT 1 FROM imported_characters WHERE world = ? AND {condition} LIMIT 1",  # noqa: S608
            (world, values),
        )
        return found.fetchone() is not None

    @changes
    def rename_friends(self, first_id: int, before: str, name: str) -> None:
        """Change a name in the lists of friends and ignored players, for characters from an id."""
        self._run(
            "UPDATE world_relations SET name = ? WHERE name = ? AND character_id >= ?",
            (name, before, first_id),
        )

    @changes
    def add(self, world: str, char_id: int, account_id: int, own_id: int) -> None:
        """Record an imported character."""
        row = {"world": world, "char_id": char_id, "account_id": account_id, "own_id": own_id}
        self._insert_new("imported_characters", row)


@dataclass(slots=True)
class _Summary:
    """What the report says about all characters of a world together."""

    deleted: int = 0
    first_id: int = 0
    """The lowest id of the new characters."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Old name -> new name."""
    renamed_guilds: dict[str, str] = field(default_factory=dict)
    ranks: list[str] = field(default_factory=list)
    members: defaultdict[int, list[GuildMember]] = field(default_factory=lambda: defaultdict(list))
    """The new characters that are in a guild of the dump, by its number."""
    guilds: list[str] = field(default_factory=list)
    """The guilds that continue."""
    lost_zones: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    later: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class WorldImport:
    """Stores the characters of old worlds in the built-in world."""

    store: Store
    report: ImportReport
    world: BuiltInWorld
    _: KW_ONLY
    account_of: Callable[[int], int]
    """Returns the account id in the store of one of the dump. Raises `ValueError`."""
    moment: Moment
    imported: ImportedCharacters = field(init=False)
    _summary: _Summary = field(init=False, default_factory=_Summary)

    def __post_init__(self) -> None:
        self.imported = ImportedCharacters(self.store.database)

    def make_space(self, source: ContinuedWorld) -> None:
        """Give an old world another name if it has that of the built-in world."""
        worlds = self.store.login.worlds
        named = worlds.find(self.world.name)
        # The old world has the name that the built-in world needs; its account makes the new name
        # unique.
        if named is not None and named.id == source.stored_id:
            worlds.rename(named.id, f"{named.name} ({named.account})")

    def register(self) -> None:
        """Register the built-in world unless it is, as the server's first start does.

        Raises `DuplicateName` if another world has its name.
        """
        worlds = self.store.login.worlds
        if worlds.find_by_account(BUILT_IN_ACCOUNT) is None:
            # The server sets a new password at each start, so nobody needs to know this one.
            hashed = hash_link_password(secrets.token_hex(16))
            worlds.put_built_in(self.world.name, hashed, self.moment)

    def bring(self, source: ContinuedWorld, old: OldWorld, progress: Callable[[int], None]) -> None:
        """Store the characters of a world. Raises `FileFormatError` and `CommandError`."""
        self._summary = _Summary()
        # The rows live as long as this block; the temporary file is removed at its end, also after
        # an error.
        with CharacterRows() as rows:
            rows.read_dumps(old.dumps, progress)
            facts = Facts(self.world, rows.fact, rows.facts)
            for table, place, fault in rows.malformed:
                self._leave_out(table, place, fault)
            for row in rows.characters():
                self._bring_one(source, row, rows, facts)
            for row in rows.ownerless():
                self._leave_out(row.table, row.place, "its character does not exist")
            self.report.later += rows.later
            for guild_id, members in self._summary.members.items():
                self._bring_guild(source, facts, guild_id, members)
        # The last one first: an earlier character may have got the name that a later one had.
        for before, name in reversed(self._summary.renamed.items()):
            self.imported.rename_friends(self._summary.first_id, before, name)
        self._summarize(source)

    def _bring_one(
        self, source: ContinuedWorld, row: DumpRow, rows: CharacterRows, facts: Facts
    ) -> None:
        char_id = int(row.columns["id"])
        own = rows.belongings(char_id)
        try:
            known = self.imported.find(source.key, char_id)
            # A deleted character that was never imported stays in the dump. One that was imported
            # is compared below.
            if known is None and number(row.columns, "deleted"):
                self._summary.deleted += 1
                return
            account_id = self.account_of(number(row.columns, "account_id"))
            # First: after a reset of its world, the number may belong to a character of another
            # account.
            _check_account(known, account_id)
            if known is not None:
                self._count([row, *own], "present")
                return
            made = compose(row.columns, account_id, self._version_of(account_id), own, facts)
        except ValueError as error:
            self._leave_out(CHARACTERS, row.place, str(error))
            self._count(own, "skipped")
            return
        self._store(source, char_id, made)
        left_out = [one for one, _ in made.left_out]
        self._count([row, *(one for one in own if one not in left_out)], "added")
        for one, reason in made.left_out:
            self._leave_out(one.table, one.place, reason)
        for problem in made.problems:
            self.report.note(CHARACTERS, f"{made.character.name}: {problem}")

    def _store(self, source: ContinuedWorld, char_id: int, made: Composed) -> None:
        # The name may be taken here, but not the number: the store assigns a new one.
        wanted = replace(made.character, name=self._free_name(made.character.name))
        stored = self.store.world.characters.create(wanted)
        self.store.world.belongings.replace(stored)
        self._store_things(stored, made)
        self._store_letters(stored, made)
        self.imported.add(source.key, char_id, stored.account_id, stored.id)
        summary = self._summary
        # Only characters from this id on are new, and only their lists of friends have the old
        # names.
        summary.first_id = summary.first_id or stored.id
        summary.later.update(made.later)
        if made.membership is not None:
            member = replace(made.membership, char_id=stored.id, name=stored.name)
            summary.members[made.guild].append(member)
        if wanted.name != made.character.name:
            summary.renamed[made.character.name] = wanted.name
        if wanted.admin_status:
            summary.ranks.append(f"{wanted.name} {wanted.admin_status}")
        if made.lost_zone:
            summary.lost_zones[made.lost_zone].append(wanted.name)

    def _store_things(self, stored: WorldCharacter, made: Composed) -> None:
        """Give a new character its things, with numbers of this world, and its coins elsewhere."""
        houses = [(self._house(stored, one), one) for one in made.houses]
        standing = [(owner, one) for owner, house in houses for one in house.things]
        things = (
            *made.things, *made.sold, *made.books, *made.pieces,
            *(one.thing for _, one in standing),
        )  # fmt: skip
        coins = [(owner, house.coins) for owner, house in houses]
        coins.append((Owner(OwnerKind.BANK, stored.id), made.bank))
        if not things and not any(amount for _, amount in coins):
            return
        first = self.store.world.things.reserve(len(things)) if things else 0
        numbers = {one.id: first + place for place, one in enumerate(things)}
        away = {one.id: Owner(OwnerKind.SOLD, stored.id) for one in made.sold}
        away |= {one.id: Owner(OwnerKind.LIBRARY, stored.id) for one in made.books}
        away |= {one.id: Owner(OwnerKind.PIECES, stored.id) for one in made.pieces}
        away |= {one.thing.id: owner for owner, one in standing}
        given = Owner(OwnerKind.IMPORT)
        kept: dict[Owner, list[Thing]] = {}
        parts = [Part(given, owner, amount) for owner, amount in coins if amount]
        for one in things:
            owner, place = away.get(one.id), one.place
            if owner is None:
                owner = _keeper(stored, one)
                place = place._replace(bag=numbers.get(place.bag, 0))
            kept.setdefault(owner, []).append(replace(one, id=numbers[one.id], place=place))
            parts.append(Part(given, owner, one.count, What.THINGS, one.item_id))
        changes = tuple(ThingChanges(owner, tuple(some)) for owner, some in kept.items())
        placed = tuple(
            Placed(numbers[one.thing.id], owner.number, *one[1:]) for owner, one in standing
        )
        movement = Movement(
            f"import-things-{stored.id}", Reason.IMPORTED, tuple(parts), things=changes,
            placed=placed,
        )  # fmt: skip
        self.store.world.ledger.move(movement, stored.created)

    def _store_letters(self, stored: WorldCharacter, made: Composed) -> None:
        """Put letters into the mailbox of a new character; they are kept as long as new ones."""
        expires = Moment(self.moment + self.world.letter_seconds)
        for one in made.letters:
            letter = replace(one.letter, recipient_id=stored.id)
            self.store.world.mail.bring(letter, one.sent, expires, self.moment)

    def _house(self, stored: WorldCharacter, house: ImportedHouse) -> Owner:
        """Store a house of a new character; return it as the owner of what is in it."""
        number = self.store.world.houses.bring(
            stored.id, house.home, moment=self.moment, upkeep_due=house.upkeep_due,
            status=house.status, books=house.books,
        )  # fmt: skip
        return Owner(OwnerKind.HOUSE, number)

    def _bring_guild(
        self, source: ContinuedWorld, facts: Facts, guild_id: int, members: list[GuildMember]
    ) -> None:
        """Store a guild with its new members, or let them join it if it was imported before."""
        guilds = self.store.world.guilds
        try:
            row = facts.fact(GUILDS, guild_id)
            old = read_guild(row or {}, facts.facts(GUILD_RANKS, guild_id))
        except ValueError as error:
            self.report.note(GUILDS, f"{source.name}: guild {guild_id} left out: {error}")
            return
        own = guilds.find(guilds.named(old.name))
        if own is not None and self.imported.has_any(source.key, own.members):
            for member in members[: max(0, MOST_MEMBERS - len(own.members))]:
                guilds.save_change(own.id, own.revision, GuildChange(joined=member))
                own = replace(own, revision=own.revision + 1)
        else:
            kept = {one.char_id: one for one in members[:MOST_MEMBERS]}
            name = _free(old.name, guilds.named)
            guilds.create(replace(old, name=name, members=kept))
            if name != old.name:
                self._summary.renamed_guilds[old.name] = name
        self._summary.guilds.append(old.name)

    def _free_name(self, name: str) -> str:
        """Return a name that no other character of the built-in world has."""
        return _free(name, self.store.world.characters.is_taken)

    def _version_of(self, account_id: int) -> int:
        account = self.store.login.accounts.get(account_id)
        return account.last_client_version if account is not None else 0

    def _count(self, rows: Sequence[DumpRow], result: str) -> None:
        """Count rows, in a field of `Tally` besides `read`."""
        for row in rows:
            # Every counted row was read, so the report's sum stays right.
            tally = self.report.tables[row.table]
            tally.read += 1
            setattr(tally, result, getattr(tally, result) + 1)

    def _leave_out(self, table: str, place: str, reason: str) -> None:
        tally = self.report.tables.setdefault(table, Tally())
        tally.read += 1
        tally.skipped += 1
        self.report.note(table, f"{place}: row of {table} left out: {reason}")

    def _summarize(self, source: ContinuedWorld) -> None:
        """Add the lines about all characters of a world."""
        summary, note = self._summary, self.report.note
        if summary.deleted:
            note(
                "deleted", f"{source.name}: deleted characters stay in the dump: {summary.deleted}"
            )
        for renamed in (summary.renamed, summary.renamed_guilds):
            if renamed:
                pairs = [f"{old} is {new}" for old, new in renamed.items()]
                note("renamed", f"{source.name}: names were taken, so {listed(pairs)}")
        if summary.guilds:
            note("guilds", f"{source.name}: guilds that continue: {listed(summary.guilds)}")
        if summary.ranks:
            note("ranks", f"{source.name}: characters with a rank: {listed(summary.ranks)}")
        for zone, names in sorted(summary.lost_zones.items()):
            note(
                "lost zones",
                f"{source.name}: this server has no {zone}, so these characters begin where new"
                f" characters do: {listed(names)}",
            )
        for what, count in summary.later.items():
            self.report.later[what] += count


def _free(name: str, is_taken: Callable[[str], object]) -> str:
    # Ends, because each turn makes the name longer and only finitely many names are taken.
    while is_taken(name):
        name += "x"
    return name


def _check_account(known: tuple[int, int] | None, account_id: int) -> None:
    if known is not None and known[0] != account_id:
        raise ValueError(
            "its number was imported for another account; was the world's database reset since?"
        )


def listed(names: Sequence[str]) -> str:
    """Return the first of these names, and the number of the others."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def own_list_row(character: WorldCharacter, world: BuiltInWorld) -> dict[str, Any]:
    """Return the fields of the list's row that the built-in world decides."""
    return {
        "char_id": character.id,
        "name": character.name,
        "race": character.race,
        "class_": character.class_,
        "gender": character.gender,
        "deity": character.deity,
        "level": character.level,
        "tradeskill_class": character.tradeskill_class,
        "tradeskill_level": character.tradeskill_level,
        "zone_id": character.zone_id,
        "zone_name": world.zone_file(character.zone_id) or "",
        "zone_description": world.zone_description(character.zone_id),
        "last_played": character.last_played,
    }


def _keeper(stored: WorldCharacter, thing: Thing) -> Owner:
    """Return the owner of an imported thing that the character carries, or has in a bank."""
    if thing.place.where is Where.SHARED:
        return Owner(OwnerKind.ACCOUNT, stored.account_id)
    return Owner.character(stored.id)
