"""The form of ghosts that one client version knows: layouts, sizes, and words turned into bits.

What differs between versions is in `data/structs` and `data/world/ghosts.toml`; here both are
joined. A form is shared by all clients of its version, so that what is encoded once serves all of
them. Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/recorded.md#own-ghost.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emu.dialects import Dialect
from emu.dialects.text import wire_texts
from emu.errors import FileFormatError, UnknownVersion
from emu.resources import data_file
from emu.sight.forms import HEADER, PARTS, SIGN_FOOTER, WIDGET_FOOTER
from emu.structs.packed import pack_stream, reverses_literals


@dataclass(frozen=True, slots=True)
class FormRules:
    """What `data/world/ghosts.toml` says of a range of client versions."""

    first: int
    last: int
    words: Mapping[str, Mapping[str, int]]
    """For each word about a spawn, the fields of its info and the bits to set there."""
    vis_flags_limit: int
    level_field: str = ""
    """A list field of the info whose first element repeats the level; empty for none."""


class GhostForm:
    """Layouts and rules of ghosts for one client version."""

    __slots__ = ("_reverse", "dialect", "rules", "sizes")

    def __init__(self, dialect: Dialect, rules: FormRules) -> None:
        """Join a version's rules with its layouts. Raises `UnknownStruct` when one is missing."""
        self.dialect = dialect
        self.rules = rules
        self._reverse = reverses_literals(dialect.version)
        self.sizes = tuple(dialect.layout(name).empty_size() for name in PARTS)
        """Bytes of each part before it is packed."""
        for name in (HEADER, WIDGET_FOOTER, SIGN_FOOTER):
            dialect.layout(name)

    def encode(self, struct: str, values: Mapping[str, Any]) -> bytes:
        """Return a struct's bytes; values that this version does not know are left out."""
        return self.dialect.encode_known(struct, wire_texts(values))

    def pack(self, data: bytes) -> bytes:
        """Return bytes packed, without a length in front."""
        return pack_stream(data, reverse=self._reverse)

    def status(self, words: frozenset[str]) -> dict[str, int]:
        """Return the info fields that these words set; a word this version lacks sets none."""
        fields: dict[str, int] = {}
        for word in words:
            for field, bits in self.rules.words.get(word, {}).items():
                fields[field] = fields.get(field, 0) | bits
        return fields


class GhostRules:
    """The rules of every range of versions."""

    def __init__(self, rules: Sequence[FormRules]) -> None:
        self._rules = tuple(rules)

    @property
    def words(self) -> frozenset[str]:
        """Every word about a spawn that some version can be told."""
        return frozenset(word for rules in self._rules for word in rules.words)

    @property
    def last_versions(self) -> tuple[int, ...]:
        """The last client version of each range."""
        return tuple(rules.last for rules in self._rules)

    def for_version(self, version: int) -> FormRules:
        """Return a version's rules; raises `UnknownVersion`."""
        for rules in self._rules:
            if rules.first <= version <= rules.last:
                return rules
        raise UnknownVersion(version)


def read_rules(path: Path | None = None) -> GhostRules:
    """Read a table of forms, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "ghosts.toml")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return GhostRules([FormRules(**row) for row in document["form"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: not a table of ghost forms: {error!r}") from None
