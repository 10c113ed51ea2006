"""The next errand of a player: whom a task names, marks, names that it has not met."""

from emu.client.evening.fighting import Fighting
from emu.client.evening.journal import SeenJournal
from emu.client.evening.quests import WAITING, Questing
from emu.client.evening.seen import SeenSpawn
from emu.client.world.surroundings import Place
from emu.client.world.windows import Good, GoodsShown, QuestShown, QuestTask, VerbsShown
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn

NOW = Monotonic(1000.0)
HAIL, SHOP = ("hail", "Hail"), ("frommerchant", "Buy")


class Scene:
    """A player with a journal among some spawns."""

    def __init__(self, core: NotingClient, *spawns: SeenSpawn) -> None:
        self.core, self.now = core, NOW
        self.spawns = KnownSpawns(core, *spawns)
        self.journal = SeenJournal()
        note = lambda _kind, _text: None  # noqa: E731
        self.fighting = Fighting(core, self.spawns, note, 8.0)  # type: ignore[arg-type]
        self.fighting.level = 3
        self.questing = Questing(
            core, self.spawns, self.journal, self.fighting, note=note, preferred=("Fighter",),  # type: ignore[arg-type]
            refused=("Freeport",),
        )  # fmt: skip

    def task(self, text: str, group: str = "") -> None:
        self.journal.shown(QuestShown(7, "Help", (QuestTask(text, group, False, 0, 1),), False))

    def thinks(self, *verbs: tuple[str, str], times: int = 6) -> list[str]:
        """Let it think, and answer with these verbs; return what it has asked for."""
        begin = len(self.core.asked)
        for _ in range(times):
            self.questing.think(self.now)
            if self.core.asked and self.core.asked[-1].startswith("ask_verbs"):
                index = int(self.core.asked[-1].split()[1])
                self.questing.handle_event(VerbsShown(index, verbs), self.now)
            self.now = Monotonic(self.now + WAITING + 0.1)
        return self.core.asked[begin:]


def test_it_hails_whom_a_task_names(core: NotingClient) -> None:
    scene = Scene(core, spawn(4, "Ingrid"), spawn(5, "Waulon", 30.0))
    scene.task("I should speak to Waulon.")
    assert scene.thinks(HAIL, times=4) == ["target 5", "ask_verbs 5", "command hail"]


def test_it_fights_whom_a_task_names_if_that_is_not_too_strong(core: NotingClient) -> None:
    scene = Scene(
        core, spawn(4, "a rat", level=9, is_enemy=True), spawn(5, "a rat", 30.0, is_enemy=True)
    )
    scene.task("I must kill the rats.")
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5


def test_it_goes_where_it_has_seen_whom_a_task_names(core: NotingClient) -> None:
    scene = Scene(core)
    scene.spawns.remembered["Waulon"] = Place(200.0, 0.0, 0.0)
    scene.task("I should speak to Waulon.")
    scene.thinks(times=2)
    assert core.place.x > 150.0


def test_it_goes_to_a_mark_but_not_to_a_refused_name(core: NotingClient) -> None:
    scene = Scene(
        core, spawn(4, "Envoy of Freeport", 5.0, mark=1), spawn(5, "Anikra", 30.0, mark=1)
    )
    asked = scene.thinks(HAIL, times=8)
    assert "target 5" in asked
    assert "target 4" not in asked


def test_it_sells_something_to_buy_what_a_task_names(core: NotingClient) -> None:
    class Bags:
        coins = 5

        def things(self) -> list[object]:
            return [type("Thing", (), {"unique": 77})()]

    core.possessions = Bags()
    scene = Scene(core, spawn(5, "Vim"))
    scene.task("I should buy the shard from Vim.", "Ingrid wants a Shard of Luclin.")
    assert "use 5 frommerchant" in scene.thinks(SHOP, HAIL, times=4)
    shard, letter = Good(12, 0, "Shard of Luclin", 36, 0), Good(9, 77, "a letter", 40, 0)
    scene.questing.handle_event(GoodsShown(5, 1, (shard,)), scene.now)
    scene.questing.handle_event(GoodsShown(5, 2, (letter,)), scene.now)
    assert core.asked[-1] == "command sell_to_merchant 9 1"
    Bags.coins = 45
    scene.now = Monotonic(scene.now + 20.0)
    scene.thinks(SHOP, HAIL, times=4)
    scene.questing.handle_event(GoodsShown(5, 1, (shard,)), scene.now)
    assert core.asked[-1] == "command buy_from_merchant 12 1"


def test_it_may_leave_when_it_knows_the_zone_and_has_no_quest(core: NotingClient) -> None:
    scene = Scene(core)
    assert not scene.questing.may_leave
    scene.thinks(times=3)
    assert scene.questing.may_leave
    scene.task("I should speak to Waulon.")
    assert not scene.questing.may_leave
