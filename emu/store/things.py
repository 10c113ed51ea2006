"""Things in the database: what each owner has, and the numbers of new ones.

Rows change only in the transactions of the ledger (`emu.store.ledger.Movements`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from emu.items.held import Place, Thing, Where
from emu.ledger import LOADED, Owner, OwnerKind, Placed, ThingChanges
from emu.store.repository import Repository, change, reads
from emu.times import Moment

COLUMNS: Final = (
    "number", "keeper", "keeper_id", "list", "bag", "slot", "item_id", "count", "condition",
    "attuned", "creator", "max_sell_value", "no_sale", "created",
)  # fmt: skip
FIRST_NUMBER: Final = 1000
"""The first number of a thing; clients number lists of places below it."""
_NAMES: Final = ", ".join(COLUMNS)
_LOADED: Final = ", ".join(f"'{kind}'" for kind in LOADED)
_SET: Final = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])


class Things(Repository):
    """The things of all owners."""

    __slots__ = ()

    @reads
    def of(self, owners: Collection[Owner]) -> dict[Owner, list[Thing]]:
        """Return the things of some owners, by number; owners without any are left out.

        A row of a list that this server does not know waits for a free place.
        """
        chosen = " OR ".join(["(keeper_id = ? AND keeper = ?)"] * len(owners)) or "FALSE"
        values = [value for one in owners for value in (one.number, one.kind)]
        return self.made(
            self._run(
                f"SELECT {_NAMES} FROM world_things WHERE {chosen} ORDER BY number",  # noqa: S608
                tuple(values),
            )
        )

    def rows_of_entering(
        self, account_id: int, chosen: str, values: Sequence[Any]
    ) -> Iterable[Any]:
        """Return the rows of what a character has that enters, to be read after a transaction.

        Those of its account are among them. `chosen` is a statement that returns its number, and
        `values` are its parameters.
        """
        return self._after(
            f"SELECT {_NAMES} FROM world_things WHERE"  # noqa: S608  # our own
            f" (keeper_id = ({chosen}) AND keeper IN ({_LOADED}))"
            f" OR (keeper_id = ? AND keeper = '{OwnerKind.ACCOUNT}') ORDER BY number",
            (*values, account_id),
        )

    def made(self, rows: Iterable[Any]) -> dict[Owner, list[Thing]]:
        """Return the things of rows, by owner."""
        found: dict[Owner, list[Thing]] = {}
        for row in rows:
            owner = Owner(OwnerKind(row["keeper"]), row["keeper_id"])
            found.setdefault(owner, []).append(thing_of(row))
        return found

    @reads
    def holders_of(self, item_id: int, most: int) -> list[tuple[str, int, int, int]]:
        """Return number, owner's kind, owner's number and count of things of a kind."""
        rows = self._run(
            "SELECT number, keeper, keeper_id, count FROM world_things WHERE item_id = ?"
            " ORDER BY number LIMIT ?",
            (item_id, most),
        )
        return [(row["keeper"], row["keeper_id"], row["number"], row["count"]) for row in rows]

    @change
    def reserve(self, count: int) -> int:
        """Take numbers for new things, and return the first of them."""
        ((following,),) = self._run(
            "INSERT INTO world_thing_numbers (name, next) VALUES ('thing', ?) ON CONFLICT (name)"
            " DO UPDATE SET next = world_thing_numbers.next + ? RETURNING next",
            (FIRST_NUMBER + count, count),
        ).fetchall()
        return int(following) - count

    def send(self, changes: ThingChanges, condition: str, values: Sequence[Any]) -> None:
        """Store changes in the open transaction if a condition holds."""
        for thing in changes.kept:
            self._run(
                f"INSERT INTO world_things ({_NAMES}) SELECT {', '.join('?' * len(COLUMNS))}"
                f" WHERE {condition} ON CONFLICT (number) DO UPDATE SET {_SET}",
                (*_row(changes.keeper, thing), *values),
            )
        if changes.gone:
            chosen, numbers = self._among("number", changes.gone)
            self._run(
                f"DELETE FROM world_things WHERE {chosen} AND {condition}",  # noqa: S608
                (numbers, *values),
            )

    def place(self, placed: Placed, condition: str, values: Sequence[Any]) -> None:
        """Store where a thing stands in a house in the open transaction if a condition holds."""
        names = "number, house_id, x, y, z, heading"
        self._run(
            f"INSERT INTO world_house_things ({names}) SELECT ?, ?, ?, ?, ?, ? WHERE {condition}"
            " ON CONFLICT (number) DO UPDATE SET house_id = excluded.house_id, x = excluded.x,"
            " y = excluded.y, z = excluded.z, heading = excluded.heading",
            (*placed, *values),
        )

    def remove(self, kind: OwnerKind, condition: str, values: Any) -> None:
        """Remove all things of owners whose numbers a condition for ``keeper_id`` chooses."""
        self._run(
            f"DELETE FROM world_things WHERE keeper = '{kind}' AND {condition}",  # noqa: S608
            values,
        )

    def counts(self) -> dict[int, int]:
        """Return how many things of each kind all owners have."""
        rows = self._run("SELECT item_id, sum(count) FROM world_things GROUP BY item_id")
        return {number: int(count) for number, count in rows}


def _row(keeper: Owner, thing: Thing) -> Iterable[Any]:
    place = thing.place
    return (
        thing.id, keeper.kind, keeper.number, place.where, place.bag, place.slot, thing.item_id,
        thing.count, thing.condition, thing.is_attuned, thing.creator, thing.most_price,
        thing.is_not_for_sale, float(thing.created),
    )  # fmt: skip


def thing_of(row: Any) -> Thing:
    """Return the thing of a row with the columns `COLUMNS`."""
    where = row["list"]
    known = Where(where) if where in _LISTS else Where.OVERFLOW
    return Thing(
        row["number"], row["item_id"], Place(known, row["bag"], row["slot"]), row["count"],
        row["condition"], bool(row["attuned"]), row["creator"], row["max_sell_value"],
        bool(row["no_sale"]), Moment(row["created"]),
    )  # fmt: skip


_LISTS: Final = frozenset(Where)
