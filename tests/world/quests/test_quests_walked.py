"""Every quest of the public content is done from its journal alone."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.support.world.quest_walks import NO_STEPS, QuestWalker, Walk

pytest.importorskip("lupa", reason="the package lupa is not installed")

CONTENT = os.environ.get("EMU_CONTENT", "")
SCRIPTS = os.environ.get("EMU_CONTENT_SCRIPTS", "")
MOST_STUCK: Final = 0.05
"""The part of the quests whose scripts may give no reward, or have an error at a step."""


@pytest.mark.skipif(not CONTENT or not SCRIPTS, reason="EMU_CONTENT names no content file")
def test_quests_come_to_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    walker = QuestWalker(Path(CONTENT), Path(SCRIPTS))
    walks = [walker.walk(number) for number in walker.numbers]
    with capsys.disabled():
        print(report(walks))  # noqa: T201  # the report of the walk
    assert not walker.faults()
    placed = [one for one in walks if not one.lacks and NO_STEPS not in one.causes]
    stuck = [one.number for one in placed if not one.is_complete]
    assert len(walks) > 1500
    assert len(stuck) <= MOST_STUCK * len(placed), stuck
    # The others ask for the reward in `Reload` alone: they end at a login.
    assert [one.number for one in walks if one.texts_lost and one.is_complete] == []


@pytest.mark.skipif(not CONTENT or not SCRIPTS, reason="EMU_CONTENT names no content file")
def test_a_newer_client_reads_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """One of EMU_WALK_PART quests is done by each version."""
    old, new = (QuestWalker(Path(CONTENT), Path(SCRIPTS), one) for one in (546, 60114))
    numbers = old.numbers[:: int(os.environ.get("EMU_WALK_PART", "20"))]
    walks = [(old.walk(number), new.walk(number)) for number in numbers]
    steps = sum(len(one.texts) for one, _ in walks)
    with capsys.disabled():
        print(f"\n{len(numbers)} quests, {steps} journals by 546 and 60114")  # noqa: T201
    assert steps > len(numbers)
    assert [one.number for one, two in walks if one.texts != two.texts] == []
    assert [one.number for one, two in walks if one.is_complete != two.is_complete] == []


def report(walks: list[Walk]) -> str:
    """Return the ends of quests and the causes of those that were helped or did not end."""
    causes = Counter(cause for one in walks for cause in one.causes)
    placed = [one for one in walks if not one.lacks and NO_STEPS not in one.causes]
    lines = ["", f"{len(walks)} quests: {_sums(walks)}"]
    lines += [f"{len(placed)} with steps, of which all spawns are placed: {_sums(placed)}"]
    lines += [f"{sum(bool(one.lines) for one in walks)} with errors of scripts"]
    lost = sum(bool(one.texts_lost) for one in walks)
    lines += [f"{lost} with other texts after a login"]
    return "\n".join([*lines, *(f"{count:5}  {cause}" for cause, count in causes.most_common())])


def _sums(walks: list[Walk]) -> str:
    whole = sum(one.is_whole for one in walks)
    return f"{sum(one.is_complete for one in walks)} completed, {whole} without help"
