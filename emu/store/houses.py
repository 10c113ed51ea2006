"""Houses of the built-in world's characters: who owns them, their upkeep and access levels.

The deposit of a house is a balance of the ledger. Each method that moves coins is one transaction
with the movement (`emu.store.ledger`) under an identity: a request whose answer was lost is asked
for again, and carried out once. Status points belong to the saves of a player; the caller takes
them, and says here how many it has taken.
"""

from __future__ import annotations

from typing import Any, Final

from emu.database import Database
from emu.errors import OutOfDate
from emu.houses import (
    MOST_AHEAD,
    MOST_LISTED,
    MOST_OWNED,
    WEEK,
    AccessLevel,
    Deal,
    Dealt,
    Deposit,
    Guest,
    House,
    HouseBooks,
    Paid,
    Payment,
    Price,
)
from emu.items.held import Thing
from emu.ledger import Balance, Movement, Owner, OwnerKind, Part, Placed, Reason
from emu.store.ledger import Movements
from emu.store.repository import Repository, change, changes, reads, views
from emu.store.things import COLUMNS, thing_of
from emu.times import Moment

UPKEEP: Final = "Paid Upkeep"
"""The reason that the window's history shows."""
_HOUSES: Final = (
    "SELECT house.id AS id, house.home AS home, house.owner_id AS owner_id, owner.name AS owner,"
    " house.bought AS bought, house.upkeep_due AS upkeep_due, house.coins AS coins,"
    " house.status AS status, house.public_level AS public_level"
)
_FROM: Final = (
    " FROM world_houses AS house"
    " JOIN world_characters AS owner ON owner.id = house.owner_id AND NOT owner.deleted"
)
_OWN_LEVEL: Final = (
    f"{_HOUSES}, allowed.level AS level{_FROM} LEFT JOIN world_house_access AS allowed"
    " ON allowed.house_id = house.id AND allowed.char_id = ?"
)


class HouseRepository(Repository):
    """The houses of all characters; those of deleted characters are left out."""

    __slots__ = ("_movements",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._movements = Movements(database)

    # -- reading --------------------------------------------------------------------------------

    @reads
    def owned(self, char_id: int) -> list[House]:
        """Return the houses of a character, in the order in which they were bought."""
        sql = f"{_HOUSES}{_FROM} WHERE house.owner_id = ? ORDER BY house.id"
        return [_house(row) for row in self._run(sql, (char_id,))]

    @reads
    def find(self, house_id: int, char_id: int) -> tuple[House, AccessLevel] | None:
        """Return a house and what a character may do in it."""
        row = self._run(f"{_OWN_LEVEL} WHERE house.id = ?", (char_id, house_id)).fetchone()
        return (_house(row), _level(row, char_id)) if row is not None else None

    @reads
    def of_home(self, home: int, char_id: int, most: int) -> list[tuple[House, AccessLevel]]:
        """Return who owns a house of the content file, and what a character may do there.

        The character's own house comes first, then those in the order of the owners' names.
        """
        rows = self._run(
            f"{_OWN_LEVEL} WHERE house.home = ?"
            " ORDER BY CASE WHEN house.owner_id = ? THEN 0 ELSE 1 END, owner.name_key LIMIT ?",
            (char_id, home, char_id, most),
        )
        return [(_house(row), _level(row, char_id)) for row in rows]

    @views
    def books(self, house_id: int) -> HouseBooks:
        """Return the lists of a house: guests, deposits and history, the oldest first."""
        guests = self._run(
            "SELECT guest.id, guest.name, allowed.level FROM world_house_access AS allowed"
            " JOIN world_characters AS guest ON guest.id = allowed.char_id AND NOT guest.deleted"
            " WHERE allowed.house_id = ? ORDER BY guest.name_key LIMIT ?",
            (house_id, MOST_LISTED),
        ).fetchall()
        deposits = self._run(
            # The newest ones, as the history has.
            "SELECT name, coins, status, last_coins, last_status, moment FROM world_house_deposits"
            " WHERE house_id = ? ORDER BY moment DESC, name DESC LIMIT ?",
            (house_id, MOST_LISTED),
        ).fetchall()[::-1]
        history = self._run(
            "SELECT name, coins, status, reason, moment FROM world_house_history"
            " WHERE house_id = ? ORDER BY id LIMIT ?",
            (house_id, MOST_LISTED),
        ).fetchall()
        return HouseBooks(
            tuple(Guest(number, name, _usable(level)) for number, name, level in guests),
            tuple(Deposit(*one) for one in deposits),
            tuple(Paid(*one) for one in history),
        )

    @reads
    def things(self, house_id: int) -> list[tuple[Thing, Placed]]:
        """Return the things of a house, by number, and where each stands."""
        rows = self._run(
            f"SELECT {', '.join(f'thing.{name} AS {name}' for name in COLUMNS)},"  # noqa: S608
            " place.x AS x, place.y AS y, place.z AS z, place.heading AS heading"
            " FROM world_things AS thing JOIN world_house_things AS place"
            " ON place.number = thing.number AND place.house_id = thing.keeper_id"
            f" WHERE thing.keeper_id = ? AND thing.keeper = '{OwnerKind.HOUSE}'"
            " ORDER BY thing.number",
            (house_id,),
        )
        return [
            (
                thing_of(row),
                Placed(row["number"], house_id, row["x"], row["y"], row["z"], row["heading"]),
            )
            for row in rows
        ]

    @change
    def stand(self, placed: Placed) -> None:
        """Store a new place of a thing in its house."""
        self._run(
            "UPDATE world_house_things SET x = ?, y = ?, z = ?, heading = ?"
            " WHERE number = ? AND house_id = ?",
            (*placed[2:], placed.number, placed.house),
        )

    @changes
    def bring(
        self, owner_id: int, home: int, *, moment: Moment, upkeep_due: Moment, status: int,
        books: HouseBooks,
    ) -> int:  # fmt: skip
        """Store a house that a character has from elsewhere, with its lists; return its number.

        The coins of its deposit and its things come by the ledger.
        """
        house_id = self._insert(
            "world_houses",
            {
                "owner_id": owner_id, "home": home, "bought": moment, "coins": 0,
                "upkeep_due": upkeep_due, "status": status,
                "public_level": int(AccessLevel.VISITOR),
            },
        )  # fmt: skip
        for one in books.deposits:
            row = {"house_id": house_id, **one._asdict()}
            self._upsert("world_house_deposits", row, ("house_id", "name"))
        for paid in books.history:
            self._insert("world_house_history", {"house_id": house_id, **paid._asdict()})
        return house_id

    # -- payments -------------------------------------------------------------------------------

    @changes
    def buy(self, payment: Payment) -> Dealt:
        """Let a character buy a house of the content file; the first week is paid."""
        char_id, home, moment = payment.char_id, payment.house, payment.moment
        buyer = Owner.character(char_id)
        self._movements.lock([buyer])
        own = self._run(
            f"{_HOUSES}{_FROM} WHERE house.owner_id = ? ORDER BY house.id", (char_id,)
        ).fetchall()
        mine = next((_house(row) for row in own if row["home"] == home), None)
        balance, known = self._balance(char_id), self._known(payment.request)
        if known is not None:
            return Dealt(known if mine is not None else Deal.BARRED, mine, balance)
        refusal = _refusal(balance, payment.cost.coins)
        if mine is not None:
            refusal = Deal.OWNED
        elif len(own) >= MOST_OWNED:
            refusal = Deal.TOO_MANY
        elif payment.given < payment.cost.status:
            refusal = Deal.TOO_FEW_STATUS
        if refusal is not None:
            return Dealt(refusal, mine, balance)
        house_id = self._insert(
            "world_houses",
            {
                "owner_id": char_id, "home": home, "bought": moment, "coins": 0,
                "upkeep_due": moment + WEEK, "public_level": int(AccessLevel.VISITOR),
            },
        )  # fmt: skip
        # Also without a price: the entry is the identity of the purchase.
        part = Part(buyer, Owner(OwnerKind.HOUSING, home), payment.cost.coins)
        self._move(payment, Reason.HOUSE_BOUGHT, part)
        return self._dealt(house_id, char_id)

    @changes
    def deposit(self, payment: Payment) -> Dealt:
        """Put coins of a character, and status points that it has given, into a deposit."""
        before, balance, refusal = self._begun(payment)
        refusal = refusal or _refusal(balance, payment.cost.coins)
        if refusal is not None:
            return Dealt(refusal, before, balance)
        payer, house = Owner.character(payment.char_id), Owner(OwnerKind.HOUSE, payment.house)
        self._move(payment, Reason.HOUSE_DEPOSIT, Part(payer, house, payment.cost.coins))
        put = (payment.cost.coins, payment.given)
        self._run(
            "UPDATE world_houses SET status = status + ? WHERE id = ?", (put[1], payment.house)
        )
        self._run(
            "INSERT INTO world_house_deposits AS old"
            " (house_id, name, coins, status, last_coins, last_status, moment)"
            " SELECT ?, name, ?, ?, ?, ?, ? FROM world_characters WHERE id = ?"
            " ON CONFLICT (house_id, name) DO UPDATE SET coins = old.coins + excluded.coins,"
            " status = old.status + excluded.status, last_coins = excluded.last_coins,"
            " last_status = excluded.last_status, moment = excluded.moment",
            (payment.house, *put, *put, payment.moment, payment.char_id),
        )
        return self._dealt(payment.house, payment.char_id)

    @changes
    def pay(self, payment: Payment) -> Dealt:
        """Pay the upkeep of a week: from the deposit, and what it lacks from a character."""
        upkeep, moment = payment.cost, payment.moment
        before, balance, refusal = self._begun(payment)
        if before is None or refusal is not None:
            return Dealt(refusal or Deal.GONE, before, balance)
        due = max(moment, before.upkeep_due) + WEEK
        of_deposit = min(before.coins, upkeep.coins)
        refusal = _refusal(balance, upkeep.coins - of_deposit)
        if before.is_paid(moment) and due > moment + MOST_AHEAD:
            refusal = Deal.TOO_FAR_AHEAD
        elif before.status < upkeep.status - payment.given:
            refusal = Deal.TOO_FEW_STATUS
        if refusal is not None:
            return Dealt(refusal, before, balance)
        fee = Owner(OwnerKind.HOUSING, before.home)
        self._move(
            payment, Reason.UPKEEP,
            Part(Owner.character(payment.char_id), fee, upkeep.coins - of_deposit),
            Part(Owner(OwnerKind.HOUSE, before.id), fee, of_deposit),
        )  # fmt: skip
        (name,) = self._run(
            "SELECT name FROM world_characters WHERE id = ?", (payment.char_id,)
        ).fetchone()
        left = before.status + payment.given - upkeep.status
        self._paid(before, Paid(name, *upkeep, UPKEEP, moment), due, left)
        return self._dealt(before.id, payment.char_id)

    @changes
    def settle(self, house_id: int, upkeep: Price, moment: Moment) -> House | None:
        """Pay the weeks that are due, as far as the deposit suffices; return the house.

        A house without upkeep is always paid.
        """
        house = Owner(OwnerKind.HOUSE, house_id)
        self._movements.lock([house])
        before = self._found(house_id)
        if before is None or before.is_paid(moment):
            return before
        weeks = int((moment - before.upkeep_due) // WEEK) + 1
        for held, price in ((before.coins, upkeep.coins), (before.status, upkeep.status)):
            weeks = min(weeks, held // price) if price else weeks
        if not weeks:
            return before
        paid = Price(upkeep.coins * weeks, upkeep.status * weeks)
        # By the time that was due: it is paid once, whoever asks.
        request = f"upkeep-{house_id}-{before.upkeep_due:.0f}"
        part = Part(house, Owner(OwnerKind.HOUSING, before.home), paid.coins)
        self._carry_out(Movement(request, Reason.UPKEEP, (part,)), moment)
        due = before.upkeep_due + weeks * WEEK
        self._paid(before, Paid("", *paid, UPKEEP, moment), due, before.status - paid.status)
        return self._found(house_id)

    # -- access ---------------------------------------------------------------------------------

    @changes
    def set_public(self, house_id: int, level: AccessLevel) -> None:
        """Set the access level of those without one of their own."""
        self._set("world_houses", house_id, public_level=int(level))

    @changes
    def set_access(self, house_id: int, char_id: int, level: AccessLevel) -> bool:
        """Set the access level of a character; return False above the number of guests."""
        guests = self._run(
            "SELECT char_id FROM world_house_access WHERE house_id = ?", (house_id,)
        ).fetchall()
        if len(guests) >= MOST_LISTED and char_id not in {number for (number,) in guests}:
            return False
        row = {"house_id": house_id, "char_id": char_id, "level": int(level)}
        self._upsert("world_house_access", row, ("house_id", "char_id"))
        return True

    @changes
    def remove_access(self, house_id: int, char_id: int) -> bool:
        """Take a character's own access level away; return whether it had one."""
        removed = self._run(
            "DELETE FROM world_house_access WHERE house_id = ? AND char_id = ?", (house_id, char_id)
        )
        return removed.rowcount > 0

    # -- what the methods share -----------------------------------------------------------------

    def _found(self, house_id: int) -> House | None:
        row = self._run(f"{_HOUSES}{_FROM} WHERE house.id = ?", (house_id,)).fetchone()
        return _house(row) if row is not None else None

    def _dealt(self, house_id: int, char_id: int) -> Dealt:
        return Dealt(Deal.DONE, self._found(house_id), self._balance(char_id))

    def _known(self, request: str) -> Deal | None:
        """Return the result of a request that was carried out before, None if it is new."""
        row = self._run(
            "SELECT reason FROM world_ledger WHERE request = ? AND part = 0", (request,)
        ).fetchone()
        if row is None:
            return None
        return Deal.BARRED if row[0] == Reason.BARRED else Deal.DONE

    def _balance(self, char_id: int) -> Balance | None:
        row = self._run(
            "SELECT id, coins, ledger_revision FROM world_characters WHERE id = ? AND NOT deleted",
            (char_id,),
        ).fetchone()
        return Balance(*row) if row is not None else None

    def _begun(self, payment: Payment) -> tuple[House | None, Balance | None, Deal | None]:
        """Lock the character and the house; return them, and the result if that is known."""
        payer, house = Owner.character(payment.char_id), Owner(OwnerKind.HOUSE, payment.house)
        self._movements.lock([payer, house])
        found, known = self._found(payment.house), self._known(payment.request)
        gone = Deal.GONE if found is None else None
        return found, self._balance(payment.char_id), known or gone

    def _move(self, payment: Payment, reason: Reason, *parts: Part) -> None:
        accounts = frozenset((payment.account_id,))
        self._carry_out(Movement(payment.request, reason, parts, accounts), payment.moment)

    def _carry_out(self, movement: Movement, moment: Moment) -> None:
        """Carry out a movement in the open transaction; undo all of that if it is refused."""
        if not self._movements.send(movement, moment).read().is_done:
            raise OutOfDate("a character or its coins have gone")

    def _paid(self, house: House, paid: Paid, due: float, status_left: int) -> None:
        """Note a payment, and what the deposit has left of status points."""
        self._set("world_houses", house.id, upkeep_due=due, status=status_left)
        self._insert("world_house_history", {"house_id": house.id, **paid._asdict()})
        self._run(
            "DELETE FROM world_house_history WHERE house_id = ? AND id NOT IN (SELECT id"
            " FROM world_house_history WHERE house_id = ? ORDER BY id DESC LIMIT ?)",
            (house.id, house.id, MOST_LISTED),
        )


def _refusal(balance: Balance | None, price: int) -> Deal | None:
    if balance is None:
        return Deal.GONE
    return Deal.TOO_FEW_COINS if balance.coins < price else None


def _house(row: Any) -> House:
    return House(
        id=row["id"], home=row["home"], owner_id=row["owner_id"], owner=row["owner"],
        bought=Moment(row["bought"]), upkeep_due=Moment(row["upkeep_due"]), coins=row["coins"],
        status=row["status"], public_level=_usable(row["public_level"]),
    )  # fmt: skip


def _level(row: Any, char_id: int) -> AccessLevel:
    if row["owner_id"] == char_id:
        return AccessLevel.OWNER
    return _usable(row["public_level"] if row["level"] is None else row["level"])


def _usable(level: int) -> AccessLevel:
    """Return a stored level; what is none, or the owner's, is no access."""
    return AccessLevel(level) if AccessLevel.NONE <= level < AccessLevel.OWNER else AccessLevel.NONE
