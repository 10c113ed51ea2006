"""What a change of account or character does to whoever plays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from emu.commands import Caller
from emu.times import Moment
from emu.world.actors.player import PlayerState
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHarness

MOMENT = 1_800_000_000.0
"""The wall clock of a `WorldHarness`."""


class Gate:
    """Keeps out whom a test says."""

    def __init__(self, *kept_out: int) -> None:
        self.accounts = set(kept_out)
        self.asked: list[tuple[int, str]] = []

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        self.asked += clients
        return [account_id for account_id, _ in clients if account_id in self.accounts]


def change(harness: WorldHarness, char_id: int, **changes: Any) -> None:
    """Change a stored character as another program does."""
    harness.store.rows[char_id] = replace(harness.store.rows[char_id], **changes)


def review(harness: WorldHarness, *kept_out: int) -> None:
    finish(harness.account_changes.review(Gate(*kept_out)))


def has(client: Client, command: str) -> bool:
    """Say whether a client was given a command, as far as it knows by now."""
    table = client.decoded("WS_SetRemoteCmdsMsg")[-1]["commands_array"]
    return any(row["name"] == command for row in table)


def taken_over(harness: WorldHarness, master: Client) -> Client:
    return harness.stand(5)


def after_link_death(harness: WorldHarness, master: Client) -> Client:
    harness.service.closed(master.player, master, "gone", harness.now)  # type: ignore[arg-type]
    assert master.player is not None
    assert master.player.state is PlayerState.LINK_DEAD
    return harness.stand(5)


def after_zoning(harness: WorldHarness, master: Client) -> Client:
    """Zoning had begun when the rank was taken: the key is that of a game master."""
    return harness.stand(5)


def reviewed(harness: WorldHarness, master: Client) -> Client:
    review(harness)
    return master


WAYS: tuple[Callable[[WorldHarness, Client], Client], ...] = (
    taken_over, after_link_death, after_zoning, reviewed,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_demoted_game_master_has_its_commands_no_more(
    harness: WorldHarness, way: Callable[[WorldHarness, Client], Client]
) -> None:
    master = harness.stand(5, name="Boss", admin_status=100)
    victim = harness.stand(6, name="Victim")
    assert has(master, "kick")
    if way is after_zoning:
        master.types("/zone Antonica")
    change(harness, 5, admin_status=0)
    again = way(harness, master)
    assert has(again, "kick") is (again is master), "as long as it plays, places stay"
    assert again.player is not None
    assert again.player.character.admin_status == 0
    refused = "kick needs rank 100; yours is 0"
    assert again.types("/kick Victim") == ([refused] if again is master else [])
    caller = Caller("Boss", 0, "game", again.player)
    assert not finish(harness.registry.run(caller, "kick Victim", harness.now)).ok
    assert not victim.is_closed


@pytest.mark.parametrize("way", WAYS)
def test_a_new_game_master_has_its_commands_at_once(
    harness: WorldHarness, way: Callable[[WorldHarness, Client], Client]
) -> None:
    player = harness.stand(5, name="Boss", admin_status=99)
    assert not has(player, "kick")
    if way is after_zoning:
        player.types("/loc")
    change(harness, 5, admin_status=100)
    assert has(way(harness, player), "kick")


def test_a_rank_given_by_a_command_counts_at_once_in_every_process() -> None:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    master = there.stand(5, name="Boss", admin_status=100)
    master.types("/hide")
    assert there.presence.named("Boss").hidden  # type: ignore[union-attr]
    here.account_changes.rank_changed(5, 9)
    assert master.types("/hide") == ["hide needs rank 10; yours is 9"]
    assert master.player is not None
    assert not master.player.spawn.hidden, "players may not hide"
    assert not here.presence.named("Boss").hidden  # type: ignore[union-attr]
    here.account_changes.rank_changed(5, 10)
    assert master.types("/hide") == ["Nobody sees you."]
    here.account_changes.rank_changed(4711, 10)


def test_who_changes_its_zone_is_given_its_commands_when_it_comes_back(
    harness: WorldHarness,
) -> None:
    master = harness.stand(5, admin_status=100)
    master.types("/zone Antonica")
    before = len(master.log)
    change(harness, 5, admin_status=0)
    harness.account_changes.rank_changed(5, 0)
    assert len(master.log) == before
    assert not has(harness.stand(5), "kick")


@pytest.mark.parametrize(
    ("changes", "kept_out", "reason"),
    [
        ({}, (105,), "its account or address is banned or disabled"),
        ({"deleted": True}, (), "its character is deleted"),
        ({"admin_status": -1}, (), "it is banned"),
        ({"admin_status": -2}, (), "it is banned"),
    ],
)
@pytest.mark.parametrize("link_dead", [False, True])
def test_who_is_kept_out_by_now_leaves(
    harness: WorldHarness, changes: dict[str, Any], kept_out: tuple[int, ...], reason: str,
    link_dead: bool,
) -> None:  # fmt: skip
    one, other = harness.stand(5, name="Aldana"), harness.stand(6)
    if link_dead:
        harness.service.closed(one.player, one, "gone", harness.now)  # type: ignore[arg-type]
    change(harness, 5, **changes)
    review(harness, *kept_out)
    assert harness.world.players.get(5) is None
    assert one.is_closed
    assert harness.events[-1].line == f"Aldana left Isle of Refuge: {reason}"
    # What it reads before: no code of a login says that it is banned.
    texts = [str(text["text"]) for text in one.decoded("WS_DisplayText")]
    notices = [text for text in texts if text.startswith(("Your account ", "Your character "))]
    assert len(notices) == (0 if link_dead else 1)
    assert not other.is_closed
    assert harness.world.players.get(6) is not None


def test_a_review_shows_account_and_address_and_changes_nothing_else(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", admin_status=100)
    gate = Gate()
    before = len(one.log)
    finish(harness.account_changes.review(gate))
    assert gate.asked == [(105, "127.0.0.1")]
    assert len(one.log) == before
    assert one.player is harness.world.players.get(5)


def test_a_review_of_a_store_that_does_not_answer_leaves_all_as_it_is(
    harness: WorldHarness,
) -> None:
    harness.stand(5, admin_status=100)
    change(harness, 5, admin_status=0)
    harness.store.broken = True
    review(harness)
    assert harness.world.faults.drops["review failed"] == 1
    assert harness.world.players.get(5).character.admin_status == 100  # type: ignore[union-attr]


def test_a_renamed_character_has_its_new_name_at_once(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana"), harness.stand(6)
    harness.run(0.5)
    change(harness, 5, name="Aldara")
    review(harness)
    harness.run(0.5)
    assert other.sees() == {"Aldara"}
    assert harness.world.players.named("aldara") is one.player
    assert harness.world.players.named("Aldana") is None
    assert harness.presence.named("Aldara") is not None
    assert harness.presence.named("Aldana") is None
    harness.world.players.remove(one.player)  # type: ignore[arg-type]
    assert harness.world.players.named("Aldara") is None


# -- mutes --------------------------------------------------------------------------------------


def test_a_mute_is_of_the_account_and_lasts_for_its_other_characters(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", account_id=7)
    harness.console("mute Aldana 10")
    one.types("/quit")
    harness.service.send_away(one.player, "left", harness.now)  # type: ignore[arg-type]
    harness.character(6, account_id=7, name="Other", muted_until=harness.store.rows[5].muted_until)
    assert harness.store.rows[6].muted_until == MOMENT + 600
    other = harness.stand(6)
    assert other.types("/say hello") == ["you are muted"]
    harness.console("unmute Other")
    assert other.types("/say hello") == []
    assert harness.stand(5).types("/say hello") == []


def test_a_mute_counts_for_every_character_that_is_here_and_survives_the_link(
    harness: WorldHarness,
) -> None:
    masters = [harness.stand(n, account_id=7, admin_status=100, name=f"Twin{n}") for n in (5, 6)]
    harness.console("mute Twin5 10")
    for client in masters:
        assert client.types("/shout hello") == ["you are muted"]
    again = harness.stand(6)
    assert again.types("/shout hello") == ["you are muted"]
    assert again.player is masters[1].player


def test_a_mute_that_cannot_be_stored_counts_until_the_server_ends(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    harness.store.broken = True
    operator = Caller("console", 1000, "console")
    assert not finish(harness.registry.run(operator, "mute Aldana 10", harness.now)).ok
    assert one.types("/say hello") == ["you are muted"]
    harness.store.broken = False
    assert harness.stand(5).types("/say hello") == ["you are muted"], "taken over"
    review(harness)
    assert harness.world.players.get(5).limits.muted_until == MOMENT + 600  # type: ignore[union-attr]
    harness.console("unmute Aldana")
    assert harness.world.players.pending_mutes == {}


def test_a_stored_mute_counts_with_the_next_review(harness: WorldHarness) -> None:
    one = harness.stand(5)
    change(harness, 5, muted_until=Moment(MOMENT + 60))
    review(harness)
    assert one.types("/say hello") == ["you are muted"]
    change(harness, 5, muted_until=Moment(MOMENT))
    review(harness)
    assert one.types("/say hello") == [], "a mute ends at its moment"


def test_nobody_lifts_its_own_mute(harness: WorldHarness) -> None:
    guide = harness.stand(5, name="Guide", admin_status=10)
    harness.stand(6, name="Twin", account_id=105)
    boss = harness.stand(7, name="Boss", admin_status=100)
    boss.types("/mute Guide 10")
    for name in ("Guide", "Twin"):
        assert guide.types(f"/unmute {name}") == [f"{name} has your rank or a higher one"]
    page = Caller("guide", 10, "web", account_id=105)
    assert not finish(harness.registry.run(page, "unmute Guide", harness.now)).ok
    assert guide.types("/say hello") == ["you are muted"]
    assert boss.types("/unmute Guide") == ["Guide may speak"]
    assert guide.types("/say hello") == []


@pytest.mark.parametrize("comes_again", WAYS)
def test_a_character_that_is_read_again_keeps_what_is_not_stored_yet(
    comes_again: Callable[[WorldHarness, Client], Client],
) -> None:
    harness = WorldHarness()
    client = harness.stand(5)
    player = client.player
    assert player is not None
    kept = '{"areas":[7]}'
    harness.world.saves.set_facts(player, harness.now, travels=kept)
    change(harness, 5, admin_status=100)
    client = comes_again(harness, client)
    assert client.player is player
    assert player.character.travels == kept
    assert player.rank == 100
