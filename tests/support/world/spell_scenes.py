"""A scene of spells: a caster with spells that a test writes, friends, and creatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from emu.content.spells import SpellKinds, TomlSpells
from emu.spells.kinds import SpellKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.spells.living import LivingSpell, SpellState
from emu.world_stream.movement import Position
from tests.support.world.script_scenes import PLACE, ScriptScene
from tests.support.world.worlds import Client

SMITE = """
[[spell]]
id = 110014
name = "Smite"
icon = 152
backdrop = 315
heroic_icon = 14
target = 1
visual = 63
is_interruptable = true
script = "Spells/Smite.lua"
effect_message = "You cast Smite on %t."
effect = "DD"
linked_timer = 110014
[[spell.tier]]
power = 8
cast_time = 200
recovery = 5
recast = 3
range = 25
values = [7, 8, 10]
lines = ["Inflicts 8 - 10 divine damage on target"]
[[spell.class]]
class = 11
level = 1
"""
SMITE_SCRIPT = """
function cast(Caster, Target, DmgType, MinVal, MaxVal)
    SpellDamage(Target, DmgType, MinVal, MaxVal)
end
"""
HEAL = """
[[spell]]
id = 110012
name = "Minor Healing"
icon = 158
backdrop = 316
heroic_icon = 12
target = 1
is_friendly = true
visual = 53
script = "Spells/Heal.lua"
[[spell.tier]]
power = 10
cast_time = 200
recast = 5
range = 25
values = ["heal", 40, 50]
"""
HEAL_SCRIPT = """
function cast(Caster, Target, Kind, MinVal, MaxVal)
    SpellHeal(Kind, MinVal, MaxVal, Target)
end
"""
BUFF = """
[[spell]]
id = 110002
name = "Courage"
icon = 146
backdrop = 314
target = 1
is_friendly = true
visual = 60
script = "Spells/Buff.lua"
lasts_until_cancelled = true
cast_kind = 1
[[spell.tier]]
power = 5
concentration = 1
cast_time = 0
duration1 = 432000
range = 25
values = [1, 12.5]
"""
BUFF_SCRIPT = """
function cast(Caster, Target, Kind, Value)
    AddSpellBonus(Target, Kind, Value)
end

function remove(Caster, Target)
    RemoveSpellBonus(Target)
end
"""


class SpellScene(ScriptScene):
    """A player who casts, and what it casts at."""

    def __init__(
        self, folder: Path, version: int = 546, *, toml: str = SMITE + HEAL + BUFF, seed: int = 1,
        **changes: Any,
    ) -> None:  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "spells.toml"
        path.write_text(toml, encoding="utf-8")
        self.kinds = SpellKinds(None, TomlSpells([path]))
        super().__init__(
            folder, version, seed=seed, spells=self.kinds, **({"class_": 11} | changes)
        )
        for name, source in (
            ("Smite", SMITE_SCRIPT), ("Heal", HEAL_SCRIPT), ("Buff", BUFF_SCRIPT),
        ):  # fmt: skip
            self.script(source, f"Spells/{name}.lua")
        self.spells = self.harness.parts.spells
        self._guards = 0
        self._friends: dict[Player, Client] = {}
        power = self.player.spawn.sheet.power
        power.fill(1000)
        self.player.spawn.sheet.health.fill(1000)

    def says(self, body: str, *values: str) -> list[str]:
        """Hail a new guard, as `ScriptScene.says` does, with a script of its own."""
        self._guards += 1
        said = "\n".join(f"Say(NPC, tostring({value}))" for value in values)
        source = f"function hailed(NPC, Spawn)\n{body}\n{said}\nend"
        guard = self.spawn(source, f"Guard {self._guards}", 70 + self._guards)
        return [text for _, text in self.hail(guard)]

    def kind(self, number: int) -> SpellKind:
        found = self.kinds.get(number)
        assert found is not None
        return found

    def know(self, *numbers: int, tier: int = 1) -> None:
        for number in numbers:
            self.spells.books.learn(self.player, number, tier)

    def cast(self, number: int, target: Spawn | None = None, client: Client | None = None) -> None:
        client = client or self.client
        assert client.player is not None
        client.player.set_target(target)
        client.types(f"useability {number}")

    def creature(self, name: str = "a crab", away: float = 4.0, **values: Any) -> Spawn:
        at = PLACE._replace(x=PLACE.x + away)
        spawn = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, at,
            **({"attackable": True} | values),
        )  # fmt: skip
        self.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.3)
        spawn.sheet.health.fill(10_000)
        return spawn

    def friend(self, number: int = 6, name: str = "Borvik", version: int = 546) -> Player:
        client = self.harness.stand(number, version, name=name, class_=11)
        player = client.player
        assert player is not None
        player.teleport(Position(PLACE.x + 2, *PLACE[1:]), self.harness.now)
        self.harness.run(0.3)
        self._friends[player] = client
        return player

    def client_of(self, friend: Player) -> Client:
        return self._friends[friend]

    def read_by(self, friend: Player) -> list[str]:
        """Return the lines that a friend has read."""
        return [one["text"] for one in self._friends[friend].decoded("WS_DisplayText")]

    def state(self, spawn: Spawn | None = None) -> SpellState:
        return self.spells.states.of(spawn or self.player.spawn)

    def effects(self, spawn: Spawn | None = None) -> list[LivingSpell]:
        return self.state(spawn).effects

    def run(self, seconds: float) -> None:
        self.harness.run(seconds)

    def payloads(self, name: str, client: Client | None = None) -> list[bytes]:
        return [payload for one, payload in (client or self.client).log if one == name]

    def errors(self) -> list[int]:
        return [one["error_code"] for one in self.client.decoded("WS_DisplaySpellFailed")]
