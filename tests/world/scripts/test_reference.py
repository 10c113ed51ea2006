"""The list of all functions for scripts, and its page."""

from emu.world.scripts.reference import known_functions, signatures, working
from tools.site.script_functions import script_functions_page


def test_every_function_is_listed_with_its_arguments() -> None:
    known = known_functions()
    assert len(known) == len(signatures()) == 581
    timer = known["StopTimer"]
    assert (str(timer.signature), timer.works, timer.returns) == ("spawn, function?", True, "")
    assert str(known["AddQuestStepKill"].signature).endswith("icon?, ...")
    assert known["GetQuestStep"].returns == "number"
    assert "AddTimer" in working()


def test_the_page_has_every_function_once() -> None:
    lines = script_functions_page().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| ")]
    names = [row[0].removeprefix("| ") for row in rows if row[0] != "| function"]
    assert sorted(names) == sorted(known_functions())
    here = [row for row in rows if len(row) == 4 and row[0] != "| function"]
    assert {row[0].removeprefix("| ") for row in here} == working()
    assert f"{len(working())} of 581 functions are here." in lines
