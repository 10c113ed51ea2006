"""What people call races and classes, which are numbers everywhere else."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache

from emu.resources import data_file


def race_name(number: int) -> str:
    """Return a race's name; ``race 99`` for a number that none has."""
    return _name("races", "race", number)


def class_name(number: int) -> str:
    """Return an adventurer class's name; ``class 99`` for a number that none has."""
    return _name("classes", "class", number)


def _name(kind: str, word: str, number: int) -> str:
    names = _names()[kind]
    return names[number] if 0 <= number < len(names) else f"{word} {number}"


@cache
def _names() -> dict[str, Sequence[str]]:
    text = data_file("looks", "names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
