"""A world of a real content file in virtual time: its zones, spawns, scripts, things and loot."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

from emu.content.beginners import starting_things
from emu.content.figures import read_figures
from emu.content.file import ContentFile
from emu.content.homes import read_homes
from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.content.population import Surroundings
from emu.content.quests import QuestTables
from emu.content.spells import SpellKinds
from emu.content.strays import Strays
from emu.scripts.folder import ScriptFolder
from emu.world.assembly import Assembly
from emu.world.population.atlas import read_atlas
from emu.world.population.reading import NO_LAYER, ServedZone, served_zone
from emu.world.population.served import ContentZones
from emu.world.scripts.host import Scripts
from emu.world.travel.tables import read_tables
from emu.world.zones.targets import Targets
from tests.support.world.worlds import HarnessContent, WorldHarness

CONTENT: Final = os.environ.get("EMU_CONTENT", "")
SCRIPTS: Final = os.environ.get("EMU_CONTENT_SCRIPTS", "")
WHY_NOT: Final = "no real content on this machine (EMU_CONTENT, EMU_CONTENT_SCRIPTS)"


class RealContent(HarnessContent):
    """The content file that `EMU_CONTENT` names, and its scripts."""

    def __init__(self, seed: int) -> None:
        super().__init__(read_tables(Path(CONTENT)), homes=read_homes(Path(CONTENT)))
        self._chances = Random(seed)
        self.file = ContentFile(Path(CONTENT))

    def zones(self, assembly: Assembly, next_id: Callable[[], int]) -> ContentZones:
        ports = assembly.ports

        async def read(
            zone_id: int, old: ServedZone | None, _is_wanted: Callable[[], bool]
        ) -> ServedZone | None:
            return served_zone(self.file, zone_id, NO_LAYER, (), old)

        async def run(call: Callable[[], Any]) -> Any:
            return call()

        zones = ContentZones(
            read, fixtures=ports.atlas.fixtures, next_id=next_id,
            randomness=lambda: Random(self._chances.random()), hour=lambda: 12,
            center=lambda zone: next(
                (one.position for one in assembly.world.players if one.zone is zone), None
            ),
            now=ports.clock.now, timetable=assembly.timetable, start=ports.start,
            failed=self.lines.append, in_thread=run,
            surroundings=lambda _zone, now: Surroundings(now, 0, 1),
        )  # fmt: skip
        zones.targets = Targets(lambda: assembly.world.players)
        return zones

    def scripts(self, assembly: Assembly) -> Scripts:
        scripts = Scripts(
            assembly.script_parts(),
            ScriptFolder(Path(SCRIPTS)),
            zones=assembly.population.content,
            chances=self._chances,
            report=self.lines.append,
            figures=read_figures(Path(CONTENT)),
        )
        scripts.maker.stray = Strays(Path(CONTENT)).get
        return scripts


def real_world(seed: int = 1, things: Sequence[Path] = (), **rules: Any) -> WorldHarness:
    """Return a world of the content file whose chance follows from a seed, with other rules.

    `things` are files with kinds of things beside those of the content file.
    """
    path = Path(CONTENT)
    harness = WorldHarness(
        atlas=read_atlas(None, path), content=RealContent(seed), roll=Random(seed).randrange,
        quests=QuestTables(path), spell_kinds=SpellKinds(path),
    )  # fmt: skip
    own = TomlItems([shipped_items(), *things])
    harness.kinds = ItemKinds(path, own, starting_things(path, {}))
    harness.parts.items.kinds = harness.kinds
    harness.parts.quests.journals._kinds = harness.kinds  # as the items' above
    harness.trade.reload(path)
    harness.crafts.reload(path)
    harness.world.rules = replace(harness.world.rules, **rules)
    return harness
