"""Attempts of a player at what no task names: each once, and no harvest that no task wants."""

from collections.abc import Sequence

from emu.client.evening.agenda import Agenda
from emu.client.evening.journal import SeenJournal
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.seen import SeenSpawn
from emu.client.evening.tries import MOST_TRIES, Tries
from emu.client.evening.visits import ONCE_MORE, PastVisits
from emu.client.world.windows import QuestShown, QuestTask
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn

NOW = Monotonic(1000.0)
LATE = Monotonic(NOW + 3 * ONCE_MORE)


class Scene:
    """A player with a task among some spawns."""

    def __init__(
        self, core: NotingClient, task: str, *spawns: SeenSpawn, first: Sequence[str] = ()
    ) -> None:  # fmt: skip
        journal = SeenJournal()
        journal.shown(QuestShown(1, "Help", (QuestTask(task, "", False, 0, 1),), False))
        agenda = Agenda(journal, first)
        agenda.look("isle", NOW)
        self.visits = PastVisits()
        self.journeys = PlayerJourneys(
            core, KnownSpawns(core, *spawns), self.visits, (), lambda _place: False,  # type: ignore[arg-type]
        )  # fmt: skip
        self.journeys.arrive("isle", "The Isle", NOW)
        self.tries = Tries(agenda, self.journeys, self.visits)

    def things(self, now: Monotonic, most: int = 9) -> list[int | None]:
        """Return the indices of the things that it tries, one after the other."""
        found = []
        for _ in range(most):
            plan = self.tries.thing(now)
            if plan is None:
                break
            found.append(plan.index)
        return found


def test_a_thing_is_tried_again_after_a_change_only(core: NotingClient) -> None:
    scene = Scene(core, "Enter the cave.", spawn(4, "tent", level=0), spawn(5, "rock", level=0))
    assert scene.things(NOW) == [4, 5]
    # With many things around, the time of a round is longer than any pause.
    assert scene.things(LATE) == []
    scene.tries.renew()
    assert scene.things(LATE) == [4, 5]
    scene.journeys.exploration.rounds["isle"] = 1
    assert scene.things(LATE) == [4, 5], "it has seen the zone as a whole meanwhile"


def test_it_does_not_try_each_of_many_things_of_one_name(core: NotingClient) -> None:
    crates = [spawn(at, "a crate", 2.0 * at, level=0) for at in range(2, 2 + MOST_TRIES + 2)]
    scene = Scene(core, "Enter the cave.", *crates, spawn(99, "a rock", 90.0, level=0))
    assert scene.things(NOW) == [*range(2, 2 + MOST_TRIES), 99]
    scene.tries.renew()
    assert scene.things(NOW) == [*range(2, 2 + MOST_TRIES), 99]


def test_somebody_who_talks_is_hailed_again_after_a_change_only(core: NotingClient) -> None:
    scene = Scene(core, "Enter the cave.", spawn(4, "Mizan"))
    plan = scene.tries.person(NOW)
    assert plan is not None
    scene.tries.met.add("Mizan")
    scene.tries.talkers.add("Mizan")
    assert scene.tries.person(LATE) is None
    scene.tries.renew()
    assert scene.tries.person(LATE) is not None


def test_it_harvests_only_for_a_task_that_wants_it(core: NotingClient) -> None:
    roots = spawn(4, "roots", level=0)
    scene = Scene(core, "Enter the cave.", roots)
    assert scene.tries.is_wanted("a crate", "open")
    assert not scene.tries.is_wanted("roots", "gather")
    assert scene.things(NOW) == []
    scene = Scene(core, "I need to gather five roots.", roots)
    assert scene.tries.is_wanted("roots", "gather")
    assert scene.things(NOW) == [4]


def test_a_talk_goes_on_once_for_each_time_that_it_ends(core: NotingClient) -> None:
    scene, unfinished = Scene(core, "I should speak to Waulon."), [True]
    tries = Tries(Agenda(SeenJournal(), ()), scene.journeys, scene.visits, lambda: unfinished[0])
    assert not tries.talks_on("Waulon"), "it has not talked"
    tries.talked("Waulon")
    assert not tries.talks_on("Ilgar")
    assert tries.talks_on("Waulon")
    assert not tries.talks_on("Waulon"), "nobody has answered"
    tries.talked("Waulon")
    unfinished[0] = False
    assert not tries.talks_on("Waulon")


def test_it_tries_no_new_way_while_it_hunts_what_it_has_seen_here(core: NotingClient) -> None:
    # A way out of the Thieves' Way leads to sewers from which it found back to another Freeport.
    way, rock = spawn(4, "Serpent Sewer Zone", level=0), spawn(5, "rock", level=0)
    scene = Scene(core, "I need to kill five Darkblade Scouts.", way, rock, first=("Help",))
    scene.journeys.exploration.rounds["isle"] = 1
    scene.journeys.travels.look([spawn(6, "a Darkblade scout", is_enemy=True)])
    assert scene.things(NOW) == [5]
    scene = Scene(core, "I need to kill five Darkblade Scouts.", way, rock, first=("Help",))
    scene.journeys.exploration.rounds["isle"] = 1
    assert scene.things(NOW) == [4, 5], "they may be behind it"
