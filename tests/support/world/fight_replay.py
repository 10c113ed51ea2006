"""Plays a recorded fight again: the recorded acts of its players, in a world of ours.

Chance is not played again: creatures do not strike here, and what a recorded blow has done (a cast
interrupted, a death) is done at the same moment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from emu.content.spells import SpellKinds, TomlSpells
from emu.rules.combat import Result
from emu.rules.experience import usual_needs
from emu.rules.stance import Encounter
from emu.spells.kinds import ClassLevel, SpellKind, SpellLine
from emu.spells.opportunities import HeroicStarter, HeroicTable, HeroicWheel
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination, Spawn, SpawnKind
from emu.world.events import Cast, Died
from emu.world.spells.living import LivingSpell
from emu.world.spells.pets import PetKind
from emu.world.travel.tables import RevivePoint, TravelTables
from emu.world_stream.movement import Position
from tests.support.world.fight_recordings import Mark, Message, Place, Recording, Seen
from tests.support.world.script_scenes import ScriptContent
from tests.support.world.worlds import Client, WorldHarness

SPELLS = Path(__file__).with_name("fight_spells.toml")
SCRIPTS = Path(__file__).with_name("fight_scripts")
WHEELS: Final = HeroicTable(
    (HeroicStarter(4, 11, 17, 41), HeroicStarter(5, 11, 17, 14)),
    (HeroicWheel(33, 5, False, 41, 5195, 10.0, (12,)),),
)
"""What a priest starts, and the wheel that chance has chosen in the recording."""
CAMP: Final = (
    RevivePoint(
        2, "Wilderness Camp", Destination(325, Position(43.14, -3.03, -172.21, 0.0)), always=False
    ),
)  # fmt: skip
"""Where the recorded players revive."""
ABSENT: Final = {"real-spells-546-mage": (210020,)}
"""Spells that a recording's database does not have, or has switched off."""
PLACES: Final = {
    "real-fight-546-QueensColony-fighter": (CAMP[0]._replace(id=0, name="Myrrin's Tower"),)
}
"""Where the players of other recordings revive."""
RATES: Final = {"real-fight-546-QueensColony-fighter": 3.0}
"""How much more experience a recorded zone gives."""
PET_SPELL: Final = 280025
STEPS: Final = frozenset(("OP_PredictionUpdateMsg", "OP_UpdatePositionMsg"))
_VERBS: Final = frozenset(("OP_EntityVerbsRequestMsg", "OP_EntityVerbsVerbMsg"))
LAST_OLD: Final = 561
"""The last version whose sheet has tenths of a percent."""
NOWHERE: Final = Position(0.0, 0.0, 0.0, 0.0)
FAR: Final = 5.0
"""A longer step is a jump of the recorded player."""
NEAR: Final = 8.0
"""Within which a creature of the same name is the same for two clients."""
LAG: Final = 0.1
"""Seconds until the recorded server, which was under load in the `real-*`, has read a command."""
LATE: Final = 0.7
"""Seconds within which the recorded server has answered an act."""


class Said(NamedTuple):
    """A message of the server as a test compares it."""

    name: str
    fields: Any

    def __str__(self) -> str:
        return f"{self.name.removeprefix('OP_').removeprefix('Eq')} {self.fields}"


class HeardClient(Client):
    """A client that decodes all it is sent as a recording is decoded."""

    def __init__(self, harness: WorldHarness, version: int) -> None:
        super().__init__(harness, version)
        self.seen = Seen(version)
        self.heard_since: list[Said] = []
        self.listener: Callable[[str, Any, bytes], None] = lambda *_: None
        """Is called with name, fields and body of each message; spawns have names in them."""

    def send(self, opcode: int, payload: bytes) -> None:
        super().send(opcode, payload)
        for name, fields, body in self.seen.read(opcode, payload, to_server=False):
            said = Said(name, self.seen.named(fields))
            self.heard_since.append(said)
            self.listener(name, said.fields, body)


class Part(NamedTuple):
    """What happened between two marks."""

    title: str
    recorded: dict[str, list[Said]]
    ours: dict[str, list[Said]]


class Replay:
    """One recording, and the world in which it is played again."""

    def __init__(self, name: str) -> None:
        self.recording = Recording(name)
        kinds = SpellKinds(None, TomlSpells([SPELLS]))
        for window in self.recording.windows().values():
            _describe(kinds, window)
        for spell in ABSENT.get(name, ()):
            kinds._known[spell] = _switched_off(kinds, spell)
        kinds._opportunities = WHEELS  # no file has them here
        content = ScriptContent(SCRIPTS, Random(1), lambda _line: None)
        content.travel_tables = TravelTables(revive_points={325: PLACES.get(name, CAMP)})
        self.harness = WorldHarness(content=content, spell_kinds=kinds, roll=Random(1).randrange)
        world = self.harness.world
        world.rules = replace(world.rules, experience_rate=RATES.get(name, 1.0))
        self.kinds = kinds
        self.clients: dict[str, HeardClient] = {}
        self.spawns: dict[tuple[str, str], Spawn] = {}
        self._commands: dict[str, list[str]] = {}
        self._books: dict[str, set[int]] = defaultdict(set)
        self._sheets: dict[str, dict[str, Any]] = {}
        self._steps: dict[str, list[Message]] = defaultdict(list)
        self._outsider = Spawn(0, SpawnKind.PLAYER, "an outsider", NOWHERE)
        self._targets: dict[str, int] = {}
        """The recorded number of each player's target."""
        self._places: dict[str, dict[str, float]] = {}
        self._last_hit: dict[str, float] = {}
        self._start = 0.0
        self._lag = LAG if name.startswith("real-") else 0.0
        # Creatures strike nobody: their chance is not the recorded one.
        self.harness.parts.combat.fights.hindrances.append(
            lambda spawn: spawn.kind is SpawnKind.NPC
        )
        self._chance = self.recording.chance()
        spells = self.harness.parts.spells
        self._finish = spells.casts._finish
        spells.casts._finish = self._finish_or_interrupt  # type: ignore[method-assign]
        spells.casts._fizzles = self._fizzles  # type: ignore[method-assign]
        spells.amounts._outcome = self._outcome  # type: ignore[method-assign,assignment]
        self.harness.world.events.subscribe(Cast, self._cast)
        # Bodies lay for minutes in the recordings.
        self.harness.world.events.subscribe(Died, lambda event: event.stays.append(300.0))
        self._indexes: dict[tuple[str, int], Spawn] = {}
        self.parts: list[Part] = []
        self.casts: dict[str, set[str]] = defaultdict(set)
        """The spells that each player has begun to cast."""

    # -- playing ----------------------------------------------------------------------------------

    def play(self) -> list[Part]:
        """Play the whole recording; return what was recorded and what ours did, mark by mark."""
        recorded: dict[str, list[Said]] = defaultdict(list)
        title, last = "", 0.0
        for one in self.recording:
            if isinstance(one, Mark):
                if not title:
                    self._begin(one.at)
                else:
                    self._pass(one.at)
                    self._close(title, recorded)
                title = one.text
                recorded = defaultdict(list)
                continue
            last = one.at
            if not title:
                self._prepare(one)
            elif one.to_server:
                if one.name == "OP_RequestCampMsg":
                    break
                self._act(one)
            else:
                seen = self.recording.sessions[one.client]
                self._copy_chance(one, seen)
                recorded[one.client].append(Said(one.name, seen.named(one.fields)))
        self._pass(last)
        self._close(title, recorded)
        return self.parts

    def _close(self, title: str, recorded: dict[str, list[Said]]) -> None:
        ours = {}
        for name, client in self.clients.items():
            ours[name], client.heard_since = client.heard_since, []
        self.parts.append(Part(title, recorded, ours))

    def _prepare(self, one: Message) -> None:
        """Note what a client was sent on its way in."""
        if one.name == "OP_SetRemoteCmdsMsg" and one.fields:
            self._commands[one.client] = [row["name"] for row in one.fields["commands_array"]]
        elif one.name == "OP_UpdateSpellBookMsg" and one.fields:
            self._books[one.client].update(one.fields["book"])
        elif one.name == "OP_UpdateCharacterSheetMsg" and one.fields:
            fields = one.fields.get("sheet", one.fields)
            self._sheets.setdefault(one.client, {}).update(fields)
        elif one.to_server and one.name in STEPS:
            self._steps[one.client].append(one)

    def _begin(self, at: float) -> None:
        """Let the recorded players stand in a zone of ours."""
        self._start = at - self.harness.now
        for number, (letter, sheet) in enumerate(sorted(self._sheets.items()), 5):
            seen = self.recording.sessions[letter]
            client = HeardClient(self.harness, seen.version)
            self.clients[letter] = client
            self._enter(client, number, sheet)
            for one in self._steps[letter]:
                self._jump(client, one)
                client.say(one.name, one.body)
        self.harness.run(1.0)
        self._start = at - self.harness.now
        for client in self.clients.values():
            client.heard_since = []

    def _enter(self, client: HeardClient, number: int, sheet: dict[str, Any]) -> None:
        harness = self.harness
        row = harness.character(
            number, name=sheet["character_name"], class_=sheet["class3"], level=sheet["level"],
            race=sheet["race"], experience=_experience(sheet, client.dialect.version),
        )  # fmt: skip
        made = harness.client
        harness.client = lambda _version=546: client  # type: ignore[method-assign,assignment]
        try:
            harness.enter(row.id, client.dialect.version)
        finally:
            harness.client = made  # type: ignore[method-assign]
        client.load()
        harness.run(0.2)
        player = client.player
        assert player is not None
        letter = next(one for one, other in self.clients.items() if other is client)
        place = self.recording.sessions[letter].place_of(1)
        if place is not None:
            player.teleport(Position(*place.position, place.heading), harness.now)
        player.spawn.is_led_by_client = True
        for spell in sorted(self._books[letter]):
            if self.kinds.get(spell) is not None:
                harness.parts.spells.books.learn(player, spell, 1, is_quiet=True)
        player.spawn.sheet.power.fill(10_000)

    def is_compared(self, spell: int) -> bool:
        """Return whether a spell is in the recorded books and in ours."""
        return self.kinds.get(spell) is not None and any(
            spell in book for book in self._books.values()
        )

    # -- acts -------------------------------------------------------------------------------------

    def _pass(self, at: float) -> None:
        due = at - self._start
        if due > self.harness.now:
            self.harness.run(due - self.harness.now)

    def _act(self, one: Message) -> None:
        client = self.clients.get(one.client)
        if client is None or client.player is None:
            return
        if one.name in STEPS:
            self._pass(one.at)
            self._jump(client, one)
            client.say(one.name, one.body)
        elif one.name == "OP_UpdateTargetMsg" and one.fields:
            self._pass(one.at)
            index = self._targets[one.client] = one.fields["spawn_index"]
            target = None if index == 0xFFFF else self._spawn(one.client, index, is_target=True)
            found = client.player.index_of(target) if target is not None else None
            client.say(one.name, (0xFFFF if found is None else found).to_bytes(2, "little"))
        elif one.name == "OP_RemoteCmdMsg" and one.fields:
            self._pass(one.at + self._lag)
            self._lock(one.client)
            command = self._commands[one.client][one.fields["command_handler"]]
            client.types(f"/{command} {one.fields['arguments']}".rstrip())
        elif one.name in ("OP_ExamineInfoRequestMsg", "OP_CancelSpellCast"):
            self._pass(one.at)
            client.say(one.name, one.body)
        elif one.name in _VERBS and one.fields:
            self._pass(one.at)
            spawn = self._spawn(one.client, int.from_bytes(one.body[:4], "little"))
            index = client.player.index_of(spawn) if spawn is not None else None
            client.say(one.name, (index or 0).to_bytes(4, "little") + one.body[4:])

    def _jump(self, client: HeardClient, one: Message) -> None:
        """Put a player where it says it is: the recorded ones jumped."""
        player = client.player
        place = self._places.setdefault(one.client, {})
        place |= ((one.fields or {}).get("position") or {}).items()
        if player is None or "x" not in place:
            return
        at = Position(place["x"], place["y"], place["z"], place.get("direction2", 0.0))
        if player.position.distance_to(at) > FAR:
            player.teleport(at, self.harness.now)
            player.spawn.is_led_by_client = True

    def _spawn(self, letter: str, index: int, *, is_target: bool = False) -> Spawn | None:
        """Return our spawn of a recorded one; a creature is put into the zone when it is needed."""
        seen = self.recording.sessions[letter]
        name = seen.name_of(index)
        for client in self.clients.values():
            if client.player is not None and client.player.name == name:
                return client.player.spawn
        place = seen.place_of(index)
        if place is None:
            return None
        # The recorded creatures have no height of their own.
        height = self._height(letter)
        position = Position(place.position[0], height, place.position[2], place.heading)
        spawn = self._indexes.get((letter, index)) or self._same(letter, name, position)
        if spawn is None:
            spawn = self._creature(letter, place, position)
        elif is_target and spawn.hp_percent <= 0 and not place.is_dead:
            # Another one has come back under the number of the dead one.
            spawn = self._creature(letter, place, position)
        self._indexes[letter, index] = spawn
        if spawn.position.distance_to(position) > 0.5 and spawn.hp_percent > 0:
            spawn.move(position)
        return spawn

    def _lock(self, letter: str) -> None:
        """Let a target belong to somebody whom nobody plays here, or be free again."""
        index = self._targets.get(letter, 0xFFFF)
        place = self.recording.sessions[letter].place_of(index)
        spawn = self._indexes.get((letter, index))
        if spawn is None or place is None or spawn.hp_percent <= 0:
            return
        mind = spawn.mind
        if place.encounter == Encounter.LOCKED and mind.encounter is Encounter.FREE:
            mind.fighters[self._outsider] = None
            spawn.set_encounter(Encounter.LOCKED, frozenset())
        elif self._outsider in mind.fighters and place.encounter != Encounter.LOCKED:
            del mind.fighters[self._outsider]
            spawn.set_encounter(Encounter.FREE, frozenset())

    def _height(self, letter: str) -> float:
        player = self.clients[letter].player
        assert player is not None
        return player.position.y

    def _same(self, letter: str, name: str, position: Position) -> Spawn | None:
        """Return the creature that another client has under a number of its own."""
        own = {spawn for (other, _), spawn in self._indexes.items() if other == letter}
        others = [
            spawn for spawn in dict.fromkeys(self._indexes.values())
            if spawn not in own and spawn.name == name
            and spawn.position.distance_to(position) < NEAR
        ]  # fmt: skip
        return min(others, key=lambda one: one.position.distance_to(position), default=None)

    def _creature(self, letter: str, place: Place, at: Position) -> Spawn:
        client = self.clients[letter]
        assert client.player is not None
        spawn = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, place.name, at,
            attackable=place.attackable, level=place.level,
        )  # fmt: skip
        client.player.zone.add_spawn(spawn, self.harness.now)
        spawn.sheet.health.fill(100_000)
        self.harness.run(0.3)
        if place.is_dead:
            self.harness.parts.minds.harm.kill(client.player.zone, spawn, None)
        return spawn

    # -- what chance has done ---------------------------------------------------------------------

    def _letter(self, spawn: Spawn) -> str:
        """Return the name of the client whose player a spawn is; an empty one for others."""
        return next(
            (
                name for name, one in self.clients.items()
                if one.player is not None and one.player.spawn is spawn
            ),
            "",
        )  # fmt: skip

    def _fizzles(self, spell: LivingSpell) -> bool:
        at = self.harness.now + self._start
        return not spell.is_free and self._chance.fizzles(
            self._letter(spell.caster), spell.kind.id, at
        )

    def _finish_or_interrupt(self, spell: LivingSpell, *, is_instant: bool = False) -> None:
        """Interrupt a cast that ours ends a moment before its recorded interruption."""
        at, spells = self.harness.now + self._start, self.harness.parts.spells
        if not is_instant and self._chance.interrupts(
            self._letter(spell.caster), spell.kind.id, at
        ):
            spells.states.of(spell.caster).casting = spell
            spells.casts.interrupt(spell.caster)
            return
        self._finish(spell, is_instant=is_instant)

    def _outcome(self, spell: LivingSpell, _target: Spawn, _kind: int) -> Result:
        at = self.harness.now + self._start
        return self._chance.result(self._letter(spell.caster), spell.kind.name, at)

    def _is_warded(self, spawn: Spawn) -> bool:
        state = self.harness.parts.spells.states.get(spawn)
        return state is not None and any(spell.ward is not None for spell in state.effects)

    def _strike_ward(self, one: Message, player: Player) -> None:
        """Let a ward keep a blow off that it has kept off in the recording."""
        foe = self._spawn(one.client, (one.fields or {})["attacker"])
        harm = self.harness.parts.minds.harm
        if not (one.fields or {}).get("result_type"):
            harm.through(player.zone, player.spawn, foe, 10)

    def _cast(self, event: Cast) -> None:
        """Give a creature to who has summoned a pet: no file describes one here."""
        if event.spell_id == PET_SPELL and event.player is not None:
            spells, player = self.harness.parts.spells, event.player
            letter = self._letter(player.spawn)
            place = Place("a pet", player.spawn.level, (0.0, 0.0, 0.0), 0.0)
            pet = self._creature(letter, place, player.position)
            spell = spells.lasting.own(player.spawn, PET_SPELL)
            spells.pets.take_pet(player.zone, player.spawn, pet, PetKind.COMBAT, spell)

    def _die(self, one: Message, fields: dict[str, Any]) -> None:
        """Let somebody die who has died in the recording."""
        victim = self._spawn(one.client, fields["defender"])
        killer = self._spawn(one.client, fields["attacker"])
        if victim is None or victim.hp_percent <= 0:
            return
        if killer is not None and killer not in self.harness.parts.combat.fights.players:
            # Somebody whom nobody plays here: whoever fought has its share.
            killer = None if victim.kind is SpawnKind.NPC else killer
        self._pass(one.at)
        zone = next(iter(self.clients.values())).player.zone  # type: ignore[union-attr]
        self.harness.parts.minds.harm.kill(zone, victim, killer)

    def _describe_wheel(self, one: Message, fields: dict[str, Any]) -> None:
        """Give the spell of a wheel its description, which only the recording has."""
        kind = self.kinds.get(WHEELS.wheels[0].spell_id)
        if one.name == "OP_UpdateOpportunityMsg" and fields.get("description") and kind:
            self.kinds._known[kind.id] = replace(kind, description=fields["description"])

    def _copy_chance(self, one: Message, seen: Seen) -> None:
        fields = one.fields or {}
        client = self.clients.get(one.client)
        if client is None or client.player is None:
            return
        self._describe_wheel(one, fields)
        if one.name == "OP_EqHearCombatCmd":
            if fields.get("attacker") == 1 or fields.get("defender") == 1:
                # Whoever is struck or strikes is near.
                self._spawn(one.client, fields["defender"])
                self._spawn(one.client, fields["attacker"])
            if fields.get("defender") == 1:
                self._last_hit[one.client] = one.at
                self._pass(one.at)
                if self._is_warded(client.player.spawn):
                    self._strike_ward(one, client.player)
                hurt = sum(row["damage"] for row in fields.get("dmg_array") or [fields])
                health = client.player.spawn.sheet.health
                health.set_current(max(1, health.current - hurt))
        elif one.name == "OP_EqHearDeathCmd":
            self._die(one, fields)
        elif one.name == "OP_EqHearSpellInterruptCmd" and fields.get("spawn_id") == 1:
            is_struck = one.at - self._last_hit.get(one.client, -9.0) < LATE
            if is_struck:
                self._pass(one.at)
                self.harness.parts.spells.casts.interrupt(client.player.spawn)


def _switched_off(kinds: SpellKinds, number: int) -> SpellKind:
    kind = kinds.get(number)
    assert kind is not None
    return replace(kind, is_active=False)


def _describe(kinds: SpellKinds, window: dict[str, Any]) -> None:
    """Let a spell have the texts and the classes that its recorded window shows."""
    kind = kinds.get(window["id"])
    if kind is None:
        return
    lines = tuple(
        SpellLine(row["effect"], row["percentage"], row["subbulletflag"])
        for row in window["effect_array"]
    )
    tier = replace(kind.tiers[1], lines=lines)
    classes = tuple(
        ClassLevel(
            row["adventure_class"],
            row["tradeskill_class"],
            row["spell_level"] // 10,
            row["spell_level"] / 10,
        )
        for row in window["level_array"]
    )
    kinds._known[kind.id] = replace(  # the content that only the recording has
        kind, description=window["description"], tiers={1: tier}, classes=classes,
        class_skill=window["class_skill"], mastery_skill=window["mastery_skill"],
        shows_tier=bool(window["display_spell_tier"]),
    )  # fmt: skip


def _experience(sheet: dict[str, Any], version: int) -> int:
    """Return the points of a recorded sheet, which has shares of a level (fights.md#experience)."""
    if "current_adv_xp" in sheet:
        return int(sheet["current_adv_xp"])
    needed = usual_needs()[sheet["level"] + 1]
    whole, part = sheet.get("exp_yellow", 0), sheet.get("exp_blue", 0)
    percent = whole / 10 + part / 1000 if version > LAST_OLD else whole // 10 * 10 + part / 10
    # Rounded first: the shares are no exact binary numbers.
    return int(-(-round(needed * percent) // 100))
