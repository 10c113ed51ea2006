from __future__ import annotations

import json

import pytest

from emu.admin.commands import changes
from emu.audit import Change
from emu.commands import Use
from tests.support.admin.commanding import CommandBench


def bench() -> CommandBench:
    made = CommandBench()
    made.registry.extend(changes.COMMANDS.commands(made.registry))
    return made


def line(typed: object, result: object, **details: str) -> str:
    return f"changed {json.dumps({'line': typed, 'result': result} | details)}"


def test_a_change_of_the_program_is_one_use_of_who_runs_it() -> None:
    made = bench()
    act = 'account ban alice "gold"\nselling'
    details = {
        "command": "account ban", "subject": "account alice", "before": "enabled",
        "after": "banned", "reason": "gold",
    }  # fmt: skip
    assert made.run(line(act, "alice is banned", **details)).ok
    shown = 'account ban alice "gold" selling'
    assert made.uses == [
        Use(
            "root", "emu", shown, "alice is banned", True, "account ban", "account alice",
            Change("enabled", "banned"), "gold",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    ["changed", "changed x", "changed []", 'changed {"line": "x"}', line(1, "x"), line("x", [])],
)
def test_what_is_no_change_is_refused(wrong: str) -> None:
    made = bench()
    assert not made.run(wrong).ok
    assert [use.ok for use in made.uses] == [False]


def test_nobody_but_the_console_reports_changes() -> None:
    assert not bench().run(line("account ban alice", "done"), rank=200).ok
