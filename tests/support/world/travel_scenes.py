"""A world with a player beside spawns that lead somewhere, as a content file has them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import attrs

from emu.content.file import Entry, Placement, Template
from emu.content.standing import Standing
from emu.world.actors.spawn import Destination, Footer, Spawn, SpawnKind, Verb
from emu.world.travel.tables import TravelTables
from emu.world.zones.definitions import Atlas
from emu.world_stream.movement import Position
from tests.support.world.worlds import HarnessContent, WorldHarness, bare_atlas

PLACE = Position(3.0, -7.97, 243.45, 90.0)
ISLE, ANTONICA = 325, 12
DOOR: Mapping[str, Any] = {
    "kind": "door", "open_heading": 200.0, "closed_heading": -1.0,
    "open_x": 0.0, "open_y": 0.0, "open_z": 0.0, "close_x": 0.0, "close_y": 0.0, "close_z": 0.0,
    "open_seconds": 10, "open_sound": "sounds/open.wav", "close_sound": "Door",
    "linked_spawn": 0, "action_spawn": 0, "housing": 0,
}  # fmt: skip
SIGN: Mapping[str, Any] = {
    "kind": "zone", "to_zone": ANTONICA, "to_x": 1.0, "to_y": 2.0, "to_z": 3.0,
    "to_heading": 4.0, "distance": 20.0,
}  # fmt: skip


class TravelScene:
    """One player in the Isle of Refuge."""

    def __init__(self, tables: TravelTables | None = None, version: int = 546) -> None:
        self.harness = WorldHarness(
            atlas=bare_atlas(), content=HarnessContent(tables), roll=Random(1).randrange
        )
        self.travel = self.harness.parts.travel
        self.client = self.harness.stand(5, version, name="Aldana")
        assert self.client.player is not None
        self.player = self.client.player
        self.zone = self.player.zone
        self.go(1.0)

    def change_zone(self, zone_id: int, **columns: Any) -> None:
        """Give a zone other columns."""
        atlas: Atlas = self.harness.atlas
        zones = [attrs.evolve(one, **columns) if one.id == zone_id else one for one in atlas]
        atlas.replace(Atlas(zones, {}, atlas.starts), keep=())

    def go(self, away: float) -> None:
        """Put the player so many units away from the place of the spawns."""
        self.player.teleport(PLACE._replace(x=PLACE.x + away), self.harness.now)
        self.player.spawn.is_led_by_client = True

    def put(
        self, kind: str, own: Mapping[str, Any], number: int = 900, *, transport: int = 0,
        command: str = "use", icon: int = 0, footer: Footer | None = None,
    ) -> Spawn:  # fmt: skip
        """Put a spawn of the content file into the zone: ``widgets``, ``signs`` or ``objects``."""
        spawn = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind(kind.removesuffix("s")),
            f"{kind} {number}", PLACE,
        )  # fmt: skip
        spawn.verbs = (Verb("Use", 100.0, command),)
        spawn.icon, spawn.footer = icon, footer
        zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
        placement = Placement(**zeros | {"id": number, "location_id": number})
        template = Template(number, kind, {"transport": transport}, own, {}, ())
        entry = Entry(1, number, number, 100.0, 0, "")
        standing = Standing(placement, entry, template, *PLACE[:3], 1, 32, None, 0)
        self.zone.add_spawn(spawn, self.harness.now)
        self.travel.appeared(self.zone, spawn, standing)
        self.harness.parts.housing.appeared(self.zone, spawn, standing)
        self.harness.run(0.3)
        return spawn

    def dies(self) -> None:
        """Let a creature kill the player."""
        killer = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "a crab", PLACE)
        self.zone.add_spawn(killer, self.harness.now)
        self.harness.parts.minds.harm.kill(self.zone, self.player.spawn, killer)
        assert self.player.spawn.hp_percent == 0

    def use(self, spawn: Spawn, verb: str = "Use") -> list[str]:
        """Use a verb of a spawn; return the lines that the player is shown."""
        index = self.player.index_of(spawn)
        assert index is not None
        before = len(self.lines())
        text = verb.encode()
        body = struct.pack("<IH", index, len(text)) + text
        self.client.say("OP_EntityVerbsVerbMsg", body)
        self.harness.run(0.1)
        return self.lines()[before:]

    def lines(self) -> list[str]:
        return [str(one["text"]) for one in self.client.decoded("WS_DisplayText")]

    @property
    def goal(self) -> Destination | None:
        """Where the player is sent, if it changes its zone."""
        return self.player.journey.destination

    def level(self, level: int) -> None:
        self.player.character = replace(self.player.character, level=level)
