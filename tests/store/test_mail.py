"""Letters in the database: coins are never lost or doubled, late letters go back, boxes fill up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu.correspondence import NewLetter, Postage, SendResult, Taken
from emu.errors import StoreLocked
from emu.store import Store
from emu.store.mail import Mailboxes
from emu.times import Moment
from tests.support.database.engines import store_database
from tests.support.world.world_fakes import world_character

NOW = Moment(1000.0)
POSTAGE = Postage(price=10, lasts=100.0, most=3, most_of_one=2)
LATE = Moment(NOW + POSTAGE.lasts)


numbers = count()


def new() -> str:
    """Return the identity of a new request."""
    return str(next(numbers))


class Post:
    """Three characters and their mail."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.mail = self.store.world.mail
        add = self.store.world.characters.create
        self.aldana, self.borvik, self.cenwyn = (
            add(world_character(0, account, name=name, coins=1000)).id
            for account, name in ((1, "Aldana"), (2, "Borvik"), (3, "Cenwyn"))
        )

    def letter(self, coins: int = 0, *, sender: int = 0, to: int = 0) -> NewLetter:
        sender = sender or self.aldana
        return NewLetter(
            sender_id=sender, account_id=sender, recipient_id=to or self.borvik, sender="Aldana",
            subject="Hello", body="How are you?", coins=coins,
        )  # fmt: skip

    def send(self, coins: int = 0, *, moment: Moment = NOW, sender: int = 0, to: int = 0) -> int:
        """Send a letter; return its id."""
        letter = self.letter(coins, sender=sender, to=to)
        assert self.mail.send(letter, POSTAGE, moment, new()).result is SendResult.SENT
        return int(self.run("SELECT max(id) FROM world_mail").fetchone()[0])

    @property
    def is_right(self) -> bool:
        """Whether the entries of the ledger explain every balance."""
        audit = self.store.world.ledger.audit()
        return not audit.differences and audit.held == audit.by_entries

    def run(self, sql: str, *values: object) -> Any:
        with self.store.database.transaction():
            return self.store.database.connection.execute(sql, values)

    def coins(self, char_id: int) -> int:
        found = self.store.world.characters.find(char_id)
        assert found is not None
        return found.coins

    def ids(self, char_id: int, moment: Moment = NOW) -> list[int]:
        return [one.id for one in self.mail.open(0, char_id, POSTAGE, moment).letters]

    @property
    def total(self) -> int:
        sql = (
            "SELECT (SELECT sum(coins) FROM world_characters)"
            " + (SELECT coalesce(sum(coins), 0) FROM world_mail)"
        )
        return int(self.run(sql).fetchone()[0])


@pytest.fixture
def post(empty_store: Store) -> Post:
    return Post(empty_store)


def test_a_letter_is_paid_and_its_coins_move_once(post: Post) -> None:
    posted = post.mail.send(post.letter(300), POSTAGE, NOW, new())
    assert (posted.result, posted.coins) == (SendResult.SENT, 690)
    assert post.mail.waiting(post.borvik, NOW) == 1
    [letter] = post.mail.open(2, post.borvik, POSTAGE, NOW).letters
    assert (letter.sender, letter.subject, letter.coins, letter.is_read) == (
        "Aldana", "Hello", 300, False,
    )  # fmt: skip
    assert post.mail.find(post.aldana, letter.id) is None, "it is not hers"
    assert post.mail.take_coins(1, post.aldana, letter.id, NOW, new()) is None
    assert not post.mail.delete(post.borvik, letter.id), "it has coins"
    taken = post.mail.take_coins(2, post.borvik, letter.id, NOW, new())
    assert isinstance(taken, Taken)
    assert (taken.copper, taken.coins) == (300, 1300)
    again = post.mail.take_coins(2, post.borvik, letter.id, NOW, new())
    assert isinstance(again, Taken)
    assert (again.copper, post.coins(post.borvik)) == (0, 1300)
    before = post.mail.mark_read(post.borvik, letter.id)
    assert before is not None
    assert not before.is_read
    assert post.mail.waiting(post.borvik, NOW) == 0
    assert post.mail.clear(post.borvik) == 1
    assert post.ids(post.borvik) == []


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (lambda post: post.letter(991), SendResult.TOO_FEW_COINS),
        (lambda post: post.letter(to=999), SendResult.NO_SUCH_PLAYER),
    ],
)
def test_a_refused_letter_costs_nothing(
    post: Post, change: Callable[[Post], NewLetter], result: SendResult
) -> None:
    assert post.mail.send(change(post), POSTAGE, NOW, new()).result is result
    assert post.coins(post.aldana) == 1000
    assert post.ids(post.borvik) == []


def test_a_mailbox_is_full_for_one_account_before_it_is_full_for_all(post: Post) -> None:
    post.send()
    post.send()
    assert post.mail.send(post.letter(), POSTAGE, NOW, new()).result is SendResult.MAILBOX_FULL
    post.send(sender=post.cenwyn)
    other = post.letter(sender=post.cenwyn)
    assert post.mail.send(other, POSTAGE, NOW, new()).result is SendResult.MAILBOX_FULL
    assert post.coins(post.cenwyn) == 990


def test_a_late_letter_goes_back_with_its_coins_and_then_they_are_paid_out(post: Post) -> None:
    post.send()
    number = post.send(300)
    assert post.mail.waiting(post.aldana, LATE) == 1
    assert post.ids(post.borvik, LATE) == [], "the one without coins is removed"
    [back] = post.mail.open(1, post.aldana, POSTAGE, LATE).letters
    assert (back.id, back.is_returned, back.is_read, back.coins) == (number, True, False, 300)
    assert post.mail.give_back(post.aldana, number, POSTAGE, LATE) is None, "only once"
    later = Moment(LATE + POSTAGE.lasts)
    mailbox = post.mail.open(1, post.aldana, POSTAGE, later)
    assert (mailbox.letters, mailbox.coins) == ((), 980)
    assert post.is_right


def test_a_letter_to_a_deleted_character_goes_back(post: Post) -> None:
    post.send(300)
    post.store.world.characters.delete(2, post.borvik)
    assert post.mail.send(post.letter(), POSTAGE, NOW, new()).result is SendResult.NO_SUCH_PLAYER
    [back] = post.mail.open(1, post.aldana, POSTAGE, NOW).letters
    assert (back.is_returned, back.coins) == (True, 300)


def test_a_recipient_sends_a_letter_back(post: Post) -> None:
    number = post.send(300)
    assert post.mail.give_back(post.cenwyn, number, POSTAGE, NOW) is None, "it is not hers"
    assert post.mail.give_back(post.borvik, number, POSTAGE, NOW) == post.aldana
    assert post.ids(post.borvik) == []
    assert post.ids(post.aldana) == [number]


def test_a_letter_outlives_its_sender_but_not_its_recipient(post: Post) -> None:
    number = post.send(300)
    post.run("DELETE FROM world_characters WHERE id = ?", post.aldana)
    assert post.ids(post.borvik) == [number]
    assert post.mail.give_back(post.borvik, number, POSTAGE, NOW) is None
    post.run("DELETE FROM world_characters WHERE id = ?", post.borvik)
    assert post.run("SELECT count(*) FROM world_mail").fetchone()[0] == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["send", "take", "open", "return", "delete", "wait"]),
        st.integers(0, 2), st.integers(0, 2), st.integers(0, 400),
    ),
    max_size=25,
)  # fmt: skip


@pytest.fixture
def sqlite_post(empty_sqlite_store: Store) -> Post:
    return Post(empty_sqlite_store)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_players_do_no_coin_is_lost_or_made(
    sqlite_post: Post, steps: list[tuple[str, int, int, int]]
) -> None:
    post = sqlite_post
    post.run("DELETE FROM world_mail")
    post.run("UPDATE world_characters SET coins = 1000")
    who = (post.aldana, post.borvik, post.cenwyn)
    moment, paid = NOW, 0
    for do, one, other, number in steps:
        letter = post.letter(number, sender=who[one], to=who[other])
        if do == "send":
            paid += POSTAGE.price * (post.mail.send(letter, POSTAGE, moment, new()).result == 0)
        elif do == "wait":
            moment = Moment(moment + number)
        elif do == "open":
            post.mail.open(0, who[one], POSTAGE, moment)
        else:
            rows = post.run("SELECT id FROM world_mail ORDER BY id").fetchall()
            chosen = rows[number % len(rows)][0] if rows else 0
            if do == "take":
                post.mail.take_coins(0, who[one], chosen, NOW, new())
            elif do == "delete":
                post.mail.delete(who[one], chosen)
            else:
                post.mail.give_back(who[one], chosen, POSTAGE, moment)
        assert post.total + paid == 3000
        assert all(post.coins(char_id) >= 0 for char_id in who)


@pytest.mark.parametrize("settles", [False, True], ids=["taken", "settled"])
def test_two_nodes_pay_the_coins_of_a_letter_once(
    settles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both are in the middle of a transaction at once, which one SQLite file never allows.
    with store_database() as where, Store.open(where) as here, Store.open(where) as there:
        post, mail = Post(here), there.world.mail
        letter = post.send(300)
        if settles:
            assert post.ids(post.aldana, LATE) == [letter], "it is back, and nobody takes it"
        owner, later = post.aldana, Moment(LATE + POSTAGE.lasts)

        def work(mailboxes: Mailboxes) -> None:
            if settles:
                mailboxes.open(1, owner, POSTAGE, later)
            else:
                mailboxes.take_coins(2, post.borvik, letter, NOW, new())

        def meanwhile() -> None:
            # Who settles has locked the owner of the mailbox before it reads.
            with pytest.raises(StoreLocked) if settles else nullcontext():
                work(mail)

        before, movements, waiting = post.total, post.mail._movements, [meanwhile]
        run = movements._run

        def interrupted(sql: str, values: Any = ()) -> Any:
            # Behind what is read, before what is changed.
            if sql.startswith("INSERT" if settles else "SELECT id FROM world_char") and waiting:
                waiting.pop()()
            return run(sql, values)

        monkeypatch.setattr(movements, "_run", interrupted)
        work(post.mail)
        assert not waiting
        work(mail)
        assert post.total == before
        assert not here.world.ledger.audit().differences


def test_a_letter_of_no_character_is_delivered_once(post: Post) -> None:
    letter = replace(post.letter(coins=5), sender_id=0, account_id=0)
    assert post.mail.deliver(letter, POSTAGE, NOW, new()) is SendResult.SENT
    assert post.mail.deliver(letter, POSTAGE, NOW, new()) is SendResult.NOT_TO_THIS_PLAYER
    other = replace(letter, subject="Again")
    assert post.mail.deliver(other, POSTAGE, NOW, new()) is SendResult.SENT
    assert (
        post.mail.deliver(replace(letter, body="?"), POSTAGE, NOW, new()) is SendResult.MAILBOX_FULL
    )
    nobody = replace(letter, recipient_id=999)
    assert post.mail.deliver(nobody, POSTAGE, NOW, new()) is SendResult.NO_SUCH_PLAYER
    first, second = post.mail.open(0, post.borvik, POSTAGE, NOW).letters
    assert {first.subject, second.subject} == {"Hello", "Again"}
    # Nobody can be sent it back.
    assert post.mail.give_back(post.borvik, first.id, POSTAGE, NOW) is None
    assert post.mail.open(0, post.borvik, POSTAGE, LATE).letters == ()
    # Their coins went to nobody, through the ledger.
    assert post.total == 3000
    assert post.is_right
