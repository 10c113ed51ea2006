"""The whole quest of the recordings, message by message: offers, journal, steps and the reward.

Source: ../shared/data/recordings/fight-*-quest-a, whose quest `tests.support.world.quest_scenes`
has. The C++ server sends two messages about one quest a second apart, so the messages of an act are
compared struct by struct. Named differences, all of the C++ server:

- It sends the reply twice when a quest is taken; only the second one says that it is tracked.
- It sends no reply with the pop-up of the last step in this recording; in `real-quests-*` it does.
- It says of no quest that its player may delete or share it, and has random encounter levels.
- Two steps in one tick: its first reply has the state behind both already.
- At 1208 the row of the first quest taken has another display status than all later ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from emu.quests.plans import StepKind
from tests.support.files.recordings import recorded_rows
from tests.support.world.quest_scenes import CRAB, CRABS, HEAL, MITTS, QuestScene
from tests.world.quests.test_windows import VOLATILE

pytest.importorskip("lupa", reason="the package lupa is not installed")

VERSIONS: Final = (546, 561, 1096, 1208, 60114)
STRUCTS: Final = {
    "OP_OfferQuestMsg": "WS_OfferQuest", "OP_EqQuestJournalUpdateCmd": "WS_QuestJournalUpdate",
    "OP_EqQuestJournalReplyCmd": "WS_QuestJournalReply",
    "OP_RewardPackMsg": "WS_QuestRewardPackMsg", "OP_QuestReward": "WS_QuestComplete",
}  # fmt: skip
FAULTS: Final = {"deletable", "shareable", "encounter_level", "display_quest_helper"}
OTHERS: Final = {"player_name", "effect_array", "num_effects", "slot_array", "slot_count"}
"""The player, and what a thing of the recording has and the scene's has not."""
ACCEPT, TWO, LAST = "accept", "cast the spell of the next step", "tell the guard"
WRAPPED: Final = 7
"""Bytes before a command in OP_ClientCmdMsg: its size, a byte and its number."""
Shown = list[tuple[str, bytes]]


def recorded(version: int) -> dict[str, Shown]:
    """Return what the C++ server sent about quests, by the mark of the act before."""
    found: dict[str, Shown] = {}
    mark = ""
    for row in recorded_rows(f"fight-{version}-quest-a"):
        if row["k"] == "mark":
            mark = row["n"]
        name = row.get("subname") or row.get("name")
        if row["k"] == "app" and row["d"] == "s2c" and row["c"] == "g" and name in STRUCTS:
            body = bytes.fromhex(row["hex"])[WRAPPED if "subname" in row else 0 :]
            found.setdefault(mark, []).append((name, body))
    return found


def acts(scene: QuestScene) -> dict[str, Callable[[], object]]:
    """Return what the player of the recording does, by mark."""
    client, parts = scene.client, scene.parts

    def offer() -> None:
        assert scene.quests.offer(scene.player, CRABS)

    def take() -> None:
        offer()
        client.types(f"/q_accept_pending_quest {CRABS}")

    def go() -> None:
        scene.player.teleport(scene.player.position._replace(x=20.0, y=-7.0), scene.harness.now)
        parts.counting.moved(scene.player)

    def cast() -> None:
        parts.counting.count(scene.player, StepKind.HARVEST, MITTS)
        parts.counting.count(scene.player, StepKind.SPELL, HEAL)

    return {
        "hail, answer 0, answer 0: the offer": offer,
        "decline": lambda: client.types(f"/q_deny_pending_quest {CRABS}"),
        "hail, answer 0, answer 0: the offer again": offer,
        "accept": lambda: client.types(f"/q_accept_pending_quest {CRABS}"),
        "the journal: open, inspect, hide, show, track": lambda: client.say(
            "OP_QuestJournalInspectMsg", CRABS.to_bytes(4, "little")
        ),
        "give it up": lambda: client.types(f"/deletequest {CRABS}"),
        "take it again": take,
        "kill crab 1": lambda: scene.kill(CRAB),
        "kill crab 2": lambda: scene.kill(CRAB),
        "go to the place": go,
        "cast the spell of the next step": cast,
        "tell the guard": lambda: scene.quests.complete_later(scene.player, CRABS, 6),
    }


def known(value: Any, names: set[str]) -> Any:
    """Return a decoded message without some fields."""
    if isinstance(value, dict):
        return {name: known(one, names) for name, one in value.items() if name not in names}
    return [known(one, names) for one in value] if isinstance(value, list) else value


def shown(scene: QuestScene, messages: Shown, name: str, names: set[str]) -> list[dict[str, Any]]:
    """Return the decoded messages of a name, each once if it repeats the one before."""
    layout = scene.client.dialect.layout
    found = [
        known(layout(STRUCTS[one]).decode(body), names) for one, body in messages if one == name
    ]
    return [one for at, one in enumerate(found) if not at or one != found[at - 1]]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_quest_as_recorded(tmp_path: Path, version: int) -> None:
    expected = recorded(version)
    scene = QuestScene(tmp_path, version)
    for mark, act in acts(scene).items():
        before = len(scene.client.log)
        act()
        scene.turn()
        found = [one for one in scene.client.log[before:] if one[0] in STRUCTS]
        if mark == LAST:
            # The reply with the pop-up of the last step.
            assert found.pop(1)[0] == "OP_EqQuestJournalReplyCmd"
            assert [name for name, _ in found] == [name for name, _ in expected[mark]]
        names = VOLATILE | FAULTS | OTHERS
        if (version, mark) == (1208, ACCEPT):
            names = names | {"display_status"}
        for name in STRUCTS:
            wanted = shown(scene, expected.get(mark, []), name, names)
            since = -1 if (mark, name) == (TWO, "OP_EqQuestJournalReplyCmd") else 0
            assert shown(scene, found, name, names)[since:] == wanted[since:], (mark, name)
