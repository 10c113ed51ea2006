"""Parses the same TOML text once in a process.

A parse depends on its text only. Every server and most test worlds read the shipped files, whose
parse takes half of the CPU time of a server's start.
"""

from __future__ import annotations

import pickle
import tomllib
from functools import lru_cache
from typing import Any

MOST_REMEMBERED = 256
"""Texts; the shipped files are about 30."""

_parse = tomllib.loads


@lru_cache(MOST_REMEMBERED)
def _parsed(text: str) -> bytes:
    return pickle.dumps(_parse(text), pickle.HIGHEST_PROTOCOL)


def _loads(text: str, /, **options: Any) -> dict[str, Any]:
    """Return what `tomllib.loads` returns; each call gets a document of its own."""
    if options or not isinstance(text, str):
        return _parse(text, **options)
    found: dict[str, Any] = pickle.loads(_parsed(text))  # we wrote it
    return found


def remember_documents() -> None:
    """Let `tomllib.loads` remember the texts of this process and of its later forks."""
    tomllib.loads = _loads
