"""Auditors of quests: journals, rewards and the ledger agree, and each reward comes once."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.simulation.auditing import Auditor, Moment, parts, worlds
from tests.simulation.content_of_quests import GIFTS

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


def _given(simulation: Simulation) -> dict[tuple[int, int, int], dict[str, list[Counter[int]]]]:
    """Return what rewards have moved, by character, quest and how often it was completed.

    For each there are the movements of coins (of the kind 0) and of things.
    """
    moved: defaultdict[tuple[str, int, str], Counter[int]] = defaultdict(Counter)
    for request, taker_id, what, number, amount in simulation.rows(
        "SELECT request, taker_id, what, number, amount FROM world_ledger WHERE reason = 'rewarded'"
        " AND giver <> 'collection'"
    ):
        moved[request, taker_id, what][number] += amount
    found: defaultdict[tuple[int, int, int], dict[str, list[Counter[int]]]] = defaultdict(
        lambda: {"coins": [], "things": []}
    )
    for (request, taker, what), amounts in moved.items():
        # quest-CHARACTER-QUEST-TURN-WHAT, and the attempt behind it.
        _, _, quest, turn, *_ = request.split("-")
        found[taker, int(quest), int(turn)][what].append(amounts)
    return dict(found)


def _fits(quest: int, things: Counter[int]) -> bool:
    """Return whether things are those of a quest, with one of its choices."""
    gift = GIFTS[quest]
    return any(
        things == Counter(gift.things) + Counter((choice,)) for choice in gift.choices
    )  # fmt: skip


def _rewards(simulation: Simulation) -> Iterator[str]:
    """What the ledger has given is what the stored journals say, and no more."""
    given = _given(simulation)
    for (character, quest, turn), moved in sorted(given.items()):
        about = f"turn {turn} of quest {quest} of character {character}"
        if any(coins != {0: GIFTS[quest].coins} for coins in moved["coins"]):
            yield f"{about} gave {moved['coins']} copper"
        if any(not _fits(quest, things) for things in moved["things"]):
            yield f"{about} gave the things {moved['things']}"
        if len(moved["coins"]) > 1 or len(moved["things"]) > 1:
            yield f"{about} was rewarded several times: {moved}"
    for character, text in simulation.rows("SELECT id, quests FROM world_characters"):
        journal: dict[str, Any] = json.loads(text or "{}")
        yield from _of_journal(character, journal, given)


def _of_journal(
    character: int, journal: dict[str, Any],
    given: dict[tuple[int, int, int], dict[str, list[Counter[int]]]],
) -> Iterator[str]:  # fmt: skip
    pending = {(one["quest"], int(one["turn"])): one for one in journal.get("rewards", ())}
    times = {int(quest): count for quest, (count, _) in journal.get("done", {}).items()}
    for quest, count in sorted(times.items()):
        for turn in range(1, count + 1):
            moved = given.get((character, quest, turn), {"coins": [], "things": []})
            waiting = pending.get((quest, turn))
            about = f"turn {turn} of quest {quest} of character {character}"
            has_things = bool(moved["things"])
            if waiting is None:
                if not moved["coins"]:
                    yield f"{about} is rewarded, and its coins were not given"
                if GIFTS[quest].things and not has_things:
                    yield f"{about} is rewarded, and its things were not given"
            elif waiting.get("has_coins") and not moved["coins"]:
                yield f"{about} has coins by its journal, and they were not given"
            elif has_things and not waiting.get("is_taken"):
                yield f"{about} waits, and its things were given"
    for character_, quest, turn in sorted(given):
        # The journal may be stored a little later than the coins move.
        if character_ == character and turn > times.get(quest, 0) + 1:
            yield f"turn {turn} of quest {quest} of {character} was rewarded, of {times}"


def _journals(simulation: Simulation) -> Iterator[str]:
    """Each player's journal is stored as it is."""
    stored = {row[0]: row[1] for row in simulation.rows("SELECT id, quests FROM world_characters")}
    for server, world in worlds(simulation):
        for player in world.players:
            if player.unsaved.kinds or player.id in world.saves.saver:
                continue
            if player.journal.text != stored.get(player.id):
                yield (
                    f"{player.name} has the journal {player.journal.text} at {server.name}, and"
                    f" stored is {stored.get(player.id)}"
                )


def _over(simulation: Simulation) -> Iterator[str]:
    """Nothing of quests waits for players who have gone."""
    for server, found in parts(simulation):
        quests, journals = found.quests.quests, found.quests.journals
        for name, left in (
            ("acts", quests._queued), ("texts", quests._touched),
            ("windows", quests.rewards._shown), ("journals", journals._bound),
        ):  # fmt: skip
            if left:
                yield f"{name} of quests are left at {server.name}: {sorted(left)}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("rewards of quests come once", Moment.ANY, _rewards),
    Auditor("journals are stored", Moment.QUIET, _journals),
    Auditor("quests wait for nobody", Moment.EMPTY, _over),
)
