"""Reads what a world sends to clients of six versions, from the pages of the protocol alone.

It shares no table and no line with the encoders: numbers, lengths and offsets stand here as
docs/protocol/world/newer.md and docs/protocol/world/spawns.md have them. `NewerReader` takes the
messages of one client, and `writes` makes the few that a client sends.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Facts:
    """One version: numbers of messages, lengths of a ghost's parts, offsets of fields."""

    zone_info: int
    position: int
    remote_cmd: int
    client_cmd: int
    sheet: int
    target: int
    sit: int
    signal: int
    hear_chat: int
    lengths: tuple[int, int, int]
    place: int
    heading: int
    speed: int
    klass: int
    level: int
    race: int
    gender: int
    skin: int
    visual: tuple[int, str]
    aim: int
    step: tuple[int, int, int, int]
    """Length of a client's position; offsets of speed, place and heading in it."""
    name: int | None = None
    """Offset of the name in the info part, None if the foot has it."""
    wide_verbs: bool = False
    marks: int = 0
    """0: entries have no time, 1: players' entries have it, 2: a byte says so."""
    last_chat_bytes: int = 0
    hair: int = 0
    who: int = 0
    verbs: int = 0
    """The number of EntityVerbsRequest; the reply and the choice follow."""
    members: int = 0
    """Where the sheet has the members of the group."""


FACTS = {
    546: Facts(
        29, 34, 36, 50, 55, 53, 165, 191, 411, (88, 78, 1089), 60, 16, 20, 295, 297, 1087, 1088,
        335, (1081, "<H"), 278, (152, 44, 116, 128), name=671,
        hair=639, who=46, verbs=159, members=4011,
    ),
    561: Facts(
        29, 34, 36, 50, 55, 53, 165, 191, 417, (88, 72, 1070), 60, 16, 20, 294, 296, 1068, 1069,
        316, (1062, "<H"), 278, (152, 44, 116, 128), name=652,
        hair=620, who=46, verbs=159, members=4024,
    ),
    1096: Facts(
        32, 38, 41, 56, 61, 59, 173, 202, 543, (108, 20, 716), 4, 22, 26, 707, 274, 705, 706,
        289, (699, "<H"), 248, (156, 48, 120, 132), marks=1,
        hair=639, who=52, verbs=166, members=10604,
    ),
    1208: Facts(
        33, 39, 42, 58, 63, 61, 186, 217, 589, (116, 28, 804), 4, 22, 26, 787, 334, 785, 786,
        349, (779, "<H"), 308, (172, 64, 136, 148), marks=2,
        hair=695, who=54, verbs=179, members=12614,
    ),
    60114: Facts(
        35, 41, 44, 60, 65, 63, 189, 220, 614, (116, 28, 980), 4, 22, 26, 975, 966, 973, 974,
        394, (492, "<I"), 916, (172, 64, 136, 148), wide_verbs=True, marks=2, last_chat_bytes=1,
        hair=470, who=56, verbs=182, members=14472,
    ),
    64753: Facts(
        35, 41, 44, 60, 65, 63, 190, 221, 649, (116, 28, 980), 4, 22, 26, 975, 966, 973, 974,
        394, (492, "<I"), 916, (172, 64, 136, 148), wide_verbs=True, marks=2, last_chat_bytes=1,
        hair=470, who=56, verbs=183, members=14472,
    ),
}  # fmt: skip
SHEETS = {546: 4897, 561: 4908, 1096: 12_334, 1208: 15_184, 60114: 16_232, 64753: 16_232}


def unpacked(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Return bytes of the packed form, and where they end (docs/protocol/structs.md#packed)."""
    out = bytearray()
    while len(out) < size:
        code = data[at]
        at += 1
        if code < 0x80:
            out += bytes(code)
            continue
        group = bytearray(7)
        for bit in range(6, -1, -1):
            if code >> bit & 1:
                group[bit] = data[at]
                at += 1
        out += group
    return bytes(out[:size]), at


def packed(data: bytes) -> bytes:
    """Return bytes in the packed form: groups of seven, without runs of zeros."""
    out = bytearray()
    for start in range(0, len(data), 7):
        group = data[start : start + 7]
        out.append(0x80 | sum(1 << bit for bit, one in enumerate(group) if one))
        out += bytes(one for one in reversed(group) if one)
    return bytes(out)


def number(data: bytes, at: int) -> tuple[int, int]:
    """Return an index or a length, and where it ends."""
    if data[at] == 0xFF:
        return struct.unpack_from("<H", data, at + 1)[0], at + 3
    return data[at], at + 1


def text(data: bytes, at: int) -> tuple[str, int]:
    """Return a text with a u16 length, and where it ends."""
    (length,) = struct.unpack_from("<H", data, at)
    return data[at + 2 : at + 2 + length].decode(), at + 2 + length


@dataclass
class ReadGhost:
    """One ghost: its three parts and its name; `parts` have the order of a create."""

    facts: Facts
    parts: list[bytes]
    name: str
    is_player: bool
    verbs: list[tuple[str, float, str]] = field(default_factory=list)
    """Shown text, distance and command of each; only of two or more."""
    default: str = ""
    """What a click does."""

    def _byte(self, at: int) -> int:
        return self.parts[2][at]

    @property
    def place(self) -> tuple[float, float, float]:
        return struct.unpack_from("<fff", self.parts[0], self.facts.place)

    @property
    def heading(self) -> int:
        one, other = struct.unpack_from("<hh", self.parts[0], self.facts.heading)
        assert one == other
        return int(one)

    @property
    def speed(self) -> int:
        return int(struct.unpack_from("<h", self.parts[0], self.facts.speed)[0])

    @property
    def looks(self) -> tuple[int, int, int, int]:
        facts = self.facts
        return tuple(map(self._byte, (facts.race, facts.gender, facts.klass, facts.level)))  # type: ignore[return-value]

    @property
    def skin(self) -> tuple[int, ...]:
        return tuple(self.parts[2][self.facts.skin : self.facts.skin + 3])

    @property
    def eyes(self) -> tuple[int, ...]:
        return tuple(self.parts[2][self.facts.skin + 3 : self.facts.skin + 6])

    @property
    def hair(self) -> tuple[int, ...]:
        return tuple(self.parts[2][self.facts.hair : self.facts.hair + 3])

    @property
    def visual(self) -> int:
        at, form = self.facts.visual
        return int(struct.unpack_from(form, self.parts[2], at)[0])

    @property
    def target(self) -> int:
        return int(struct.unpack_from("<I", self.parts[2], self.facts.aim)[0])


class GroupRow(NamedTuple):
    """One member of a group as a sheet has it."""

    name: str
    zone: str
    ghost: int
    level: int
    race: int
    klass: int
    health: int


class WhoRow(NamedTuple):
    """One player in the answer to who."""

    name: str
    zone: str
    level: int
    klass: int
    race: int
    flags: int


@dataclass
class NewerReader:
    """What one client has been sent: its zone, ghosts, sheet, and what was said."""

    version: int
    ghosts: dict[int, ReadGhost] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Lines of plain text."""
    zone: bytes = b""
    sheet: bytes = b""
    updates: int = 0
    messages: list[tuple[int, bytes]] = field(default_factory=list)
    """Every message, and every command by its own number."""

    @property
    def facts(self) -> Facts:
        return FACTS[self.version]

    def take(self, opcode: int, body: bytes) -> None:
        """Read one message; those that are not listed are only kept."""
        if opcode != self.facts.client_cmd:
            self.messages.append((opcode, body))
        if opcode == self.facts.zone_info:
            self.zone = body
        elif opcode == self.facts.sheet:
            size = SHEETS[self.version]
            (length,) = struct.unpack_from("<I", body)
            delta, end = unpacked(body, 4, size)
            assert end == len(body) == length + 4
            before = self.sheet or bytes(size)
            self.sheet = bytes(one ^ other for one, other in zip(before, delta, strict=True))
        elif opcode == self.facts.client_cmd:
            at = 0
            while at < len(body):
                (size,) = struct.unpack_from("<I", body, at)
                assert body[at + 4] == 0xFF
                (sub,) = struct.unpack_from("<H", body, at + 5)
                self.messages.append((sub, body[at + 7 : at + 4 + size]))
                self._command(sub - self.facts.hear_chat, body[at + 7 : at + 4 + size])
                at += 4 + size

    def find(self, name: str) -> ReadGhost | None:
        """Return the ghost with a name."""
        return next((one for one in self.ghosts.values() if one.name == name), None)

    def index_of(self, name: str) -> int:
        """Return the index of the ghost with a name."""
        return next(index for index, one in self.ghosts.items() if one.name == name)

    @property
    def group(self) -> list[GroupRow]:
        """The members of the group that the sheet has."""
        found = []
        for number in range(5):
            row = self._member(number)
            if row.name:
                found.append(row)
        return found

    def _member(self, number: int) -> GroupRow:
        at, sheet = self.facts.members, self.sheet
        if self.version <= 561:
            at += 137 * number
            index, _, level, _, race, klass, health = struct.unpack_from("<IIHHBBi", sheet, at + 42)
            name, zone = sheet[at + 1 : at + 42], sheet[at + 76 : at + 136]
        else:
            wide = self.version >= 57048
            at += (159 if wide else 151) * number
            form = "<IIqqiiHH" if wide else "<IIiiiiHH"
            index, _, health, _, _, _, level, _ = struct.unpack_from(form, sheet, at)
            at += struct.calcsize(form)
            name, zone = sheet[at : at + 41], sheet[at + 41 : at + 101]
            race, klass = sheet[at + 105 : at + 107]
        who, where = (one.split(b"\0")[0].decode() for one in (name, zone))
        return GroupRow(who, where, index, level, race, klass, health)

    def who(self) -> list[WhoRow]:
        """Return the players of the last answer to who."""
        data = next(body for opcode, body in self.messages[::-1] if opcode == self.facts.who)
        _, unknown, response, count = struct.unpack_from("<IIBB", data)
        assert (unknown, response) == (0xFFFFFFFF, 2)
        size = 160 if self.version < 1188 else 170
        assert len(data) == 10 + count * size + 1
        assert data[-1] == 1
        rows = []
        for number in range(count):
            row = data[10 + number * size :][:size]
            name, zone = row[:40].split(b"\0")[0], row[52 : 132 if size == 160 else 129]
            _, level, _, klass, _, race, flags = struct.unpack_from("<BBBHBBB", row, 40)
            zone = zone.split(b"\0")[0]
            rows.append(WhoRow(name.decode(), zone.decode(), level, klass, race, flags))
        return rows

    def verbs_of(self, index: int) -> list[tuple[str, float, str]]:
        """Return command, distance and shown text of each verb in the last reply."""
        number = self.facts.verbs + 1
        data = next(body for opcode, body in self.messages[::-1] if opcode == number)
        assert struct.unpack_from("<I", data) == (index,)
        found, at = [], 5
        for _ in range(data[4]):
            command, at = text(data, at)
            distance, error = struct.unpack_from("<fH", data, at)
            assert error == 0
            shown, at = text(data, at + 6)
            found.append((command, distance, shown))
        assert at == len(data)
        return found

    def _command(self, offset: int, data: bytes) -> None:
        # The commands stand at these distances from HearChat in all six versions.
        if offset == 0:
            self._heard(data)
        elif offset == 1:
            shown, end = text(data, 1)
            assert data[end:] == b"\xff\0"
            self.lines.append(shown)
        elif offset in (2, 3, 4):
            self._created(offset, data)
        elif offset == 5:
            index, _ = number(data, 0)
            self.gone.append(self.ghosts.pop(index).name)
        elif offset == 6:
            self._updated(data)

    def _heard(self, data: bytes) -> None:
        head = 10
        speaker, at = text(data, head)
        _, at = text(data, at)
        at += 10 if self.version > 561 else 0
        words, at = text(data, at + 2)
        _, at = text(data, at)
        assert len(data) - at == (1 if self.version == 546 else 3) + self.facts.last_chat_bytes
        self.said.append((speaker, words))

    def _created(self, offset: int, data: bytes) -> None:
        index, at = number(data, 0)
        assert struct.unpack_from("<I", data, at)[0] == index
        wide = self.facts.wide_verbs
        at += 4 + (12 if wide else 6)
        count, at = data[at], at + 1
        verbs = []
        for _ in range(count):
            shown, at = text(data, at)
            (distance,) = struct.unpack_from("<f", data, at)
            at += 4
            if wide:
                assert data[at] == 0
                at += 2
            else:
                _, at = text(data, at)
            command, at = text(data, at)
            verbs.append((shown, distance, command))
        default, at = text(data, at)
        at += 4
        members, at = data[at], at + 1
        at += 4 * members + 4
        (length,) = struct.unpack_from("<I", data, at)
        whole, end = unpacked(data, at + 4, sum(self.facts.lengths))
        assert end == at + 4 + length
        first, second, _ = self.facts.lengths
        parts = [whole[:first], whole[first : first + second], whole[first + second :]]
        ghost = self.ghosts[index] = self._with_foot(parts, offset, data, end)
        ghost.verbs, ghost.default = verbs, default

    def _with_foot(self, parts: list[bytes], offset: int, data: bytes, at: int) -> ReadGhost:
        if self.facts.name is not None:
            start = self.facts.name
            name = parts[2][start : start + 64].split(b"\0")[0].decode()
            assert offset != 2 or at == len(data)
            return ReadGhost(self.facts, parts, name, is_player=False)
        name, at = text(data, at)
        assert data[at] == 0
        is_player, at = bool(data[at + 1]), at + 2
        for _ in range(5):
            _, at = text(data, at)
        assert data[at] == 0  # no transport
        assert data[at + 1] in (1, 3, 6)
        at += 2
        if offset in (3, 4):
            at += 16
        if offset == 4:
            _, at = text(data, at)
            _, at = text(data, at)
            at += 4 + 1 + 1
            assert data[at] == 0
            at += 1
        assert at == len(data)
        return ReadGhost(self.facts, parts, name, is_player)

    def _updated(self, data: bytes) -> None:
        self.updates += 1
        at = 4
        for part in (2, 0, 1):
            length, at = number(data, at)
            end = at + length
            while at < end:
                index, at = number(data, at)
                ghost = self.ghosts[index]
                if part == 0:
                    at += self._mark(ghost, data[at])
                delta, at = unpacked(data, at, self.facts.lengths[part])
                now = ghost.parts[part]
                ghost.parts[part] = bytes(a ^ b for a, b in zip(now, delta, strict=True))
            assert at == end
        assert at == len(data)

    def _mark(self, ghost: ReadGhost, byte: int) -> int:
        if self.facts.marks == 2:
            assert byte == ghost.is_player
            return 5 if byte else 1
        return 4 if self.facts.marks == 1 and ghost.is_player else 0


class NewerWriter:
    """The messages of one client, each with its number in front."""

    def __init__(self, version: int) -> None:
        self.facts = FACTS[version]
        self.version = version
        self._last = bytes(self.facts.step[0])

    def step(self, place: tuple[float, float, float], heading: float, speed: float) -> bytes:
        """Say where the client is: UpdatePosition, or a prediction up to 561."""
        size, speed_at, place_at, heading_at = self.facts.step
        data = bytearray(size)
        struct.pack_into("<I", data, 0, 16512 if self.version > 60084 else 128)
        struct.pack_into("<f", data, 8, heading)
        struct.pack_into("<f", data, heading_at, heading)
        struct.pack_into("<f", data, speed_at, speed)
        struct.pack_into("<fff", data, place_at, *place)
        delta = bytes(one ^ other for one, other in zip(data, self._last, strict=True))
        self._last = bytes(data)
        body = packed(delta)
        check = b"" if self.version < 562 else bytes(4)
        head = bytes([self.facts.position, 0]) + bytes(4) + check
        return head + struct.pack("<I", len(body)) + body

    def loaded(self) -> bytes:
        return bytes([self.facts.zone_info + 1])

    def entities_loaded(self) -> bytes:
        return bytes([self.facts.zone_info + 3])

    def ready(self) -> bytes:
        name = b"sys_client_avatar_ready"
        return bytes([self.facts.signal]) + struct.pack("<H", len(name)) + name

    def sit(self) -> bytes:
        return bytes([self.facts.sit])

    def aim(self, index: int) -> bytes:
        return bytes([self.facts.target]) + struct.pack("<H", index)

    def ask_verbs(self, index: int) -> bytes:
        return bytes([self.facts.verbs]) + struct.pack("<I", index)

    def use(self, index: int, verb: str) -> bytes:
        choice = verb.encode()
        return bytes([self.facts.verbs + 2]) + struct.pack("<IH", index, len(choice)) + choice

    def say(self, command: int, words: str) -> bytes:
        line = words.encode()
        return bytes([self.facts.remote_cmd]) + struct.pack("<HH", command, len(line)) + line
