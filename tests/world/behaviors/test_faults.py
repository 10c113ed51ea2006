"""Faults in the classes of behaviors."""

from pathlib import Path
from typing import Any

import pytest

from emu.world.behaviors import Library
from emu.world.behaviors.faults import class_faults, making_fault
from emu.world.behaviors.shipped import greeter, teleporter, wanderer

CRIER = """
class TownCrier:
    def on_start(self): ...

    def {method}: ...
"""
OTHER = "has other parameters than the server passes; write"


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("on_entr(self, who)", "is no hook, so it would never be called; did you mean on_enter?"),
        ("on_said(self, visitor, text)", ""),
        ("on_the_way(self)", ""),
        ("entr(self)", ""),
        ("on_say(self, visitor)", f"{OTHER} on_say(self, visitor, text)"),
        ("on_say(self, *parts)", ""),
        ("on_say(self, player, words, times=1)", ""),
        ("__init__(self, me)", f"{OTHER} __init__(self, me, options)"),
    ],
)  # fmt: skip
def test_a_method_that_the_server_cannot_call_is_a_problem_of_its_file(
    tmp_path: Path, method: str, fault: str
) -> None:
    path = tmp_path / "crier.py"
    path.write_text(CRIER.format(method=method))
    problems = Library(tmp_path).problems
    name = method.partition("(")[0]
    assert problems == ([f"{path}, line 5: TownCrier.{name} {fault}"] if fault else [])


def test_a_class_with_nothing_but_a_misspelled_hook_is_found(tmp_path: Path) -> None:
    (tmp_path / "crier.py").write_text("class Crier:\n    def on_hial(self, visitor): ...\n")
    (problem,) = Library(tmp_path).problems
    assert "crier.py, line 2: Crier.on_hial" in problem


def test_what_ships_has_no_faults() -> None:
    for behavior in (greeter.Greeter, teleporter.Teleporter, wanderer.Wanderer):
        assert not list(class_faults(behavior))
        assert not making_fault(behavior)


def test_a_class_that_cannot_be_made_is_a_fault_of_its_use(tmp_path: Path) -> None:
    (tmp_path / "crier.py").write_text("class Crier:\n    def on_start(self): ...\n")
    library = Library(tmp_path)
    assert not library.problems
    (fault,) = library.faults("crier", {}, lambda _zone: True)
    assert fault.path == ("behavior",)
    assert fault.text == "Crier has no __init__(self, me, options)"


def test_a_class_made_by_other_means_is_not_judged() -> None:
    class Made:
        def __new__(cls, *_given: Any) -> Any:
            return object.__new__(cls)

    assert not making_fault(Made)
