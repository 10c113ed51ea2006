"""Forms of ghosts: the layouts and rules by which a client version is shown spawns.

Layouts come from `data/structs`, the bits of a version from `data/world/ghosts.toml`, its numbers
from `data/world/versions.toml`. All clients of a version share one `GhostForm`.
Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/newer.md#ghosts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from emu.content.models import StandIns
from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownVersion
from emu.files import data_file, read_document
from emu.rules.stance import OWN_ARROW, Look
from emu.schema import field, read_rows
from emu.structs.fields import FORMATS
from emu.structs.packed import pack_before, pack_stream, reverses_literals
from emu.world_stream.ghosts import (
    FOOTER,
    HEADER,
    INFO,
    PARTS,
    POSITION,
    SIGN_FOOTER,
    VISIBILITY,
    WIDGET_FOOTER,
)

NO_SPAWN: Final = 0xFFFFFFFF
"""The target and the faced ghost of a spawn that has none."""
MOST_REMEMBERED: Final = 8192
"""Encoded parts of one kind and form that are kept: some megabytes."""


def _status_words(value: Any) -> Mapping[str, Mapping[str, int]]:
    if not isinstance(value, dict) or not all(
        isinstance(bits, dict) and all(type(one) is int for one in bits.values())
        for bits in value.values()
    ):
        raise ValueError("must be tables of fields with their bits")
    return value


@frozen
class FormRules:
    """One row of `data/world/ghosts.toml`: the rules of a range of client versions."""

    first: int = field()
    last: int = field()
    words: Mapping[str, Mapping[str, int]] = field(form=_status_words)
    """For each status word of a spawn: the info fields and the bits to set in them."""
    vis_flags_limit: int = field()
    level_field: str = field("")
    """A list field of the info part whose first element repeats the level; "" if there is none."""


class Remembered:
    """Bytes that were encoded once, by what they were made from.

    The spawns of one template differ in little but their place, so a zone of thousands has some
    hundred different parts.
    """

    __slots__ = ("_asked", "_made")

    def __init__(self, *, from_second: bool = False) -> None:
        """`from_second` remembers what is asked for a second time, not what nobody else has."""
        self._made: dict[Any, tuple[bytes, Any]] = {}
        self._asked: set[int] | None = set() if from_second else None
        """The hashes of keys that were asked for once."""

    def get(self, key: Hashable, make: Callable[[], bytes], kept: object = None) -> bytes:
        """Return the bytes of a key; make them if they are not known.

        `kept` stays alive as long as the entry: an object whose id is part of the key.
        """
        found = self._made.get(key)
        if found is not None:
            return found[0]
        made = make()
        if self._asked is None or self._was_asked(hash(key), self._asked):
            if len(self._made) >= MOST_REMEMBERED:
                self._made.clear()
            self._made[key] = made, kept
        return made

    @staticmethod
    def _was_asked(key: int, asked: set[int]) -> bool:
        """Return whether a key was asked for before, and note that it is now."""
        if key in asked:
            asked.discard(key)
            return True
        if len(asked) >= MOST_REMEMBERED:
            asked.clear()
        asked.add(key)
        return False


class GhostForm:
    """The layouts and rules of ghosts for one client version."""

    __slots__ = (
        "_place",
        "_place_names",
        "_reverse",
        "dialect",
        "footers",
        "has_footers",
        "has_whole_size",
        "hate_at",
        "headers",
        "infos",
        "look_at",
        "mark_at",
        "names",
        "rules",
        "sizes",
        "sought_at",
        "stand_ins",
        "tails",
        "target_at",
        "views",
    )  # fmt: skip

    def __init__(
        self, dialect: Dialect, rules: FormRules, stand_ins: Mapping[int, int] | None = None
    ) -> None:
        """Join a version's rules with its layouts. Raises `UnknownStruct` if one is missing.

        `stand_ins` are the models that are sent instead of others, which the version lacks.
        """
        self.dialect = dialect
        self.rules = rules
        self.stand_ins = stand_ins or {}
        self._reverse = reverses_literals(dialect.version)
        self.sizes = tuple(dialect.layout(name).empty_size() for name in PARTS)
        """The length of each part in bytes, before it is packed."""
        # The position part is encoded far more often than the others, so it has a packer of its
        # own.
        self._place, self._place_names = _packer(dialect, PARTS[POSITION])
        # A missing layout must fail here, when the tables are loaded, not at the first sign.
        for name in (HEADER, WIDGET_FOOTER, SIGN_FOOTER):
            dialect.layout(name)
        self.has_footers = dialect.has(FOOTER)
        """Whether every ghost has a footer with its names, and changes of names are UpdateTitle."""
        self.has_whole_size = isinstance(dialect.template(PARTS[POSITION])["pos_size"], int)
        """Whether a size is cut to a whole number."""
        self.target_at = self._place_of_target()
        """Where the info part has the target, None if it has none."""
        self.look_at = self._place_of_look()
        """Where the visibility part has the arrow; the attitude is two bytes behind it."""
        self.hate_at = self._place_of_hate()
        """Where it has the hate of a creature for the viewer; None if it has none."""
        self.mark_at = dialect.encode_known(PARTS[VISIBILITY], {"quest_flag": 0xF4}).index(0xF4)
        """Where it has the mark of a quest."""
        self.sought_at = self._place_of_sought()
        """Where it has the icon of what a quest wants dead; None if it has none."""
        self.views = Remembered()
        # A creature with an appearance of its own has another info part at each percent of health.
        self.infos = Remembered(from_second=True)
        self.tails = Remembered(from_second=True)
        """Packed visibility and info parts."""
        self.headers = Remembered()
        self.footers = Remembered()
        self.names = Remembered()

    def _place_of_target(self) -> int | None:
        info = PARTS[INFO]
        if "target_id" not in self.dialect.template(info):
            return None
        # Found by a mark, because layouts do not state offsets; no other field of an empty part has
        # these bytes.
        marked = self.dialect.encode_known(info, {"target_id": NO_SPAWN})
        return marked.index(b"\xff\xff\xff\xff")

    def _place_of_look(self) -> int:
        # Found by marks, as the target.
        marks = {"arrow_color": 0xF7, "locked_no_loot": 0xF6, "npc_con": -11}
        return self.dialect.encode_known(PARTS[VISIBILITY], marks).index(b"\xf7\xf6\xf5")

    def _place_of_hate(self) -> int | None:
        part = PARTS[VISIBILITY]
        empty = self.dialect.template(part).get("npc_hate")
        if empty is None:
            return None
        mark = [0x65, *empty[1:]] if isinstance(empty, list) else 0x65
        return self.dialect.encode_known(part, {"npc_hate": mark}).index(0x65)

    def _place_of_sought(self) -> int | None:
        part, name = PARTS[VISIBILITY], "name_quest_icon"
        if name not in self.dialect.template(part):
            return None
        return self.dialect.encode_known(part, {name: 0xF3}).index(0xF3)

    def entry_marks(self, stamp: bytes) -> tuple[bytes, bytes]:
        """Return what stands before a player's and before any other position entry of an update.

        `stamp` is the update's time. Source: docs/protocol/world/newer.md#update.
        """
        rules = self.dialect.world_rules
        of_player = stamp if rules.ghost_player_time else b""
        return (b"\1" + of_player, b"\0") if rules.ghost_kind_byte else (of_player, b"")

    def with_target(self, info: bytes, target: int) -> bytes:
        """Return the bytes of an info part with another target."""
        # Only these four bytes differ between viewers, so the rest of the part is shared.
        at = self.target_at
        if at is None:
            return info
        return b"".join((info[:at], target.to_bytes(4, "little"), info[at + 4 :]))

    def with_look(self, visibility: bytes, look: Look | None) -> bytes:
        """Return the bytes of a visibility part with arrow, attitude and marks of one viewer."""
        if look is None:
            return visibility
        if look.mark:
            visibility = _with_bytes(visibility, self.mark_at, bytes((look.mark,)))
        if look.is_sought and self.sought_at is not None:
            visibility = _with_bytes(visibility, self.sought_at, SOUGHT)
        if look.arrow == OWN_ARROW:
            return visibility
        own = bytes((look.arrow, look.encounter, look.con & 0xFF))
        visibility = _with_bytes(visibility, self.look_at, own)
        if look.is_hated and self.hate_at is not None:
            visibility = _with_bytes(visibility, self.hate_at, MOST_HATE)
        return visibility

    def encode(self, struct: str, values: Mapping[str, Any]) -> bytes:
        """Return a struct's bytes, without the values that this version has no field for."""
        return self.dialect.encode_known(struct, wire_texts(values))

    def encode_position(self, values: Mapping[str, Any]) -> bytes:
        """Return the bytes of a position part: as `encode`, without its checks for each field.

        In a crowd nothing is encoded as often: for each spawn that moves, form and tick.
        """
        try:
            return self._place.pack(*[values.get(name, 0) for name in self._place_names])
        except (struct.error, OverflowError):
            return self.encode(PARTS[POSITION], values)  # raises with the field's name

    def pack(self, data: bytes) -> bytes:
        """Return packed bytes, without a length in front."""
        return pack_stream(data, reverse=self._reverse)

    def pack_parts(self, position: bytes, visibility: bytes, info: bytes) -> bytes:
        """Return the three parts of a ghost as one packed stream.

        Few ghosts share a position, but many share the rest, which is packed once.
        """
        packed, taken = pack_before(position, visibility, reverse=self._reverse)
        rest = self.tails.get(
            (visibility, info, taken), lambda: self.pack((visibility + info)[taken:])
        )
        return packed + rest

    def status(self, words: frozenset[str]) -> dict[str, int]:
        """Return the info fields that these words set; unknown words set none."""
        fields: dict[str, int] = {}
        for word in words:
            for name, bits in self.rules.words.get(word, {}).items():
                # Several words may set bits of the same field.
                fields[name] = fields.get(name, 0) | bits
        return fields


MOST_HATE: Final = bytes((100,))
"""The hate that a creature shows to whom it hates most (recorded: fight-1208-melee-a)."""
SOUGHT: Final = b"\1"
"""The icon of what a quest wants dead (recorded: fight-1208-quest-a)."""
LISTS: Final = frozenset(("pos_dest_loc_offset", "pos_dest_loc_offset2"))
"""Lists of the position part that have values: the next two points of a walk."""


def _with_bytes(part: bytes, at: int, fresh: bytes) -> bytes:
    return b"".join((part[:at], fresh, part[at + len(fresh) :]))


def _packer(dialect: Dialect, name: str) -> tuple[struct.Struct, tuple[str, ...]]:
    """Return one packer for a struct of numbers, and its fields.

    Elements of lists have names with their index, as ``pos_dest_loc_offset[0]``; only those of
    `LISTS` are packed.
    """
    text, names = "<", []
    for entry in dialect.layout(name).definition.fields:
        assert entry.type is not None  # noqa: S101
        letter, _ = FORMATS[entry.type]
        if entry.name in LISTS:
            text += f"{entry.size}{letter}"
            names += [f"{entry.name}[{at}]" for at in range(entry.size)]
        elif entry.size > 1:
            # Other lists stay zero: x skips their bytes.
            text += f"{entry.size * struct.calcsize('<' + letter)}x"
        else:
            text += letter
            names.append(entry.name)
    return struct.Struct(text), tuple(names)


class GhostRules:
    """The rules of every range of versions."""

    def __init__(self, rules: Sequence[FormRules]) -> None:
        self._rules = tuple(rules)

    @property
    def words(self) -> frozenset[str]:
        """All status words of any version."""
        return frozenset(word for rules in self._rules for word in rules.words)

    @property
    def last_versions(self) -> tuple[int, ...]:
        """The last client version of each range."""
        return tuple(rules.last for rules in self._rules)

    def for_version(self, version: int) -> FormRules:
        """Return the rules of a version. Raises `UnknownVersion`."""
        for rules in self._rules:
            if rules.first <= version <= rules.last:
                return rules
        # A version between two ranges has no known ghosts.
        raise UnknownVersion(version)


def read_rules(path: Path | None = None) -> GhostRules:
    """Read a table of ghost forms, by default the shipped one. Raises `FileFormatError`."""
    path = path or data_file("world", "ghosts.toml")
    rows = read_document(path).get("form")
    return GhostRules(read_rows(FormRules, rows, path, "form", lambda row: row))


class GhostForms:
    """The encodings of spawns for the client versions of one world."""

    def __init__(
        self, rules: GhostRules, stand_ins: StandIns, in_use: Callable[[], Iterable[Dialect]]
    ) -> None:
        """`stand_ins` are the models that clients are shown instead of those that they lack.

        `in_use` returns the dialects of the clients that are here.
        """
        self._rules = rules
        self._stand_ins = stand_ins
        self._in_use = in_use
        self._made: dict[Dialect, GhostForm] = {}

    def of(self, dialect: Dialect) -> GhostForm | None:
        """Return the encoding for a client version; clients of one dialect share it.

        None for a version whose ghosts are unknown: such a client is shown no spawns.
        """
        found = self._made.get(dialect)
        if found is None:
            try:
                rules = self._rules.for_version(dialect.version)
            except UnknownVersion:
                return None
            # Forms of versions that nobody uses any more are dropped here, because dialects change
            # with each reload of the opcode tables.
            used = set(map(id, self._in_use()))
            self._made = {known: form for known, form in self._made.items() if id(known) in used}
            found = self._made[dialect] = GhostForm(
                dialect, rules, self._stand_ins.for_version(dialect.version)
            )
        return found
