"""The ledger of the built-in world: what moves between owners, and their balances and things.

A movement is a few statements that are sent together, so that it needs one round trip to a server.
They lock its characters and letters, add its entries if every balance allows it and its identity is
new, and then change the balances of the entries that are not applied yet. An entry has the number
of its movement among all movements of the owner (its revision): one that is applied already, or was
not added, changes nothing.

Letters and the removal of characters use `Movements` inside of their own transactions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, NamedTuple

from emu.database import Database
from emu.ledger import (
    KEEPERS,
    MOST_COINS,
    PUT_AWAY,
    Audit,
    Balance,
    BalanceDifference,
    LedgerEntry,
    Moved,
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Reason,
    What,
)
from emu.model import WorldCharacter
from emu.store.repository import Repository, changes, changes_ahead, reads, views
from emu.store.things import Things
from emu.times import Moment

TABLES: Final[Mapping[OwnerKind, str]] = {
    OwnerKind.CHARACTER: "world_characters",
    OwnerKind.LETTER: "world_mail",
    OwnerKind.BANK: "world_banks",
    OwnerKind.HOUSE: "world_houses",
}
"""The table of a kind of owners, whose column ``coins`` is the balance."""
EXISTS: Final[Mapping[OwnerKind, str]] = {
    OwnerKind.CHARACTER: " AND NOT deleted",
    OwnerKind.LETTER: "",
    OwnerKind.BANK: "",
    OwnerKind.HOUSE: "",
}
COLUMNS: Final = tuple(field.name for field in fields(LedgerEntry))
ADDED: Final = COLUMNS[1:]
NOTHING: Final = "CAST(NULL AS BIGINT)"
OLDEST_AT_ONCE: Final = 2000
"""Entries that one call of `LedgerRepository.prune` removes."""
LEAST_AGE: Final = 86_400.0
"""Seconds for which every entry is kept: the identities of movements that may be repeated."""


class Answers(NamedTuple):
    """The results of a movement's statements, which may not have come yet."""

    movement: Movement
    reasons: Iterable[Any]
    holders: Sequence[tuple[OwnerKind, Iterable[Any]]]
    terms: Iterable[Any]
    """The characters whose terms are still those of the movement."""
    banked: Sequence[tuple[int, Iterable[Any]]] = ()
    """How many things should be in shared banks, and rows with their number."""

    def read(self) -> Moved:
        """Wait for the results, and return the movement's."""
        reasons = [reason for (reason,) in self.reasons]
        found = {
            Owner(kind, number): (coins, revision)
            for kind, rows in self.holders
            for number, coins, revision in rows
        }
        balances, banks = (
            tuple(
                Balance(owner.number, *values)
                for owner, values in found.items()
                if owner.kind is kind
            )
            for kind in (OwnerKind.CHARACTER, OwnerKind.BANK)
        )
        return Moved(self._outcome(reasons, found), balances, banks)

    def _outcome(self, reasons: list[str], found: Mapping[Owner, Any]) -> Outcome:
        if reasons:
            return Outcome.BARRED if Reason.BARRED in reasons else Outcome.DONE
        is_missing = any(owner not in found for owner in self.movement.holders)
        is_missing = is_missing or len([*self.terms]) < len(self.movement.terms)
        # Another character of the account has changed them, which this one does not know.
        is_missing = is_missing or any(
            [int(count) for (count,) in rows] != [wanted] for wanted, rows in self.banked
        )
        if not self.movement.parts and not is_missing:
            return Outcome.DONE
        return Outcome.NO_OWNER if is_missing else Outcome.TOO_FEW


class Movements(Repository):
    """The statements of movements, for the transactions of several repositories."""

    __slots__ = ("_things",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._things = Things(database)

    def send(self, movement: Movement, moment: Moment) -> Answers:
        """Carry out a movement in the open transaction; see the module."""
        played = {Owner.character(char_id) for char_id, _ in movement.terms}
        self._open_banks(movement.holders)
        self.lock({*movement.holders, *played})
        banked = self._lock_banked(movement)
        condition: str
        values: tuple[Any, ...]
        condition, values = self._fence(movement)
        if movement.parts:
            self._add_first(movement, moment)
            condition, values = _CARRIED_OUT, (movement.request, Reason.BARRED)
        for number in range(1, len(movement.parts)):
            self._add_further(movement, number, moment)
        for changed in movement.things:
            self._things.send(changed, condition, values)
        for placed in movement.placed:
            self._things.place(placed, condition, values)
        kinds = sorted({owner.kind for owner in movement.holders})
        for kind in kinds:
            self._apply(movement, kind)
        return self._ask(movement, banked)

    def bar(self, movement: Movement, moment: Moment) -> Answers:
        """Make sure that a movement that was not carried out never is; return its result."""
        first = movement.parts[0]._replace(amount=0)
        values = (movement.request, 0, moment, Reason.BARRED, *_thing(first), *first.giver)
        row = (*values, None, None, *first.taker, None, None)
        self._insert_new("world_ledger", dict(zip(ADDED, row, strict=True)))
        return self._ask(movement)

    def lock(self, holders: Iterable[Owner]) -> None:
        """Lock owners until the end of the transaction, always in the same order."""
        # SQLite has locked the file already.
        if not self.database.dialect.lock_rows:
            return
        for kind, numbers in _by_kind(holders):
            chosen, ids = self._among("id", numbers)
            self._run(
                f"SELECT id FROM {TABLES[kind]} WHERE {chosen} ORDER BY id"  # noqa: S608
                f"{self.database.dialect.lock_rows}",
                (ids,),
            )

    def _open_banks(self, holders: Iterable[Owner]) -> None:
        """Give characters whose banks take part a row there."""
        for owner in holders:
            if owner.kind is OwnerKind.BANK:
                self._run(
                    "INSERT INTO world_banks (id) SELECT id FROM world_characters"
                    " WHERE id = ? AND NOT deleted ON CONFLICT (id) DO NOTHING",
                    (owner.number,),
                )

    def add_made(self, char_id: int, coins: int) -> None:
        """Add the entry of a new character with coins; its row has the balance already."""
        self._run(
            f"{_INSERT} VALUES (?, 0, {self.database.dialect.clock}, ?, ?, 0, ?, ?, 0, {NOTHING},"
            f" {NOTHING}, ?, ?, ?, 1)",
            (
                f"import-{char_id}", Reason.IMPORTED, What.COINS, coins, OwnerKind.IMPORT,
                OwnerKind.CHARACTER, char_id, coins,
            ),
        )  # fmt: skip

    def add_repaired(self, character: WorldCharacter) -> None:
        """Store usable coins of a character with an entry, if the stored ones are others."""
        char_id, coins = character.id, character.coins
        row = self._run(
            "SELECT coins, ledger_revision FROM world_characters WHERE id = ?", (char_id,)
        ).fetchone()
        if row is None:
            return
        change = coins - row["coins"]
        revision = character.ledger_revision + (change != 0)
        self._set("world_characters", char_id, coins=coins, ledger_revision=revision)
        if not change:
            return
        owner = (OwnerKind.CHARACTER, char_id, coins, revision)
        sides = (*_REPAIR, *owner) if change > 0 else (*owner, *_REPAIR)
        values = (
            f"repair-{char_id}-{revision}", 0, Reason.REPAIRED, What.COINS, 0, abs(change), *sides,
        )  # fmt: skip
        self._run(f"{_INSERT} VALUES (?, ?, {self.database.dialect.clock}{', ?' * 12})", values)

    def add_removed(self, condition: str, values: Sequence[Any]) -> None:
        """Add entries for the coins of characters that are about to be removed, and of their mail.

        `condition` chooses the rows of ``world_characters``.
        """
        chosen = f"SELECT id FROM world_characters WHERE {condition}"  # noqa: S608  # our own
        self._add_lost(OwnerKind.LETTER, Reason.REMOVED, f"recipient_id IN ({chosen})", values)
        self._add_lost(OwnerKind.CHARACTER, Reason.REMOVED, condition, values)
        self._add_lost(OwnerKind.BANK, Reason.REMOVED, f"id IN ({chosen})", values)
        self._add_lost(OwnerKind.HOUSE, Reason.REMOVED, f"owner_id IN ({chosen})", values)
        self._run(f"DELETE FROM world_banks WHERE id IN ({chosen})", values)  # noqa: S608
        letters = f"SELECT id FROM world_mail WHERE recipient_id IN ({chosen})"  # noqa: S608
        self._lose_things(OwnerKind.LETTER, Reason.REMOVED, letters, values)
        self._lose_things(OwnerKind.CHARACTER, Reason.REMOVED, chosen, values)
        for kind in (OwnerKind.SOLD, *PUT_AWAY):
            self._lose_things(kind, Reason.REMOVED, chosen, values)
        houses = f"SELECT id FROM world_houses WHERE owner_id IN ({chosen})"  # noqa: S608
        self._lose_things(OwnerKind.HOUSE, Reason.REMOVED, houses, values)

    def add_expired(self, condition: str, values: Any) -> None:
        """Add entries for the coins and things of letters that are about to be removed."""
        self._add_lost(OwnerKind.LETTER, Reason.EXPIRED, condition, values)
        chosen = f"SELECT id FROM world_mail WHERE {condition}"  # noqa: S608  # our own
        self._lose_things(OwnerKind.LETTER, Reason.EXPIRED, chosen, values)

    # -- the statements -------------------------------------------------------------------------

    def _add_lost(self, kind: OwnerKind, reason: Reason, condition: str, values: Any) -> None:
        named = isinstance(values, Mapping)
        # Our own constants: they cannot be parameters beside those of the condition.
        texts = f"'{reason}', '{What.COINS}'"
        self._run(
            f"{_INSERT} SELECT '{OwnerKind.REMOVAL}-{kind}-' || id, 0,"  # noqa: S608
            f" {self.database.dialect.clock}, {texts}, 0, coins, '{kind}', id, 0,"
            f" ledger_revision + 1, '{OwnerKind.REMOVAL}', 0, {NOTHING}, {NOTHING}"
            f" FROM {TABLES[kind]} WHERE ({condition}) AND coins > 0",
            values if named else tuple(values),
        )

    def _lose_things(self, kind: OwnerKind, reason: Reason, chosen: str, values: Any) -> None:
        """Remove the things of owners whose numbers a statement chooses, with entries."""
        values = values if isinstance(values, Mapping) else tuple(values)
        condition = f"keeper_id IN ({chosen})"
        self._run(
            f"{_INSERT} SELECT '{OwnerKind.REMOVAL}-{What.THINGS}-{kind}-' || keeper_id || '-'"  # noqa: S608
            f" || item_id, 0, {self.database.dialect.clock}, '{reason}', '{What.THINGS}', item_id,"
            f" sum(count), '{kind}', keeper_id, {NOTHING}, {NOTHING}, '{OwnerKind.REMOVAL}', 0,"
            f" {NOTHING}, {NOTHING} FROM world_things WHERE keeper = '{kind}' AND {condition}"
            " GROUP BY keeper_id, item_id",
            values,
        )
        self._things.remove(kind, condition, values)

    def _add_first(self, movement: Movement, moment: Moment) -> None:
        """Add the first entry, unless a balance is too small or the movement is not new.

        Nor is it added if another process plays a character of the movement.
        """
        fence, terms = self._fence(movement)
        conditions, values = [fence], [*terms]
        for owner in movement.holders:
            table = TABLES[owner.kind]
            conditions.append(
                f"EXISTS (SELECT 1 FROM {table} WHERE id = ?{EXISTS[owner.kind]}"  # noqa: S608
                " AND coins >= ? AND coins + ? <= ?)"
            )
            gives, takes = movement.gives[owner], movement.takes[owner]
            values += [owner.number, gives, max(0, takes - gives), MOST_COINS]
        self._add(movement, 0, moment, " AND ".join(conditions), values)

    def _add_further(self, movement: Movement, number: int, moment: Moment) -> None:
        """Add a further entry if the first one was added, and not at an earlier request."""
        condition = (
            "EXISTS (SELECT 1 FROM world_ledger WHERE request = ? AND reason <> ?)"
            " AND NOT EXISTS (SELECT 1 FROM world_ledger WHERE request = ? AND part = ?)"
        )
        values = [movement.request, Reason.BARRED, movement.request, number]
        self._add(movement, number, moment, condition, values)

    def _add(
        self, movement: Movement, number: int, moment: Moment, condition: str, values: list[Any]
    ) -> None:
        part = movement.parts[number]
        giver, of_giver = self._afterwards(movement, part, part.giver)
        taker, of_taker = self._afterwards(movement, part, part.taker)
        self._run(
            f"{_INSERT} SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, {giver}, ?, ?, {taker} WHERE {condition}"
            " ON CONFLICT DO NOTHING",
            (
                movement.request, number, float(moment), movement.reason, *_thing(part),
                *part.giver, *of_giver, *part.taker, *of_taker, *values,
            ),
        )  # fmt: skip

    @staticmethod
    def _afterwards(movement: Movement, part: Part, owner: Owner) -> tuple[str, tuple[int, ...]]:
        """Return the columns of an owner's balance after a movement, and their parameters."""
        if not owner.is_holder or part.what is not What.COINS:
            return f"{NOTHING}, {NOTHING}", ()
        found = f"FROM {TABLES[owner.kind]} WHERE id = ?"
        change = movement.takes[owner] - movement.gives[owner]
        return (
            f"(SELECT coins + ? {found}), (SELECT ledger_revision + 1 {found})",
            (change, owner.number, owner.number),
        )

    def _apply(self, movement: Movement, kind: OwnerKind) -> None:
        """Set the balances of the entries that follow directly on what the owners have."""
        table = TABLES[kind]
        self._run(
            f"UPDATE {table} SET coins = moved.coins, ledger_revision = moved.revision FROM ("  # noqa: S608
            "SELECT giver_id AS id, giver_left AS coins, giver_revision AS revision"
            " FROM world_ledger WHERE request = ? AND giver = ? UNION "
            "SELECT taker_id, taker_left, taker_revision"
            " FROM world_ledger WHERE request = ? AND taker = ?) AS moved"
            f" WHERE {table}.id = moved.id AND {table}.ledger_revision + 1 = moved.revision",
            (movement.request, kind, movement.request, kind),
        )

    def _ask(self, movement: Movement, banked: Sequence[tuple[int, Iterable[Any]]] = ()) -> Answers:
        after = self._after
        reasons = after(
            "SELECT reason FROM world_ledger WHERE request = ? AND part = 0", (movement.request,)
        )
        holders = []
        for kind, numbers in _by_kind(movement.holders):
            chosen, ids = self._among("id", numbers)
            rows = after(
                f"SELECT id, coins, ledger_revision FROM {TABLES[kind]}"  # noqa: S608
                f" WHERE {chosen}{EXISTS[kind]} ORDER BY id",
                (ids,),
            )
            holders.append((kind, rows))
        fence, values = _fence(movement, " OR ")
        terms = after(f"SELECT id FROM world_characters AS played WHERE {fence}", values)  # noqa: S608
        return Answers(movement, reasons, holders, terms if movement.terms else (), banked)

    def _lock_banked(self, movement: Movement) -> list[tuple[int, Iterable[Any]]]:
        """Lock the things of shared banks that a movement changes, and count those there.

        Returns how many there should be, and the rows with the counts.
        """
        numbers = sorted({number for _, several in movement.banked for number in several})
        if numbers and self.database.dialect.lock_rows:
            chosen, values = self._among("number", numbers)
            self._run(
                f"SELECT number FROM world_things WHERE {chosen} ORDER BY number"  # noqa: S608
                f"{self.database.dialect.lock_rows}",
                (values,),
            )
        # Before the changes: afterwards the things are where the movement puts them.
        return [
            (wanted, self._after(f"SELECT {count}", of_bank))
            for wanted, count, of_bank in self._counts(movement)
        ]

    def _counts(self, movement: Movement) -> Iterator[tuple[int, str, tuple[Any, ...]]]:
        """Yield how many things should be in shared banks, how to count them, and parameters."""
        for account_id, numbers in movement.banked:
            chosen, values = self._among("number", numbers)
            count = (
                "(SELECT count(*) FROM world_things"  # noqa: S608  # our own
                f" WHERE keeper = '{OwnerKind.ACCOUNT}' AND keeper_id = ? AND {chosen})"
            )
            yield len(numbers), count, (account_id, values)

    def _fence(self, movement: Movement) -> tuple[str, tuple[Any, ...]]:
        """Return the condition that a movement's characters and shared banks are as it says.

        The other value has the parameters.
        """
        condition, values = _fence(movement)
        for wanted, count, of_bank in self._counts(movement):
            condition += f" AND {count} = ?"
            values = (*values, *of_bank, wanted)
        return condition, values


_CARRIED_OUT: Final = (
    "EXISTS (SELECT 1 FROM world_ledger WHERE request = ? AND part = 0 AND reason <> ?)"
)


def _fence(movement: Movement, word: str = " AND ") -> tuple[str, tuple[Any, ...]]:
    """Return the condition that this process plays a movement's characters, and its parameters.

    Joined with OR, it chooses their rows.
    """
    if word == " OR ":
        one = "(played.id = ? AND NOT played.deleted AND played.term = ?)"
    else:
        one = (
            "EXISTS (SELECT 1 FROM world_characters AS played"
            " WHERE played.id = ? AND NOT played.deleted AND played.term = ?)"
        )
    values = tuple(value for pair in movement.terms for value in pair)
    return word.join([one] * len(movement.terms)) or "TRUE", values


_REPAIR: Final = (OwnerKind.REPAIR, 0, None, None)
_INSERT: Final = f"INSERT INTO world_ledger ({', '.join(ADDED)})"
_KEEPERS: Final = ", ".join(f"'{kind}'" for kind in KEEPERS)
_MADE: Final = (
    f"amount * ((CASE WHEN taker IN ({_KEEPERS}) THEN 1 ELSE 0 END)"
    f" - (CASE WHEN giver IN ({_KEEPERS}) THEN 1 ELSE 0 END))"
)
"""How many things an entry makes; below 0: removes."""


class LedgerRepository(Repository):
    """Movements as transactions, and what is known of them afterwards."""

    __slots__ = ("_movements",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._movements = Movements(database)

    @changes_ahead
    def move(self, movement: Movement, moment: Moment) -> Generator[None, None, Moved]:
        """Carry out a movement, unless one with its identity was carried out already."""
        answers = self._movements.send(movement, moment)
        yield
        return answers.read()

    @changes_ahead
    def bar(self, movement: Movement, moment: Moment) -> Generator[None, None, Moved]:
        """Bar a movement whose answer was lost; `Outcome.DONE` if it was carried out."""
        answers = self._movements.bar(movement, moment)
        yield
        return answers.read()

    @reads
    def in_bank(self, char_id: int) -> int:
        """Return the coins that a character has in the bank."""
        row = self._run("SELECT coins FROM world_banks WHERE id = ?", (char_id,)).fetchone()
        return row["coins"] if row is not None else 0

    @reads
    def of_owner(self, owner: Owner, most: int) -> list[LedgerEntry]:
        """Return the newest entries of an owner, the newest first."""
        names = ", ".join(COLUMNS)
        rows = self._run(
            f"SELECT {names} FROM world_ledger WHERE giver_id = ? AND giver = ? UNION"  # noqa: S608
            f" SELECT {names} FROM world_ledger WHERE taker_id = ? AND taker = ?"
            " ORDER BY id DESC LIMIT ?",
            (owner.number, owner.kind, owner.number, owner.kind, most),
        )
        return [LedgerEntry(**dict(row)) for row in rows]

    @changes
    def prune(self, before: Moment, most: int, moment: Moment) -> int:
        """Remove entries from before a moment, and the oldest above a number; return how many.

        Entries of the last day stay. A call removes at most `OLDEST_AT_ONCE`, the oldest ones. What
        they have counted of things is added to the sums of the kinds.
        """
        chosen = (
            "id IN (SELECT id FROM world_ledger ORDER BY id LIMIT ?) AND moment < ?"
            " AND (moment < ? OR id <= (SELECT max(id) FROM world_ledger) - ?)"
        )
        values = (OLDEST_AT_ONCE, float(moment - LEAST_AGE), float(before), most)
        self._run(
            "INSERT INTO world_thing_sums (item_id, count)"  # noqa: S608  # our own constants
            f" SELECT number, sum({_MADE}) FROM world_ledger"
            f" WHERE what = '{What.THINGS}' AND {chosen} GROUP BY number"
            " ON CONFLICT (item_id) DO UPDATE SET count = world_thing_sums.count + excluded.count",
            values,
        )
        removed = self._run(f"DELETE FROM world_ledger WHERE {chosen}", values)  # noqa: S608
        return int(removed.rowcount)

    @views
    def audit(self) -> Audit:
        """Compare all balances with the entries.

        An owner whose older entries were removed is compared from the oldest one that is left.
        """
        found = {
            Owner(kind, number): (coins, revision)
            for kind, table in TABLES.items()
            for number, coins, revision in self._run(
                f"SELECT id, coins, ledger_revision FROM {table}"  # noqa: S608
            ).fetchall()
        }
        made, differences = 0, []
        last: dict[Owner, tuple[int, int]] = {}
        for owner, revision, change, left in self._changes():
            made += change
            # Every owner begins with nothing; where entries were removed, its balance is unknown.
            known, before = last.get(owner, (0, 0))
            if known + 1 == revision and before + change != left:
                differences.append(BalanceDifference(owner, revision, before + change, left))
            last[owner] = (revision, left)
        for owner, (coins, revision) in found.items():
            by_entries = last.get(owner, (revision, 0 if not revision else coins))[1]
            if by_entries != coins:
                differences.append(BalanceDifference(owner, revision, by_entries, coins))
        held = sum(coins for coins, _ in found.values())
        counts, wrong = self._things()
        return Audit(
            held, made, tuple(sorted(differences, key=lambda one: one.owner)), counts, wrong
        )

    def _things(self) -> tuple[int, tuple[tuple[int, int, int], ...]]:
        """Return how many things there are, and the kinds whose number is not that of entries."""
        found = Things(self.database).counts()
        rows = self._run(
            "SELECT number, sum(made) FROM ("  # noqa: S608  # our own constants
            "SELECT item_id AS number, count AS made FROM world_thing_sums"
            f" UNION ALL SELECT number, {_MADE} FROM world_ledger"
            f" WHERE what = '{What.THINGS}') AS one GROUP BY number"
        )
        made = {number: int(count) for number, count in rows}
        kinds = sorted(found.keys() | made.keys())
        wrong = [
            (one, made.get(one, 0), found.get(one, 0))
            for one in kinds
            if made.get(one, 0) != found.get(one, 0)
        ]
        return sum(found.values()), tuple(wrong)

    def _changes(self) -> Iterator[tuple[Owner, int, int, int]]:
        """Yield each movement of each owner in order: revision, change and balance."""
        sides = " UNION ALL ".join(
            f"SELECT {one} AS kind, {one}_id AS number, {one}_revision AS revision,"  # noqa: S608
            f" {sign} amount AS change, {one}_left AS left_then FROM world_ledger"
            f" WHERE {one}_revision IS NOT NULL AND what = '{What.COINS}'"
            for one, sign in (("giver", "-"), ("taker", "+"))
        )
        for kind, number, revision, change, left in self._run(
            f"SELECT kind, number, revision, sum(change), max(left_then) FROM ({sides}) AS one"  # noqa: S608
            " GROUP BY kind, number, revision ORDER BY kind, number, revision"
        ):
            yield Owner(OwnerKind(kind), number), revision, int(change), left


def _thing(part: Part) -> tuple[str, int, int]:
    return part.what, part.number, part.amount


def _by_kind(owners: Iterable[Owner]) -> list[tuple[OwnerKind, list[int]]]:
    """Return the numbers of owners, sorted, by kind."""
    found: dict[OwnerKind, list[int]] = {}
    for owner in sorted(owners):
        found.setdefault(owner.kind, []).append(owner.number)
    return [*found.items()]
