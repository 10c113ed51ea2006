"""Players of one zone who watch each other, and what each of them must have decoded.

`Cast` plays the same piece over real UDP and over a simulated network: whoever makes it says how a
character comes in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any

from emu.client.world import Place, WorldClientCore, WorldPhase
from emu.client.world.events import CampBegun, Heard, Updated, WorldEvent
from emu.dialects import Dialect
from emu.net.client.world_connection import ClientWorldConnection
from emu.world_stream.ghosts import INFO, POSITION
from tests.support.world.ghost_views import dialect, form

Enter = Callable[[str, int, Callable[[WorldEvent], None]], Awaitable[ClientWorldConnection]]
SITTING, STANDING = 538, 539
CENTIMETRE = 0.01
HOME, AWAY = "Isle of Refuge", "Antonica"
PLAYER_MOVES = 25


Condition = Callable[["Actor", "Actor"], object]
"""What a watcher sees of another."""


@dataclass
class Actor:
    """One player: its name, its client's version, and all that has happened to it."""

    name: str
    version: int
    events: list[WorldEvent] = field(default_factory=list)
    client: ClientWorldConnection = field(init=False)

    @property
    def core(self) -> WorldClientCore:
        return self.client.core

    @property
    def dialect(self) -> Dialect:
        return dialect(self.version)

    def sees(self, other: Actor) -> int | None:
        """Return the index by which it knows another."""
        assert self.core.surroundings is not None
        return self.core.surroundings.find(other.name)

    def part(self, other: Actor, part: int) -> dict[str, Any]:
        """Return the fields of a part of another's ghost, none when it is not seen."""
        index = self.sees(other)
        seen = self.core.surroundings
        return {} if index is None or seen is None else seen.part(index, part)

    def place_of(self, other: Actor) -> Place | None:
        index = self.sees(other)
        seen = self.core.surroundings
        return None if index is None or seen is None else seen.place(index)

    def heard(self, speaker: Actor) -> list[Heard]:
        return [
            event
            for event in self.events
            if isinstance(event, Heard) and event.speaker == speaker.name
        ]

    def was_shown(self, other: Actor, word: str) -> bool:
        """Return whether an update showed that another does something, even if that is over."""
        seen = self.core.surroundings
        entries = (e for event in self.events if isinstance(event, Updated) for e in event.entries)
        reported = [
            seen.part_fields(INFO, e.now) for e in entries if seen and e.now and e.part == INFO
        ]
        return any(
            one["name"].rstrip("\0") == other.name and self.says(one, word) for one in reported
        )

    def says(self, fields: dict[str, Any], word: str) -> bool:
        """Return whether a ghost's info has a word, in the form of this version."""
        reported = form(self.version).status(frozenset((word,)))
        bits = reported.get("activity_status", 0)
        named = all(fields.get(name) == value for name, value in reported.items()
                    if name != "activity_status")  # fmt: skip
        return bool(fields) and named and fields["activity_status"] & bits == bits


class Cast:
    """Five or so actors, and the scenes they play. Every actor must be a game master."""

    def __init__(self, versions: list[int], enter: Enter) -> None:
        names = ["Aldana", "Borvik", "Cenwyn", "Dorlas", "Elswyth"]
        self.actors = [Actor(*row) for row in zip(names, versions, strict=True)]
        self._enter = enter

    async def play(self) -> None:
        """Play everything."""
        try:
            await self.appear()
            await self.walk()
            await self.speak()
            await self.sit_and_stand()
            for actor in self.actors:
                await self.travel(actor)
            for actor in self.actors:
                await self.camp(actor)
        finally:
            for actor in self.actors:
                if hasattr(actor, "client"):
                    await actor.client.leave()

    # scenes

    async def appear(self) -> None:
        for actor in self.actors:
            await self._come(actor)
        for watcher, other in self._pairs():
            await self._until(watcher, other, sees, "be there")
            self._check_looks(watcher, other)

    async def walk(self) -> None:
        goals = {}
        for number, actor in enumerate(self.actors):
            at = actor.core.place
            goals[actor.name] = Place(at.x + 2.5 * number + 1.25, at.y + 0.5, at.z - 3.0 * number)
            actor.client.walk_to(*goals[actor.name][:3])
        for watcher, other in self._pairs():
            goal = goals[other.name]
            await self._until(watcher, other, rests_at(goal), "arrive")
            position = watcher.part(other, POSITION)
            assert abs(position["pos_x"] - goal.x) < CENTIMETRE
            assert abs(position["pos_y"] - goal.y) < CENTIMETRE  # the true height
            assert abs(position["pos_z"] - goal.z) < CENTIMETRE
            assert position["pos_heading1"] == position["pos_heading2"]
            seen = watcher.place_of(other)
            assert seen is not None
            assert abs(seen.heading - other.core.place.heading) < 0.05

    async def speak(self) -> None:
        for actor in self.actors:
            line = f"/say I am {actor.name}, grüß euch"
            actor.client.act(methodcaller("command", line))
        for watcher, other in self._pairs():
            await self._until(watcher, other, Actor.heard, "speak")
            text, index = f"I am {other.name}, grüß euch", watcher.sees(other)
            assert watcher.heard(other) == [
                Heard("say", other.name, watcher.name, text, "", index)
            ]  # fmt: skip

    async def sit_and_stand(self) -> None:
        for wanted, state in ((WorldClientCore.sit, SITTING), (WorldClientCore.stand, STANDING)):
            for actor in self.actors:
                actor.client.act(wanted)
            for watcher, other in self._pairs():
                await self._until(watcher, other, has_state(state), f"be in state {state}")

    async def travel(self, actor: Actor) -> None:
        """Go to another zone, where nobody is, and come back: seen to go and to come."""
        before = {other.name: other.sees(actor) for other in self._others(actor)}
        await self._zone(actor, AWAY)
        for watcher in self._others(actor):
            await self._until(watcher, actor, sees_not, "go")
        assert not any(actor.sees(other) for other in self._others(actor))
        await self._zone(actor, HOME)
        for watcher in self._others(actor):
            await self._until(watcher, actor, sees, "come back")
            assert watcher.sees(actor) != before[watcher.name]  # a new ghost, a new index
            self._check_looks(watcher, actor)
            await self._until(actor, watcher, sees, "be there again")

    async def camp(self, actor: Actor) -> None:
        """Camp, be gone, and come back to the same place."""
        place = actor.core.place
        for one in self.actors:
            one.events.clear()
        actor.client.act(WorldClientCore.camp)
        for watcher in self._others(actor):
            await self._until(watcher, actor, has_seen_camping, "camp")
        await actor.client.until(
            lambda: any(isinstance(event, CampBegun) for event in actor.events), "the countdown"
        )
        await actor.client.until(
            lambda: actor.core.phase is WorldPhase.CLOSED, "the end of the camp"
        )
        await actor.client.stop()
        for watcher in self._others(actor):
            await self._until(watcher, actor, sees_not, "be gone")
        await self._come(actor)
        assert near(actor.core.place, place)
        for watcher in self._others(actor):
            await self._until(watcher, actor, sees, "return")
            assert near(watcher.place_of(actor), place)
            assert not watcher.says(watcher.part(actor, INFO), "camping")
            self._check_looks(watcher, actor)
            await self._until(actor, watcher, sees, "be there again")

    # how

    def _pairs(self) -> list[tuple[Actor, Actor]]:
        return [(one, other) for one in self.actors for other in self._others(one)]

    def _others(self, actor: Actor) -> list[Actor]:
        return [one for one in self.actors if one is not actor]

    async def _come(self, actor: Actor) -> None:
        actor.client = await self._enter(actor.name, actor.version, actor.events.append)
        assert actor.core.zone is not None
        assert actor.core.zone.description == HOME
        assert actor.core.character == actor.name

    async def _zone(self, actor: Actor, description: str) -> None:
        names = {HOME: "IsleRefuge1", AWAY: "Antonica"}
        session = actor.core.session
        actor.client.act(lambda core: core.command(f"/zone {names[description]}"))
        await actor.client.until(lambda: actor.core.session is not session, "the new session")
        await actor.client.stand()
        assert actor.core.zone is not None
        assert actor.core.zone.description == description

    async def _until(self, watcher: Actor, other: Actor, condition: Condition, what: str) -> None:
        seen = f"{watcher.name} ({watcher.version}) sees {other.name} ({other.version}) {what}"
        await watcher.client.until(lambda: condition(watcher, other), seen)

    def _check_looks(self, watcher: Actor, other: Actor) -> None:
        """Compare what never changes with what the other is shown of itself, field by field."""
        mine, own = watcher.part(other, INFO), other.part(other, INFO)
        both = mine.keys() & own.keys() - {"activity_status", "visual_state"}
        assert {"name", "level", "race", "gender", "class", "model_type", "skin_color",
                "hp_remaining", "power_percent"} <= both  # fmt: skip
        assert {name: mine[name] for name in both} == {name: own[name] for name in both}
        assert mine["name"].rstrip("\0") == other.name
        assert mine["follow_target"] == 0xFFFFFFFF
        position = watcher.part(other, POSITION)
        assert position["pos_move_type"] == PLAYER_MOVES
        assert (position["pos_size"], position["pos_collision_radius"]) == (32, 32)


def sees(watcher: Actor, other: Actor) -> bool:
    return watcher.sees(other) is not None


def sees_not(watcher: Actor, other: Actor) -> bool:
    return watcher.sees(other) is None


def has_seen_camping(watcher: Actor, other: Actor) -> bool:
    return watcher.was_shown(other, "camping")


def has_state(state: int) -> Condition:
    def holds(watcher: Actor, other: Actor) -> bool:
        return bool(watcher.part(other, INFO)["visual_state"] == state)

    return holds


def rests_at(goal: Place) -> Condition:
    def holds(watcher: Actor, other: Actor) -> bool:
        position = watcher.part(other, POSITION)
        return near(watcher.place_of(other), goal) and not position["pos_speed"]

    return holds


def near(place: Place | None, goal: Place) -> bool:
    """Say whether a place is the goal, to the centimetre."""
    return place is not None and all(
        abs(one - other) < CENTIMETRE for one, other in zip(place[:3], goal[:3], strict=True)
    )
