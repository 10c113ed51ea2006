"""Where behaviors come from."""

from __future__ import annotations

import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from emu.net.world.guard import limited
from emu.world.behaviors import Budget, Library
from emu.world.behaviors import library as finding
from emu.world.behaviors.library import snake_case

MODULE = """
class TownCrier:
    near = 5
    def on_hail(self, visitor): ...
class Helper: ...
class _Hidden:
    def on_hail(self, visitor): ...
"""


def test_what_ships_is_there() -> None:
    assert set(Library()) >= {"greeter", "wanderer", "teleporter"}


def test_a_folder_is_read_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    library = Library(tmp_path)
    assert {"town_crier"} == set(library) - set(Library())
    assert library.find("town_crier").near == 5
    path.write_text("class TownCrier:\n    near = 6\n    def on_hail(self, visitor): ...\n")
    library.reload()
    assert library.find("town_crier").near == 6
    path.unlink()
    library.reload()
    assert library.find("town_crier") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def broken(:\n", "bad.py, line 1: "),
        ("\n1 / 0\n", "line 2: ZeroDivisionError"),
        ("import no_such_module_at_all\n", "ModuleNotFoundError"),
        ("\0", "bad.py: source code"),
        ("raise SystemExit\n", "line 1: SystemExit"),
        ("raise GeneratorExit\n", "line 1: GeneratorExit"),
    ],
)
def test_a_file_with_a_mistake_is_reported_and_the_others_are_read(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    (tmp_path / "good.py").write_text("class Good:\n    def on_start(self): ...\n")
    library = Library(tmp_path)
    assert library.find("good") is not None
    [line] = library.problems
    assert problem in line
    assert "\n" not in line


def test_installed_packages_offer_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [
        EntryPoint("borrowed", "emu.world.behaviors.shipped.greeter:Greeter", "emu.behaviors"),
        EntryPoint("missing", "no_such_module:Thing", "emu.behaviors"),
    ]
    monkeypatch.setattr(finding, "entry_points", lambda group: offered)
    library = Library()
    assert library.find("borrowed") is library.find("greeter")
    assert "missing (no_such_module:Thing)" in library.problems[0]


@pytest.mark.parametrize(
    ("name", "called"),
    [("TownCrier", "town_crier"), ("NPC2Guard", "npc2_guard"), ("Greeter", "greeter")],
)
def test_names(name: str, called: str) -> None:
    assert snake_case(name) == called


def test_a_file_that_does_not_end_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("class Bad:\n    def on_start(self): ...\nwhile True: pass\n")
    library = Library(tmp_path, Budget(0.05, limited, time.monotonic))
    assert library.find("bad") is None
    assert library.problems == [f"{tmp_path / 'bad.py'}, line 3: took longer than 0.05 s"]


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    library = Library(tmp_path / "none")
    assert list(library) == list(Library())
    [line] = library.problems
    assert line.endswith("none: cannot be listed (No such file or directory); see world.behaviors")


def test_a_reload_with_a_fault_keeps_the_classes(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    library = Library(tmp_path)
    path.write_text("def broken(:\n")
    assert not library.reload()
    assert library.problems == [f"{path}, line 1: invalid syntax"]
    assert library.find("town_crier").near == 5
    path.write_text(MODULE.replace("near = 5", "near = 6"))
    assert library.reload()
    assert library.find("town_crier").near == 6


def test_the_faults_of_a_use_are_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Odd:\n    Options = 5\n    def on_start(self): ...\n")
    library = Library(tmp_path)

    def faults(name: str, options: dict[str, object]) -> list[str]:
        return [str(one) for one in library.faults(name, options, {"Antonica"}.__contains__)]

    assert faults("greeter", {"greeting": "Hello"}) == []
    assert faults("greter", {}) == ["behavior: unknown behavior 'greter'; did you mean greeter?"]
    assert faults("greeter", {"greting": "Hello"}) == [
        "behavior_options.greting: unknown key; did you mean greeting?"
    ]
    assert faults("teleporter", {"zone": "Antonica"}) == []
    assert faults("teleporter", {"zone": "Antonicca"}) == [
        "behavior_options.zone: there is no zone 'Antonicca'; use a zone's name, file or number"
    ]
    [odd] = faults("odd", {})
    assert "TypeError: Options is no attrs class" in odd
