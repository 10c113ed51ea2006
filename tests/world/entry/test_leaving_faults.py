"""Whatever raises while a player leaves, the player is out of the world, stored, and may return."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from emu.processes.bus import LocalBus
from emu.world.actors.player import Player, PlayerDeadline, Relation
from emu.world.actors.spawn import Spawn
from emu.world.entry import leaving
from emu.world.events import GameEvent, LeftWorld, LeftZone, Order
from emu.world.groups.changes import AWAY
from emu.world.groups.groups import Groups
from emu.world.players import PlayerDeadlines, Players
from emu.world.reports import Fault
from emu.world.saving.saves import PlayerSaves
from emu.world.social.channels import Channels
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.viewer import Viewer
from emu.world.zones.directory import Zones
from emu.world.zones.grid import Grid
from emu.world.zones.zone import Zone
from tests.support.world.worlds import Client, WorldHarness

COLLABORATORS: list[tuple[Any, str]] = [
    (PlayerSaves, "save"),
    (Player, "close_view"),
    (Zone, "leave"),
    (Zone, "remove"),
    (Zones, "left"),
    (Grid, "remove"),
    (BaselineCache, "forget"),
    (Viewer, "hide"),
    (PlayerDeadlines, "forget"),
    (Players, "remove"),
    (Players, "count_in"),
    (Channels, "leave"),
    (Groups, "forget"),
    (Spawn, "set_word"),
    (LocalBus, "publish"),
]
OF_THE_WORLD = ["start"]
OF_FAULTS = ["report"]
OF_PRESENCE = ["left", "lost_link"]
OF_THE_STORE = ["save_character"]


class Mistake(Exception):
    """What is raised."""


def raising(original: Callable[..., Any], times: float) -> Callable[..., Any]:
    """Return a function that raises so many times, and then does what it should."""
    left = times

    def call(*values: Any, **named: Any) -> Any:
        nonlocal left
        if left > 0:
            left -= 1
            for value in values:
                if isinstance(value, Coroutine):
                    value.close()
            raise Mistake
        return original(*values, **named)

    return call


def quits(_harness: WorldHarness, client: Client) -> None:
    client.say("OP_RequestCampMsg", b"\1\1")


def loses_its_link(harness: WorldHarness, client: Client) -> None:
    assert client.player is not None
    harness.service.closed(client.player, client.player.client.link, "timeout", harness.now)
    end = harness.now + 200.0
    while harness.now < end:
        with suppress(Mistake):  # of the store; the scheduler would log it
            harness.run(end - harness.now)


def is_sent_away(harness: WorldHarness, client: Client) -> None:
    assert client.player is not None
    harness.service.send_away(client.player, "kicked", harness.now)


def stops(harness: WorldHarness, _client: Client) -> None:
    harness.service.close(harness.now)


WAYS = [quits, loses_its_link, is_sent_away, stops]


class Scene:
    """Two players who know of each other in every way there is."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        self.other = self.harness.stand(6, name="Borvik")
        self.client = self.harness.stand(5, name="Aldana")
        for one in (self.other, self.client):
            one.types("/joinchannel Grove")
        self.other.types("/invite Aldana")
        self.client.types("/accept")
        assert self.client.player is not None
        self.player: Player = self.client.player
        self.harness.run(5.0)
        self.player.spawn.move(self.player.position._replace(x=4.5))
        self.client.types("/friend Borvik")

    def is_gone(self) -> None:
        harness, player = self.harness, self.player
        world = harness.world
        assert world.players.get(5) is None
        assert world.players.named("Aldana") is None
        assert not player.zone.holds(player.spawn)
        assert harness.presence.find(5) is None
        assert not harness.presence.is_playing(player.character.account_id)
        # Who camps has its place in its group for a while.
        if world.groups.is_away(5):
            harness.run(AWAY)
        assert world.groups.table.of(5) is None
        assert harness.chat.channels.of(5) == []
        for name in PlayerDeadline:
            assert world.players.deadlines.get(player, name) is None

    def may_return(self) -> None:
        harness = self.harness
        again = harness.enter(5)
        again.load()
        harness.run(1.0)
        assert again.player is not None
        assert again.player is not self.player
        assert again.player.position.x == pytest.approx(4.5)
        assert again.player.relations.knows(Relation.FRIEND, "Borvik")
        quits(harness, again)
        assert harness.world.players.get(5) is None


def test_the_scene_itself() -> None:
    scene = Scene()
    assert scene.harness.world.groups.table.of(5) is not None
    assert len(scene.harness.chat.channels.of(5)) == 1
    quits(scene.harness, scene.client)
    scene.is_gone()
    assert not scene.harness.world.faults.counts
    scene.may_return()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("owner", "name"), COLLABORATORS)
def test_one_call_that_raises(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, way: Callable[..., None]
) -> None:
    scene = Scene()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raising(getattr(owner, name), 1))
        way(scene.harness, scene.client)
    if way is not stops:
        scene.is_gone()
        scene.may_return()
    else:
        assert len(scene.harness.world.players) == 0
        assert scene.harness.presence.players == 0


@pytest.mark.parametrize(("owner", "name"), [
    one for one in COLLABORATORS if one[1] not in ("save", "publish") and one[0] is not Groups
    and one[0] is not Channels
])  # fmt: skip
def test_one_call_that_always_raises(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    """But for what keeps groups and channels itself: nobody else could take a player out there."""
    scene = Scene()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raising(getattr(owner, name), float("inf")))
        quits(scene.harness, scene.client)
    world = scene.harness.world
    assert world.players.get(5) is None
    assert not scene.player.zone.holds(scene.player.spawn)
    assert scene.harness.presence.find(5) is None
    scene.may_return()


@pytest.mark.parametrize("way", WAYS[:3])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        *(("world", name) for name in OF_THE_WORLD),
        *(("faults", name) for name in OF_FAULTS),
        *(("presence", name) for name in OF_PRESENCE),
        *(("store", name) for name in OF_THE_STORE),
        ("client", "close"),
        ("other", "send"),
    ],
)
def test_one_neighbor_that_always_raises(
    monkeypatch: pytest.MonkeyPatch, owner: str, name: str, way: Callable[..., None]
) -> None:
    scene = Scene()
    found = {
        "world": scene.harness.world, "faults": scene.harness.faults,
        "presence": scene.harness.presence,
        "store": scene.harness.store,
        "client": scene.client, "other": scene.other,
    }[owner]  # fmt: skip
    kind = type(found) if owner == "presence" else found
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, raising(getattr(kind, name), float("inf")))
        way(scene.harness, scene.client)
    scene.harness.run(leaving.SAVE_TIME)  # how long a session waits for its save
    scene.is_gone()
    scene.may_return()


@pytest.mark.parametrize("kind", [LeftZone, LeftWorld])
def test_a_listener_that_raises_keeps_nobody_else_from_hearing(kind: type[GameEvent]) -> None:
    scene = Scene()
    fails = raising(lambda _event: None, float("inf"))
    scene.harness.world.events.subscribe(kind, fails, Order.OWNER)
    quits(scene.harness, scene.client)
    scene.is_gone()
    [fault, _again] = [one for one in scene.harness.events if isinstance(one, Fault)]
    assert isinstance(fault.error, Mistake)
    assert fault.actor == "Aldana"


def test_somebody_who_cannot_come_in_is_not_left_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = WorldHarness()
    with monkeypatch.context() as patch:
        patch.setattr("emu.world.entry.entering.initial_messages.send_zone", raising(print, 1))
        with pytest.raises(Mistake):
            harness.enter(5, name="Aldana")
    assert harness.world.players.get(5) is None
    harness.stand(5)


def test_a_client_that_cannot_go_on_into_a_zone_is_not_left_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each step of setting out may fail; who does not come back is out a minute later."""
    for owner, name in (
        (Zone, "leave"),
        (Zone, "remove"),
        (Spawn, "set_word"),
        (PlayerSaves, "save"),
    ):
        harness = WorldHarness()
        client = harness.stand(5, name="Aldana", admin_status=200)
        assert client.player is not None
        before = client.player.zone
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, raising(getattr(owner, name), 1))
            client.types("/zone Antonica")
        assert not before.holds(client.player.spawn)
        harness.run(leaving.ZONING_TIME + 1)
        assert harness.world.players.get(5) is None
        assert harness.presence.find(5) is None
