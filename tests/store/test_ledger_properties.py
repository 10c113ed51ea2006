"""Whatever is moved, repeated, lost or killed: every coin is where the ledger says, and once.

The model knows what each character has, by the answers of the store; the sum of everything is
compared after each step, and all balances with the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from emu.correspondence import NewLetter, Postage, SendResult
from emu.database import Where
from emu.ledger import Movement, Outcome, Owner, OwnerKind, Part, Reason
from emu.store import Store
from emu.times import Moment
from tests.support.database.engines import postgresql, store_database
from tests.support.world.world_fakes import world_character

T = TypeVar("T")

START = 1000
"""Copper of each new character."""
POSTAGE = Postage(price=10, lasts=100.0, most=5, most_of_one=4)
LONGEST = 30
"""Statements of the longest call."""
WAY, MASTER = Owner(OwnerKind.TRANSPORTER, 51), Owner(OwnerKind.GAME_MASTER, 9)
WHO = st.integers(0, 2)
COINS = st.integers(0, 700)
NODE = st.integers(0, 1)
FAULT = st.one_of(st.none(), st.just(0), st.integers(1, LONGEST))
"""None; 0: the answer is lost, and the request repeated; else the statement before which a node is
killed, and the request repeated at its next run.
"""


class Killed(Exception):
    """The process of a node has ended in the middle of a call."""


class Players(RuleBasedStateMachine):
    """Three characters, played at two nodes with connections of their own."""

    def where(self, stack: ExitStack) -> Where:
        """Return an empty database."""
        return Path(stack.enter_context(TemporaryDirectory())) / "emu.sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.place = self.where(self.stack)
        self.nodes = [Store.create(self.place), Store.create(self.place)]
        self.requests, self.names = map(str, count()), map("Name{}".format, count())
        self.moment = Moment(1000.0)
        self.made = self.spent = 0
        self.coins: dict[int, int] = {}
        for _ in range(3):
            self.add()

    def teardown(self) -> None:
        for node in self.nodes:
            node.close()
        self.stack.close()

    def add(self) -> None:
        """Create a character."""
        self.made += START
        row = world_character(0, 1, name=next(self.names), coins=START)
        self.coins[self.nodes[0].world.characters.create(row).id] = START

    def char(self, who: int) -> int:
        """Return the number of a character."""
        return sorted(self.coins)[who]

    def do(self, node: int, fault: int | None, call: Callable[[Store], T]) -> T:
        """Carry out a call at a node, with a fault; return its last answer."""
        if fault == 0:
            call(self.nodes[node])
        elif fault is not None:
            self.kill(node, fault, call)
        return call(self.nodes[node])

    def kill(self, node: int, before: int, call: Callable[[Store], object]) -> None:
        """Begin a call at a node that ends before one of its statements, or after the last one."""
        store, statements = self.nodes[node], count(1)
        world = store.world
        for one in (world.mail, world.mail._movements, world.ledger._movements):
            run: Callable[..., Any] = one._run

            def dying(sql: str, values: Any = (), run: Callable[..., Any] = run) -> Any:
                if next(statements) == before:
                    # The connection ends without a rollback of ours.
                    if isinstance(self.place, Path):
                        store.sqlite.connection.close()
                    else:
                        store.database.interrupt()
                    raise Killed
                return run(sql, values)

            one._run = dying  # type: ignore[method-assign]
        try:
            call(store)
        except Killed:
            pass
        finally:
            store.close()
            self.nodes[node] = Store.open(self.place)

    def move(self, node: int, fault: int | None, reason: Reason, *parts: Part) -> Movement | None:
        """Carry out a movement, and the model's; return it unless it is refused."""
        movement = Movement(next(self.requests), reason, parts)
        moved = self.do(node, fault, lambda store: store.world.ledger.move(movement, self.moment))
        can = all(
            self.coins.get(owner.number, 0) >= copper
            for owner, copper in movement.gives.items()
            if owner.kind is OwnerKind.CHARACTER
        )
        assert moved.outcome is (Outcome.DONE if can else Outcome.TOO_FEW)
        if not can:
            return None
        for owner in movement.gives:
            change = movement.takes[owner] - movement.gives[owner]
            if owner.kind is OwnerKind.CHARACTER:
                self.coins[owner.number] += change
            elif change > 0:
                self.spent += change
            else:
                self.made -= change
        return movement

    # -- what players do ------------------------------------------------------------------------

    @rule(node=NODE, fault=FAULT, who=WHO, price=COINS, returns=st.booleans())
    def travels(self, node: int, fault: int | None, who: int, price: int, returns: bool) -> None:
        part = Part(Owner.character(self.char(who)), WAY, price)
        paid = self.move(node, fault, Reason.TRAVEL, part)
        if paid is None or not returns:
            return
        back = Movement(f"{paid.request}-back", Reason.REFUND, (Part(WAY, part.giver, price),))
        for _ in range(2):
            moved = self.do(node, fault, lambda store: store.world.ledger.move(back, self.moment))
            assert moved.is_done
        self.coins[part.giver.number] += price
        self.spent -= price

    @rule(node=NODE, fault=FAULT, who=WHO, share=COINS)
    def splits(self, node: int, fault: int | None, who: int, share: int) -> None:
        giver = self.char(who)
        others = [one for one in sorted(self.coins) if one != giver]
        parts = [Part(Owner.character(giver), Owner.character(one), share) for one in others]
        self.move(node, fault, Reason.SPLIT, *parts)

    @rule(node=NODE, fault=FAULT, who=WHO, copper=COINS, is_gift=st.booleans())
    def is_given(self, node: int, fault: int | None, who: int, copper: int, is_gift: bool) -> None:
        sides = [MASTER, Owner.character(self.char(who))]
        giver, taker = sides if is_gift else reversed(sides)
        self.move(node, fault, Reason.COMMAND, Part(giver, taker, copper))

    @rule(node=NODE, who=WHO, copper=COINS)
    def loses_an_answer_for_good(self, node: int, who: int, copper: int) -> None:
        """A movement that is barred has no effect, however late it comes."""
        part = Part(Owner.character(self.char(who)), WAY, copper)
        movement = Movement(next(self.requests), Reason.TRAVEL, (part,))
        for other in (node, 1 - node):
            ledger = self.nodes[other].world.ledger
            assert ledger.bar(movement, self.moment).outcome is Outcome.BARRED
            assert ledger.move(movement, self.moment).outcome is Outcome.BARRED

    @rule(node=NODE, fault=FAULT, who=st.none() | WHO, to=WHO, copper=COINS)
    def writes(self, node: int, fault: int | None, who: int | None, to: int, copper: int) -> None:
        """A letter of a character, or of a script."""
        sender, request = 0 if who is None else self.char(who), next(self.requests)
        letter = NewLetter(
            sender_id=sender, account_id=sender, recipient_id=self.char(to), sender="Name",
            subject=request, body="", coins=copper,
        )  # fmt: skip
        if who is None:
            # Repeated, it is the same letter, which a mailbox takes once.
            before = self.sum_of_letters()
            self.do(
                node, fault,
                lambda store: store.world.mail.deliver(letter, POSTAGE, self.moment, request),
            )  # fmt: skip
            self.made += self.sum_of_letters() - before
            return
        posted = self.do(
            node, fault,
            lambda store: store.world.mail.send(letter, POSTAGE, self.moment, request),
        )  # fmt: skip
        can = self.coins[sender] >= copper + POSTAGE.price
        assert posted.result in (
            {SendResult.SENT, SendResult.MAILBOX_FULL} if can
            else {SendResult.TOO_FEW_COINS, SendResult.MAILBOX_FULL}
        )  # fmt: skip
        if posted.result is SendResult.SENT:
            self.coins[sender] -= copper + POSTAGE.price
            self.spent += POSTAGE.price
            assert posted.coins == self.coins[sender]

    @rule(node=NODE, fault=FAULT, who=WHO, number=st.integers(0, 5), returns=st.booleans())
    def takes(self, node: int, fault: int | None, who: int, number: int, returns: bool) -> None:
        sql = "SELECT id FROM world_mail WHERE recipient_id = ? ORDER BY id"
        rows = self.run(sql, self.char(who)).fetchall()
        if not rows:
            return
        char, letter, request = self.char(who), rows[number % len(rows)][0], next(self.requests)
        if returns:
            mail = self.nodes[node].world.mail
            mail.give_back(char, letter, POSTAGE, self.moment)
            return
        taken = self.do(
            node, fault,
            lambda store: store.world.mail.take_coins(1, char, letter, self.moment, request),
        )  # fmt: skip
        assert taken is not None
        self.coins[char] += taken.copper
        assert taken.coins == self.coins[char]

    @rule(node=NODE, fault=FAULT, who=WHO)
    def opens(self, node: int, fault: int | None, who: int) -> None:
        char = self.char(who)
        mailbox = self.do(
            node, fault, lambda store: store.world.mail.open(1, char, POSTAGE, self.moment)
        )
        assert mailbox.coins >= self.coins[char]
        self.coins[char] = mailbox.coins

    @rule(seconds=st.sampled_from([1, 60, 150]))
    def waits(self, seconds: int) -> None:
        self.moment = Moment(self.moment + seconds)

    @rule(who=WHO)
    def is_removed(self, who: int) -> None:
        store, char = self.nodes[0], self.char(who)
        store.world.characters.delete(1, char)
        [entry] = [one for one in store.roster.every() if one.own_id == char]
        store.roster.forget(entry)
        del self.coins[char]
        self.add()

    # -- what holds -----------------------------------------------------------------------------

    def run(self, sql: str, *values: object) -> Any:
        return self.nodes[0].database.connection.execute(sql, values)

    def sum_of_letters(self) -> int:
        return int(self.run("SELECT coalesce(sum(coins), 0) FROM world_mail").fetchone()[0])

    @invariant()
    def every_coin_is_somewhere(self) -> None:
        found = dict(self.run("SELECT id, coins FROM world_characters").fetchall())
        assert found == self.coins
        lost = self.run("SELECT coalesce(sum(amount), 0) FROM world_ledger WHERE taker = 'removal'")
        held = sum(self.coins.values()) + self.sum_of_letters()
        assert held + self.spent + int(lost.fetchone()[0]) == self.made

    @invariant()
    def the_entries_explain_every_balance(self) -> None:
        audit = self.nodes[1].world.ledger.audit()
        assert audit.differences == ()
        assert audit.held == audit.by_entries


class PlayersOnServer(Players):
    """The same with a database on a server."""

    def where(self, stack: ExitStack) -> Where:
        """Return an empty database."""
        return stack.enter_context(store_database())


@pytest.mark.slow
def test_in_a_file_no_coin_is_lost_or_doubled() -> None:
    run_state_machine_as_test(Players, settings=settings(stateful_step_count=25))


@pytest.mark.slow
def test_on_a_server_no_coin_is_lost_or_doubled() -> None:
    postgresql()
    run_state_machine_as_test(PlayersOnServer, settings=settings(stateful_step_count=20))
