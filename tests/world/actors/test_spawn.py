"""A spawn reports to its watcher which group of fields changed."""

from __future__ import annotations

import pytest

from emu.world.actors.spawn import GhostPart, Idle, Spawn, SpawnKind, SpawnTemplate
from emu.world_stream.movement import Position


def test_changes_are_reported_by_side() -> None:
    reported: list[int] = []
    spawn = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    spawn.watcher = lambda _spawn, change: reported.append(change)
    spawn.move(Position(1, 2, 3), speed=1.0, pitch=10.0)
    spawn.set_info(level=3)
    spawn.set_visibility(targetable=False)
    assert spawn.set_word("afk", on=True)
    assert not spawn.set_word("afk", on=True)
    assert reported == [GhostPart.POSITION, GhostPart.INFO, GhostPart.VISIBILITY, GhostPart.INFO]
    assert (spawn.pitch, spawn.activity) == (10.0, 128)
    spawn.move(Position(1, 2, 3))
    assert (spawn.pitch, spawn.speed) == (10.0, 0.0)


@pytest.mark.parametrize(
    ("version", "state"),
    [(545, None), (546, 5), (561, 5), (562, 6), (1208, 6), (60085, 6), (67000, 6)],
)
def test_an_idle_animation_has_a_number_in_each_version(version: int, state: int | None) -> None:
    """Between two ranges the later one holds (recorded with 1208)."""
    assert Idle(((5, 546, 561), (6, 60000, 60085))).state_in(version) == state


def test_spawns_of_a_template_share_it_until_one_changes() -> None:
    template = SpawnTemplate(SpawnKind.NPC, "a wolf", guild="The Pack", faction=5)
    one, other = (Spawn.of(template, number, Position(0, 0, 0)) for number in (1, 2))
    one.set_info(name="a wolf", guild="The Pack")
    assert one.look is template, "equal values make no copy"
    one.set_info(name="Grey", visual_state=5, hp_percent=40)
    assert (one.name, one.guild, one.visual_state, one.hp_percent) == ("Grey", "The Pack", 5, 40)
    assert (other.name, other.visual_state, other.hp_percent) == ("a wolf", 0, 100)
    assert other.look is template
    assert template == SpawnTemplate(SpawnKind.NPC, "a wolf", guild="The Pack", faction=5)


def test_a_spawn_has_a_limited_number_of_fields() -> None:
    assert len(Spawn.__slots__) <= 30


def test_stamina_and_bonuses_make_a_players_health() -> None:
    spawn = Spawn(1, SpawnKind.PLAYER, "Aldana", Position(0.0, 0.0, 0.0, 0.0), level=2)
    assert (spawn.sheet.health.most, spawn.sheet.power.most) == (108, 113)
    spawn.sheet.put_bonuses("cap", {"sta": 4.0, "health": 10.0, "power": 3.0})
    health = spawn.sheet.health
    assert (health.current, health.most, health.base) == (130, 130, 108)
    assert spawn.sheet.power.most == 116
    health.set_current(50)
    spawn.sheet.put_bonuses("cap", {})
    assert (spawn.sheet.health.current, spawn.sheet.health.most) == (50, 108)
    spawn.level = 3
    spawn.mark_sheet()
    assert spawn.sheet.health.most == 118


def test_what_a_script_has_set_is_not_counted_anew() -> None:
    for kind in (SpawnKind.PLAYER, SpawnKind.NPC):
        spawn = Spawn(1, kind, "Aldana", Position(0.0, 0.0, 0.0, 0.0), level=2)
        spawn.sheet.health.fill(77)
        spawn.sheet.put_bonuses("cap", {"sta": 4.0, "health": 10.0})
        assert spawn.sheet.health.most == 87
        spawn.level = 3
        spawn.mark_sheet()
        spawn.sheet.put_bonuses("cap", {})
        assert spawn.sheet.health.most == 77


def test_who_may_see_a_spawn() -> None:
    one, other, chest = (
        Spawn(number, SpawnKind.PLAYER, "A", Position(0, 0, 0)) for number in (1, 2, 3)
    )
    assert chest.may_be_seen_by(one)
    chest.set_allowed([one.id])
    assert chest.may_be_seen_by(one)
    assert not chest.may_be_seen_by(other)
    assert chest.may_be_seen_by(chest), "everybody sees itself"
    chest.hidden = True
    assert not chest.may_be_seen_by(one)
