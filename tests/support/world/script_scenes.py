"""A world with a player, spawns of a content file, and scripts that a test writes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from emu.content.figures import Figures
from emu.content.file import Entry, Placement, Template
from emu.content.spells import SpellKinds
from emu.content.standing import Standing
from emu.scripts.compiling import Compiler, Compiling
from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import new_runtime
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.assembly import Assembly
from emu.world.quests.journals import QuestContent
from emu.world.scripts.host import Scripts
from emu.world_stream.movement import Position
from tests.support.world.worlds import HarnessContent, WorldHarness

PLACE = Position(3.0, -7.97, 243.45, 90.0)


class ScriptContent(HarnessContent):
    """No zones of a content file, and a folder of scripts."""

    def __init__(
        self,
        folder: Path,
        chances: Random,
        report: Callable[[str], object],
        figures: Figures | None = None,
        background: list[Callable[[], object]] | None = None,
    ) -> None:
        """`background` gets what a thread would do; without it files are compiled at once."""
        super().__init__()
        self._background = background
        self._folder, self._chances, self._report = folder, chances, report
        self._figures = figures

    def _compiling(self, folder: ScriptFolder) -> Compiling | None:
        if (waiting := self._background) is None:
            return None

        def in_background(call: Callable[[], object], then: Callable[[], object]) -> None:
            waiting.extend((call, then))

        return Compiling(Compiler(folder, partial(new_runtime, encoding=None)), in_background)

    def scripts(self, assembly: Assembly) -> Scripts:
        folder = ScriptFolder(self._folder)
        return Scripts(
            assembly.script_parts(),
            folder,
            zones=None,
            chances=self._chances,
            report=self._report,
            figures=self._figures,
            compiling=self._compiling(folder),
        )


class ScriptScene:
    """A player beside the place where spawns with scripts appear."""

    def __init__(
        self, folder: Path, version: int = 546, *, seed: int = 1, name: str = "Aldana",
        figures: Figures | None = None,
        background: list[Callable[[], object]] | None = None,
        quests: QuestContent | None = None, spells: SpellKinds | None = None, **changes: Any,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.lines: list[str] = []
        self._shown = 0
        content = ScriptContent(folder, Random(seed), self.lines.append, figures, background)
        self.harness = WorldHarness(
            content=content, quests=quests, spell_kinds=spells, roll=Random(1).randrange
        )
        scripts = self.harness.parts.scripts
        assert scripts is not None
        self.scripts, self.travel = scripts, self.harness.parts.travel
        self.client = self.harness.stand(5, version, name=name, **changes)
        assert self.client.player is not None
        self.player: Player = self.client.player
        self.zone = self.player.zone
        self.go(1.0)

    def script(self, source: str | bytes, name: str = "npc.lua") -> str:
        data = source if isinstance(source, bytes) else source.encode()
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name

    def zone_script(self, source: str) -> None:
        """Give the zone a script, and let it be ready."""
        self.script(source, f"ZoneScripts/{self.zone.definition.name}.lua")
        self.scripts.zone_starts(self.zone)
        self.scripts.zone_is_read(self.zone, "")
        self.scripts.zone_is_ready(self.zone)

    def spawn(self, source: str | bytes | None, name: str = "Guard", location: int = 70) -> Spawn:
        """Put a spawn with a script into the zone; None names a file that is not there."""
        script = "gone.lua" if source is None else self.script(source, f"{name}.lua")
        return self.place(script, name, location)

    def says(self, body: str, *values: str) -> list[str]:
        """Hail a guard whose script runs `body` and says the values; return what it says."""
        said = "\n".join(f"Say(NPC, tostring({value}))" for value in values)
        guard = self.spawn(f"function hailed(NPC, Spawn)\n{body}\n{said}\nend")
        return [text for _, text in self.hail(guard)]

    def place(
        self, script: str, name: str = "Guard", location: int = 70, *, is_back: bool = False
    ) -> Spawn:
        spawn = self.put(self.standing(script, location), name, is_back=is_back)
        self.harness.run(1.5)
        return spawn

    def standing(self, script: str, location: int = 70) -> Standing:
        zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
        placement = Placement(**zeros | {"id": location, "location_id": location})
        template = Template(900 + location, "npcs", {}, {"difficulty": 6, "heroic": 1}, {}, ())
        entry = Entry(1, location, template.id, 100.0, 0, script)
        return Standing(placement, entry, template, *PLACE[:3], 12, 32, None, 0)

    def put(self, standing: Standing, name: str, *, is_back: bool = False) -> Spawn:
        at = PLACE._replace(x=standing.x, y=standing.y, z=standing.z)
        spawn = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, at)
        spawn.level = 12
        spawn.heroic = 1
        spawn.appearance = {"race": 9, "class": 3, "gender": 1}
        spawn.verbs = (Verb("Push", 10.0, "push_it"), Verb("Buy", 10.0, "frommerchant"))
        self.scripts.prepared(self.zone, spawn, standing)
        self.zone.add_spawn(spawn, self.harness.now)
        self.scripts.appeared(self.zone, spawn, standing, is_back=is_back)
        return spawn

    def go(self, away: float) -> None:
        """Put the player so many units away from the place of the spawns."""
        self.player.teleport(PLACE._replace(x=PLACE.x + away), self.harness.now)
        self.player.spawn.is_led_by_client = True

    def hail(self, spawn: Spawn) -> list[tuple[str, str]]:
        """Hail a spawn; return what spawns said to the player: speaker and text."""
        self.player.set_target(spawn)
        self.client.hears()
        self.client.types("/hail")
        return self.heard()

    def heard(self) -> list[tuple[str, str]]:
        heard = self.client.hears()
        return [(one, text) for _, one, text in heard if one != self.player.name]

    def shown(self) -> list[str]:
        """Return the lines of text that the player was shown since the last time."""
        lines = [one["text"] for one in self.client.decoded("WS_DisplayText")]
        new, self._shown = lines[self._shown :], len(lines)
        return new

    def target(self, spawn: Spawn) -> None:
        """Let the player's client target a spawn."""
        self.client.say("OP_UpdateTargetMsg", self._index(spawn).to_bytes(2, "little"))

    def use(self, spawn: Spawn, verb: str) -> None:
        """Let the player's client choose a verb of a spawn."""
        body = struct.pack("<IH", self._index(spawn), len(verb)) + verb.encode()
        self.client.say("OP_EntityVerbsVerbMsg", body)

    def _index(self, spawn: Spawn) -> int:
        index = self.player.index_of(spawn)
        assert index is not None
        return index

    def dialogs(self) -> list[dict[str, Any]]:
        return self.client.decoded("WS_DialogOpen")

    def answer(self, number: int, answer: int) -> None:
        body = number.to_bytes(4, "little") + answer.to_bytes(4, "little")
        self.client.say("OP_DialogSelectMsg", body)

    def closes(self) -> list[int]:
        return [one["conversation_id"] for one in self.client.decoded("WS_ServerDialogClose")]
