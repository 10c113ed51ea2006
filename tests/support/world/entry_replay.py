"""Plays the recorded entries of new characters into the real content again.

Each recorded client is one of ours: it loads in the same steps, looks at the same windows and comes
back. What was prepared in the recorded database (class, level, spells, things) is given to our
character before its first entry; real-README.md beside the recordings says what that was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emu.world.knowledge import read_knowledge
from tests.support.world.fight_recordings import Mark, Message, Recording
from tests.support.world.fight_replay import HeardClient
from tests.support.world.real_content import CONTENT, SCRIPTS, real_world
from tests.support.world.real_replay import ZONE, enter_heard
from tests.support.world.recorded_things import BAGS, give_shown
from tests.support.world.thing_kinds import kinds_toml
from tests.support.world.thing_lines import INVENTORY, SHEET, ThingLines

LOGIN: Final = "OP_LoginByNumRequestMsg"
ZONE_INFO: Final = "OP_ZoneInfoMsg"
EXAMINED: Final = "OP_ExamineInfoRequestMsg"
GREETING: Final = 5
"""The color of the text that greets everybody."""
FIRST_ZONE: Final = {"boat_06p_tutorial02": 27}
"""Zones of the recordings by their file; the others are Queen's Colony."""
OF_OTHERS: Final = frozenset((
    "OP_EqUpdateGhostCmd", "OP_EqDestroyGhostCmd", "OP_EqCreateSignWidgetCmd",
    "OP_EqCreateWidgetCmd", "OP_EqCannedEmoteCmd", "OP_EqStateCmd",
))  # fmt: skip
"""Messages about the spawns of the zone."""
BARE: Final = frozenset((
    SHEET, "OP_EqCreateGhostCmd", "OP_EqSetControlGhostCmd", "OP_CharacterPet", "OP_AdventureList",
    "OP_TraitsList", "OP_SetRemoteCmdsMsg", "OP_LoginReplyMsg", "OP_GameWorldTimeMsg",
    "OP_OfferQuestMsg", "OP_EqQuestJournalReplyCmd", "OP_PopulateSkillMapsMsg",
))  # fmt: skip
"""Messages of which only the order is compared here; other tests compare their fields."""
OF_THE_MOMENT: Final = frozenset((
    "player_crc", "year", "month", "day", "hour", "minute", "second", "account_id", "num_abilities",
))  # fmt: skip
"""Fields of the moment and of the account, and a count of rows that are compared."""
LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "slides of the loading screen are not sent": frozenset(("num_slides", "slide_array")),
    "the addresses of web pages are this server's own": frozenset((
        "auction_website", "auction_port", "upload_page", "upload_key",
    )),
}  # fmt: skip
"""Reasons, each with the fields that are not compared by it."""
_NOT_COMPARED: Final = OF_THE_MOMENT.union(*LEFT_OUT.values())
SHOWN: Final = (
    "race", "gender", "class3", "level", "max_hp", "max_power", "conc_max", "str", "sta", "agi",
    "wis", "int", "coins_copper", "coins_silver", "coins_gold", "coins_plat",
)  # fmt: skip
"""Fields of the sheet that both kinds of sheets have."""


class EntryLines(ThingLines):
    """What a client that enters is sent, as lines."""

    def __init__(self, version: int, own_name: str) -> None:
        super().__init__(version)
        self.own_name = own_name
        self.sheet: dict[str, Any] = {}
        self.skills: dict[int, tuple[int, int]] = {}
        self.first: dict[int, list[dict[str, Any]]] = {}
        """The records of the first lists."""
        self.spells: set[int] = set()
        """All spells that were in the book."""
        self._rows: list[dict[str, Any]] = []

    def add(self, name: str, fields: Any, body: bytes) -> None:
        """Read a message to the client; spawns in its fields have names already."""
        if name == SHEET:
            self.sheet |= (fields or {}).get("sheet", fields or {})
            self.lines.append("sheet")
            return
        super().add(name, fields, body)
        if name == INVENTORY and self.shown.get(BAGS) and BAGS not in self.first:
            self.first[BAGS] = self.shown[BAGS]

    def _lines(self, name: str, fields: Any, body: bytes) -> Iterator[str]:
        fields = fields or {}
        caster = fields.get("spawn_id", self.own_name)
        is_other = name == "OP_EqHearSpellCastCmd" and caster not in ("", self.own_name)
        is_ghost = name == "OP_EqCreateGhostCmd" and fields.get("index") != 1
        if name in OF_OTHERS or is_other or is_ghost:
            return
        read = _READERS.get(name)
        if name in BARE:
            yield _short(name)
        elif read is not None:
            yield from read(self, fields)
        else:
            yield from super()._lines(name, fields, body)

    def _plain_line(self, name: str, fields: Any) -> Iterator[str]:
        # No number in these fields is that of a thing.
        own, self._own = self._own, set()
        yield f"{_short(name)} {self._fields(_without_moment(fields))}"
        self._own = own

    def passive(self, fields: dict[str, Any]) -> Iterator[str]:
        """Yield the line of a cast of the player's own."""
        yield f"passive {fields['spell_id']}"

    def factions(self, fields: dict[str, Any]) -> Iterator[str]:
        """Yield a line for each standing, by the number of the faction."""
        if len(fields["response_array"]) != 1:
            yield "FactionUpdate"
        for row in sorted(fields["response_array"], key=lambda one: one["faction_id"]):
            texts = [row[key].strip() for key in ("name", "category", "description")]
            numbers = [row[key] for key in ("faction_id", "con", "percentage", "value")]
            yield f"faction {numbers} {texts}"

    def book(self, fields: dict[str, Any]) -> Iterator[str]:
        """Yield a line for each status that spells have got."""
        changed = {one: status for one, status in fields["book"].items() if one}
        self.spells.update(changed)
        for status in sorted(set(changed.values())):
            yield f"book {status}: {sorted(one for one in changed if changed[one] == status)}"

    def hotkeys(self, fields: dict[str, Any]) -> Iterator[str]:
        """Yield a line for each hotkey, by its place."""
        yield "QuickbarInit"
        for row in sorted(fields["ability_array"], key=lambda one: one["slot"]):
            yield f"hotkey {row['slot']} {row['type']} {row['icon']} {row['text']}"

    def read_skills(self, fields: dict[str, Any]) -> Iterator[str]:
        """Note the skills; a change names records by their places."""
        rows = self._rows
        if "skill_array" in fields:
            rows[:] = [dict(one) for one in fields["skill_array"]]
        for key, change in fields.items():
            if key.startswith("skill_array["):
                at = int(key[12:-1])
                rows.extend({} for _ in range(at + 1 - len(rows)))
                rows[at] |= change
        shown = rows[: fields["skill_count"]]
        self.skills = {row["skill_id"]: (row["current_val"], row["max_val"]) for row in shown}
        yield "skills"

    def end(self) -> None:
        """Add lines about what the client has in the end."""
        shown = {key: self.sheet[key] for key in SHOWN if key in self.sheet}
        self.lines.append(f"in the end {shown}")
        self.lines += [f"skill {one}: {two}" for one, two in sorted(self.skills.items())]


_READERS: Final[Mapping[str, Callable[[EntryLines, dict[str, Any]], Iterator[str]]]] = {
    "OP_EqHearSpellCastCmd": EntryLines.passive, "OP_EqFactionUpdateCmd": EntryLines.factions,
    "OP_UpdateSpellBookMsg": EntryLines.book, "OP_UpdateSkillBookMsg": EntryLines.read_skills,
    "OP_QuickbarInitMsg": EntryLines.hotkeys,
}  # fmt: skip
"""What reads messages that have lines of their own."""


def _short(name: str) -> str:
    return name.removeprefix("OP_").removeprefix("Eq").removesuffix("Msg").removesuffix("Cmd")


def _without_moment(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_moment(one) for key, one in value.items() if key not in _NOT_COMPARED}
    return [_without_moment(one) for one in value] if isinstance(value, list) else value


@dataclass(slots=True)
class Entry:
    """One session of a recorded client."""

    client: str
    at: float
    recorded: EntryLines
    acts: list[Message] = field(default_factory=list)
    zone_file: str = ""
    ours: EntryLines | None = None


class EntryReplay:
    """One recording, and the world into which its clients enter again."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is for files."""
        recording = Recording(name)
        self.version = recording.version
        things = folder / "things.toml"
        things.write_text(
            kinds_toml(Recording(name), self.version, Path(SCRIPTS)), encoding="utf-8"
        )
        self._commands: list[str] = []
        self._greeting = ""
        self.entries = self._read(Recording(name), _names(recording))
        self.harness = real_world(things=[things], motd=self._greeting, name="PeerWorld")
        self.harness.world.knowledge = read_knowledge(None, Path(CONTENT))
        self._numbers: dict[str, dict[int, int]] = {}
        """Our numbers of things by the recorded ones, of each client."""

    def _read(self, recording: Recording, names: dict[str, str]) -> list[Entry]:
        entries: list[Entry] = []
        for one in recording:
            if isinstance(one, Mark):
                continue
            if one.name == LOGIN:
                lines = EntryLines(self.version, names[one.client])
                entries.append(Entry(one.client, one.at, lines))
            entry = entries[-1]
            if one.to_server:
                entry.acts.append(one)
                continue
            fields = one.fields or {}
            if one.name == ZONE_INFO:
                entry.zone_file = fields["zone"]
            elif one.name == "OP_SetRemoteCmdsMsg":
                self._commands = [row["name"] for row in fields["commands_array"]]
            elif fields.get("color") == GREETING:
                self._greeting = fields["text"]
            named = recording.sessions[one.client].named(one.fields)
            entry.recorded.add(one.name, named, one.body)
        return entries

    def play(self) -> list[Entry]:
        """Let all clients enter one after the other; return what both servers have sent."""
        known: dict[str, int] = {}
        for entry in self.entries:
            is_new = entry.client not in known
            number = known.setdefault(entry.client, 5 + len(known))
            self._enter(entry, number, is_new=is_new)
        return self.entries

    def _enter(self, entry: Entry, number: int, *, is_new: bool) -> None:
        harness, recorded = self.harness, entry.recorded
        if is_new:
            sheet = recorded.sheet
            class_ = int(entry.client[1:])
            harness.character(
                number, name=recorded.own_name, class_=class_, level=sheet["level"],
                race=sheet["race"], gender=sheet["gender"], starting_zone=1,
                zone_id=FIRST_ZONE.get(entry.zone_file, ZONE),
            )  # fmt: skip
        ours = entry.ours = EntryLines(self.version, recorded.own_name)
        client = enter_heard(harness, number, self.version, ours.add)
        if is_new and self.version <= 561:
            self._prepare(entry, client)
        start = entry.at - harness.now
        for act in entry.acts[1:]:
            due = act.at - start
            if due > harness.now:
                harness.run(due - harness.now)
            self._act(entry, client, act)
        harness.run(1.0)
        recorded.end()
        ours.end()

    def _prepare(self, entry: Entry, client: HeardClient) -> None:
        """Give a character what was put into the recorded database."""
        player, parts = client.player, self.harness.parts
        assert player is not None
        shown = entry.recorded.first
        self._numbers[entry.client] = give_shown(parts.items, player, shown, self.version)
        for spell in sorted(entry.recorded.spells):
            if self.harness.spell_kinds.get(spell) is not None:
                parts.spells.books.learn(player, spell, 1, is_quiet=True)

    def _act(self, entry: Entry, client: HeardClient, act: Message) -> None:
        if act.name == "OP_RemoteCmdMsg" and act.fields:
            name = self._commands[act.fields["command_handler"]]
            client.types(f"/{name} {act.fields['arguments']}".rstrip())
            return
        body = act.body
        if act.name == EXAMINED and body[0] in (0, 1):
            theirs = int.from_bytes(body[1:5], "little")
            ours = self._numbers.get(entry.client, {}).get(theirs, theirs)
            body = body.replace(theirs.to_bytes(4, "little"), ours.to_bytes(4, "little"))
        client.say(act.name, body)


def _names(recording: Recording) -> dict[str, str]:
    """Return the names of the characters by the recorded clients."""
    found: dict[str, str] = {}
    for one in recording:
        if isinstance(one, Message) and one.name == SHEET and one.fields:
            sheet = one.fields.get("sheet", one.fields)
            found.setdefault(one.client, sheet.get("character_name", ""))
    return found
