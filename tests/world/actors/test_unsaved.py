"""A change that the server confirms in words is stored before the words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.errors import StoreError
from emu.model import SavedState, Title, WorldCharacter
from emu.world.actors.options import Option
from emu.world.actors.unsaved import AT_ONCE
from emu.world.commands.context import NOT_STORED
from emu.world.saving.saves import LONGEST_WAIT
from emu.world.social.channels import YOU_JOINED, YOU_LEFT
from tests.support.world.worlds import Client, WorldHarness

TITLES = (Title("of the Meadow"),)


class Gate:
    """A store whose saves wait until the test lets them go on."""

    def __init__(self, harness: WorldHarness, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waiting: list[Deferred[None]] = []
        self._save = harness.store.save_character
        monkeypatch.setattr(harness.store, "save_character", self._wait)
        monkeypatch.setattr(harness, "start", Deferred.fromCoroutine)

    async def _wait(self, char_id: int, state: SavedState, **_how: bool) -> None:
        self.waiting.append(Deferred())
        await self.waiting[-1]
        await self._save(char_id, state)

    def open(self) -> None:
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one.callback(None)

    def fail(self) -> None:
        for one in self.waiting:
            one.errback(StoreError("the disk is full"))
        self.waiting = []


@pytest.fixture
def gate(harness: WorldHarness, monkeypatch: pytest.MonkeyPatch) -> Gate:
    harness.exist("Borvik", "Cestra")
    return Gate(harness, monkeypatch)


def stand(harness: WorldHarness, gate: Gate) -> Client:
    """A player whose first saves are done, with a friend, a channel and a title."""
    client = harness.stand(5, last_played=1.0, titles=TITLES, relations=((0, "Cestra"),))
    client.types("/joinchannel Trade")
    harness.run(3.0)
    # What it has earned is saved sooner than the rest.
    for _ in range(2):
        gate.open()
        harness.run(3.0)
    assert len(harness.world.saves.saver) == 0
    return client


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def channels(client: Client) -> list[tuple[int, str]]:
    rows = client.decoded("WS_ChatChannelUpdate")
    return [(row["action"], row["channel_name"]) for row in rows]


@pytest.mark.parametrize(
    ("line", "answer", "is_stored"),
    [
        ("friend borvik", "Borvik is your friend now.",
         lambda row: (0, "Borvik") in row.relations),
        ("friend_remove Cestra", "Cestra is not your friend any more.",
         lambda row: row.relations == ()),
        ("ignore Borvik", "Borvik is ignored now.", lambda row: (2, "Borvik") in row.relations),
        ("title setsuffix 0", "0: of the Meadow (behind the name, borne)",
         lambda row: row.suffix == "of the Meadow"),
        ("decline_duels", "You decline challenges to duels now.",
         lambda row: row.options == Option.DECLINE_DUELS),
        ("showhoodorhelm false", "Your hood and helmet: hidden.",
         lambda row: row.options == f"{Option.HIDE_HELM} {Option.HIDE_HOOD}"),
        ("hide_illusions true", "Illusions: hidden.",
         lambda row: row.options == Option.HIDE_ILLUSIONS),
        ("anon", "You are now anonymous.", lambda row: row.options == Option.ANONYMOUS),
    ],
)  # fmt: skip
def test_an_answer_comes_when_its_change_is_stored(
    harness: WorldHarness,
    gate: Gate,
    line: str,
    answer: str,
    is_stored: Callable[[WorldCharacter], bool],
) -> None:
    client = stand(harness, gate)
    before = lines(client)
    client.types(f"/{line}")
    harness.run(0.5)
    assert lines(client) == before
    assert not is_stored(harness.store.rows[5])
    gate.open()
    assert is_stored(harness.store.rows[5])
    assert lines(client) == [*before, answer]


def test_a_list_is_sent_when_it_is_stored(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    before = client.decoded("WS_ChatRelationship")
    client.types("/friend Borvik")
    assert client.decoded("WS_ChatRelationship") == before
    gate.open()
    assert len(client.decoded("WS_ChatRelationship")) == len(before) + 1


def test_a_last_name_is_confirmed_when_it_is_stored(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    client.types("/lastname Oakheart")
    client.types("/confirmedlastname")
    assert not lines(client)[-1].startswith("You are")
    gate.open()
    assert harness.store.rows[5].last_name == "Oakheart"
    assert lines(client)[-1] == "You are Name5 Oakheart now."


def test_channels_are_confirmed_when_they_are_stored(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    before = channels(client)
    client.types("/joinchannel Crafts")
    client.types("/chatleave trade")
    assert channels(client) == before
    gate.open()
    gate.open()
    assert channels(client) == [*before, (YOU_JOINED, "Crafts"), (YOU_LEFT, "Trade")]
    assert [one.channel for one in harness.store.rows[5].channels] == ["Crafts"]


def test_a_title_that_a_game_master_gives_is_stored_first(
    harness: WorldHarness, gate: Gate
) -> None:
    client = stand(harness, gate)
    answers: list[Any] = []
    master = harness.stand(6, name="Boss", admin_status=200)
    gate.open()
    master.types("/givetitle Name5 the Brave")
    answers += [line for line in lines(master) if "the Brave" in line]
    assert answers == []
    gate.open()
    assert Title("the Brave") in harness.store.rows[5].titles
    assert lines(master)[-1] == "Name5 has the title the Brave now"
    assert lines(client)[-1] == "You may bear the title the Brave."


def test_the_answer_says_when_the_change_is_not_stored(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    client.types("/friend Borvik")
    gate.fail()
    assert lines(client)[-2:] == ["Borvik is your friend now.", NOT_STORED]
    # The next change does not press the store, and its player does not wait for the next attempt.
    client.types("/ignore Cestra")
    assert lines(client)[-2:] == ["Cestra is ignored now.", NOT_STORED]
    assert gate.waiting == []
    harness.run(harness.world.rules.save_retry + 1.0)
    gate.open()
    assert harness.store.rows[5].relations == ((0, "Cestra"), (0, "Borvik"), (2, "Cestra"))


def test_a_store_that_hangs_keeps_no_player_waiting(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    client.types("/friend Borvik")
    harness.run(LONGEST_WAIT - 0.1)
    assert "Borvik is your friend now." not in lines(client)
    harness.run(0.2)
    assert lines(client)[-2:] == ["Borvik is your friend now.", NOT_STORED]
    gate.open()
    assert (0, "Borvik") in harness.store.rows[5].relations
    assert lines(client)[-1] == NOT_STORED


def test_many_changes_share_their_saves(harness: WorldHarness, gate: Gate) -> None:
    client = stand(harness, gate)
    saved = len(harness.store.saves)
    for number in range(40):
        client.types(f"/{'un' * (number % 2)}friend Borvik")
        gate.open()  # the store is fast: no save waits for another one
    assert len(harness.store.saves) - saved <= AT_ONCE
    for _ in range(3):
        harness.run(1.0)
        gate.open()
    # One more save has all the others, and every change is answered.
    assert len(harness.store.saves) - saved == AT_ONCE + 1
    answered = [line for line in lines(client) if line.startswith("Borvik is ")]
    assert len(answered) == 40
    assert harness.store.rows[5].relations == ((0, "Cestra"),)


def test_a_friend_whom_nobody_knows_is_not_stored_for_a_player_who_quits(
    harness: WorldHarness, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = stand(harness, gate)
    searches = list[Deferred[None]]()

    async def search(_name: str) -> None:
        searches.append(Deferred())
        await searches[-1]

    monkeypatch.setattr(harness.store, "find_named", search)
    client.types("/friend Nobody")
    client.say("OP_RequestCampMsg", b"\1\1")
    gate.open()
    searches.pop().callback(None)
    harness.run(10.0)
    gate.open()
    assert len(harness.world.players) == 0
    assert harness.store.rows[5].relations == ((0, "Cestra"),)


def test_a_change_of_a_player_who_has_left_changes_nothing(
    harness: WorldHarness, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = stand(harness, gate)
    find, searches = harness.store.find_named, list[Deferred[None]]()

    async def search(name: str) -> WorldCharacter | None:
        searches.append(Deferred())
        await searches[-1]
        return await find(name)

    monkeypatch.setattr(harness.store, "find_named", search)
    client.types("/friend Borvik")
    client.say("OP_RequestCampMsg", b"\1\1")
    gate.open()
    again = harness.stand(5)
    searches.pop().callback(None)
    harness.run(10.0)
    gate.open()
    assert again.player is not None
    assert again.player.relations.rows() == [(0, "Cestra")]
    assert harness.store.rows[5].relations == ((0, "Cestra"),)
