"""Writes values as TOML on one line: tomli-w would put each number of a place on its own line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def toml_key(name: str) -> str:
    """Return a key, in quotes if it needs them."""
    # TOML allows these characters without quotes.
    return name if name.isascii() and name.replace("_", "a").isalnum() else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a text, number, truth, list or table; tables are inline."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(name)} = {toml_value(one)}" for name, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, float):
        # The shortest text that is read as the same number.
        return repr(value)
    # JSON strings, numbers and booleans are valid TOML, except one character that needs an escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
