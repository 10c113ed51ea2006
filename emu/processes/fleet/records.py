"""Values as text, for what travels between processes: frozen dataclasses, sequences, mappings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from emu.errors import MalformedMessage


def to_text(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def from_text(kind: Any, text: str) -> Any:
    """Return the value of a kind that a text stands for. Raises `MalformedMessage`."""
    try:
        return _made(kind, json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MalformedMessage("a value that is not of its kind") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value)


def _made(kind: Any, plain: Any) -> Any:
    if is_dataclass(kind):
        made: Any = kind
        hints = _hints(made)
        names = [item.name for item in fields(kind)]
        return made(**{name: _made(hints[name], plain[name]) for name in names})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if plain is None or not isinstance(plain, (dict, list)):
            return plain
        return _made(next(one for one in arguments if one is not type(None)), plain)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_made(arguments[0], one) for one in plain)
        return tuple(_made(one, part) for one, part in zip(arguments, plain, strict=True))
    if origin in (list, Sequence):
        return [_made(arguments[0], one) for one in plain]
    if origin is Mapping:
        return {name: _made(arguments[1], one) for name, one in plain.items()}
    return plain


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
