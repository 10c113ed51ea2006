"""What a client has around it: names, places, distances, fields."""

import pytest

from emu.client.world.surroundings import (
    ClientSurroundings,
    Place,
    fights_viewer,
    place_of,
    shows_verb,
)
from emu.errors import MalformedMessage, UnknownStruct
from emu.world_stream.ghosts import CREATE_GHOST, CREATE_SIGN, INFO, POSITION, SIGN_FOOTER
from tests.support.world.ghost_views import dialect
from tests.support.world.ghost_writer import GhostWriter


def around(version: int = 546) -> tuple[ClientSurroundings, GhostWriter]:
    writer, seen = GhostWriter(version), ClientSurroundings(dialect(version))
    for index, name, x in ((1, "Aldana", 0.0), (2, "Borvik", 30.0), (9, "Ünlu", -4.0)):
        text = name.encode().decode("latin-1")
        fields = {"pos_x": x, "pos_y": 2.0, "pos_z": 0.0, "pos_heading1": 64 * 10}
        create = writer.create(index, position=fields, info={"name": text, "level": index})
        assert seen.create(CREATE_GHOST, create) == index
    return seen, writer


@pytest.mark.parametrize("version", [546, 561])
def test_near_lists_others_by_distance(version: int) -> None:
    seen, _ = around(version)
    here = Place(0.0, 0.0, 0.0)
    rows = [(one.ghost, one.name, one.level, one.distance)
            for one in seen.near(here, 100.0, besides=1)]  # fmt: skip
    assert rows == [(9, "Ünlu", 9, 4.0), (2, "Borvik", 2, 30.0)]
    assert [one.name for one in seen.near(here, 10.0, besides=1)] == ["Ünlu"]
    assert [one.name for one in seen.near(here, 4.0, besides=1)] == ["Ünlu"], "at that distance"
    assert seen.place(2) == Place(30.0, 2.0, 0.0, 190.0)


def test_names_and_places_follow_updates() -> None:
    seen, writer = around()
    assert seen.find("borvik") == 2
    moved = writer.changed(POSITION, 2, {"pos_x": 31.0})
    renamed = writer.changed(INFO, 2, {"name": "Borwin"})
    update = seen.update(writer.update(7, [renamed, moved]))
    assert [(entry.part, entry.ghost) for entry in update.entries] == [(INFO, 2), (POSITION, 2)]
    assert (seen.find("borvik"), seen.name(2), seen.place(2).x) == (None, "Borwin", 31.0)
    assert seen.fields(2)["position"]["pos_x"] == 31.0


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_a_sign_without_a_place_is_where_its_object_is(version: int) -> None:
    writer, seen = GhostWriter(version), ClientSurroundings(dialect(version))
    object_at = {"widget_id": 7, "widget_x": 40.0, "widget_y": 2.0, "widget_z": 50.0}
    footer = dialect(version).layout(SIGN_FOOTER).encode(object_at)
    seen.create(CREATE_SIGN, writer.create(3, footer, position={}))
    seen.create(CREATE_SIGN, writer.create(4, footer, position={"pos_x": 9.0}))
    assert seen.place(3)[:3] == (40.0, 2.0, 50.0)
    assert seen.place(4)[:3] == (9.0, 0.0, 0.0), "it was sent with a place"


def test_what_is_destroyed_is_gone() -> None:
    seen, _ = around()
    seen.destroy(9)
    assert (len(seen), list(seen), 9 in seen, seen.name(9)) == (2, [1, 2], False, "")
    with pytest.raises(KeyError):
        seen.place(9)


def test_versions_whose_ghosts_nobody_wrote_down_are_refused() -> None:
    with pytest.raises(UnknownStruct):
        ClientSurroundings(dialect(372))
    with pytest.raises(MalformedMessage):
        place_of({"pos_x": 1.0})


def test_the_marks_of_a_ghost_say_what_it_is_to_the_viewer() -> None:
    """Recorded: 02 03 to the fighter, 00 03 to another one, after a yell 00 02 to both."""
    for arrow, encounter, fights in ((2, 3, True), (0, 3, False), (0, 2, False), (2, 1, False)):
        visible = {"arrow_color": arrow, "locked_no_loot": encounter}
        assert fights_viewer(visible) is fights
    assert [shows_verb({"vis_flags": flags}, {}) for flags in (0, 1, 2, 118)] == [
        False, False, True, True,
    ]  # fmt: skip
    assert not shows_verb({}, {"hand_icon": 0})
    # All that 546 is shown: docs/protocol/world/spawns.md#info.
    assert shows_verb({"vis_flags": 1}, {"hand_icon": 1})
