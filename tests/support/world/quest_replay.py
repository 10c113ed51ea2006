"""Plays a recorded quest of the real content again, in a world with that content.

The client's messages are sent again: its steps, targets, hails, and answers to dialogs and windows.
What the recorded player has killed is killed at the same moment. Messages are compared by kind, in
their order: the recorded server answers up to seven seconds late, and so behind the next act.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from emu.quests.journal import Completion, Journal
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.fight_recordings import Mark, Message, Recording
from tests.support.world.fight_replay import STEPS, HeardClient, Said
from tests.support.world.real_content import real_world

ZONE: Final = 253
"""Queen's Colony."""
SHOWN: Final = frozenset((
    "OP_OfferQuestMsg", "OP_EqQuestJournalUpdateCmd", "OP_EqQuestJournalReplyCmd",
    "OP_RewardPackMsg", "OP_QuestReward", "OP_EqDialogOpenCmd", "OP_EqDialogCloseCmd",
))  # fmt: skip
VOLATILE: Final = frozenset((
    "player_crc", "player_name", "day", "month", "year", "unique_id", "conversation_id", "spawn_id",
))  # fmt: skip
"""Fields of the character, the day, and of numbers that each server gives by itself."""
THINGS: Final = frozenset(("item", "select_item"))
"""What a thing is: the rows of things were made by hand for the recordings."""
FAULTS: Final = frozenset((
    "encounter_level", "deletable", "shareable", "display_quest_helper", "closeable",
))  # fmt: skip
"""Random numbers of the C++ server, and flags that it never sets, or not up to 561."""
FAR: Final = 4.0
ALL: Final = 1_000_000
NEAR: Final = 60.0
"""Within which a spawn of the same name is the recorded one."""
PRAISE: Final = "Well Done."
"""What a sparring partner says who would have died."""


class QuestReplay:
    """One recording with one client, and the world in which it is played again."""

    def __init__(self, name: str, folder: Path, until: str = "") -> None:
        """`folder` is for files, and `until` begins the mark at which the replay ends."""
        self.recording = Recording(name)
        self._until = until
        things = folder / "things.toml"
        things.write_text(_things(self.recording), encoding="utf-8")
        self.harness = real_world(things=[things])
        version = self.recording.version
        class_ = self.recording.class_
        self.client = HeardClient(self.harness, version)
        made = self.harness.client
        self.harness.client = lambda _version=546: self.client  # type: ignore[method-assign,assignment]
        journal = Journal()
        journal.completed |= dict.fromkeys(
            self.recording.done(), Completion(1, self.harness.moment)
        )
        row = self.harness.character(
            5,
            name="Aldana",
            zone_id=ZONE,
            class_=class_,
            level=self.recording.level(),
            race=9,
            quests=journal.text,
        )
        self.harness.enter(row.id, version)
        self.harness.client = made  # type: ignore[method-assign]
        assert self.client.player is not None
        self.player = self.client.player
        # Kills with a chance count here: the recordings are compared up to their first failure.
        self.harness.parts.quests.counting._roll = lambda _count: 0
        self.recorded: list[Said] = []
        self.lost: list[str] = []
        """Spawns that the recorded player had, and this world has not."""
        self._commands: list[str] = []
        self._target: Spawn | None = None
        self._place: dict[str, float] = {}
        self._start = 0.0

    def play(self) -> None:
        """Play until the client leaves."""
        for one in self.recording:
            if isinstance(one, Mark):
                if self._until and one.text.startswith(self._until):
                    break
                continue
            if not self._start:
                self._start = one.at - self.harness.now
                self.client.load()
            self._pass(one.at)
            if one.name == "OP_RequestCampMsg":
                break
            if one.to_server:
                self._act(one)
            else:
                self._hear(one)
        self.harness.run(5.0)

    def _pass(self, at: float) -> None:
        due = at - self._start
        if due > self.harness.now:
            self.harness.run(due - self.harness.now)

    # -- acts -------------------------------------------------------------------------------------

    def _act(self, one: Message) -> None:
        if one.name in STEPS:
            self._jump(one)
        elif one.name == "OP_UpdateTargetMsg" and one.fields:
            self._aim(one.fields["spawn_index"])
        elif one.name == "OP_RemoteCmdMsg" and one.fields:
            command = self._commands[one.fields["command_handler"]]
            self.client.types(f"/{command} {one.fields['arguments']}".rstrip())
        elif one.name == "OP_DialogSelectMsg" and one.fields:
            opened = [said for said in self.client.heard_since if said.name == "OP_EqDialogOpenCmd"]
            if opened:
                number = opened[-1].fields["conversation_id"]
                self.client.say(one.name, number.to_bytes(4, "little") + one.body[4:])
        elif one.name in ("OP_EntityVerbsVerbMsg", "OP_QuestJournalInspectMsg"):
            self._use(one)

    def _jump(self, one: Message) -> None:
        self._place |= ((one.fields or {}).get("position") or {}).items()
        place = self._place
        if "x" in place:
            at = Position(place["x"], place["y"], place["z"], place.get("direction2", 0.0))
            self._go(at)

    def _go(self, at: Position) -> None:
        if self.player.position.distance_to(at) > FAR:
            self.player.teleport(at, self.harness.now)
            self.harness.parts.quests.counting.moved(self.player)

    def _aim(self, index: int) -> None:
        spawn = self._target = self._spawn(index)
        if spawn is None:
            return
        self._go(spawn.position._replace(x=spawn.position.x + 2.0))
        self.harness.run(0.3)
        self.player.set_target(spawn)

    def _use(self, one: Message) -> None:
        if one.name == "OP_QuestJournalInspectMsg":
            self.client.say(one.name, one.body)
            return
        spawn = self._spawn(int.from_bytes(one.body[:4], "little"))
        index = self.player.index_of(spawn) if spawn is not None else None
        if index is not None:
            self.client.say(one.name, index.to_bytes(4, "little") + one.body[4:])

    def _spawn(self, index: int) -> Spawn | None:
        """Return our spawn with the name of a recorded one that stands nearest to its place."""
        seen = self.recording.sessions["Q"]
        place = seen.place_of(index)
        if place is None:
            return None
        at = Position(*place.position, 0.0)
        found = [
            one for one in self.player.zone
            if one.name == place.name and one.kind is not SpawnKind.PLAYER and one.hp_percent > 0
        ]  # fmt: skip
        if not found:
            self.lost.append(place.name)
        return min(found, key=lambda one: one.position.distance_to(at), default=None)

    # -- what was recorded ------------------------------------------------------------------------

    def _hear(self, one: Message) -> None:
        fields = one.fields
        if one.name == "OP_SetRemoteCmdsMsg" and fields:
            self._commands = [row["name"] for row in fields["commands_array"]]
        elif one.name in SHOWN and fields is not None:
            self.recorded.append(Said(one.name, fields))
        elif one.name == "OP_EqHearDeathCmd" and fields and fields["attacker"] == 1:
            self._strike(fields["defender"])
        elif one.name == "OP_EqHearChatCmd" and fields and fields["message"] == PRAISE:
            self._praised(fields["from"])

    def _praised(self, name: str) -> None:
        """Strike a sparring partner that has praised the recorded player."""
        if self._target is not None and self._target.name == name:
            self._strike(None)

    def _strike(self, index: int | None) -> None:
        """Take all health of a spawn, or of the target, as the recorded player did."""
        spawn = self._spawn(index) if index is not None else self._target
        if spawn is not None and spawn.hp_percent > 0:
            self.harness.parts.minds.harm.take_health(
                self.player.zone, spawn, self.player.spawn, ALL
            )


def _things(recording: Recording) -> str:
    """Return rows of the things that the recorded windows offer, of a plain kind."""
    found: dict[int, str] = {}
    for fields in recording.messages("OP_OfferQuestMsg", "OP_RewardPackMsg"):
        rows = fields.get("reward_data", fields)
        for key, inner in (("rewards_array", "item"), ("select_rewards_array", "select_item")):
            for row in rows.get(key, ()):
                name = row[inner]["item"]["footer"]["name"]
                number = next(value for field, value in row.items() if field.endswith("reward_id"))
                found[number] = f'{{id = {number}, name = "{name}", icon = 161}}'
    return "item = [\n" + ",\n".join(found.values()) + "\n]\n"


def compared(replay: QuestReplay) -> dict[str, tuple[list[Any], list[Any]]]:
    """Return for each kind of message what was recorded and what ours sent, without repetitions."""
    names = replay.client.seen.name, replay.recording.sessions["Q"].name
    found: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for side, said in enumerate((replay.recorded, replay.client.heard_since)):
        for name, fields in said:
            if name in SHOWN and fields is not None:
                value, values = _plain(fields, names), found[name][side]
                if value not in values[-1:]:
                    values.append(value)
    return dict(found)


def _plain(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {
            key: _plain(one, names) for key, one in value.items()
            if key not in VOLATILE | THINGS | FAULTS
        }  # fmt: skip
    if isinstance(value, list):
        return [_plain(one, names) for one in value]
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, "PLAYER") if name else value
    return value


def unlike(recorded: Any, ours: Any, path: str = "") -> set[str]:
    """Return the names of the fields in which two decoded messages differ."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        return {
            name for key in {**recorded, **ours}
            for name in unlike(recorded.get(key), ours.get(key), key)
        }  # fmt: skip
    if isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        return {
            name for one, two in zip(recorded, ours, strict=True) for name in unlike(one, two, path)
        }
    return set() if recorded == ours else {path}
