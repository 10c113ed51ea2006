"""What was recorded of wearing and packing, done again here: messages, order, texts and bytes.

Each command of ../shared/data/recordings/items-*-carry, and of the wearing in items-1096-all and
items-546-561-two, is typed here. Lists are compared record by record, windows byte by byte, after
the numbers of things were translated. docs/protocol/world/items.md#differences says what differs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from emu.items.kinds import Flag
from emu.structs.packed import unpack_counted, xor
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.item_lists import HEAD, LIST, STRUCT
from tests.support.files.recordings import recorded_rows
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded_kinds
from tests.support.world.trade_scenes import TradeScene, player_of
from tests.support.world.worlds import Client

INVENTORY, EXAMINE = "OP_UpdateInventoryMsg", "OP_EqExamineInfoCmd"
TEXT, CHOICE = "OP_EqDisplayTextCmd", "OP_EqChoiceWinCmd"
SHOWN = (INVENTORY, EXAMINE, TEXT, CHOICE)
TYPED, REQUEST = "OP_RemoteCmdMsg", "OP_ExamineInfoRequestMsg"
COMMAND_HEAD = 7
"""Bytes of a command before its fields: u32 size, FF, u16 number."""
RECORDINGS = {
    "items-546-carry": 546, "items-561-carry": 561, "items-1208-carry": 1208,
    "items-60114-carry": 60114, "items-1096-all": 1096, "items-546-561-two": 546,
}  # fmt: skip
COMPARED = {
    "items-546-carry": (166, 3), "items-561-carry": (166, 3), "items-1208-carry": (158, 3),
    "items-60114-carry": (167, 3), "items-1096-all": (132, 2), "items-546-561-two": (43, 1),
}  # fmt: skip
"""How many acts were answered with the same messages, and how many only with the same lists in the
end: EQ2Emulator sends some lists twice."""
SECTIONS = ("windows", "wear", "pack")
FOOD = (910013, 910014)
"""Their tier is that of their satiation: a fault of EQ2Emulator."""
BAGS = (910003, 910004, 910033)
OTHER_WINDOWS = {910024: "a scroll's spell is not in the set", 910034: "EQ2Emulator adds a bonus",
                 910001: "a stack of 0 is shown as 1"}  # fmt: skip
"""Things whose windows are not compared here."""
LATE = "inventory unequip 2 -999"
"""After it EQ2Emulator puts two things at one place: places are not compared until all is gone."""
FULL_BAG = "inventory destroy 3"
"""EQ2Emulator destroys what may not be destroyed if it lies in a bag; then ours is emptied too."""
STOP = ("inventory pop 9 0 0", 1)
"""EQ2Emulator moves things to places that do not exist: from here on the lists differ."""
EARLIER = {"items-1208-carry": ("summonitem 910015 1", 3)}
"""Once it counted a destroyed thing as one that the player has."""
COMMAND = re.compile(r"A /(\S+) ?(.*?)\s*(\(.*)?$")


@dataclass
class Step:
    """What the recorded client did at a mark, and what it was sent then."""

    section: str
    acts: list[str | bytes] = field(default_factory=list)
    """Lines that it typed, and its requests to examine something."""
    sent: list[tuple[str, bytes]] = field(default_factory=list)


def rows_of(name: str) -> list[dict[str, Any]]:
    return [
        row
        for row in recorded_rows(name)
        if row["k"] == "mark" or (row["c"] == "A" and row["k"] == "app")
    ]


def command_names(rows: list[dict[str, Any]]) -> dict[int, str]:
    """Return the commands by the numbers that the recorded server gave them."""
    names = {}
    for mark, row in pairwise(rows):
        found = COMMAND.match(mark["n"]) if mark["k"] == "mark" else None
        if found and row.get("name") == TYPED:
            names[int.from_bytes(bytes.fromhex(row["hex"])[:2], "little")] = found[1]
    return names


def steps(name: str) -> Iterator[Step]:
    """Yield everything that the client did; the first step is what it was sent on entry."""
    rows = rows_of(name)
    names, step = command_names(rows), Step("")
    layout = DIALECTS.for_version(RECORDINGS[name]).layout("WS_RemoteCmdMsg")
    for row in rows:
        if row["k"] == "mark":
            yield step
            is_section = row["n"].startswith("--- ")
            step = Step(row["n"].split()[1].rstrip(":") if is_section else step.section)
            continue
        body, message = bytes.fromhex(row["hex"]), row.get("subname") or row["name"]
        if row["d"] == "s2c" and message in SHOWN:
            step.sent.append((message, body[COMMAND_HEAD:] if "sub" in row else body))
        elif message == TYPED:
            fields = layout.decode(body)
            step.acts.append(f"{names.get(fields['command_handler'], '')} {fields['arguments']}")
        elif message == REQUEST:
            step.acts.append(body)
    yield step


class Lists:
    """The lists of a client as its messages have made them."""

    def __init__(self, version: int) -> None:
        self.dialect = DIALECTS.for_version(version)
        self.layout = self.dialect.layout(STRUCT)
        empty = self.dialect.encode_known(STRUCT, {"item_count": 1, "item_array": [{}]})
        self.size = len(empty) - HEAD - 1
        self.before: dict[int, bytes] = {}

    def rows(self, body: bytes) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of a list, and its records."""
        count, packed, tail = unpack_counted(body, self.size, 1, self.dialect.version)
        base = self.before.get(tail[0], b"")[: len(packed)].ljust(len(packed), b"\0")
        whole = self.before[tail[0]] = xor(packed, base)
        plain = count.to_bytes(2, "little") + bytes(4) + whole + tail
        return tail[0], list(self.layout.decode(plain)["item_array"])


class Replay:
    """One recording beside our server: its client's acts are done again."""

    def __init__(self, name: str) -> None:
        self.version = RECORDINGS[name]
        self.scene = TradeScene(self.version, class_=0)
        self.scene.harness.parts.items.kinds = recorded_kinds()
        self.client: Client = self.scene.one
        self.theirs, self.ours = Lists(self.version), Lists(self.version)
        self.text = self.client.dialect.layout("WS_DisplayText")
        self.numbers: dict[int, int] = {}
        """Our numbers of things by the recorded ones."""
        self.shown([one for one in self.client.log if one[0] in SHOWN], is_ours=True)

    def translated(self, line: str) -> str:
        words = line.split()
        return " ".join(
            str(self.numbers.get(int(word), word)) if word.isdigit() and len(word) > 6 else word
            for word in words
        )

    def act(self, step: Step) -> list[tuple[str, bytes]]:
        """Do what the recorded client did; return what our server sends."""
        before = len(self.client.log)
        for act in step.acts:
            if isinstance(act, bytes):
                self.client.say(REQUEST, self.again(act))
            else:
                self.client.types("/" + self.translated(act))
        return [(name, body) for name, body in self.client.log[before:] if name in SHOWN]

    def learn(self, theirs: list[tuple[str, Any]], ours: list[tuple[str, Any]]) -> None:
        """Note which of our things stand in the records of theirs."""
        last = [
            next((rows for name, (number, rows) in reversed(lists) if number == LIST), [])
            for lists in ([one for one in sent if one[0] == INVENTORY] for sent in (theirs, ours))
        ]
        for one, two in zip(*last, strict=False):
            if one["unique_id"] and two["unique_id"]:
                self.numbers[one["unique_id"]] = two["unique_id"]

    def shown(self, sent: list[tuple[str, bytes]], *, is_ours: bool) -> list[tuple[str, Any]]:
        """Return messages in a form that can be compared."""
        found: list[tuple[str, Any]] = []
        for name, body in sent:
            value: Any = body
            if name == TEXT:
                value = self.text.decode(body)["text"]
            elif name == INVENTORY:
                value = (self.ours if is_ours else self.theirs).rows(body)
            elif name == CHOICE and self.version <= LAST_OLD_CLIENT:
                # The client reads two bytes more (docs/protocol/world/client-2006.md).
                value = body[:-2] if is_ours else body
            # Windows of zeros after equipping, and texts that come twice, are faults.
            if (name == EXAMINE and not any(body)) or (name, value) in found[-1:]:
                continue
            found.append((name, value))
        return found

    def again(self, value: Any) -> Any:
        """Return something recorded with our numbers of things."""
        if isinstance(value, bytes):
            for theirs, ours in self.numbers.items():
                value = value.replace(theirs.to_bytes(4, "little"), ours.to_bytes(4, "little"))
            return value
        if isinstance(value, str):
            return self.translated(value)
        number, rows = value
        return number, [
            {
                key: self.numbers.get(one, one) if key in ("unique_id", "bag_id", "inv_slot_id")
                else one
                for key, one in row.items()
            }
            for row in rows
        ]  # fmt: skip

    def empty(self) -> None:
        """Take away what EQ2Emulator lets a player destroy: not what is indestructible itself."""
        player = player_of(self.client)
        inventory = player.holdings.inventory
        bags = [one for one in inventory if not one.place.bag]
        for thing in bags:
            if Flag.NO_DESTROY not in inventory.kind(thing).flags:
                inventory.use_up(thing, thing.count)
        before = len(self.client.log)
        self.scene.harness.parts.items.changed(player)
        self.shown([one for one in self.client.log[before:] if one[0] in SHOWN], is_ours=True)


def plain(sent: list[tuple[str, Any]], *, has_places: bool) -> list[tuple[str, Any]]:
    """Return messages without what is known to differ."""
    found = []
    for name, value in sent:
        if name == EXAMINE and any(item_bytes(one) in value for one in (*BAGS, *OTHER_WINDOWS)):
            continue
        if name == EXAMINE and any(item_bytes(one) in value for one in FOOD):
            found.append((name, len(value)))
        elif name == INVENTORY:
            number, rows = value
            found.append((name, (number, [without_faults(row, has_places) for row in rows])))
        else:
            found.append((name, value))
    return found


def item_bytes(item: int) -> bytes:
    return item.to_bytes(4, "little")


def without_faults(row: dict[str, Any], has_places: bool) -> dict[str, Any]:
    left = {"tier": 0} if row["item_id"] in FOOD else {}
    return row | left | ({} if has_places else {"slot_id": 0})


def joined(sent: list[tuple[str, Any]]) -> dict[Any, Any]:
    """Return what a client knows after messages: of each list the last one."""
    lists = {value[0]: value[1] for name, value in sent if name == INVENTORY}
    order = list(dict.fromkeys((name, value[0]) for name, value in sent if name == INVENTORY))
    others = [one for one in sent if one[0] != INVENTORY]
    return {"lists": lists, "order": order, "others": others}


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDINGS)
def test_what_was_recorded_is_answered_alike(name: str) -> None:
    replay, equal, in_the_end, has_places = Replay(name), 0, 0, True
    lines: Counter[str] = Counter()
    for step in steps(name):
        theirs = replay.shown(step.sent, is_ours=False)
        if not step.acts or step.section not in SECTIONS:
            continue
        ours = replay.shown(replay.act(step), is_ours=True)
        replay.learn(theirs, ours)
        theirs = [(message, replay.again(value)) for message, value in theirs]
        line = step.acts[0] if isinstance(step.acts[0], str) else "examine"
        has_places = has_places and not line.startswith(LATE)
        lines[line] += 1
        if (line, lines[line]) == EARLIER.get(name, STOP):
            break
        if line == FULL_BAG:
            replay.empty()
            continue
        theirs = plain(theirs, has_places=has_places)
        ours = plain(ours, has_places=has_places)
        if theirs == ours:
            equal += 1
        else:
            assert joined(theirs) == joined(ours), (step.section, step.acts)
            in_the_end += 1
        has_places = has_places or len(step.acts) > 1
    assert (equal, in_the_end) == COMPARED[name]
