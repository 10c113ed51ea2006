"""Rules, variables, levels, animations and titles of a content file."""

from pathlib import Path

import pytest

from emu.content.figures import Animation, Figures, read_figures
from emu.content.importing import import_content
from emu.content.rules import BY_PROGRAM
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from tests.support.content.dumps import meadow, write_dumps

SETS = [
    {"ruleset_id": 1, "ruleset_name": "usual", "ruleset_active": 0},
    {"ruleset_id": 2, "ruleset_name": "own", "ruleset_active": 1},
]
RULES = [
    {"ruleset_id": number, "rule_category": "R_World", "rule_type": "Pace", "rule_value": value}
    for number, value in ((1, "1.5"), (2, "2.5"))
]


def figures(folder: Path, **more: object) -> Figures:
    target = folder / "content.sqlite"
    dumps = write_dumps(folder / "dumps", meadow() | more)  # type: ignore[arg-type]
    import_content(dump_parts([dumps]), target)
    return read_figures(target)


def test_the_active_rules_and_the_other_tables(tmp_path: Path) -> None:
    found = figures(
        tmp_path,
        rulesets=SETS,
        ruleset_details=RULES,
        variables=[{"variable_name": "jackpot", "variable_value": "128", "comment": "."}],
        exp_per_level=[{"level": 2, "exp_needed": 600}],
        visual_states=[
            {"id": 1, "visual_state_id": 11, "name": "Ponder", "min_client_version": 0},
            {"id": 2, "visual_state_id": 12, "name": "ponder", "min_client_version": 1096},
            {"id": 3, "visual_state_id": 13, "name": "swim", "min_client_version": 1045},
            {"id": 4, "visual_state_id": 70000, "name": "wide", "min_client_version": 0},
        ],
        titles=[
            {"id": 1, "title": "the Brave", "prefix": 0}, {"id": 2, "title": "Sir", "prefix": 1},
        ],
        race_types=[
            {"model_type": 112, "race_id": 163, "model_name": "wolf", "category": "animal",
             "subcategory": ""},
        ],
    )  # fmt: skip
    assert found.rules == {**BY_PROGRAM, ("R_World", "Pace"): "2.5"}
    assert found.variables == {"jackpot": "128"}
    assert found.experience == {2: 600}
    last = 0xFFFFFFFF
    assert found.animations == {
        "ponder": (Animation(11, 0, last),), "swim": (Animation(13, 1045, last),),
    }  # fmt: skip
    assert found.titles == {"the Brave": False, "Sir": True}
    assert found.races == {112: 163}


def test_animations_have_the_numbers_of_the_emotes_by_client_version(tmp_path: Path) -> None:
    columns = ("id", "name", "visual_state_id", "min_version_range", "max_version_range")
    found = figures(
        tmp_path,
        emotes=[
            dict(zip(columns, row, strict=True))
            for row in (
                (2, "forestry_chopping", 11616, 60085, 60114),
                (1, "Forestry_Chopping", 2807, 1, 561),
                (3, "forestry_chopping", 99, 1, 561),
                (4, "bow", 121, 1, 0),
                (5, "wide", 70000, 1, 561),
            )
        ],
        visual_states=[
            {"id": 1, "visual_state_id": 11617, "name": "forestry_chopping"},
            {"id": 2, "visual_state_id": 13, "name": "swim", "min_client_version": 1045},
        ],
    )
    assert found.animations == {
        "forestry_chopping": (Animation(2807, 1, 561), Animation(11616, 60085, 60114)),
        "bow": (Animation(121, 1, 0xFFFFFFFF),),
        "swim": (Animation(13, 1045, 0xFFFFFFFF),),
    }


def test_without_an_active_set_all_rules_count(tmp_path: Path) -> None:
    found = figures(tmp_path, ruleset_details=RULES[:1])
    assert found.rules == {**BY_PROGRAM, ("R_World", "Pace"): "1.5"}


def test_without_a_file_they_are_empty(tmp_path: Path) -> None:
    assert read_figures(None) == Figures()
    broken = tmp_path / "content.sqlite"
    broken.write_bytes(b"no database")
    with pytest.raises(FileFormatError):
        read_figures(broken)
