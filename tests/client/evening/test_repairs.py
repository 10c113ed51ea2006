"""Repairs: what is worn suffers by deaths, and menders make it whole for some coins."""

from dataclasses import dataclass

from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.repairs import Repairs
from emu.client.evening.seen import SeenSpawn
from emu.client.evening.travels import KnownWay
from emu.client.evening.visits import PastVisits
from emu.client.world.possessions import BROKEN, DAMAGED, HELD, WORN, Owned
from emu.client.world.surroundings import Place
from emu.client.world.windows import Good, GoodsShown
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn
from tests.client.evening.quest_scenes import NOW, hunter

LIST = GoodsShown(5, 96, (Good(12, 0, "a sword", 30, 5), Good(13, 0, "a cap", 8, 5)))


@dataclass
class Bags:
    """Some coins, and one thing that is worn."""

    menu: int
    coins: int = 0

    def things(self, which: int = HELD) -> list[Owned]:
        return [Owned(0, 1, 12, "a sword", 1, 0, 0, self.menu)] if which == WORN else []


def repairs(
    core: NotingClient, *spawns: SeenSpawn
) -> tuple[Repairs, PlayerJourneys, list[str]]:  # fmt: skip
    visits, lines = PastVisits(), list[str]()
    one = PlayerJourneys(core, KnownSpawns(core, *spawns), visits, (), lambda _place: 0)  # type: ignore[arg-type]
    made = Repairs(core, one, visits, lambda kind, text: lines.append(f"{kind} {text}"))  # type: ignore[arg-type]
    return made, one, lines


def test_it_goes_to_a_mender_when_something_is_nearly_worn_out(core: NotingClient) -> None:
    one, _, _ = repairs(core, spawn(4, "Mender Glanae"))
    assert one.errand(NOW) is None
    core.possessions = Bags(2)
    assert one.errand(NOW) is None
    for bit in (DAMAGED, BROKEN):
        core.possessions = Bags(2 | bit)
        assert one.is_needed
    plan = one.errand(NOW)
    assert plan is not None
    assert plan.index == 4
    assert one.errand(NOW) is None, "the mender may want more coins than it has"


def test_it_remembers_where_it_has_met_menders(core: NotingClient) -> None:
    gate = spawn(6, "zone_to_hood04", 20.0, level=0)
    one, journeys, _ = repairs(core, gate)
    core.possessions = Bags(BROKEN)
    journeys.travels.arrive("Beggar's Court", None)
    journeys.travels.look([spawn(4, "Mender Glanae"), spawn(5, "Waulon")])
    journeys.arrive("fprt_sewer01", "The Thieves' Way", NOW)
    assert one.errand(NOW) is None, "it knows no way"
    journeys.travels.offered(KnownWay(gate.name, gate.place), ["Beggar's Court"])
    plan = one.errand(NOW)
    assert plan is not None
    assert (plan.index, plan.leaves) == (6, True)


def test_it_goes_back_to_a_mender_whom_it_has_passed(core: NotingClient) -> None:
    one, journeys, _ = repairs(core)
    core.possessions = Bags(BROKEN)
    journeys._spawns.remembered["Mender Glanae"] = Place(300.0, 0.0, 0.0)
    plan = one.errand(NOW)
    assert plan is not None
    assert plan.place.x == 300.0


def test_it_pays_for_all_or_for_what_it_has_the_coins_for(core: NotingClient) -> None:
    one, _, lines = repairs(core)
    core.possessions = Bags(BROKEN, 38)
    one.deal(LIST)
    assert core.asked == [], "a merchant's list, for instance"
    assert not one.ask(5, ["hail"])
    assert one.ask(5, ["repair", "hail"])
    one.deal(LIST)
    one.deal(LIST)
    assert core.asked == ["use 5 repair", "command mender_repair_all"]
    core.possessions.coins = 37
    assert one.ask(5, ["repair", "hail"])
    one.deal(LIST)
    assert core.asked[3:] == ["command mender_repair 13"]
    assert lines == ["repair all for 38 c", "repair a cap for 8 c"]
    core.possessions.menu = 2
    assert not one.ask(5, ["repair", "hail"])


def test_a_player_has_its_things_repaired_before_it_does_its_tasks(core: NotingClient) -> None:
    core.possessions = Bags(BROKEN, 38)
    core.possessions.sheet = {}
    scene = hunter(core, spawn(4, "Waulon", 5.0), spawn(5, "Mender Glanae", 30.0))
    scene.task("I should speak to Waulon.", category="Hallmark")
    asked = scene.thinks(("repair", "Repair"), times=4)
    scene.questing.handle_event(LIST, Monotonic(NOW + 60.0))
    assert [*asked[:3], core.asked[-1]] == [
        "target 5", "ask_verbs 5", "use 5 repair", "command mender_repair_all",
    ]  # fmt: skip
