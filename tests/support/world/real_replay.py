"""A recording of the real content that is played again in a world with that content.

The recorded client's steps, targets, commands and verbs are those of a player of ours. Spawns are
found by their name and place: each server numbers them by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.fight_recordings import Message, Recording
from tests.support.world.fight_replay import STEPS, HeardClient
from tests.support.world.worlds import WorldHarness

Listener = Callable[[str, Any, bytes], None]
ZONE: Final = 253
"""Queen's Colony."""
FAR: Final = 4.0
"""A longer step of the recorded player is a jump."""
BESIDE: Final = 2.0
"""How far from its target a player stands."""
REACH: Final = 2.9
"""The distance of the verb that needs the player nearest."""


def enter_heard(
    harness: WorldHarness, char_id: int, version: int, listener: Listener = lambda *_: None
) -> HeardClient:
    """Let a character in with a client that decodes all it is sent; it has not loaded anything."""
    client = HeardClient(harness, version)
    client.listener = listener
    made = harness.client
    harness.client = lambda _version=546: client  # type: ignore[method-assign,assignment]
    try:
        harness.enter(char_id, version)
    finally:
        harness.client = made  # type: ignore[method-assign]
    return client


class RealReplay:
    """One recording with one client, its player, and the world in which it is played again."""

    def __init__(
        self, recording: Recording, harness: WorldHarness, client: HeardClient, letter: str
    ) -> None:
        """`client` has entered; `letter` is its name in the recording."""
        self.recording = recording
        self.harness = harness
        self.client = client
        self.letter = letter
        assert client.player is not None
        self.player = client.player
        self.lost: list[str] = []
        """Spawns that the recorded player had, and this world has not."""
        self.commands: list[str] = []
        """The names of the recorded commands, by their numbers."""
        self.target: Spawn | None = None
        self.start = 0.0
        """The recorded time less that of this world."""
        self._place: dict[str, float] = {}
        self._nodes: dict[int, tuple[str, Spawn]] = {}
        """The nodes that were chosen for the recorded ones: each is used up by itself."""
        self._last: Position | None = None
        """Where the recorded player was."""

    def pass_until(self, at: float) -> None:
        """Let time pass until a recorded moment."""
        due = at - self.start
        if due > self.harness.now:
            self.harness.run(due - self.harness.now)

    def act(self, one: Message) -> None:
        """Do what the recorded client did; messages of other kinds are left out."""
        if one.name in STEPS:
            self._jump(one)
        elif one.name == "OP_UpdateTargetMsg" and one.fields:
            self._aim(one.fields["spawn_index"])
        elif one.name == "OP_RemoteCmdMsg" and one.fields:
            self.client.types(f"/{self.line_of(one)}")
        elif one.name in ("OP_EntityVerbsVerbMsg", "OP_EntityVerbsRequestMsg"):
            self._name_spawn(one)

    def line_of(self, one: Message) -> str:
        """Return the line that a client has typed."""
        fields = one.fields or {}
        return f"{self.commands[fields['command_handler']]} {fields['arguments']}".rstrip()

    def hear(self, one: Message) -> None:
        """Note the names of the recorded commands."""
        if one.name == "OP_SetRemoteCmdsMsg" and one.fields:
            self.commands = [row["name"] for row in one.fields["commands_array"]]

    def _jump(self, one: Message) -> None:
        self._place |= ((one.fields or {}).get("position") or {}).items()
        place = self._place
        if place.keys() >= {"x", "y", "z"}:
            at = Position(place["x"], place["y"], place["z"], place.get("direction2", 0.0))
            if self._last is None or self._last.distance_to(at) > FAR:
                self.go(at)
            self._last = at

    def go(self, at: Position) -> None:
        """Let the player stand at a place, if it is far from it."""
        if self.player.position.distance_to(at) > FAR:
            self.player.teleport(at, self.harness.now)
            self.harness.parts.quests.counting.moved(self.player)

    def _aim(self, index: int) -> None:
        spawn = self.target = self.spawn(index)
        if spawn is None:
            return
        # Who stands near stays: a step would interrupt what takes time.
        if self.player.position.distance_to(spawn.position) > REACH:
            self.go(spawn.position._replace(x=spawn.position.x + BESIDE))
            self.harness.run(0.3)
        self.player.set_target(spawn)

    def _name_spawn(self, one: Message) -> None:
        spawn = self.spawn(int.from_bytes(one.body[:4], "little"))
        index = self.player.index_of(spawn) if spawn is not None else None
        if index is not None:
            self.client.say(one.name, index.to_bytes(4, "little") + one.body[4:])

    def spawn(self, index: int) -> Spawn | None:
        """Return our spawn with the name of a recorded one that stands nearest to its place."""
        known = self._nodes.get(index)
        if known is not None and known[0] == self.recording.sessions[self.letter].name_of(index):
            return known[1] if self.player.zone.spawn(known[1].id) is known[1] else None
        place = self.recording.sessions[self.letter].place_of(index)
        if place is None:
            return None
        at = Position(*place.position, 0.0)
        found = [
            one for one in self.player.zone
            if one.name == place.name and one.kind is not SpawnKind.PLAYER and one.hp_percent > 0
        ]  # fmt: skip
        if not found:
            self.lost.append(place.name)
        spawn = min(found, key=lambda one: one.position.distance_to(at), default=None)
        if spawn is not None and spawn.kind is SpawnKind.GROUND:
            self._nodes[index] = place.name, spawn
        return spawn
