"""Values of the world as JSON, and back: records, numbers with names, texts and bytes.

A record is an instance of a class of `MODULES`: a file from elsewhere can make nothing else. What
is private is left out unless it is asked for: texts between players, and addresses.
"""

from __future__ import annotations

import dataclasses
import importlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from emu.errors import FileFormatError

MODULES: Final = frozenset((
    "emu.correspondence", "emu.facts", "emu.guilds", "emu.items.held", "emu.items.kinds",
    "emu.ledger", "emu.model", "emu.processes.ports", "emu.world_stream.movement",
))  # fmt: skip
"""The modules of the classes that a recording may have."""
PRIVATE: Final = frozenset(("text", "subject", "body", "answer", "note", "officer_note"))
"""Fields with texts of players."""
ABSENT: Final = frozenset(("address", "last_address", "host", "password", "client_data"))
"""Fields that are empty in a recording without private values."""
_KIND: Final = "@"
_DEEPEST: Final = 40


def masked(text: str) -> str:
    """Return a text of the same length and form without its letters and digits."""
    return "".join("x" if one.isalnum() else one for one in text)


def encoded(value: Any, *, is_private: bool = False) -> Any:  # noqa: PLR0911  # one for each type
    """Return a value as JSON has it; `is_private` keeps texts and addresses.

    What is no value of a recording becomes null.
    """
    if isinstance(value, Enum):
        if type(value).__module__ not in MODULES:
            return encoded(value.value, is_private=is_private)
        return {_KIND: "enum", "of": _name_of(type(value)), "is": value.value}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {_KIND: "bytes", "is": b64encode(value).decode()}
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
        is_known = type(value).__module__ in MODULES
        return _encoded_record(value, is_private=is_private) if is_known else None
    if isinstance(value, Mapping):
        rows = [[encoded(one, is_private=is_private) for one in row] for row in value.items()]
        return {_KIND: "map", "is": rows}
    if isinstance(value, tuple | list | set | frozenset):
        rows = [encoded(one, is_private=is_private) for one in value]
        if isinstance(value, list):
            return rows
        return {_KIND: "tuple" if isinstance(value, tuple) else "set", "is": rows}
    return None


def _name_of(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _encoded_record(value: Any, *, is_private: bool) -> Any:
    names = getattr(value, "_fields", None) or [
        field.name for field in dataclasses.fields(value) if field.init
    ]
    made = {}
    for name in names:
        own = getattr(value, name)
        if not is_private and isinstance(own, str):
            own = "" if name in ABSENT else masked(own) if name in PRIVATE else own
        made[name] = encoded(own, is_private=is_private)
    return {_KIND: "record", "of": _name_of(type(value)), "is": made}


def decoded(value: Any, depth: int = 0) -> Any:
    """Return the value of `encoded`. Raises `FileFormatError`."""
    if depth > _DEEPEST:
        raise FileFormatError("a value of the recording is too deep")
    if isinstance(value, list):
        return [decoded(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    try:
        return _decoded(value[_KIND], value, depth)
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"a value of the recording is damaged: {error}") from None


def _decoded(kind: str, value: dict[str, Any], depth: int) -> Any:
    own = value["is"]
    if kind == "bytes":
        return b64decode(own, validate=True)
    if kind == "enum":
        return _class_named(value["of"])(own)
    if kind == "record":
        fields = {name: decoded(one, depth + 1) for name, one in own.items()}
        return _class_named(value["of"])(**fields)
    rows = [decoded(one, depth + 1) for one in own]
    if kind == "map":
        return dict(rows)
    return set(rows) if kind == "set" else tuple(rows)


def _class_named(name: str) -> Any:
    module, _, path = name.partition(":")
    if module not in MODULES:
        raise FileFormatError(f"the recording has a value of {name!r}")
    found = getattr(importlib.import_module(module), path, None)
    is_record = isinstance(found, type) and (
        dataclasses.is_dataclass(found) or issubclass(found, Enum | tuple)
    )
    if not is_record:
        raise FileFormatError(f"the recording has a value of {name!r}")
    return found
