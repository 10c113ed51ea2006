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
from tests.support.world.fight_recordings import Mark, Message, Recording
from tests.support.world.fight_replay import Said
from tests.support.world.real_content import real_world
from tests.support.world.real_replay import ZONE, RealReplay, enter_heard

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
ALL: Final = 1_000_000
NEAR: Final = 60.0
"""Within which a spawn of the same name is the recorded one."""
PRAISE: Final = "Well Done."
"""What a sparring partner says who would have died."""


class QuestReplay(RealReplay):
    """One recording with one client, and the world in which it is played again."""

    def __init__(self, name: str, folder: Path, until: str = "") -> None:
        """`folder` is for files, and `until` begins the mark at which the replay ends."""
        recording = Recording(name)
        self._until = until
        things = folder / "things.toml"
        things.write_text(_things(recording), encoding="utf-8")
        harness = real_world(things=[things])
        journal = Journal()
        journal.completed |= dict.fromkeys(recording.done(), Completion(1, harness.moment))
        row = harness.character(
            5, name="Aldana", zone_id=ZONE, class_=recording.class_, level=recording.level(),
            race=9, quests=journal.text,
        )  # fmt: skip
        client = enter_heard(harness, row.id, recording.version)
        super().__init__(recording, harness, client, "Q")
        # Kills with a chance count here: the recordings are compared up to their first failure.
        harness.parts.quests.counting._roll = lambda _count: 0
        self.recorded: list[Said] = []

    def play(self) -> None:
        """Play until the client leaves."""
        for one in self.recording:
            if isinstance(one, Mark):
                if self._until and one.text.startswith(self._until):
                    break
                continue
            if not self.start:
                self.start = one.at - self.harness.now
                self.client.load()
            self.pass_until(one.at)
            if one.name == "OP_RequestCampMsg":
                break
            if one.to_server:
                self.act(one)
            else:
                self.hear(one)
        self.harness.run(5.0)

    # -- acts -------------------------------------------------------------------------------------

    def act(self, one: Message) -> None:
        """Do what the recorded client did."""
        if one.name == "OP_DialogSelectMsg" and one.fields:
            opened = [said for said in self.client.heard_since if said.name == "OP_EqDialogOpenCmd"]
            if opened:
                number = opened[-1].fields["conversation_id"]
                self.client.say(one.name, number.to_bytes(4, "little") + one.body[4:])
        elif one.name == "OP_QuestJournalInspectMsg":
            self.client.say(one.name, one.body)
        elif one.name != "OP_EntityVerbsRequestMsg":
            super().act(one)

    # -- what was recorded ------------------------------------------------------------------------

    def hear(self, one: Message) -> None:
        """Note a recorded message, and do what has happened then."""
        super().hear(one)
        fields = one.fields
        if one.name in SHOWN and fields is not None:
            self.recorded.append(Said(one.name, fields))
        elif one.name == "OP_EqHearDeathCmd" and fields and fields["attacker"] == 1:
            self._strike(fields["defender"])
        elif one.name == "OP_EqHearChatCmd" and fields and fields["message"] == PRAISE:
            self._praised(fields["from"])

    def _praised(self, name: str) -> None:
        """Strike a sparring partner that has praised the recorded player."""
        if self.target is not None and self.target.name == name:
            self._strike(None)

    def _strike(self, index: int | None) -> None:
        """Take all health of a spawn, or of the target, as the recorded player did."""
        spawn = self.spawn(index) if index is not None else self.target
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
