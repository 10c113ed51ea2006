"""Stand-ins for models that older clients lack."""

from pathlib import Path

from emu.content.importing import import_content
from emu.content.models import Model, StandIns, read_stand_ins
from emu.content.sources import dump_parts
from tests.support.content.dumps import write_dumps

MODELS = [
    (1, "creatures/imp", 283),
    (2, "creatures/imp_red", 800),
    (3, "creatures/imp_red_old", 900),
    (4, "new/imp", 100),
    (5, "new/imp_blue", 900),
    (6, "new/crab", 900),
    (7, "new/Crab_Giant", 1000),
    (8, "new/owl_white", 900),
]


def stand_ins(version: int) -> dict[int, int]:
    models = [Model(number, path.casefold(), first) for number, path, first in MODELS]
    return dict(StandIns(models, iter(MODELS)).for_version(version))


def test_the_longest_name_that_a_version_has_counts() -> None:
    assert stand_ins(850)[3] == 2
    assert stand_ins(546)[3] == 1


def test_the_same_folder_comes_before_another() -> None:
    assert stand_ins(546)[5] == 4
    assert stand_ins(200)[2] == 4


def test_there_is_none_where_the_model_is_there_or_no_name_fits() -> None:
    assert stand_ins(546) == {2: 1, 3: 1, 5: 4}
    assert stand_ins(950) == {7: 6}
    assert stand_ins(1000) == {}


def test_the_spawns_of_a_content_file_have_them(tmp_path: Path) -> None:
    dumps = {
        "appearances": [
            {"appearance_id": 145, "name": "ec/npc/goblin", "min_client_version": 283},
            {"appearance_id": 7039, "name": "ec/npc/goblin_snow", "min_client_version": 843},
            {"appearance_id": 7040, "name": "ec/npc/goblin_unused", "min_client_version": 843},
        ],
        "spawn": [{"id": 1, "name": "a goblin", "model_type": 7039}],
        "spawn_npcs": [{"id": 1, "spawn_id": 1}],
    }
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", dumps)]), target)
    found = read_stand_ins(target)
    assert found.for_version(561) == {7039: 145}
    assert found.for_version(843) == {}
    assert read_stand_ins(None).for_version(546) == {}
