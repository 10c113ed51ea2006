"""The names of all functions of EQ2Emulator, and what stands for those that are missing here."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, Final

from emu.files import data_file

_VALUES: Final = {"number": 0, "truth": False, "text": "", "nothing": None}


@cache
def stub_names() -> dict[str, Any]:
    """Return all names, each with what a function returns that does nothing."""
    table = tomllib.loads(data_file("lua", "functions.toml").read_text(encoding="utf-8"))
    return {name: value for kind, value in _VALUES.items() for name in table[kind]}
