import contextlib
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.world.actors.spawn import Destination, Footer, Pose, SpawnKind, SpawnTemplate, Verb
from emu.world.population.files import MOST_FIXTURES, read_fixtures, read_starts, read_zone
from emu.world.zones.definitions import Fixture, Start
from emu.world_stream.movement import Position

PATH = Path("isle.toml")
ROW = 'kind = "npc"\nname = "Ann"\nplace = [1, 2.5, -3]\n'


def find(name: str) -> int:
    if name != "Antonica":
        raise ValueError(f"there is no zone {name!r}")
    return 12


def fixture(text: str) -> Fixture:
    (made,) = read_fixtures(PATH, [tomllib.loads(text)], find)
    return made


def test_what_is_not_said_has_a_default() -> None:
    assert fixture(ROW) == Fixture(
        SpawnTemplate(SpawnKind.NPC, "Ann", show_name=True), Position(1.0, 2.5, -3.0)
    )


def test_everything_that_can_be_said() -> None:
    made = fixture("""
        kind = "sign"
        name = "a post"
        place = [1, 2, 3, 370]
        grid = 77
        last_name = "of Oak"
        title = "Roads"
        level = 9
        size = 20
        collision_radius = 5
        model = 134
        looks = { gender = 1, soga_model_type = 2 }
        words = ["merchant"]
        attackable = true
        targetable = false
        show_name = true
        visual_state = 538
        mood_state = 3
        behavior = "greeter"
        behavior_options = { greeting = "Hm" }
        verbs = [{ name = "Read It" }, { name = "Kick", distance = 2, command = "kick_post" }]
        widget = { id = 5, place = [7, 8, 9] }
        sign = { title = "North", text = "Cold.", distance = 4, show = false, language = 2 }
        to = { zone = "Antonica", place = [1, 1, 1, 180] }
    """)
    assert made.template == SpawnTemplate(
        SpawnKind.SIGN, "a post", last_name="of Oak",
        guild="Roads", level=9, size=20, collision_radius=5,
        appearance={"gender": 1, "model_type": 134, "soga_model_type": 2},
        words=frozenset(("merchant",)),
        verbs=(Verb("Read It", 10.0, "read_it"), Verb("Kick", 2.0, "kick_post")),
        footer=Footer(5, 7.0, 8.0, 9.0, "North", "Cold.", 4.0, show=False, language=2),
        attackable=True, targetable=False, show_name=True,
        pose=Pose(visual_state=538, mood_state=3),
        destination=Destination(12, Position(1.0, 1.0, 1.0, 180.0)),
    )  # fmt: skip
    assert made == Fixture(
        made.template, Position(1.0, 2.0, 3.0, 10.0, 77), "greeter", {"greeting": "Hm"}
    )


def test_a_way_that_names_no_verb_can_be_used() -> None:
    made = fixture(ROW.replace("npc", "widget") + "to = { zone = 900 }\n")
    assert made.template.verbs == (Verb("Use", 10.0, "use"),)
    assert made.template.destination == Destination(900, None)
    assert made.template.footer == Footer(0, 1.0, 2.5, -3.0)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            ROW.replace("npc", "dragon"),
            'kind: must be one of "npc", "object", "ground", "sign", "widget"',
        ),
        (ROW.replace("npc", "player"), "kind: must be one of"),
        ('kind = "npc"\nplace = [1, 2, 3]', "name: is missing"),
        ('kind = "npc"\nname = "Ann"', "place: is missing"),
        (ROW.replace("[1, 2.5, -3]", "[1, 2]"), r"place: must be \[x, y, z\]"),
        (ROW.replace("-3", "nan"), "place: must be a number"),
        (ROW.replace("-3", "1e30"), "outside the world"),
        (ROW.replace("-3", "true"), "place: must be a number"),
        (ROW + "levle = 3", "levle: unknown key; did you mean level"),
        (ROW + "level = 0", "level: must be a whole number from 1 to 255"),
        (ROW + "level = 2.5", "level: must be a whole number"),
        (ROW + "attackable = 1", "attackable: must be true or false"),
        (ROW + "verbs = 1", "verbs: must be a list"),
        (ROW + "verbs = [1]", "must be a table"),
        (ROW + "verbs = [{ name = 'a', far = 1 }]", r"verbs\[0\]\.far: unknown key"),
        (ROW + "to = { zone = 'Nowhere' }", "there is no zone 'Nowhere'"),
        (ROW + "to = { zone = 1.5 }", "to.zone: must be a zone's name"),
        (ROW + "sign = { title = 'a' }", "sign: only a sign has this key"),
        (ROW + "looks = { hair = 1 }", "there is no appearance field 'hair'"),
        (ROW + "words = ['brave']", "unknown word 'brave'"),
        (ROW + f"title = '{'x' * 4001}'", "title: must be a text of up to 4000 bytes"),
    ],
)
def test_a_mistake_is_named_with_file_and_thing(text: str, reported: str) -> None:
    with pytest.raises(FileFormatError, match=reported) as caught:
        fixture(text)
    assert str(caught.value).startswith("isle.toml: spawn 1")


@pytest.mark.slow
def test_a_zone_holds_so_many_things_and_no_more() -> None:
    rows = [tomllib.loads(ROW)] * (MOST_FIXTURES + 1)
    assert len(read_fixtures(PATH, rows[:-1], find)) == MOST_FIXTURES
    with pytest.raises(FileFormatError, match="up to 15000"):
        read_fixtures(PATH, rows, find)
    with pytest.raises(FileFormatError, match="spawn: must be"):
        read_fixtures(PATH, {}, find)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"id": 0}, "id: must be"),
        ({"name": ""}, "name: must not be empty"),
        ({"file": "x" * 65}, "file: must be a text of up to 64 bytes"),
        ({"safe": [1, 2]}, "safe: must be"),
        ({"population": -1}, "population: must be"),
        ({"weather": 1}, "weather: unknown key"),
    ],
)
def test_a_wrong_zone_says_why(change: dict, reported: str) -> None:
    rows = {"id": 1, "name": "a", "file": "b", "description": "c", "safe": [0, 0, 0]}
    assert read_zone(PATH, rows).id == 1
    with pytest.raises(FileFormatError, match=f"isle.toml: zone: .*{reported}"):
        read_zone(PATH, rows | change)


def test_starting_places() -> None:
    rows = tomllib.loads("""
        [[start]]
        zone = "Antonica"
        [[start]]
        zone = 7
        place = [1, 2, 3]
        class = [1, 2]
        race = [3]
        city = [4]
        deity = [0]
        versions = [546, 561]
    """)["start"]
    assert read_starts(PATH, rows, find) == (
        Start(12),
        Start(
            7, Position(1.0, 2.0, 3.0), frozenset((1, 2)), frozenset((3,)), frozenset((4,)),
            frozenset((0,)), (546, 561),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "row", [{}, {"zone": "Nowhere"}, {"zone": 1, "class": ["x"]}, {"zone": 1, "versions": [1]}, 5]
)
def test_a_wrong_starting_place_says_which(row: object) -> None:
    with pytest.raises(FileFormatError, match=r"isle\.toml: start 2: "):
        read_starts(PATH, [{"zone": 1}, row], find)


KEYS = st.sampled_from(
    ["kind", "name", "place", "verbs", "to", "zone", "sign", "widget", "looks", "level", "model",
     "words", "behavior_options", "grid", "id", "distance", "command", "x"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_whatever_stands_in_a_file_is_read_or_refused(row: dict) -> None:
    start = {"kind": "sign", "name": "a", "place": [0, 0, 0]}
    for rows in ([row], [start | row]):
        with contextlib.suppress(FileFormatError):
            read_fixtures(PATH, rows, find)


def test_every_fault_of_every_spawn_is_reported() -> None:
    rows = tomllib.loads(f"[[spawn]]\n{ROW}level = 0\nlevle = 1\n[[spawn]]\n{ROW}size = 0\n")[
        "spawn"
    ]
    with pytest.raises(FileFormatError) as caught:
        read_fixtures(PATH, rows, find)
    assert str(caught.value) == (
        "isle.toml: spawn 1 (Ann): level: must be a whole number from 1 to 255, not 0;"
        " spawn 1 (Ann): levle: unknown key; did you mean level?;"
        " spawn 2 (Ann): size: must be a whole number from 1 to 32767, not 0"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("collision_radius = 32768", "collision_radius: must be a whole number from 0 to 32767"),
        ("size = 32768", "size: must be a whole number from 1 to 32767"),
        ("to = { zone = 4294967296 }", "to.zone: must be from 1 to 4294967295"),
        ("to = { zone = 0 }", "to.zone: must be from 1"),
        ("verbs = [{ name = 'x', distance = 1e39 }]", r"verbs\[0\]\.distance: must be a number"),
        (f"verbs = [{{ name = '{'x' * 256}' }}]", "name: must be a text of up to 255 bytes"),
    ],
)
def test_what_no_client_has_space_for_is_a_mistake(text: str, complaint: str) -> None:
    rows = tomllib.loads(f"[[spawn]]\n{ROW}{text}\n")["spawn"]
    with pytest.raises(FileFormatError, match=complaint):
        read_fixtures(PATH, rows, find)
