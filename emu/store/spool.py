"""The spool: a file beside the database with the players that a stop could not save.

The next start saves them. The file is written completely or not at all, and only its owner may read
it. The first line has the number of characters and the SHA-256 of the second line, which has their
states as JSON. Each state has its save number, so it never replaces a newer state.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from emu.errors import FileFormatError, MalformedMessage, OutOfDate
from emu.files import flush, partial_file
from emu.model import SavedState
from emu.store.store import Store

FORMAT: Final = 1


def spool_path(database: Path) -> Path:
    """Return the spool file of a database."""
    return database.with_name(f"{database.name}.unsaved")


def set_aside_path(spool: Path) -> Path:
    """Return a free name for a damaged spool file."""
    # A damaged file is kept for the operator, so an earlier one must not be replaced.
    names = (f"{spool.name}.damaged{number or ''}" for number in range(10_000))
    return next(
        (path for path in map(spool.with_name, names) if not path.exists()),
        spool.with_name(f"{spool.name}.damaged"),
    )


def write_spool(path: Path, states: Sequence[SavedState]) -> None:
    """Replace a file's content by these states. Raises `OSError`."""
    # The second line is one line: JSON escapes line feeds.
    body = to_text(list(states)).encode()
    head = {"format": FORMAT, "characters": len(states), "sha256": _digest(body)}
    with partial_file(path) as fresh:
        with fresh.open("wb") as file:
            file.write(json.dumps(head).encode() + b"\n" + body + b"\n")
        # Content before name: after a power cut, a file of this name is complete.
        flush(fresh)
        fresh.replace(path)
    # The folder, too: otherwise a power cut could lose the name.
    flush(path.parent)


def read_spool(path: Path) -> list[SavedState]:
    """Return the states of a file.

    Raises `FileFormatError` for a file that `write_spool` did not write, and `OSError`.
    """
    head, _, body = path.read_bytes().partition(b"\n")
    body = body.removesuffix(b"\n")
    try:
        about = json.loads(head)
        # A newer format may mean something else by the same fields.
        if about["format"] != FORMAT:
            raise FileFormatError(f"{path}: its format {about['format']} is unknown")
        # JSON that was damaged may still be valid JSON, with another place or name in it.
        if about["sha256"] != _digest(body):
            raise FileFormatError(f"{path}: it is damaged: its checksum is wrong")
        states: list[SavedState] = from_text(list[SavedState], body.decode())
    except (ValueError, TypeError, KeyError, RecursionError, MalformedMessage):
        raise FileFormatError(f"{path}: it is damaged") from None
    if not all(_is_whole(state) for state in states):
        raise FileFormatError(f"{path}: a character in it has values that cannot be stored")
    return states


def load_spool(store: Store, states: Sequence[SavedState]) -> list[SavedState]:
    """Store states in one transaction; return those that were stored.

    The others are older than the stored state, or their character no longer exists. Raises
    `StoreError`; then none is stored.
    """
    stored = []
    # One transaction: after a failure the file stays complete, and the next start tries all of it
    # again.
    with store.transaction():
        for state in states:
            row = store.world.characters.find(state.char_id)
            # A reset database may have given the number to another character.
            if row is None or (row.account_id, row.created) != (state.account_id, state.created):
                continue
            try:
                store.world.characters.save_character(state.char_id, state)
            except OutOfDate:
                # The save arrived after all, or another process has played the character since.
                continue
            stored.append(state)
    return stored


def to_text(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def from_text(kind: Any, text: str) -> Any:
    """Return the value of a type from its JSON. Raises `MalformedMessage`."""
    try:
        return _made(kind, json.loads(text))
    # A newer version may have written other fields.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MalformedMessage("a value that is not of its kind") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value)


def _made(kind: Any, plain: Any) -> Any:
    """Return the value of a type from its JSON form; raises what the constructors raise."""
    origin, arguments = get_origin(kind), get_args(kind)
    value = plain
    if is_dataclass(kind):
        made: Any = kind
        # Resolved once for each type: reading annotations costs more than making the value.
        hints = _hints(made)
        given = [
            one
            for one in fields(kind)
            # A field with a default may be newer than the text.
            if one.name in plain or (one.default is MISSING and one.default_factory is MISSING)
        ]
        value = made(**{one.name: _made(hints[one.name], plain[one.name]) for one in given})
    elif origin in (Union, UnionType):
        # Plain values are the same in JSON; only a container needs the type that is not None.
        if isinstance(plain, (dict, list)):
            value = _made(next(one for one in arguments if one is not type(None)), plain)
    # Fixed length: each item has a type of its own. `tuple[int, ...]` is the next case.
    elif origin is tuple and arguments[-1] is not Ellipsis:
        value = tuple(_made(one, item) for one, item in zip(arguments, plain, strict=True))
    elif origin is tuple:
        value = tuple(_made(arguments[0], item) for item in plain)
    elif origin in (list, Sequence):
        value = [_made(arguments[0], item) for item in plain]
    elif origin is Mapping:
        value = {name: _made(arguments[1], item) for name, item in plain.items()}
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _is_whole(state: SavedState) -> bool:
    """Return whether a state's values have their types; the database checks its lists."""
    numbers: tuple[Any, ...] = (
        state.char_id, state.account_id, state.revision, state.zone_id, state.term
    )  # fmt: skip
    # The checksum proves that this program wrote the file, but a newer version may have written
    # other types.
    place: Sequence[Any] = state.place
    return (
        # `type` and not `isinstance`: True is an integer for Python.
        all(type(number) is int for number in numbers)
        and len(place) == 5
        and all(isinstance(part, int | float) and math.isfinite(part) for part in place)
    )
