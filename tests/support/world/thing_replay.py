"""Plays a recorded visit to merchants, nodes or bags of the real content again.

The things, the coins and the class of the recorded player are given to one of ours before its first
act. What chance has decided at nodes is copied from the recording.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from emu.rules.harvest import COMMON, Found
from emu.world_stream.movement import Position
from tests.support.world.fight_recordings import Mark, Message, Recording
from tests.support.world.fight_replay import HeardClient
from tests.support.world.real_content import SCRIPTS, real_world
from tests.support.world.real_replay import ZONE, RealReplay, enter_heard
from tests.support.world.recorded_things import give_shown
from tests.support.world.thing_kinds import kinds_toml
from tests.support.world.thing_lines import SHEET, TEXT, ThingLines

ACTS: Final = frozenset((
    "OP_UpdateTargetMsg", "OP_EntityVerbsRequestMsg", "OP_EntityVerbsVerbMsg", "OP_RemoteCmdMsg",
    "OP_ExamineInfoRequestMsg", "OP_LootItemsRequestMsg",
))  # fmt: skip
LAG: Final = 0.25
"""Seconds until the recorded server, which was under load, has read an act."""
TOO_FAR: Final = "You are too far away!"
LATE: Final = 0.6
"""Seconds within which it has begun what a verb asks for."""
VERB: Final = "OP_EntityVerbsVerbMsg"
MASTER: Final = 100
"""The status of a game master."""
_SUMMONED: Final = "have "
"""A mark about a thing that a game master has summoned."""
_GOT: Final = re.compile(r"You \w+ (\d+) \\aITEM (\d+) \d+:.*\\/a from the ")
_FAILED: Final = re.compile(r"You failed to \w+ anything from ")
_WINDOWS: Final = frozenset(("sell_to_merchant", "buyback_from_merchant"))
"""Commands whose number has the thing in its upper half."""
_BY_NUMBER: Final = frozenset(("scribe_scroll_item",))


class ThingReplay:
    """One recording with one client."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is for files."""
        recording = Recording(name)
        self._messages = list(recording)
        self._letter = next(one.client for one in self._messages if isinstance(one, Message))
        things = folder / "things.toml"
        rows = kinds_toml(recording, recording.version, Path(SCRIPTS))
        things.write_text(rows, encoding="utf-8")
        self.harness = real_world(things=[things])
        self.harness.kinds.starting = ()
        self.version = recording.version
        self.recorded = ThingLines(self.version)
        self.ours = ThingLines(self.version)
        self._numbers: dict[int, int] = {}
        """Our numbers of things by the recorded ones."""
        self._sheet: dict[str, Any] = {}
        self._is_master = any(
            isinstance(one, Mark) and one.text.startswith(_SUMMONED) for one in self._messages
        )
        self._book: set[int] = set()
        self._recording = Recording(name)
        self._replay: RealReplay | None = None
        self._client: HeardClient | None = None
        crafts = self.harness.parts.crafting.harvesting
        self._found = _found_in(self._messages)
        self._starts = _starts_of(self._messages)
        crafts._roll = lambda *_: self._found.pop(0)  # type: ignore[method-assign]

    @property
    def lost(self) -> list[str]:
        """Spawns that the recorded player had, and this world has not."""
        return self._replay.lost if self._replay is not None else []

    def play(self) -> None:
        """Play from the first act on until the client leaves."""
        for one in self._recording:
            if isinstance(one, Mark):
                continue
            if one.name == "OP_LoginReplyMsg" and self._replay is None:
                self.recorded = ThingLines(self.version)
                self._sheet, self._book = {}, set()
            if one.name == "OP_RequestCampMsg" and self._replay is not None:
                break
            if not one.to_server:
                self._hear(one)
            elif self._replay is not None:
                self._act(one)
            elif one.name in ACTS:
                self._begin(one)
                self._act(one)
        self.harness.run(5.0)

    def _hear(self, one: Message) -> None:
        seen = self._recording.sessions[one.client]
        fields = one.fields
        if self._replay is None:
            if one.name == SHEET and fields:
                self._sheet |= fields.get("sheet", fields)
            elif one.name == "OP_UpdateSpellBookMsg" and fields:
                self._book.update(fields["book"])
            elif one.name == "OP_SetRemoteCmdsMsg" and fields:
                self._commands = [row["name"] for row in fields["commands_array"]]
        else:
            self._replay.pass_until(one.at)
        self.recorded.add(one.name, seen.named(fields), one.body)

    # -- the player -------------------------------------------------------------------------------

    def _begin(self, first: Message) -> None:
        sheet = self._sheet
        harness = self.harness
        row = harness.character(
            5, name=self.recorded.own_name, zone_id=ZONE, class_=sheet["class3"],
            level=sheet["level"], race=sheet["race"], gender=sheet["gender"],
            coins=self.recorded.coins[-1], admin_status=MASTER * int(self._is_master),
        )  # fmt: skip
        client = self._client = enter_heard(harness, row.id, self.version, self.ours.add)
        self._replay = RealReplay(self._recording, harness, client, first.client)
        self._replay.commands = self._commands
        give_shown(
            harness.parts.items, self._replay.player, self.recorded.shown, self.version
        )  # fmt: skip
        client.load()
        harness.run(2.0)
        place = self._recording.sessions[first.client].place_of(1)
        assert client.player is not None
        if place is not None:
            client.player.teleport(Position(*place.position, place.heading), harness.now)
        for spell in sorted(self._book):
            if harness.spell_kinds.get(spell) is not None:
                harness.parts.spells.books.learn(client.player, spell, 1, is_quiet=True)
        client.player.spawn.is_led_by_client = True
        harness.run(2.0)
        self.ours.lines.clear()
        self.ours.coins[:-1] = []
        self._replay.start = first.at - harness.now
        self.recorded.lines.clear()
        self.recorded.coins[:-1] = []

    # -- acts -------------------------------------------------------------------------------------

    def _act(self, one: Message) -> None:
        replay, client = self._replay, self._client
        assert replay is not None
        assert client is not None
        begins = self._starts.get(one.at) if one.name == VERB else None
        lag = LAG if one.name in ("OP_RemoteCmdMsg", "OP_ExamineInfoRequestMsg") else 0.0
        replay.pass_until(one.at + lag if begins is None else begins)
        self._learn()
        if one.name == "OP_RemoteCmdMsg":
            self.recorded.begin_act()
            self.ours.begin_act()
        if one.name == "OP_ExamineInfoRequestMsg":
            client.say(one.name, self._with_our_numbers(one.body))
        elif one.name == "OP_RemoteCmdMsg" and one.fields:
            line = "/" + self._translated(replay.line_of(one))
            if TOO_FAR in client.types(line) and replay.target is not None:
                # EQ2Emulator deals over any distance: once more from near by.
                replay.go(replay.target.position)
                self.harness.run(1.0)
                client.types(line)
        else:
            replay.act(one)
            if one.name == "OP_UpdateTargetMsg" and replay.target is not None:
                self.recorded.partner = self.ours.partner = replay.target.name

    def _learn(self) -> None:
        """Note which of our things have the places of the recorded ones."""
        for number, rows in self.recorded.shown.items():
            for theirs, ours in zip(rows, self.ours.shown.get(number, []), strict=False):
                if theirs["unique_id"] and theirs["item_id"] == ours["item_id"]:
                    self._numbers[theirs["unique_id"]] = ours["unique_id"]

    def _ours(self, number: int) -> int:
        return self._numbers.get(number, number)

    def _translated(self, line: str) -> str:
        """Return a line with the numbers of our things."""
        name, *words = line.split()
        if words and name in _WINDOWS:
            number = int(words[0])
            words[0] = str(self._ours(number >> 32) << 32 | number & 0xFFFFFFFF)
        elif words and name in _BY_NUMBER:
            words[0] = str(self._ours(int(words[0])))
        return " ".join((name, *words))

    def _with_our_numbers(self, body: bytes) -> bytes:
        if body[0] in (0, 1):
            theirs = int.from_bytes(body[1:5], "little")
            ours = self._ours(theirs).to_bytes(4, "little")
            return body.replace(theirs.to_bytes(4, "little"), ours)
        return body


def _starts_of(messages: list[Message | Mark]) -> dict[float, float]:
    """Return when the recorded server has begun what a verb asks for, by the time of the act.

    An ability that a verb began ends with a turn of that server's loop, a bit early or late; what
    comes before its end is not begun.
    """
    found, verb = {}, -LATE
    for one in messages:
        if isinstance(one, Mark):
            continue
        if one.name == VERB and one.to_server:
            verb = found[one.at] = one.at
        elif one.name == "OP_EqSpellCastStartCmd" and verb <= one.at <= verb + LATE:
            found[verb] = one.at
    return found


def _found_in(messages: list[Message | Mark]) -> list[list[Found]]:
    """Return what each try at a node has given."""
    found = []
    for one in messages:
        if isinstance(one, Message) and one.name == TEXT and one.fields and not one.to_server:
            text = one.fields["text"]
            if got := _GOT.match(text):
                found.append([Found(int(got[2]), int(got[1]), COMMON)])
            elif _FAILED.match(text):
                found.append([])
    return found
