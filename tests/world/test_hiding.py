"""Hidden game masters: to whoever may not see them the world is the same as without them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from emu.admin.a2s import responder as a2s
from emu.admin.ogp.responder import Presentation, content_of
from emu.admin.ssq.tables import PLAYERS, TABLES, SsqContent
from emu.admin.web import api
from emu.commands.help import completions
from emu.model import may_see
from emu.net.admin.ggmp import ActorWorld
from emu.net.admin.status import StatusSource
from emu.times import Monotonic
from emu.world.actors.client import PlayerClient
from emu.world.commands.client_table import caller
from emu.world.events import HidingChanged
from emu.world.hiding import Concealed
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHarness

NAME, ACCOUNT = "Boss", 105
ANTONICA = 12
GUIDE = 10


class Scene:
    """A player, and maybe a game master who hid before the player came."""

    def __init__(self, *, with_master: bool, far: bool = False, rank: int = 0) -> None:
        self.harness = harness = WorldHarness()
        harness.registry.known["player"] = lambda who: [
            one.name for one in harness.world.players if may_see(who.rank, one.spawn)
        ]
        self.status = StatusSource(
            lambda: "TestLabs", lambda: 9000, Monotonic(0.0), 100,
            world=harness.world, admission=harness.admission,
        )  # fmt: skip
        harness.world.events.subscribe(HidingChanged, lambda _event: self.status.changed())
        self.master: Client | None = None
        if with_master:
            self.master = harness.stand(
                5, name=NAME, admin_status=100, zone_id=ANTONICA if far else 325, last_played=1.0
            )
            self.master.types("/joinchannel Trade")
            self.master.types("/hide")
        else:
            # The character exists in both worlds: friends may be absent.
            harness.exist(NAME)
            harness.world.zones.next_spawn_id()
            harness.run(0.2)
        self.other = harness.stand(7, name="Cenwyn", last_played=1.0)
        self.player = harness.stand(6, name="Aldana", admin_status=rank, last_played=1.0)

    @property
    def context(self) -> ActorWorld:
        return ActorWorld(self.harness.world, self.harness.chat, self.status.status)


def both(look: Callable[[Scene], object], **scene: bool) -> tuple[object, object]:
    """Return what is seen in a world with a hidden game master, and in the same without."""
    seen = [look(Scene(with_master=with_master, **scene)) for with_master in (True, False)]
    return seen[0], seen[1]


def typing(*lines: str) -> Callable[[Scene], object]:
    """Return what looks at everything a player was ever sent, at the end of some commands."""

    def look(scene: Scene) -> object:
        for line in lines:
            scene.player.types(line)
        scene.harness.run(1.0)
        return scene.player.log, scene.other.log

    return look


WAYS: dict[str, Callable[[Scene], object]] = {
    "coming in": typing(),
    "around": typing("/around"),
    "who": typing("/who"),
    "who all": typing("/who all"),
    "who by name": typing("/who bos"),
    "tell": typing("/tell Boss hello"),
    "tell in other letters": typing("/tell bOSS hello"),
    "tell to nobody there": typing("/tell Boss"),
    "invite": typing("/invite Boss"),
    "invite in other letters": typing("/invite BOSS", "/invite boss"),
    "friend": typing("/friend Boss", "/unfriend boss"),
    "ignore": typing("/ignore Boss", "/unignore boss"),
    "join a channel": typing("/joinchannel Trade", "/chatwho Trade", "/chatleave Trade"),
    "speak in a channel": typing("/joinchannel Trade", "/tellchannel Trade hi"),
    "hail": typing("/hail"),
    "shout": typing("/shout hello", "/ooc hello", "/say hello", "/emote waves"),
    "groups": typing("/group", "/accept", "/decline"),
    "commands of guides": typing("/players", "/goto Boss", "/summon Boss", "/kick Boss"),
    "help": typing("/help tell", "/loc", "/motd"),
    "complete": lambda scene: [
        completions(scene.harness.registry, caller(scene.player.player), line)  # type: ignore[arg-type]
        for line in ("tell ", "tell B", "invite b", "friend ")
    ],
    "A2S": lambda scene: [
        repr(part(scene.status.status(scene.harness.now)))
        for part in (a2s.info_of, a2s.players_of, a2s.rules_of)
    ],
    "OGP": lambda scene: repr(
        content_of(scene.status.status(scene.harness.now), Presentation()).players
    )
    + repr(content_of(scene.status.status(scene.harness.now), Presentation()).server)
    + repr(content_of(scene.status.status(scene.harness.now), Presentation()).teams),
    "SSQ": lambda scene: [
        [column.value(reported, row) for column in table.columns if column.name != "x-uptime"]
        for reported in [SsqContent(scene.status.status(scene.harness.now), "192.0.2.1")]
        for table in TABLES
        for row in table.rows(reported)
    ],
    "GGMP": lambda scene: (
        [scene.context.find(number) for number in range(1, 20)],
        scene.context.named("boss"),
        [list(scene.context.inside(zone)) for zone in (ANTONICA, 325)],
    ),
    "page": lambda scene: [
        part(scene.status.status(scene.harness.now)) for part in api.STATUS_ANSWERS.values()
    ],
    "world list": lambda scene: (
        scene.harness.presence.players,
        scene.harness.presence.zones,
        scene.harness.presence.players_besides(106),
    ),
    "full": lambda scene: [
        _full_at(scene, players) for players in (1, 2, 3, 4)
    ],
}  # fmt: skip


def _full_at(scene: Scene, players: int) -> bool:
    scene.harness.admission.rules = type(scene.harness.admission.rules)(max_players=players)
    return scene.harness.admission.is_full


@pytest.mark.parametrize("far", [False, True], ids=["same zone", "other zone"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_shows_that_a_hidden_game_master_is_here(way: str, far: bool) -> None:
    with_master, without = both(WAYS[way], far=far)
    assert with_master == without


DEEDS: dict[str, tuple[str, ...]] = {
    "a channel": ("/joinchannel Other", "/chatleave Other", "/chatleave Trade"),
    "away": ("/afk", "/afk"),
    "titles": ("/title",),
    "place": ("/move 1 2 3", "/loc"),
    "another zone": ("/zone Antonica",),
    "showing and hiding again": (),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_hidden_game_master_does_is_shown_to_nobody(deed: str) -> None:
    scenes = [Scene(with_master=with_master) for with_master in (True, False)]
    for scene in scenes:
        for line in ("/joinchannel Trade", "/joinchannel Other"):
            scene.player.types(line)
        if scene.master is not None:
            for line in DEEDS[deed]:
                scene.master.types(line)
        scene.harness.run(5.0)
    assert scenes[0].player.log == scenes[1].player.log


def test_whoever_hides_leaves_channels_and_groups_of_those_who_may_not_see_it() -> None:
    scene = Scene(with_master=True)
    master, player = scene.master, scene.player
    assert master is not None
    guide = scene.harness.stand(8, name="Guide", admin_status=GUIDE)
    for client in (player, guide):
        client.types("/joinchannel Trade")

    def reported(client: Client) -> list[int]:
        return [one["action"] for one in client.decoded("WS_ChatChannelUpdate")]

    assert (reported(player), reported(guide)) == ([0, 2], [0])
    master.types("/hide")
    assert (reported(player), reported(guide)) == ([0, 2, 2], [0]), (
        "it has come, for whom it was not there"
    )
    player.types("/invite Boss")
    assert master.types("/accept") == ["You have joined the group."]
    master.types("/hide")
    assert reported(player)[-1] == 3
    assert player.types("/group") == ["you are in no group"]
    assert master.types("/invite Aldana") == ["you are hidden; hide shows you again"]
    player.types("/chatwho Trade")
    guide.types("/chatwho Trade")
    names = [
        [row["player_name"] for row in one.decoded("WS_WhoChannelQueryReply")[-1]["player_array"]]
        for one in (player, guide)
    ]
    assert names == [["Aldana", "Guide"], [NAME, "Aldana", "Guide"]]


def test_those_with_a_rank_see_whoever_is_hidden() -> None:
    scene = Scene(with_master=True, rank=GUIDE)
    harness, player = scene.harness, scene.player
    assert any(NAME in line for line in player.types("/around"))
    assert player.types("/tell Boss hello") == []
    assert scene.master is not None
    assert scene.master.hears()[-1][2] == "hello"
    assert completions(harness.registry, caller(player.player), "tell B") == [NAME]  # type: ignore[arg-type]
    full = scene.status.status(harness.now, GUIDE)
    assert [one.name for one in full.players] == [NAME, "Cenwyn", "Aldana"]
    assert [one.name for one in scene.status.status(harness.now, 9).players] == ["Cenwyn", "Aldana"]
    assert PLAYERS.rows(SsqContent(full, "")) == full.players


def test_the_zone_that_runs_for_a_hidden_player_alone_is_not_listed_even_when_it_left() -> None:
    scene = Scene(with_master=True, far=True)
    master = scene.master
    assert master is not None
    zones = [zone.id for zone in scene.status.status(scene.harness.now).zones]
    assert zones == [325]
    master.say("OP_RequestCampMsg", b"\1\1\0")
    assert scene.harness.world.players.get(5) is None
    scene.harness.run(2.0)
    assert [zone.id for zone in scene.status.status(scene.harness.now).zones] == [325]
    scene.harness.stand(9, zone_id=ANTONICA)
    scene.harness.run(2.0)
    assert [zone.id for zone in scene.status.status(scene.harness.now).zones] == [ANTONICA, 325]


def test_a_hidden_player_that_comes_from_another_process_is_still_hidden() -> None:
    harness = WorldHarness()
    row = harness.character(5, name=NAME, admin_status=100)
    demoted = harness.character(6, name="Was", admin_status=0)
    for character, hidden in ((row, True), (demoted, False)):
        client = harness.client()
        behind = PlayerClient(client.dialect, client, "127.0.0.1")
        loaded = finish(harness.service.load(character, behind.version))
        player = harness.service.enter(character, behind, harness.now, loaded, hidden=True)
        assert player.present.hidden is hidden, "one without a rank may not hide"


def test_texts_that_name_whoever_is_hidden_are_concealed() -> None:
    scene = Scene(with_master=True)
    harness, master = scene.harness, scene.master
    assert master is not None
    concealed = Concealed(harness.world)
    concealed.logged_in(ACCOUNT, "bosslogin")
    line = "Boss from 192.0.2.1, client 546, entered Isle of Refuge"
    assert concealed.names(line)
    assert concealed.names("command of console (console): kick boss: done")
    assert concealed.names("login of BossLogin from 192.0.2.1, client 546")
    assert not concealed.names("Bosses are strong; Aldana left Antonica: quit")
    master.types("/hide")
    assert not concealed.names(line)
    master.types("/hide")
    harness.console("kick Boss")
    assert harness.presence.find(5) is None
    assert concealed.names(line), "it left hidden"
    harness.stand(5)
    assert not concealed.names(line)


@pytest.mark.parametrize(
    ("rank", "hidden", "seen"),
    [*itertools.product((0, 9, -1), (False,), (True,)), (0, True, False), (9, True, False),
     (10, True, True), (1000, True, True)],
)  # fmt: skip
def test_who_may_see_whom(rank: int, hidden: bool, seen: bool) -> None:
    spawn = Scene(with_master=False).other.player
    assert spawn is not None
    spawn.spawn.hidden = hidden
    assert may_see(rank, spawn.spawn) is seen
