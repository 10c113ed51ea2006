"""Letters with things: what is attached, sent, taken, and goes back, for all versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.correspondence import Posted, SendResult
from emu.errors import OutOfDate
from emu.ledger import Owner, OwnerKind
from emu.times import DAY, Moment
from emu.world.actors.player import PlayerState
from emu.world.item_events import WindowsGone
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, coins_of, held, makes, piles_up, player_of
from tests.support.world.worlds import Client

VERSIONS = (546, 561, 1096, 1208, 60114, 64753)
PRICE = 60
"""Of a letter with a thing: the postage, and 50 copper."""


class Post:
    """Two players at their mailboxes; the first one is no game master when it writes."""

    def __init__(self, version: int = 546) -> None:
        self.scene = TradeScene(version, coins=1000)
        self.one = self.scene.one
        self.two = self.scene.enter(2, version, admin_status=0)

    def makes(self, *items: int) -> None:
        makes(self.one, *items)
        player_of(self.one).character = replace(player_of(self.one).character, admin_status=0)

    def sends(self, place: int = 0, count: int = 1, coins: int = 0) -> list[str]:
        """Write a letter with a thing to the other one; return what the writer reads."""
        self.one.types("/start_mail")
        if coins:
            self.one.types(f"/add_mail_copper {coins}")
        assert self.one.types(f"/set_mail_item {place} {count}") == []
        return self.one.types(f"/mail send {player_of(self.two).name} Hello / A gift.")

    def letter(self, client: Client) -> Any:
        """Return the newest letter of a player."""
        box = finish(self.scene.harness.parts.mail.mailbox(player_of(client)))
        return box.letters[0]

    def takes(self, client: Client) -> list[str]:
        return client.types(f"/takemailattachments {self.letter(client).id}")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_thing_goes_with_a_letter(version: int) -> None:
    post = Post(version)
    post.makes(kinds.CAP)
    (number,) = [one.id for one in player_of(post.one).holdings.inventory]
    (text,) = post.sends(coins=5)
    assert text.startswith("Your letter to")
    assert (held(post.one), coins_of(post.one)) == ([], 1000 - PRICE - 5)
    post.two.types("/start_mail")
    (row,) = post.two.decoded("WS_GetMailHeader")[-1]["message_array"]
    assert (row["item_count"], row["coin_copper"]) == (1, 5)
    assert row["item"]["item"]["footer"]["name"] == "Dented Iron Cap"
    post.two.types(f"/getmailmessage {row['mail_id']}")
    assert post.two.decoded("WS_MailGetMessage")[-1]["item_count"] == 1
    assert post.takes(post.two) == ["You take Dented Iron Cap and 5 copper out of the letter."]
    assert (held(post.two), coins_of(post.two)) == ([(kinds.CAP, 1)], 5)
    assert [one.id for one in player_of(post.two).holdings.inventory] == [number]
    assert post.two.decoded("WS_GetMailHeader")[-1]["message_array"][0]["item_count"] == 0
    assert post.scene.is_right()


def test_a_part_of_a_stack_is_sent_and_joins_another_one() -> None:
    post = Post()
    post.one.types(f"/summonitem {kinds.PEBBLE} 7")
    post.one.types(f"/giveitem {player_of(post.two).name} {kinds.PEBBLE}")
    post.makes()
    post.sends(count=3)
    assert held(post.one) == [(kinds.PEBBLE, 4)]
    assert post.takes(post.two) == ["You take 3 Grey River Pebble out of the letter."]
    assert held(post.two) == [(kinds.PEBBLE, 4)]
    assert post.scene.is_right()


def test_a_stack_above_its_limit_is_taken_whole() -> None:
    post = Post()
    post.one.types(f"/summonitem {kinds.PEBBLE} 45")
    piles_up(post.one, kinds.PEBBLE)
    post.makes()
    post.sends(count=45)
    post.takes(post.two)
    assert held(post.two) == [(kinds.PEBBLE, 20), (kinds.PEBBLE, 20), (kinds.PEBBLE, 5)]
    assert post.scene.is_right()


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (kinds.TOKEN, "Sworn Token cannot be sent to others"),
        (kinds.THIMBLE, "Grandmother's Thimble cannot be sent to others"),
    ],
)
def test_what_belongs_to_its_owner_is_not_sent(item: int, text: str) -> None:
    post = Post()
    post.makes(item)
    post.one.types("/start_mail")
    assert post.one.types("/set_mail_item 0 1") == [text]
    assert player_of(post.one).holdings.inventory.locked == set()


def test_nonsense_attaches_nothing() -> None:
    post = Post()
    post.one.types(f"/summonitem {kinds.PEBBLE} 7")
    post.makes(kinds.CAP)
    assert post.one.types("/set_mail_item 0 1") == ["open your mailbox first"]
    post.one.types("/start_mail")
    for line in ("0 8", "0 0", "0 -1", "1 2", "7 1", "-1 1", f"0 {2**32}"):
        assert post.one.types(f"/set_mail_item {line}") != []
    inventory = player_of(post.one).holdings.inventory
    assert inventory.locked == set()
    assert held(post.one) == [(kinds.PEBBLE, 7), (kinds.CAP, 1)]


def test_an_attached_thing_is_locked_until_it_is_sent_or_taken_out() -> None:
    post = Post()
    post.makes(kinds.CAP)
    inventory = player_of(post.one).holdings.inventory
    post.one.types("/start_mail")
    post.one.types("/set_mail_item 0 1")
    assert post.one.types("/inventory destroy 0") != []
    assert held(post.one) == [(kinds.CAP, 1)]
    post.one.types("/cancel_send_mail")
    assert inventory.locked == set()
    post.one.types("/set_mail_item 0 1")
    assert post.one.types("/cancel_mail") == ["You cancel sending a letter."]
    assert inventory.locked == set()
    post.one.types("/start_mail")
    post.one.types("/set_mail_item 0 1")
    post.one.types("/start_mail")
    assert inventory.locked == set()


def test_a_refused_letter_keeps_its_thing_in_the_window() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.one.types("/start_mail")
    post.one.types("/set_mail_item 0 1")
    assert post.one.types("/mail send Nobody Hello / A gift.") == ["there is no character Nobody"]
    window = player_of(post.one).mail
    assert window is not None
    assert (window.count, held(post.one)) == (1, [(kinds.CAP, 1)])
    post.scene.harness.store.broken = True
    assert post.one.types(f"/mail send {player_of(post.two).name} Hello / A gift.") != []
    post.scene.harness.store.broken = False
    assert (window.count, held(post.one)) == (1, [(kinds.CAP, 1)])
    assert coins_of(post.one) == 1000
    assert post.scene.is_right()


@pytest.mark.parametrize(
    "line", ["/start_mail", "/cancel_mail", "/set_mail_item 1 1", "zone", "lost"]
)
def test_a_refused_letter_locks_nothing_without_its_window(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """The window changes before the store says that there is no such recipient."""
    post = Post()
    post.makes(kinds.CAP, kinds.MARBLE)
    one, harness = player_of(post.one), post.scene.harness
    post.one.types("/start_mail")
    post.one.types("/set_mail_item 0 1")

    async def nobody(_name: str) -> None:
        if line == "zone":
            harness.world.events.publish(WindowsGone(one))
        elif line == "lost":
            harness.departures.link_lost(one, line, harness.now)
        else:
            post.one.types(line)

    monkeypatch.setattr(harness.world.saves.characters, "find_named", nobody)
    post.one.types("/mail send Nobody Hello / A gift.")
    monkeypatch.undo()
    window = one.mail
    assert one.holdings.inventory.locked == ({window.thing} - {0} if window else set())
    (cap,) = one.holdings.inventory.of_kind(kinds.CAP)
    assert cap.id not in one.holdings.inventory.locked


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_thing_is_free_when_the_client_with_its_window_is_gone(*, is_lost: bool) -> None:
    post = Post()
    post.makes(kinds.CAP)
    one, harness = player_of(post.one), post.scene.harness
    post.one.types("/start_mail")
    post.one.types("/set_mail_item 0 1")
    if is_lost:
        harness.departures.link_lost(one, "gone", harness.now)
    again = post.scene.enter(1)
    assert again.player is one
    assert (one.holdings.inventory.locked, one.mail) == (set(), None)


def test_a_letter_that_was_given_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    post = Post()
    post.makes(kinds.CAP)

    async def is_barred(*_letter: object) -> Posted:
        return Posted(SendResult.FAILED)

    monkeypatch.setattr(post.scene.harness.parts.mail._parcels._store, "send_surely", is_barred)
    assert post.sends() == ["the letter could not be sent; try again"]
    assert (held(post.one), coins_of(post.one)) == ([(kinds.CAP, 1)], 1000)


def test_who_is_played_elsewhere_by_now_sends_nothing_and_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Found by the simulation (seed 5011): the refusal had no text, so the command failed."""
    post = Post()
    post.makes(kinds.CAP)
    one = player_of(post.one)

    async def is_late(*_letter: object) -> Posted:
        raise OutOfDate("another process plays it")

    monkeypatch.setattr(post.scene.harness.parts.mail._parcels._store, "send_surely", is_late)
    assert post.sends() == []
    assert one.state is PlayerState.GONE


def test_the_price_of_a_thing_is_needed() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.one.types("/start_mail")
    post.one.types(f"/add_mail_copper {1000 - PRICE + 1}")
    (text,) = post.one.types("/set_mail_item 0 1")
    assert text.startswith("you do not have enough coins")
    post.one.types("/remove_mail_copper 1")
    assert post.one.types("/set_mail_item 0 1") == []
    assert post.one.types("/add_mail_copper 1") == ["you do not have that many coins"]


def test_full_bags_leave_the_thing_in_the_letter() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.sends(coins=5)
    inventory = player_of(post.two).holdings.inventory
    kind = post.scene.harness.kinds.get(kinds.MARBLE)
    assert kind is not None
    for _ in range(6):
        inventory.add_things(kind, 1, post.scene.harness.parts.items.new_number)
    assert post.takes(post.two) == ["You do not have any slots available for this item."]
    assert (post.letter(post.two).coins, coins_of(post.two)) == (5, 0)
    assert post.two.types(f"/deletemailmessage {post.letter(post.two).id}") == [
        "take the thing of the letter first"
    ]
    inventory.use_up(next(iter(inventory)))
    assert len(post.takes(post.two)) == 1
    assert held(post.two)[-1] == (kinds.CAP, 1) or (kinds.CAP, 1) in held(post.two)


def test_a_letter_is_emptied_once() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.sends()
    letter = post.letter(post.two)
    mail = post.scene.harness.parts.mail
    assert post.takes(post.two) == ["You take Dented Iron Cap out of the letter."]
    again = mail._parcels.take(player_of(post.two), letter, letter.thing)
    assert finish(again) is False
    assert held(post.two) == [(kinds.CAP, 1)]
    assert post.scene.is_right()


def test_a_letter_goes_back_with_its_thing_and_then_waits() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.sends()
    harness = post.scene.harness
    harness.moment = Moment(harness.moment + 40 * DAY)
    post.one.types("/start_mail")
    letter = post.letter(post.one)
    assert (letter.is_returned, letter.thing.item_id) == (True, kinds.CAP)
    harness.moment = Moment(harness.moment + 40 * DAY)
    assert post.takes(post.one) == ["You take Dented Iron Cap out of the letter."]
    assert held(post.one) == [(kinds.CAP, 1)]
    assert post.scene.is_right()


def test_the_audit_finds_the_thing_in_the_letter() -> None:
    post = Post()
    post.makes(kinds.CAP)
    post.sends()
    owner = Owner(OwnerKind.LETTER, post.letter(post.two).id)
    found = finish(post.scene.harness.stored.things.of([owner]))
    assert [one.item_id for one in found[owner]] == [kinds.CAP]
    assert post.scene.is_right()
