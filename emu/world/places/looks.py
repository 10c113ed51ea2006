"""Checks looks and words of files against what clients can be told, before anybody is shown them.

A value that does not fit its field would otherwise be found only when somebody comes near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from emu.dialects.dialect import fit
from emu.errors import EmuError
from emu.structs import Layout, shipped_catalog
from emu.world.ghosts import read_rules

INFO: Final = "Substruct_SpawnInfoStruct"


def check_looks(looks: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return looks that can be sent to every client version. Raises `ValueError`."""
    for name, value in looks.items():
        _check_look(name, tuple(value) if isinstance(value, list) else value)
    return looks


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


@cache
def _check_look(name: str, value: Any) -> None:
    """Try one look on every layout; kept, because most of a zone look alike."""
    known = [(layout, zero[name]) for layout, zero in _layouts() if name in zero]
    if not known:
        raise ValueError(f"looks: there is no {name!r}")
    for layout, zero in known:
        try:
            layout.encode({name: fit(zero, value)}, strict=True)
        except (EmuError, IndexError) as error:
            raise ValueError(f"looks: {name} does not fit: {error}") from None
