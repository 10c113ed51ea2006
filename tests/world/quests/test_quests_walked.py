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


def report(walks: list[Walk]) -> str:
    """Return the ends of quests and the causes of those that were helped or did not end."""
    causes = Counter(cause for one in walks for cause in one.causes)
    placed = [one for one in walks if not one.lacks and NO_STEPS not in one.causes]
    lines = ["", f"{len(walks)} quests: {_sums(walks)}"]
    lines += [f"{len(placed)} with steps, of which all spawns are placed: {_sums(placed)}"]
    lines += [f"{sum(bool(one.lines) for one in walks)} with errors of scripts"]
    return "\n".join([*lines, *(f"{count:5}  {cause}" for cause, count in causes.most_common())])


def _sums(walks: list[Walk]) -> str:
    whole = sum(one.is_whole for one in walks)
    return f"{sum(one.is_complete for one in walks)} completed, {whole} without help"
