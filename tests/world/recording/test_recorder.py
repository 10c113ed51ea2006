"""What a recorder notes of a world, and on behalf of which zone."""

from __future__ import annotations

from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from emu.world.recording.recorder import Recorder, zone_of
from emu.world.recording.recording import PlayerSnapshot, ZoneSnapshot
from emu.world.rules import RecordRules
from emu.world.zones.zone import Zone
from tests.support.world.worlds import WorldHarness


class Recorded:
    """A world that is recorded."""

    def __init__(self, seconds: float = 300.0) -> None:
        seeds = (f"seed {number}".encode() for number in count())
        self.harness: Any
        self.record = Recorder(
            RecordRules(is_on=True, seconds=seconds),
            SimpleNamespace(now=lambda: self.harness.now, moment=lambda: self.harness.moment),
            seeds.__next__,
        )
        self.harness = WorldHarness(record=self.record)
        self.service = self.record.service(self.harness.service)
        self.harness.service = self.service
        self.harness.turn = self.record.turns(self.harness.turn)

    @property
    def zone(self) -> Zone:
        return next(iter(self.harness.zones))

    def kinds(self) -> list[str]:
        return [entry.kind for is_own, entry in self.recording().entries if is_own]

    def recording(self, **options: Any) -> Any:
        return self.record.recording(self.zone, "a test", **options)


def test_nothing_stands_between_a_world_that_is_not_recorded_and_its_ports() -> None:
    record, clock, store = Recorder(), object(), object()
    turns: list[object] = []
    roll = Random(1).randrange
    assert record.clock(clock) is clock  # type: ignore[arg-type, comparison-overlap]
    assert record.store("things", store) is store
    assert record.roll(roll) is roll
    assert record.service(store) is store  # type: ignore[arg-type, comparison-overlap]
    assert record.turns(turns.append) == turns.append
    assert record.noted(store) is store  # type: ignore[type-var]
    assert record.chances(lambda _count: 3).randint(0, 9) == 3
    assert record.chances(roll).step_seed() is None


def test_what_players_do_is_an_entry_of_their_zone() -> None:
    scene = Recorded()
    one = scene.harness.stand(5, name="Aldana")
    one.types("say hello")
    one.walk(1.0, -8.0, 243.0)
    kinds = scene.kinds()
    assert kinds.count("enter") == 1
    assert {"enter", "message", "command", "turn", "event"} <= set(kinds)
    [command] = [one for _, one in scene.recording().entries if one.kind == "command"]
    assert command.data[1:3] == ("say", "hello")
    numbers = [one.number for is_own, one in scene.recording().entries if is_own]
    assert numbers == sorted({*numbers})


def test_a_player_who_enters_is_noted_with_its_character_and_things() -> None:
    scene = Recorded()
    scene.harness.stand(5, name="Aldana")
    [about] = [one.data[0] for _, one in scene.recording().entries if one.kind == "enter"]
    assert isinstance(about, PlayerSnapshot)
    assert about.character.name == "Aldana"
    assert about.version == 546
    assert not about.is_inside


@pytest.mark.parametrize("is_from_node", [False, True])
def test_where_a_player_comes_from_is_noted(is_from_node: bool) -> None:
    scene = Recorded()
    scene.harness.enter(5, is_zoning=is_from_node)
    [about] = [one.data[0] for _, one in scene.recording().entries if one.kind == "enter"]
    assert about.is_from_node is is_from_node


def test_the_index_of_a_spawn_is_noted_with_its_name_and_place() -> None:
    scene = Recorded()
    one = scene.harness.stand(5, name="Aldana")
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    index = one.player.index_of(other.player.spawn)  # type: ignore[union-attr]
    assert index is not None
    one.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
    found = [
        row for _, entry in scene.recording().entries
        if entry.kind == "message" and entry.data[1] == "OP_UpdateTargetMsg"
        for row in entry.data[3]
    ]  # fmt: skip
    place = other.player.position
    assert found == [(index, "Borvik", (place.x, place.y, place.z))]


def test_chance_follows_from_the_zone_and_not_from_other_zones() -> None:
    def drawn(*, has_other: bool) -> list[int]:
        scene = Recorded()
        one = scene.harness.stand(5, zone_id=325)
        if has_other:
            other = scene.harness.stand(6, zone_id=12)
        found = []
        for _ in range(5):
            if has_other:
                other.types("random 1 1000")
            found.append(one.types("random 1 1000"))
        return [int(lines[-1].split()[-1].rstrip(".!")) for lines in found if lines]

    alone = drawn(has_other=False)
    assert len(set(alone)) > 1
    assert drawn(has_other=True) == alone


def test_a_zone_that_runs_for_long_is_kept_from_a_snapshot_on() -> None:
    scene = Recorded(seconds=10.0)
    one = scene.harness.stand(5, name="Aldana")
    for _ in range(60):
        scene.harness.run(0.5)
        one.walk(1.0, -8.0, 243.0)
    made = scene.recording()
    assert isinstance(made.snapshot, ZoneSnapshot)
    [player] = made.snapshot.players
    assert (player.character.name, player.stands, player.is_inside) == ("Aldana", True, True)
    assert 10.0 <= made.header.seconds <= 13.0


def test_a_file_helps_nobody_to_predict_what_comes() -> None:
    scene = Recorded()
    scene.harness.stand(5)
    first = scene.recording()
    scene.harness.run(1.0)
    second = scene.recording()
    assert first.header.seed == second.header.seed  # it is of the same beginning
    assert scene.record._chances[scene.zone].seed.hex() != first.header.seed


def test_a_zone_that_has_ended_is_forgotten() -> None:
    scene = Recorded()
    scene.harness.stand(5)
    zone = scene.zone
    assert [*scene.record.zones()] == [zone]
    scene.record.ended(zone)
    assert not [*scene.record.zones()]
    scene.record.ended(zone)


def test_the_zone_of_the_owner_of_a_deadline_is_known() -> None:
    scene = Recorded()
    player = scene.harness.stand(5).player
    zone = scene.zone
    home = SimpleNamespace(home=SimpleNamespace(zone=zone))
    for owner in (zone, player, (zone, player.spawn), home):
        assert zone_of(owner) is zone
    for owner in ("a text", 5, (1, 2), SimpleNamespace(zone=None)):
        assert zone_of(owner) is None


@pytest.mark.parametrize("is_private", [False, True])
def test_private_words_are_kept_only_if_they_are_asked_for(is_private: bool) -> None:
    scene = Recorded()
    one = scene.harness.stand(5, name="Aldana")
    one.types("tell Borvik a secret")
    text = "\n".join(scene.recording(is_private=is_private).lines())
    assert ("a secret" in text) is is_private
    assert "Borvik" in text
