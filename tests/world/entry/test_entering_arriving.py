"""How characters come into the world; that they are taken over, whole-harness tests say."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from emu.errors import MalformedStruct, UnknownOpcode
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import PlayerState
from emu.world.actors.spawn import Destination
from emu.world.entry import window_messages
from emu.world.item_events import WindowsGone
from emu.world.items.items import Items
from emu.world.sheets import CharacterSheets
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import Client, WorldHarness


def test_a_version_without_the_numbers_of_an_entry_leaves_nobody_behind(
    harness: WorldHarness,
) -> None:
    """Whoever asks denies it with the code of a wrong version (`emu.world.entry.zone_entry`)."""
    harness.stand(6)
    client = harness.client()
    client.dialect = dialect(550)
    behind = PlayerClient(dialect(550), client, "127.0.0.1")
    row = harness.character(5)
    loaded = finish(harness.service.load(row, 550))
    with pytest.raises(UnknownOpcode):
        harness.service.enter(row, behind, harness.now, loaded)
    harness.run(200.0)
    assert client.names == []
    assert [player.id for player in harness.world.players] == [6]


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (window_messages, "send_traits"), (window_messages, "send_own_title"),
        (Items, "send_lists"), (CharacterSheets, "send"),
    ],
)  # fmt: skip
def test_a_window_that_raises_keeps_no_zone_from_a_client(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch, where: object, name: str
) -> None:
    """A client of 373 with recipes once stood in a zone in which nobody moved."""

    def fails(*_values: object) -> None:
        raise MalformedStruct("the version lacks a struct")

    other = harness.stand(6)
    monkeypatch.setattr(where, name, fails)
    client = harness.stand(5)
    assert client.player.state is PlayerState.STANDING
    assert client.sees() == {"Name6"}
    before, at = client.fields_of("Name6"), other.player.position
    other.walk(at.x + 2.0, at.y, at.z)
    harness.run(1.0)
    assert client.fields_of("Name6") != before
    assert harness.world.faults.counts["sending what a player has"]


def test_a_full_instance_of_a_zone_begins_another(harness: WorldHarness) -> None:
    definition = harness.zones.definition(325)
    harness.zones.table._zones[325] = attrs.evolve(definition, population=2)
    clients = [harness.stand(number) for number in range(5, 10)]
    assert [client.player.zone.instance for client in clients] == [0, 0, 1, 1, 2]
    harness.run(1.0)
    assert clients[0].sees() == {"Name6"}


def spend_the_reserve(harness: WorldHarness, client: Client) -> None:
    """Run as far as the player is believed at once; one unit more is refused."""
    assert client.player is not None
    at = client.player.position
    client.walk(at.x + 59.0, at.y, at.z)
    assert client.player.position.x == pytest.approx(at.x + 59.0)
    client.walk(at.x + 64.0, at.y, at.z)
    assert harness.world.faults.drops["moved too fast"] == 1


def test_who_arrives_in_a_zone_may_run_at_once(harness: WorldHarness) -> None:
    client = harness.stand(5)
    spend_the_reserve(harness, client)
    to = Destination(12, Position(1.0, 2.0, 3.0))
    finish(harness.departures.change_zone(client.player, to))
    again = harness.enter(5)
    again.load()
    again.walk(41.0, 2.0, 3.0)
    assert again.player.position.x == 41.0
    assert harness.world.faults.drops["moved too fast"] == 1


def test_who_comes_back_to_its_character_may_run_at_once(harness: WorldHarness) -> None:
    client = harness.stand(5)
    spend_the_reserve(harness, client)
    again = harness.enter(5)
    again.load()
    here = again.player.position
    again.walk(here.x + 40.0, here.y, here.z)
    assert again.player.position.x == pytest.approx(here.x + 40.0)
    assert harness.world.faults.drops["moved too fast"] == 1


def loaded(client: Client) -> None:
    client.say("OP_DoneLoadingZoneResourcesMsg")


def placed(client: Client) -> None:
    loaded(client)
    client.say("OP_DoneLoadingEntityResourcesMsg")


def camping(client: Client) -> None:
    client.load()
    client.say("OP_RequestCampMsg", bytes(2))


def zoning(client: Client) -> None:
    client.load()
    client.types("/zone Antonica")


def on_the_way(client: Client) -> None:
    zoning(client)
    client.say("OP_ReadyToZoneMsg")


def link_dead(client: Client) -> None:
    client.load()
    assert client.player is not None
    client.harness.service.closed(client.player, client, "gone", client.harness.now)


@pytest.mark.parametrize("version", [546, 561])
@pytest.mark.parametrize(
    ("crash", "state"),
    [
        (lambda _client: None, PlayerState.LOADING),
        (loaded, PlayerState.PLACING),
        (placed, PlayerState.APPEARING),
        (Client.load, PlayerState.STANDING),
        (camping, PlayerState.STANDING),
        (zoning, PlayerState.ZONING),
        (on_the_way, PlayerState.ZONING),
        (link_dead, PlayerState.LINK_DEAD),
    ],
)
def test_a_character_is_taken_over_wherever_its_client_crashed(
    harness: WorldHarness, crash: Callable[[Client], None], state: PlayerState, version: int
) -> None:
    other = harness.stand(6)
    first = harness.enter(5, 546, admin_status=100)
    crash(first)
    harness.run(0.5)
    assert first.player is not None
    assert first.player.state is state
    again = harness.enter(5, version, key=1)
    assert (first.is_closed, again.is_closed) == (True, False)
    assert "OP_ZoneInfoMsg" in again.names
    assert "OP_SetRemoteCmdsMsg" in again.names
    again.load()
    harness.service.closed(first.player, first, "over at last", harness.now)
    harness.run(150.0)
    assert again.player is not None
    assert again.player.state is PlayerState.STANDING
    assert again.player.spawn.words == set()
    assert not again.is_closed
    assert len(harness.world.players) == 2
    assert harness.presence.is_playing(105)
    is_gone = state is PlayerState.ZONING
    assert again.player.zone.zone_id == (12 if is_gone else 325)
    assert other.sees() == (set() if is_gone else {"Name5"})
    again.types("/say I am back")
    assert [text for _, _, text in other.hears()] == ([] if is_gone else ["I am back"])


def test_a_full_zone_does_not_keep_out_who_is_in_it(harness: WorldHarness) -> None:
    first = harness.stand(5)
    assert first.player is not None
    zone = first.player.zone
    zone.rules = zone.rules.__class__(spawn_limit=len(zone))
    again = harness.stand(5)
    assert again.player is not None
    assert again.player.state is PlayerState.STANDING


def test_the_windows_of_a_client_that_is_replaced_are_closed(harness: WorldHarness) -> None:
    harness.stand(5)
    gone: list[str] = []
    harness.world.events.subscribe(WindowsGone, lambda event: gone.append(event.player.name))
    harness.enter(5)
    assert gone == ["Name5"]
