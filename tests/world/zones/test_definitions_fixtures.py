from emu.world.actors.spawn import Destination, Footer, SpawnKind, Verb
from emu.world.zones.definitions import Fixture
from emu.world_stream.movement import Position


def test_a_spawn_has_what_its_fixture_says() -> None:
    fixture = Fixture(
        SpawnKind.WIDGET, "a door", Position(1.0, 2.0, 3.0, 4.0), last_name="x", title="y", level=2,
        size=3, collision_radius=4, looks={"model_type": 5}, words=frozenset(("merchant",)),
        verbs=(Verb("Open", 5.0, "use"),), footer=Footer(6, 1.0, 2.0, 3.0), attackable=True,
        targetable=False, show_name=False, states={"visual_state": 7, "mood_state": 8},
        destination=Destination(9), behavior="greeter",
    )  # fmt: skip
    spawn = fixture.spawn(42)
    assert (spawn.id, spawn.guild, spawn.visual_state, spawn.mood_state) == (42, "y", 7, 8)
    for name in (
        "kind", "name", "last_name", "level", "size", "collision_radius", "words", "verbs",
        "footer", "attackable", "targetable", "show_name", "destination",
    ):  # fmt: skip
        assert getattr(spawn, name) == getattr(fixture, name), name
    assert spawn.appearance == fixture.looks
    assert spawn.position == spawn.origin == fixture.place


def test_every_spawn_is_one_of_its_own() -> None:
    fixture = Fixture(SpawnKind.NPC, "Ann", Position(0.0, 0.0, 0.0))
    one, other = fixture.spawn(1), fixture.spawn(2)
    one.move(Position(5.0, 0.0, 0.0))
    assert other.position == fixture.place
