"""A player with its diary: what it writes, and what it does first."""

import pickle

from emu.client.evening.answers import READING, TALKS_ON
from emu.client.evening.diary import Diary
from emu.client.evening.fears import FEARED
from emu.client.evening.fighting import DIES_FOR
from emu.client.evening.player import EveningPlayer, Preferences
from emu.client.evening.travels import KnownWay
from emu.client.world import WorldPhase
from emu.client.world.events import (
    DeathSeen,
    DialogOpened,
    LineShown,
    PossessionsChanged,
    RevivalOffered,
    ZoneToLoad,
)
from emu.client.world.surroundings import Place
from emu.client.world.windows import JournalListed, OfferShown, QuestRow
from emu.times import Monotonic
from tests.client.evening.conftest import OWN, NotingClient

NOW = Monotonic(100.0)


class Sheet:
    """Possessions with a level and coins."""

    def __init__(self, level: int, coins: int) -> None:
        self.sheet, self.coins = {"level": level}, coins

    def things(self, _where: object) -> list[object]:
        return []


def player(core: NotingClient, phase: WorldPhase = WorldPhase.STANDING) -> EveningPlayer:
    core.phase = phase  # type: ignore[attr-defined]
    return EveningPlayer(core, Diary(), NOW, Preferences())  # type: ignore[arg-type]


def test_what_the_diary_has(core: NotingClient) -> None:
    one = player(core)
    core.possessions = Sheet(2, 49)
    for event in (
        ZoneToLoad("isle", "Isle of Refuge", "Aldana", 0.0, 0.0, 0.0),
        PossessionsChanged("sheet"),
        PossessionsChanged("sheet"),
        JournalListed((QuestRow(7, "Rats", True),)),
        LineShown("spell", "You cast Smite."),
        LineShown("experience", "You gain 3 experience!"),
        DeathSeen(5, OWN),
    ):
        one.handle_event(event, Monotonic(NOW + 60.0))
    assert [(entry.kind, entry.text) for entry in one.diary.entries] == [
        ("zone", "Isle of Refuge (isle)"), ("level", "level 2"), ("quest", "begun: Rats (7)"),
        ("line", "(experience) You gain 3 experience!"), ("death", "died"),
    ]  # fmt: skip
    last = one.diary.entries[-1]
    assert (last.seconds, last.level, last.coins) == (60.0, 2, 49)
    assert one.level == one.fighting.level == 2


def test_it_does_nothing_while_the_zone_changes(core: NotingClient) -> None:
    one = player(core, WorldPhase.ZONING)
    one.handle_event(OfferShown("Rats", "", "accept 7", "deny 7"), NOW)
    one.think(Monotonic(NOW + 5.0))
    assert core.asked == []


def test_windows_come_first(core: NotingClient) -> None:
    one = player(core)
    one.handle_event(OfferShown("Rats", "", "accept 7", "deny 7"), NOW)
    one.think(Monotonic(NOW + 5.0))
    assert core.asked == ["command accept 7"]


def test_it_stays_as_long_as_a_talk_may_go_on(core: NotingClient) -> None:
    one = player(core)
    core.dialog = DialogOpened(3, "Ranik", "Welcome.", ("I can sing!",))
    one.handle_event(core.dialog, NOW)
    one.think(Monotonic(NOW + READING))
    core.dialog = None
    one.handle_event(JournalListed((QuestRow(7, "Rats", True),)), NOW)
    one.think(Monotonic(NOW + READING + 1.0))
    assert core.asked == ["answer 1"]
    one.think(Monotonic(NOW + READING + TALKS_ON))
    assert core.asked[1:] == ["inspect_quest 7"]


def test_it_goes_nowhere_while_it_is_dead(core: NotingClient) -> None:
    # The world refuses the steps of the dead: "moved too fast".
    one = player(core)
    core.possessions = Sheet(2, 49)
    core.possessions.sheet |= {"max_hp": 50, "current_hp": 0}
    one.handle_event(DeathSeen(5, OWN), NOW)
    one.handle_event(JournalListed((QuestRow(7, "Rats", True),)), NOW)
    one.handle_event(RevivalOffered(((2, "Tower"),)), NOW)
    one.think(Monotonic(NOW + DIES_FOR))
    one.think(Monotonic(NOW + DIES_FOR + READING))
    choice = "command select_junction 2"
    assert core.asked == [choice, "stand_still 101.0", "stand_still 102.0"]
    core.possessions.sheet["current_hp"] = 50
    one.think(Monotonic(NOW + DIES_FOR + 2 * READING))
    assert core.asked[-1] == "inspect_quest 7"


def test_it_asks_once_for_the_tasks_of_a_listed_quest(core: NotingClient) -> None:
    one = player(core)
    one.handle_event(JournalListed((QuestRow(7, "Rats", True), QuestRow(8, "Bats", False))), NOW)
    for number in range(3):
        one.think(Monotonic(NOW + number))
    assert core.asked.count("inspect_quest 7") == 1
    assert "inspect_quest 8" not in core.asked


def test_what_it_knows_outlives_its_session(core: NotingClient) -> None:
    one, other = player(core), player(core)
    for session in (one, other):
        session.handle_event(ZoneToLoad("bog", "The Peat Bog", "Aldana", 0.0, 0.0, 0.0), NOW)
    here = Place(10.0, 0.0, 0.0)
    sign = KnownWay("zone_to_castle", here)
    one.questing.journeys.travels.offered(sign, ["Castleview Hamlet"])
    one.fighting.fears.died("a bear", "peat bog", here, 3, Monotonic(NOW + 9000.0))
    other.recall(pickle.loads(pickle.dumps(one.memory())))
    travels = other.questing.journeys.travels
    assert (travels.zone, travels.way_to("castleview hamlet")) == (
        "peat bog",
        KnownWay("zone_to_castle", here, "Castleview Hamlet"),
    )
    late = Monotonic(NOW + FEARED)
    assert other.fighting.fears.fears("a bear", 3, NOW)
    assert not other.fighting.fears.fears("a bear", 3, late, is_needed=True)
