"""Petitions of a world: notices for operators in every process, and a store that fails."""

from __future__ import annotations

import pytest

from emu.correspondence import Petition
from emu.errors import CommandError, StoreError
from tests.support.world.worlds import WorldHarness


def lines_of(harness: WorldHarness, char_id: int, **changes: object) -> list[str]:
    client = harness.stand(char_id, **changes)
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def test_operators_of_other_processes_see_new_petitions(harness: WorldHarness) -> None:
    beside = WorldHarness(beside=harness)
    guide = beside.stand(6, admin_status=10)
    player = beside.stand(7)
    harness.stand(5, name="Aldana").types("petition " + "x" * 100)
    shown = [row["text"] for row in guide.decoded("WS_DisplayText")][-1]
    assert shown.endswith(" of Aldana: " + "x" * 80 + "...")
    assert shown not in [row["text"] for row in player.decoded("WS_DisplayText")]


def test_an_answer_reaches_a_player_of_another_process(harness: WorldHarness) -> None:
    beside = WorldHarness(beside=harness)
    one = beside.stand(5)
    one.types("petition Help")
    [row] = harness.console("petition list").data
    harness.console(f"petition answer {row['id']} Done")
    assert [line["text"] for line in one.decoded("WS_DisplayText")][-1].endswith("answered: Done")


class BrokenStore:
    """The petitions of a database that does not answer."""

    async def unseen(self, _char_id: int) -> list[Petition]:
        raise StoreError("the disk is full")


def test_entering_does_not_depend_on_answers(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.parts.petitions, "_store", BrokenStore())
    lines_of(harness, 5)
    assert harness.world.faults.drops["answers not shown"] == 1


def test_an_answer_has_a_text(harness: WorldHarness) -> None:
    harness.stand(5).types("petition Help")
    [row] = harness.console("petition list").data
    reply = harness.console(f"petition answer {row['id']} {'x' * 2001}")
    assert (reply.ok, reply.text) == (False, "an answer has 1 to 2000 characters")
    assert issubclass(CommandError, Exception)
