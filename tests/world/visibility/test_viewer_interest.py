"""Indexes and baselines of one viewer."""

from __future__ import annotations

import random

import pytest

from emu.errors import LimitExceeded
from emu.rules.stance import BLUE, WHITE, look_at
from emu.structs.packed import oversized
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.viewer import LAST_INDEX, InterestSet, ObservedSpawn
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import View, form

HERE = Position(0, 0, 0)


class Scene:
    """A viewer with what it sees, and the client that reads it."""

    def __init__(self, version: int = 546) -> None:
        self.baselines = BaselineCache()
        self.form = form(version)
        self.interest = InterestSet()
        self.view = View(version)

    def show(self, spawn: Spawn, *, own: bool = False) -> int:
        spawn.watcher = self.changed
        baseline = self.baselines.get(spawn, self.form, own=own)
        return int(self.view.create(self.interest.show(baseline, 0))["index"])

    def changed(self, spawn: Spawn, change: int) -> None:
        self.baselines.changed(spawn, change)
        self.baselines.refresh(spawn.id)
        self.interest.changed({spawn.id})

    def updates(self, capacity: int = 10_000) -> list[set[int]]:
        return [self.view.update(data) for data in self.interest.take_updates(5, capacity, HERE)]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def npc(number: int, x: float = 0.0) -> Spawn:
    return Spawn(number, SpawnKind.NPC, f"npc {number}", Position(x, 0, 0))


def test_the_worked_example_of_the_protocol_page(scene: Scene) -> None:
    """docs/protocol/world/movement.md#updates: viewer's index 5 moves."""
    others = [npc(number) for number in range(10, 13)]
    assert [scene.show(spawn) for spawn in others] == [2, 3, 4]
    mover = Spawn(20, SpawnKind.NPC, "mover", Position(100, -3.5, 250.25, 270.0, 0x1234))
    assert scene.show(mover) == 5
    mover.move(Position(101.5, -3.5, 249, 271.0, 0x1234), speed=300 / 256)
    [payload] = scene.interest.take_updates(0x01020304, 1000, HERE)
    assert payload.hex(" ") == ("04 03 02 01 00 0e 05 10 b5 01 2c 40 40 27 81 03 83 03 40 0c 00")


def test_sitting_down_is_a_few_bytes_of_info(scene: Scene) -> None:
    """docs/protocol/world/recorded.md#update-ghost."""
    players = [Spawn(n, SpawnKind.PLAYER, f"p{n}", HERE) for n in range(2, 9)]
    assert [scene.show(spawn) for spawn in players] == [2, 3, 4, 5, 6, 7, 8]
    players[-1].set_info(visual_state=538)
    [payload] = scene.interest.take_updates(0, 1000, HERE)
    assert payload[4:].hex() == "0e08" + "7f" * 8 + "4183021a01" + "0000"
    players[-1].set_info(visual_state=539)
    [payload] = scene.interest.take_updates(0, 1000, HERE)
    assert payload[4:].hex() == "0d08" + "7f" * 8 + "418101" + "01" + "0000"


def test_an_idle_viewer_is_sent_nothing(scene: Scene) -> None:
    spawn = npc(1)
    scene.show(spawn)
    assert not scene.interest.is_due
    spawn.move(spawn.position)
    assert scene.updates() == []


def test_a_hundred_changes_at_once_keep_within_a_section(scene: Scene) -> None:
    """A section says its length in 16 bits; what does not fit comes with the next update."""
    spawns = [npc(number) for number in range(1, 400)]
    for spawn in spawns:
        scene.show(spawn)
    for spawn in spawns:
        spawn.set_info(name="n" * 60, last_name="l" * 60, guild="g" * 60)
    reported = 0
    while scene.interest.is_due:
        [payload] = scene.interest.take_updates(5, 1_000_000, HERE)
        assert len(payload) < 0xFFFF
        reported += len(scene.view.update(payload))
    assert reported == 399
    assert scene.view.fields(300)["name"] == "n" * 60


def test_the_own_ghost_is_index_1(scene: Scene) -> None:
    assert scene.show(Spawn(9, SpawnKind.PLAYER, "me", HERE), own=True) == 1
    assert scene.show(npc(2)) == 2


def test_an_index_is_not_used_again_while_there_are_others(scene: Scene) -> None:
    seen = []
    for number in range(300):
        spawn = npc(number)
        seen.append(scene.show(spawn))
        assert scene.interest.hide(spawn) == seen[-1]
    assert len(set(seen)) == 300
    assert not {0, 1, 255} & set(seen)
    assert scene.interest.hide(npc(1)) is None


def test_all_indexes_taken_is_refused() -> None:
    interest, baselines, one = InterestSet(), BaselineCache(), form(546)
    baseline = baselines.get(npc(1), one)
    for number in range(1, LAST_INDEX - 1):
        interest._by_spawn[number] = ObservedSpawn(interest._free_index(), baseline)
    with pytest.raises(LimitExceeded):
        interest.show(baseline, 0)
    gone = interest._by_spawn.pop(77)
    baselines.forget(baseline.spawn)
    other = baselines.get(npc(77), one)
    interest.show(other, 0)
    assert interest.index_of(other.spawn) == gone.index


def test_visibility_has_an_update_of_its_own(scene: Scene) -> None:
    first, second = npc(1), npc(2)
    scene.show(first)
    scene.show(second)
    first.set_visibility(attackable=True)
    first.move(Position(1, 1, 1))
    second.move(Position(2, 2, 2))
    assert scene.updates() == [{2}, {3}]
    assert scene.view.fields(2)["attackable"] == 1


def test_when_little_fits_the_nearest_come_first_and_the_rest_is_newest(scene: Scene) -> None:
    spawns = [npc(number, x=100.0 - number) for number in range(1, 40)]
    for spawn in spawns:
        scene.show(spawn)
    for spawn in spawns:
        spawn.move(spawn.position._replace(y=1.0))
    [first] = scene.updates(capacity=60)
    assert 40 in first
    assert 2 not in first
    assert len(first) < 20
    spawns[0].move(spawns[0].position._replace(y=9.0))
    while scene.interest.is_due:
        scene.updates(capacity=60)
    assert scene.view.fields(2)["pos_y"] == 9.0
    assert scene.view.fields(40)["pos_y"] == 1.0


def test_a_viewer_that_skips_updates_ends_with_the_newest_state() -> None:
    chance = random.Random(4)
    fast, slow = Scene(), Scene(561)
    spawns = [Spawn(n, SpawnKind.PLAYER, f"p{n}", HERE) for n in range(1, 30)]
    for spawn in spawns:
        fast.show(spawn)
        slow.show(spawn)
        spawn.watcher = lambda one, change: (fast.changed(one, change), slow.changed(one, change))  # type: ignore[assignment]
    for _ in range(400):
        spawn = chance.choice(spawns)
        what = chance.randrange(3)
        if what == 0:
            spawn.move(Position(*(chance.uniform(-900, 900) for _ in range(3)),  # type: ignore[call-arg]
                                chance.uniform(0, 359), 7), speed=chance.uniform(0, 9))  # fmt: skip
        elif what == 1:
            spawn.set_word("afk", on=chance.random() < 0.5)
        else:
            spawn.set_visibility(targetable=chance.random() < 0.5)
        fast.updates()
        if chance.random() < 0.1:
            slow.updates(capacity=chance.randrange(0, 300))
    while slow.interest.is_due:
        slow.updates(capacity=100)
    for scene in (fast, slow):
        for spawn in spawns:
            index = scene.interest.index_of(spawn)
            assert index is not None
            assert scene.interest.spawn_at(index) is spawn
            baseline = scene.baselines.get(spawn, scene.form)
            assert scene.view.parts[index] == list(baseline.refresh()[:3])


@pytest.mark.parametrize(
    ("value", "hexed"), [(0, "00"), (254, "fe"), (255, "ffff00"), (600, "ff5802")]
)
def test_oversized(value: int, hexed: str) -> None:
    assert oversized(value).hex() == hexed


def wolf(number: int, level: int, faction: int = 0) -> Spawn:
    place = Position(0, 0, 0)
    return Spawn(
        number, SpawnKind.NPC, "wolf", place, level=level, faction=faction, attackable=True
    )


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_arrows_and_attitudes_are_the_viewers_own(version: int) -> None:
    """docs/protocol/world/spawns.md#arrow."""
    scene, own = Scene(version), [2]
    scene.interest.look_at = lambda stance: look_at(stance, own[0], {})
    spawn = wolf(7, 1, faction=1)
    index = scene.show(spawn)
    assert scene.view.fields(index)["arrow_color"] == BLUE
    assert scene.view.fields(index)["npc_con"] == -4
    own[0] = 9
    scene.interest.all_changed()
    assert scene.updates() == [{index}]
    assert "arrow_color" not in scene.view.fields(index), "grey"
    scene.interest.all_changed()
    assert scene.updates() == [], "nothing is sent twice"
    spawn.set_info(level=9)
    scene.updates()
    assert scene.view.fields(index)["arrow_color"] == WHITE
    assert scene.view.fields(index)["level"] == 9
    spawn.set_visibility(attackable=False, targetable=False, show_name=False, show_level=False)
    scene.updates()
    assert "arrow_color" not in scene.view.fields(index), "it has no name to put an arrow at"
    assert "npc_con" not in scene.view.fields(index)


def test_spawns_of_one_kind_share_their_encoded_parts(scene: Scene) -> None:
    looks = {"model_type": 85}
    pack = [npc(number, float(number)) for number in range(10, 13)]
    for spawn in pack:
        spawn.name, spawn.appearance = "a wolf", looks
        scene.show(spawn)
    one, other, third = (scene.baselines.get(spawn, scene.form) for spawn in pack)
    assert one.now.info == other.now.info
    assert other.now.info is third.now.info, "what two have is remembered for all others"
    pack[0].set_info(appearance={"model_type": 86})
    scene.updates()
    assert scene.view.fields(2)["model_type"] == 86
    assert scene.view.fields(3)["model_type"] == 85
