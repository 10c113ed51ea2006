from emu.world.actors.spawn import Destination, Footer, Pose, SpawnKind, SpawnTemplate, Verb
from emu.world.zones.definitions import Fixture
from emu.world_stream.movement import Position


def test_a_spawn_has_what_its_fixture_says() -> None:
    template = SpawnTemplate(
        SpawnKind.WIDGET, "a door", last_name="x", guild="y", level=2,
        size=3, collision_radius=4, appearance={"model_type": 5}, words=frozenset(("merchant",)),
        verbs=(Verb("Open", 5.0, "use"),), footer=Footer(6, 1.0, 2.0, 3.0), attackable=True,
        targetable=False, show_name=False, pose=Pose(visual_state=7, mood_state=8),
        destination=Destination(9),
    )  # fmt: skip
    fixture = Fixture(template, Position(1.0, 2.0, 3.0, 4.0), behavior="greeter")
    spawn = fixture.spawn(42)
    assert (spawn.id, spawn.guild, spawn.visual_state, spawn.mood_state) == (42, "y", 7, 8)
    for name in (
        "kind", "name", "last_name", "level", "size", "collision_radius", "words", "verbs",
        "footer", "attackable", "targetable", "show_name", "destination",
    ):  # fmt: skip
        assert getattr(spawn, name) == getattr(template, name), name
    assert spawn.appearance == template.appearance
    assert spawn.position == spawn.origin == fixture.place


def test_every_spawn_is_one_of_its_own() -> None:
    fixture = Fixture(SpawnTemplate(SpawnKind.NPC, "Ann"), Position(0.0, 0.0, 0.0))
    one, other = fixture.spawn(1), fixture.spawn(2)
    one.move(Position(5.0, 0.0, 0.0))
    assert other.position == fixture.place
