"""The ledger in the database: a movement is carried out once, completely or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.database import Where
from emu.errors import StoreError
from emu.items import held
from emu.ledger import (
    MOST_COINS,
    Balance,
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Reason,
    ThingChanges,
    What,
)
from emu.store import Store
from emu.store.ledger import LEAST_AGE
from emu.store.things import FIRST_NUMBER
from emu.times import Moment
from tests.support.database.engines import store_database
from tests.support.database.ledger_crasher import Answers, prepare
from tests.support.world.world_fakes import world_character

ROOT = Path(__file__).parents[2]
ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "5"))
NOW = Moment(1_000_000.0)
WAY = Owner(OwnerKind.TRANSPORTER, 51)
MASTER = Owner(OwnerKind.GAME_MASTER, 9)


class Purses:
    """Three characters with 100 copper each, and their ledger."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ledger = store.world.ledger
        self.ids = [
            store.world.characters.create(world_character(0, number, name=name, coins=100)).id
            for number, name in enumerate(("Aldana", "Borvik", "Cenwyn"), 1)
        ]
        self.one, self.two, self.three = map(Owner.character, self.ids)

    def coins(self) -> list[int]:
        found = map(self.store.world.characters.find, self.ids)
        return [row.coins for row in found if row is not None]

    def run(self, sql: str, *values: object) -> Any:
        with self.store.database.transaction():
            return self.store.database.connection.execute(sql, values)

    def entries(self) -> int:
        return int(self.run("SELECT count(*) FROM world_ledger").fetchone()[0])

    def is_right(self) -> bool:
        audit = self.ledger.audit()
        return not audit.differences and audit.held == audit.by_entries


def movement(request: str, *parts: tuple[Owner, Owner, int]) -> Movement:
    return Movement(request, Reason.SPLIT, tuple(Part(*part) for part in parts))


@pytest.fixture
def purses(empty_store: Store) -> Purses:
    return Purses(empty_store)


def test_all_parts_move_or_none(purses: Purses) -> None:
    one, two, three, ledger = purses.one, purses.two, purses.three, purses.ledger
    moved = ledger.move(movement("a", (one, two, 30), (one, three, 40), (one, WAY, 10)), NOW)
    assert (moved.outcome, purses.coins()) == (Outcome.DONE, [20, 130, 140])
    assert moved.balances == (
        Balance(one.number, 20, 2), Balance(two.number, 130, 2), Balance(three.number, 140, 2),
    )  # fmt: skip
    refused = ledger.move(movement("b", (two, three, 100), (one, two, 21)), NOW)
    assert (refused.outcome, purses.coins()) == (Outcome.TOO_FEW, [20, 130, 140])
    assert refused.balance(one.number) == Balance(one.number, 20, 2)
    assert purses.is_right()


def test_what_somebody_gives_must_be_there_before_it_takes(purses: Purses) -> None:
    both = movement("a", (purses.one, purses.two, 101), (purses.two, purses.one, 50))
    assert purses.ledger.move(both, NOW).outcome is Outcome.TOO_FEW
    both = movement("b", (purses.one, purses.two, 100), (purses.two, purses.one, 50))
    assert purses.ledger.move(both, NOW).is_done
    assert purses.coins() == [50, 150, 100]
    assert purses.is_right()


def test_a_repeated_request_is_carried_out_once(purses: Purses) -> None:
    paid = movement("a", (purses.one, WAY, 60))
    first = purses.ledger.move(paid, NOW)
    assert purses.ledger.move(paid, NOW) == first
    assert purses.coins()[0] == 40
    # Later movements do not make the repeated one a new one.
    purses.ledger.move(movement("b", (MASTER, purses.one, 5)), NOW)
    again = purses.ledger.move(paid, NOW)
    assert (again.is_done, again.balances) == (True, (Balance(purses.one.number, 45, 3),))
    assert purses.is_right()


def test_a_repeated_request_is_known_when_its_coins_are_spent(purses: Purses) -> None:
    split = movement("a", (purses.one, purses.two, 30), (purses.one, purses.three, 30))
    for _ in range(2):
        assert purses.ledger.move(split, NOW).is_done
        # Now it has too few for another one.
        purses.ledger.move(movement("b", (purses.one, WAY, 39)), NOW)
    assert purses.coins() == [1, 130, 130]
    assert purses.is_right()


@pytest.mark.parametrize("gone", ["deleted", "unknown"])
def test_nothing_moves_from_or_to_who_is_not_there(purses: Purses, gone: str) -> None:
    purses.store.world.characters.delete(2, purses.two.number)
    absent = purses.two if gone == "deleted" else Owner.letter(99)
    for parts in ((absent, purses.one, 1), (purses.one, absent, 1)):
        moved = purses.ledger.move(movement("a", (purses.one, purses.three, 1), parts), NOW)
        assert moved.outcome is Outcome.NO_OWNER
    assert purses.coins() == [100, 100]
    assert purses.is_right()


def test_nobody_gets_more_than_a_client_can_show(purses: Purses) -> None:
    much = movement("a", (MASTER, purses.one, MOST_COINS - 99))
    assert purses.ledger.move(much, NOW).outcome is Outcome.TOO_FEW
    much = movement("b", (MASTER, purses.one, MOST_COINS - 100))
    assert purses.ledger.move(much, NOW).is_done
    # Who has the most can still give.
    assert purses.ledger.move(movement("c", (purses.one, WAY, 1)), NOW).is_done
    assert purses.is_right()


def test_a_movement_whose_answer_is_lost_is_known_or_barred(purses: Purses) -> None:
    done, lost = movement("a", (purses.one, WAY, 60)), movement("b", (purses.one, WAY, 10))
    purses.ledger.move(done, NOW)
    assert purses.ledger.bar(done, NOW).is_done
    assert purses.ledger.bar(lost, NOW).outcome is Outcome.BARRED
    # A request that was under way for long comes too late.
    assert purses.ledger.move(lost, NOW).outcome is Outcome.BARRED
    assert purses.ledger.bar(lost, NOW).outcome is Outcome.BARRED
    assert purses.coins()[0] == 40
    assert purses.is_right()


def test_the_log_of_an_owner_has_the_newest_first_and_what_was_left(purses: Purses) -> None:
    one, two = purses.one, purses.two
    purses.ledger.move(movement("a", (one, two, 30), (one, WAY, 5)), NOW)
    purses.ledger.move(movement("b", (two, one, 1)), NOW)
    entries = purses.ledger.of_owner(one, 10)
    assert [(entry.change(one), entry.left(one)) for entry in entries] == [
        (1, 66), (-5, 65), (-30, 65), (100, 100),
    ]  # fmt: skip
    assert [entry.reason for entry in entries[2:]] == [Reason.SPLIT, Reason.IMPORTED]
    assert len(purses.ledger.of_owner(one, 2)) == 2
    assert [entry.change(WAY) for entry in purses.ledger.of_owner(WAY, 9)] == [5]


def test_coins_of_a_removed_character_and_of_its_mail_leave_through_the_ledger(
    purses: Purses,
) -> None:
    mark = "INSERT INTO world_mail (recipient_id, sender_account, sender, subject, body, coins,"
    purses.run(f"{mark} sent, expires) VALUES (?, 1, 'X', '', '', 0, 0, 9e9)", purses.ids[0])
    letter = Owner.letter(purses.run("SELECT max(id) FROM world_mail").fetchone()[0])
    purses.ledger.move(movement("a", (purses.two, letter, 25)), NOW)
    purses.store.world.characters.delete(1, purses.ids[0])
    [entry] = [one for one in purses.store.roster.every() if one.own_id == purses.ids[0]]
    purses.store.roster.forget(entry)
    assert purses.is_right()
    assert purses.ledger.audit().held == 175
    log = purses.ledger.of_owner(purses.one, 5)
    assert (log[0].change(purses.one), log[0].reason) == (-100, Reason.REMOVED)
    assert purses.ledger.of_owner(letter, 5)[0].giver_left == 0


def test_coins_lie_in_the_bank_and_come_back(purses: Purses) -> None:
    one, ledger = purses.one, purses.ledger
    bank = Owner(OwnerKind.BANK, one.number)
    assert ledger.in_bank(one.number) == 0
    moved = ledger.move(movement("a", (one, bank, 30)), NOW)
    assert (moved.balances[0].coins, moved.banks) == (70, (Balance(one.number, 30, 1),))
    assert ledger.move(movement("b", (bank, one, 31)), NOW).outcome is Outcome.TOO_FEW
    moved = ledger.move(movement("c", (bank, one, 12)), NOW)
    assert (purses.coins()[0], ledger.in_bank(one.number)) == (82, 18)
    assert ledger.move(movement("c", (bank, one, 12)), NOW) == moved
    assert purses.is_right()
    assert [entry.left(bank) for entry in ledger.of_owner(bank, 5)] == [18, 30]


def test_nobody_has_a_bank_without_a_character(purses: Purses) -> None:
    bank = Owner(OwnerKind.BANK, 9999)
    moved = purses.ledger.move(movement("a", (MASTER, bank, 30)), NOW)
    assert moved.outcome is Outcome.NO_OWNER
    assert purses.run("SELECT count(*) FROM world_banks").fetchone()[0] == 0


def test_coins_in_the_bank_of_a_removed_character_leave_through_the_ledger(purses: Purses) -> None:
    bank = Owner(OwnerKind.BANK, purses.ids[0])
    purses.ledger.move(movement("a", (purses.one, bank, 30)), NOW)
    purses.store.world.characters.delete(1, purses.ids[0])
    [entry] = [one for one in purses.store.roster.every() if one.own_id == purses.ids[0]]
    purses.store.roster.forget(entry)
    assert purses.run("SELECT count(*) FROM world_banks").fetchone()[0] == 0
    assert purses.is_right()


def test_a_repair_of_unusable_coins_has_an_entry(purses: Purses) -> None:
    purses.run("UPDATE world_characters SET coins = -7 WHERE id = ?", purses.ids[0])
    [found] = purses.store.world.characters.unusable()
    purses.store.world.characters.repair(found.character)
    assert purses.coins()[0] == 0
    assert purses.ledger.of_owner(purses.one, 1)[0].reason == Reason.REPAIRED
    audit = purses.ledger.audit()
    assert [(one.owner, one.by_entries, one.found) for one in audit.differences] == [
        (purses.one, 107, 0)
    ], "the change before it was none of the ledger"


def test_an_audit_finds_what_did_not_pass_the_ledger(purses: Purses) -> None:
    assert purses.is_right()
    purses.run("UPDATE world_characters SET coins = coins + 5 WHERE id = ?", purses.ids[1])
    purses.run("DELETE FROM world_ledger WHERE taker_id = ?", purses.ids[2])
    purses.run(
        "UPDATE world_characters SET ledger_revision = 0, coins = 3 WHERE id = ?", purses.ids[2]
    )
    audit = purses.ledger.audit()
    assert (audit.held, audit.by_entries) == (208, 200)
    assert [(one.owner, one.by_entries, one.found) for one in audit.differences] == [
        (purses.two, 100, 105), (purses.three, 0, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("is_moved_within", [True, False])
def test_what_a_shared_bank_has_no_more_is_not_taken_again(
    purses: Purses, is_moved_within: bool
) -> None:
    account, nobody = Owner(OwnerKind.ACCOUNT, 101), Owner(OwnerKind.SCRIPT)
    there = held.Thing(FIRST_NUMBER, 910_002, held.Place(held.Where.SHARED, 0, 0))
    mine = replace(there, place=held.Place(held.Where.BAGS, 0, 0))
    terms, banked = ((purses.one.number, 0),), ((101, (FIRST_NUMBER,)),)

    def moved(request: str, giver: Owner, taker: Owner, thing: held.Thing, **more: Any) -> Outcome:
        parts = (Part(giver, taker, 1, What.THINGS, 910_002),) if giver != taker else ()
        things = (ThingChanges(taker, (thing,)),)
        movement = Movement(request, Reason.OWN, parts, things=things, terms=terms, **more)
        return purses.ledger.move(movement, NOW).outcome

    assert moved("a", nobody, account, there) is Outcome.DONE
    assert moved("b", account, account, there, banked=banked) is Outcome.DONE
    # Another one of the kind came in for it: nothing is carried from owner to owner.
    assert moved("x", purses.one, purses.one, mine, banked=banked) is Outcome.DONE
    assert moved("y", account, account, there) is Outcome.DONE
    assert moved("c", account, purses.one, mine, banked=banked) is Outcome.DONE
    # The answer was lost: it is asked for again.
    assert moved("c", account, purses.one, mine, banked=banked) is Outcome.DONE
    # Another character of the account still sees it there.
    if is_moved_within:
        assert moved("d", account, account, there, banked=banked) is Outcome.NO_OWNER
    else:
        assert moved("d", account, purses.two, mine, banked=banked) is Outcome.NO_OWNER
    assert purses.ledger.audit().wrong_things == ()
    assert purses.store.world.things.of([purses.one, purses.two, account]) == {purses.one: [mine]}


def test_an_audit_finds_things_that_did_not_pass_the_ledger(purses: Purses) -> None:
    merchant = Owner(OwnerKind.MERCHANT, 77)
    pebbles = held.Thing(FIRST_NUMBER, 910_002, held.Place(held.Where.BAGS, 0, 0), count=3)
    bought = Movement(
        "a", Reason.BOUGHT, (Part(merchant, purses.one, 3, What.THINGS, 910_002),),
        things=(ThingChanges(purses.one, (pebbles,)),), terms=((purses.one.number, 0),),
    )  # fmt: skip
    assert purses.ledger.move(bought, NOW).is_done
    audit = purses.ledger.audit()
    assert (audit.things, audit.wrong_things) == (3, ())
    purses.run("UPDATE world_things SET count = 4")
    assert purses.ledger.audit().wrong_things == ((910_002, 3, 4),)
    purses.run("UPDATE world_things SET item_id = 910003, count = 1")
    audit = purses.ledger.audit()
    assert audit.wrong_things == ((910_002, 3, 0), (910_003, 0, 1))
    assert audit.things == 1


def test_old_entries_are_removed_by_age_and_number_but_none_of_the_last_day(
    purses: Purses,
) -> None:
    for number in range(10):
        purses.ledger.move(movement(str(number), (purses.one, WAY, 1)), Moment(NOW + number))
    # Those of the characters' creation are younger, by the real clock.
    assert purses.entries() == 13
    late = Moment(NOW + 9 + LEAST_AGE)
    assert purses.ledger.prune(Moment(NOW + 4), 100, late) == 4
    assert purses.ledger.prune(Moment(0), 3, late) == 3
    assert purses.ledger.prune(Moment(NOW + 99), 100, late) == 2, "the last one is not a day old"
    assert purses.entries() == 4
    assert not purses.ledger.audit().differences


def test_two_nodes_at_once_never_spend_the_same_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    with store_database() as where, Store.open(where) as here, Store.open(where) as there:
        purses = Purses(here)
        movements, meanwhile = purses.ledger._movements, [there.world.ledger]
        run: Callable[..., Any] = movements._run

        def interrupted(sql: str, values: Any = ()) -> Any:
            # The other node is done between the request and the lock of this one.
            if meanwhile:
                meanwhile.pop().move(movement("b", (purses.one, purses.two, 60)), NOW)
            return run(sql, values)

        monkeypatch.setattr(movements, "_run", interrupted)
        moved = purses.ledger.move(movement("a", (purses.one, WAY, 60)), NOW)
        assert (moved.outcome, purses.coins()) == (Outcome.TOO_FEW, [40, 160, 100])
        assert purses.is_right()


def test_a_failure_in_the_middle_changes_nothing(
    purses: Purses, monkeypatch: pytest.MonkeyPatch
) -> None:
    movements = purses.ledger._movements
    run: Callable[..., Any] = movements._run

    def failing(sql: str, values: Any = ()) -> Any:
        return run(
            "SELECT no_column FROM world_ledger" if sql.startswith("UPDATE") else sql, values
        )

    monkeypatch.setattr(movements, "_run", failing)
    with pytest.raises(StoreError):
        purses.ledger.move(movement("a", (purses.one, WAY, 60)), NOW)
    monkeypatch.undo()
    assert (purses.coins()[0], purses.entries()) == (100, 3)


@pytest.mark.parametrize("parts", [(), ((WAY, WAY, 1),), ((MASTER, WAY, -1),)])
def test_what_is_no_movement_is_refused(parts: tuple[tuple[Owner, Owner, int], ...]) -> None:
    with pytest.raises(ValueError, match="movement"):
        movement("a", *parts)


class Crasher:
    """A process that moves coins; `kill` reads what it has written."""

    def __init__(self, where: Where, seed: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.database.ledger_crasher", str(where), str(seed)],
            cwd=ROOT, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.lines: list[bytes] = []

    def read(self, count: int) -> None:
        """Wait until it has written so many lines."""
        assert self._process.stdout is not None
        self.lines += [self._process.stdout.readline() for _ in range(count)]

    def kill(self) -> bytes:
        """Kill it, and return everything that it has written."""
        assert self._process.stdout is not None
        self._process.send_signal(signal.SIGKILL)
        with self._process.stdout as output:
            self.lines.append(output.read())
        self._process.wait()
        return b"".join(self.lines)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_kill_at_any_moment_loses_and_doubles_no_coin(engine: str, tmp_path: Path) -> None:
    """Two nodes at once, killed one after the other. EMU_CRASH_ROUNDS for more.

    After the kills the last request of each is repeated.
    """
    in_file = nullcontext(tmp_path / "a.sqlite")
    with store_database() if engine == "postgresql" else in_file as where:
        prepare(where)
        answers, moments = Answers(), random.Random(7)
        for seed in range(ROUNDS):
            nodes = [Crasher(where, 2 * seed + number) for number in range(2)]
            for node in nodes:
                node.read(moments.randrange(1, 100))
            for node in nodes:
                answers.read(node.kill())
            with Store.open(where) as store:
                answers.check(store)
        assert len(answers.done) > 5 * ROUNDS
