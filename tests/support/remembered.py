"""Reads once in a process what does not change while tests run.

Every server reads the shipped files and asks for the installed packages: together more than half of
the CPU time of its start.
"""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Callable
from copy import copy
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

MOST_TEXTS = 256
"""TOML texts that are remembered; the shipped ones are about 40."""

_parse = tomllib.loads


@lru_cache(MOST_TEXTS)
def _parsed(text: str) -> bytes:
    return pickle.dumps(_parse(text), pickle.HIGHEST_PROTOCOL)


def _loads(text: str, /, **options: Any) -> dict[str, Any]:
    """Return what `tomllib.loads` returns; each call gets a document of its own."""
    if options or not isinstance(text, str):
        return _parse(text, **options)
    found: dict[str, Any] = pickle.loads(_parsed(text))
    return found


def remember_documents() -> None:
    """Let `tomllib.loads` remember the texts of this process and of its later forks."""
    tomllib.loads = _loads


T = TypeVar("T")


def _of_shipped(read: Callable[[Path | None, Path | None], T]) -> Any:
    """Return a function that reads the shipped files once, but an operator's each time."""
    shipped = cache(read)

    def remembering(folder: Path | None = None, content: Path | None = None) -> T:
        if folder is not None or content is not None:
            return read(folder, content)
        # A copy, because a reload changes the atlas of its server.
        return copy(shipped(None, None))

    return remembering


@cache
def remember_starts() -> None:
    """Let servers remember what each reads at its start: shipped zones and lists, and packages."""
    from emu.net.world import ports, service  # noqa: PLC0415  # not every run of tests needs it
    from emu.world.behaviors import library  # noqa: PLC0415

    vars(library)["entry_points"] = cache(entry_points)
    for module, name in ((ports, "read_knowledge"), (service, "read_atlas")):
        vars(module)[name] = _of_shipped(vars(module)[name])
