"""A player with a journal among some spawns, for tests of its quests."""

from __future__ import annotations

from emu.client.evening.fighting import Fighting
from emu.client.evening.journal import SeenJournal
from emu.client.evening.quests import WAITING, Questing
from emu.client.evening.seen import SeenSpawn
from emu.client.world.events import ZoneToLoad
from emu.client.world.windows import (
    QuestShown,
    QuestTask,
    VerbsShown,
)
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient

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
            core, self.spawns, self.journal, self.fighting, note=note, first=("Fighter",),  # type: ignore[arg-type]
            refused=("Freeport",),
        )  # fmt: skip

    def task(
        self, text: str, group: str = "", *, number: int = 7, category: str = ""
    ) -> None:  # fmt: skip
        tasks = (QuestTask(text, group, False, 0, 1),)
        self.journal.shown(QuestShown(number, "Help", tasks, False, category))

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


def hunter(core: NotingClient, *spawns: SeenSpawn) -> Scene:
    scene = Scene(core, *spawns)
    scene.questing = Questing(
        core, scene.spawns, scene.journal, scene.fighting, note=lambda _kind, _text: None,  # type: ignore[arg-type]
        first=("Hallmark",), refused=(), hunts=True,
    )  # fmt: skip
    return scene


def zone(file: str, description: str) -> ZoneToLoad:
    return ZoneToLoad(file, description, "Aldana", 0.0, 0.0, 0.0)
