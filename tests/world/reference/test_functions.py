"""The list of all functions for scripts, and its page."""

import datetime as dt
from pathlib import Path

import pytest

from emu.scripts.folder import ScriptFolder
from emu.scripts.signatures import merged
from emu.world.reference.functions import (
    known_functions,
    reasons,
    signatures,
    subjects,
    working,
)
from tests.support.world.worlds import WorldHarness
from tools import script_coverage
from tools.site.script_functions import script_functions_page


def test_every_function_is_listed_with_its_arguments() -> None:
    known = known_functions()
    assert len(known) == len(signatures()) == 581
    timer = known["StopTimer"]
    assert (str(timer.signature), timer.works, timer.returns) == ("spawn, function?", True, "")
    assert str(known["AddQuestStepKill"].signature).endswith("icon?, ...")
    assert known["GetQuestStep"].returns == "number"
    assert "AddTimer" in working()


def test_the_functions_of_a_world_are_those_that_are_listed() -> None:
    world = WorldHarness()
    assert merged(world.parts.functions()).keys() == working()


def test_the_page_has_every_function_once() -> None:
    lines = script_functions_page().splitlines()
    begin = lines.index("## Here {#here}")
    rows = [line.split(" | ") for line in lines[begin:] if line.startswith("| ")]
    names = [row[0].removeprefix("| ") for row in rows if row[0] != "| function"]
    assert sorted(names) == sorted(known_functions())
    missing = lines.index("## Missing {#missing}")
    here = [line.split(" | ")[0] for line in lines[begin:missing] if line.startswith("| ")]
    assert {one.removeprefix("| ") for one in here} - {"function"} == working()
    assert all(len(row) == 4 and row[3].strip(" |") for row in rows)
    assert f"{len(working())} of 581 functions are here." in lines


def test_every_missing_function_has_a_reason() -> None:
    assert set(reasons()) == set(known_functions()) - working()


def test_every_function_is_in_one_set() -> None:
    names = [name for one in subjects() for name in one.names]
    assert sorted(names) == sorted(known_functions())


def test_the_page_counts_the_functions_of_each_set() -> None:
    rows = [line.strip("| ").split(" | ") for line in script_functions_page().splitlines()]
    counts = {
        row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[1].isdigit()
    }
    assert {one.title for one in subjects()} == set(counts)
    assert sum(here for here, _ in counts.values()) == len(working())
    for one in subjects():
        assert sum(counts[one.title]) == len(one.names)


def test_the_coverage_is_written_between_its_marks(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    folder = tmp_path / "server" / "ZoneScripts"
    folder.mkdir(parents=True)
    for name, source in {
        "good": "function dusk(Zone) GetZoneID(Zone) end",
        "bad": "function dusk(Zone) SetWorldTime(Zone) end",
        "broken": "function",
    }.items():
        (folder / f"{name}.lua").write_text(source, encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        f"a\n{script_coverage.BEGIN}\nold\n{script_coverage.END}\nb\n", encoding="utf-8"
    )
    assert script_coverage.main([str(folder.parent), "--page", str(page)]) == 0
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["a", script_coverage.BEGIN]
    assert lines[-2:] == [script_coverage.END, "b"]
    assert "| ZoneScripts | 2 | 50.0 % | 50.0 % |" in lines
    assert "- ZoneScripts: SetWorldTime 1" in lines
    assert "old" not in lines
    table = script_coverage.coverage_table(ScriptFolder(folder.parent), dt.date(2026, 1, 2))
    assert table.startswith(f"Measured on 2026-01-02, with {len(working())} functions here:")
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="are missing"):
        script_coverage.write_page(page, table)
