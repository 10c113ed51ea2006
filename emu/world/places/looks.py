"""Checks looks and words of files against what clients can be told, before anybody is shown them.

A value that does not fit its field would otherwise be found only when somebody comes near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final
from unicodedata import category

from emu.dialects.dialect import fit
from emu.dialects.text import wire_name
from emu.errors import EmuError
from emu.structs import Layout, shipped_catalog
from emu.world.ghosts import read_rules

INFO: Final = "Substruct_SpawnInfoStruct"


def check_looks(looks: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return looks that can be sent to every client version. Raises `ValueError`."""
    for name, value in looks.items():
        if complaint := _complaint(name, tuple(value) if isinstance(value, list) else value):
            raise ValueError(f"looks: {complaint}")
    return looks


def check_texts(**texts: str) -> None:
    """Check names and titles, by the fields they are told in. Raises `ValueError`."""
    for name, text in texts.items():
        if any(category(letter) == "Cc" for letter in text):
            raise ValueError(f"{name} has letters that cannot be shown")
        if complaint := _complaint(name, wire_name(text)):
            raise ValueError(complaint)


def check_words(words: Sequence[Any]) -> frozenset[str]:
    """Return words that some client version can be told. Raises `ValueError`."""
    for word in words:
        if word not in _words():
            raise ValueError(f"words: there is no {word!r}; one of {', '.join(sorted(_words()))}")
    return frozenset(words)


@cache
def _words() -> frozenset[str]:
    return read_rules().words


@cache
def _layouts() -> tuple[tuple[Layout, Mapping[str, Any]], ...]:
    """Return each layout in which clients are told looks, with its fields' zero values."""
    layouts = [shipped_catalog().layout(INFO, version) for version in read_rules().last_versions]
    return tuple((layout, layout.decode(layout.encode({}))) for layout in layouts)


@lru_cache(maxsize=4096)
def _complaint(name: str, value: Any) -> str:
    """Try one field on every layout; kept, because most of a zone look alike."""
    known = [(layout, zero[name]) for layout, zero in _layouts() if name in zero]
    if not known:
        return f"there is no {name!r}"
    for layout, zero in known:
        try:
            layout.encode({name: fit(zero, value)}, strict=True)
        except (EmuError, IndexError) as error:
            return f"{name} does not fit: {error}"
    return ""
