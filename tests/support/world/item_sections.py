"""Plays sections of the recordings `items-*` again: what is used, repaired and made.

The things of the set are those of its file, and scripts and spells are those of the real content.
What chance has decided in the rounds of a creation is copied from the recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from emu.content.figures import read_figures
from emu.content.spells import SpellKinds
from emu.rules.crafting import RoundEnd, play_round
from emu.scripts.folder import ScriptFolder
from emu.world.actors.dealings import Dealing, MerchantKind
from emu.world.actors.spawn import Destination, Spawn, SpawnKind, Verb
from emu.world.assembly import Assembly
from emu.world.population.nodes import verbs_of_device
from emu.world.scripts.host import Scripts
from emu.world.travel.tables import RevivePoint, TravelTables
from emu.world_stream.movement import Position
from tests.support.world.fight_recordings import Mark, Message, Recording
from tests.support.world.fight_replay import HeardClient
from tests.support.world.item_recordings import recorded_content, recorded_kinds
from tests.support.world.real_content import CONTENT, SCRIPTS
from tests.support.world.real_replay import enter_heard
from tests.support.world.recorded_things import give_shown
from tests.support.world.thing_lines import ThingLines
from tests.support.world.worlds import HarnessContent, WorldHarness

LAG: Final = 0.1
"""Seconds until the recorded server has read an act."""
SECTIONS: Final = ("use", "mend", "craft")
NEVER: Final = 0.999
MENDER: Final = MerchantKind.MENDER
CAMP: Final = (
    RevivePoint(
        0, "Refugee Camp", Destination(325, Position(43.14, -3.03, -172.21, 0.0)), always=False
    ),
)  # fmt: skip
"""Where the recorded player revives."""
FORGE: Final = 2
"""The number of the device."""
LETTER: Final = "A"
"""The client whose acts are compared."""
BEGIN, STOP = "OP_BeginItemCreationMsg", "OP_StopItemCreationMsg"
ROUND: Final = "OP_UpdateItemCreationProcessUIMsg"
_SECTION: Final = re.compile(r"--- (\w+):")
_OWN: Final = frozenset((
    "OP_RemoteCmdMsg", "OP_ExamineInfoRequestMsg", "OP_EntityVerbsRequestMsg",
    "OP_EntityVerbsVerbMsg", "OP_RequestRecipeDetailsMsg", BEGIN, STOP,
))  # fmt: skip
_SPAWN_FIRST: Final = frozenset(("OP_EntityVerbsRequestMsg", "OP_EntityVerbsVerbMsg"))


class _Drawn:
    """The chance of one round: how it ends, and no event."""

    def __init__(self, end: RoundEnd) -> None:
        drawn = (percent / 200 for percent in range(200))
        self._left = [NEVER, next(one for one in drawn if _end_of(one) is end)]

    def random(self) -> float:
        return self._left.pop() if len(self._left) > 1 else self._left[0]


def _end_of(drawn: float) -> RoundEnd:
    class Once:
        def random(self) -> float:
            return drawn

    return play_round(0, 0, Once()).effect


class RecordedRounds:
    """How the recorded rounds ended, one after the other."""

    def __init__(self, name: str) -> None:
        self._ends = [
            RoundEnd(one.fields["effect"]) for one in Recording(name)
            if isinstance(one, Message) and one.name == ROUND and one.fields
        ]  # fmt: skip

    def next(self, *_: object) -> _Drawn:
        """Return the chance of the next round."""
        return _Drawn(self._ends.pop(0) if self._ends else RoundEnd.SUCCESS)


class Section(NamedTuple):
    """What was recorded in a section, and what ours did."""

    name: str
    recorded: list[str]
    ours: list[str]


class ScriptedContent(HarnessContent):
    """A world without zones of the content, and with its scripts."""

    def scripts(self, assembly: Assembly) -> Scripts:
        return Scripts(
            assembly.script_parts(),
            ScriptFolder(Path(SCRIPTS)),
            zones=assembly.population.content,
            chances=Random(1),
            report=self.lines.append,
            figures=read_figures(Path(CONTENT)),
        )


class SectionReplay:
    """One recording, and the world in which its sections are played again."""

    def __init__(self, name: str) -> None:
        self.recording = Recording(name)
        self.version = self.recording.version
        self.harness = WorldHarness(
            content=ScriptedContent(TravelTables(revive_points={325: CAMP})),
            spell_kinds=SpellKinds(Path(CONTENT)), roll=Random(1).randrange,
        )  # fmt: skip
        self.harness.kinds = recorded_kinds()
        self.harness.parts.items.kinds = self.harness.kinds
        self.harness.crafts.reload(recorded_content())
        self.recorded = ThingLines(self.version, has_index=False)
        self.ours = ThingLines(self.version, has_index=False)
        row = self.harness.character(5, name="Aldana", admin_status=100, class_=0, coins=0)
        self.client: HeardClient = enter_heard(
            self.harness, row.id, self.version, self.ours.add
        )  # fmt: skip
        self.client.load()
        self.harness.run(2.0)
        self.spawns: dict[str, Spawn] = {}
        self._numbers: dict[int, int] = {}
        self._commands: list[str] = []
        self._start = 0.0
        self._section = ""
        self._entered: int | None = None
        """How many lines there were before the client has entered again."""
        creating = self.harness.parts.crafting.creating
        creating._chances = RecordedRounds(name)  # type: ignore[assignment]

    def play(self) -> Iterator[Section]:
        """Play all sections; yield each with its lines."""
        for one in self.recording:
            if isinstance(one, Mark):
                found = _SECTION.match(one.text)
                if found or one.text == "end":
                    if self._section in SECTIONS:
                        self.harness.run(2.0)
                        yield Section(self._section, self.recorded.lines, self.ours.lines)
                    self._begin(found[1] if found else "", one.at)
            elif one.client == LETTER:
                self._follow(one)

    def _begin(self, section: str, at: float) -> None:
        self._section = section
        self._entered = None
        self._refill()
        self.harness.run(1.0)
        self._start = at - self.harness.now
        self.recorded.lines, self.ours.lines = [], []
        self.recorded.begin_act()
        self.ours.begin_act()

    def _refill(self) -> None:
        """Let the player have what the recorded one has when a section begins."""
        player = self.client.player
        assert player is not None
        inventory = player.holdings.inventory
        for thing in [one for one in inventory if not one.place.bag]:
            inventory.use_up(thing, thing.count)
        items = self.harness.parts.items
        items.changed(player)
        give_shown(items, player, self.recorded.shown, self.version)
        items.changed(player)

    def _follow(self, one: Message) -> None:
        seen = self.recording.sessions[LETTER]
        if one.name == "OP_SetRemoteCmdsMsg" and one.fields:
            self._commands = [row["name"] for row in one.fields["commands_array"]]
        if one.name == "OP_LoginReplyMsg":
            self.recorded.begin_session()
            self._entered = len(self.recorded.lines)
        if not one.to_server:
            self.recorded.add(one.name, seen.named(one.fields), one.body)
        elif self._section in SECTIONS:
            self._act(one, seen)

    # -- acts -------------------------------------------------------------------------------------

    def _act(self, one: Message, seen: Any) -> None:
        due = one.at + LAG - self._start
        if due > self.harness.now:
            self.harness.run(due - self.harness.now)
        # Entries are compared elsewhere.
        if self._entered is not None and one.name in _OWN:
            del self.recorded.lines[self._entered :]
            self._entered = None
        self._learn()
        player = self.client.player
        assert player is not None
        self.recorded.begin_act()
        self.ours.begin_act()
        if one.name == "OP_UpdateTargetMsg" and one.fields:
            player.set_target(self._spawn(seen.name_of(one.fields["spawn_index"])))
        elif one.name == "OP_RemoteCmdMsg" and one.fields:
            command = self._commands[one.fields["command_handler"]]
            line = f"{command} {one.fields['arguments']}"
            self.client.types("/" + self._translated(line))
        elif one.name in _SPAWN_FIRST:
            spawn = self._spawn(seen.name_of(int.from_bytes(one.body[:4], "little")))
            index = player.index_of(spawn) if spawn is not None else None
            if index is not None:
                self.client.say(one.name, index.to_bytes(4, "little") + one.body[4:])
        elif one.name in _OWN:
            self.client.say(one.name, self._with_our_numbers(one.body))

    def _learn(self) -> None:
        for number, rows in self.recorded.shown.items():
            for theirs, ours in zip(rows, self.ours.shown.get(number, []), strict=False):
                if theirs["unique_id"] and theirs["item_id"] == ours["item_id"]:
                    self._numbers[theirs["unique_id"]] = ours["unique_id"]

    def _translated(self, line: str) -> str:
        words = line.split()
        return " ".join(
            str(self._numbers.get(int(one), one)) if one.isdigit() and len(one) > 6 else one
            for one in words
        )

    def _with_our_numbers(self, body: bytes) -> bytes:
        for theirs, ours in self._numbers.items():
            body = body.replace(theirs.to_bytes(4, "little"), ours.to_bytes(4, "little"))
        return body

    def _spawn(self, name: str) -> Spawn | None:
        """Return a spawn of the set by its name; it is put beside the player when it is needed."""
        player = self.client.player
        assert player is not None
        if name in self.spawns or name == self.recorded.own_name:
            return self.spawns.get(name, player.spawn)
        if "Mender" in name:
            kind, dealing = SpawnKind.NPC, Dealing(9, merchant_kind=MENDER)
            verbs: tuple[Verb, ...] = (Verb("repair", 10.0, "repair"),)
        elif "Forge" in name or "forge" in name:
            kind, dealing = SpawnKind.OBJECT, Dealing(6, device=FORGE)
            verbs = verbs_of_device(dealing, (Verb("Create", 10.0, "create"),))
        else:
            return None
        place = player.position._replace(x=player.position.x + 1.0)
        spawn = Spawn(
            self.harness.zones.next_spawn_id(), kind, name, place, verbs=verbs, dealing=dealing
        )
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.5)
        self.spawns[name] = spawn
        return spawn
