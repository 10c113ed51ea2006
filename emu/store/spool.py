"""The spool: a file of one process with the players that the store could not save.

It is a small SQLite file, which only its owner may read. A state goes there while the store is away
and is removed when it is stored, so a process that is killed meanwhile loses nothing. The next
start saves what is left. Each state has its save number and its character's term, so it never
replaces a newer state. Each row has the SHA-256 of its text, because JSON that was damaged may
still be valid JSON, with another place or name in it.

Programs up to 0.1 wrote another file, at a stop only: a first line with the SHA-256 of the second
one, which has the states as JSON. It is still read.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from emu.errors import FileFormatError, MalformedMessage, OutOfDate
from emu.facts import saved_facts
from emu.files import begins_with, partial_file
from emu.model import SavedState, WorldCharacter
from emu.store.store import Store
from emu.system import flush

OLD_FORMAT: Final = 1
FORMAT: Final = 3
"""The ``user_version`` of the file; 2 had a field for each fact, and None for an unchanged one."""
_OLD_HEAD: Final = b"{"
_SQLITE_HEAD: Final = b"SQLite format 3\0"
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS states (
        character_id INTEGER PRIMARY KEY,
        state TEXT NOT NULL,    -- JSON
        sha256 TEXT NOT NULL    -- of `state`
    ) STRICT
"""
_OWNER: Final = "CREATE TABLE IF NOT EXISTS owner (identity TEXT NOT NULL) STRICT"
"""The identity of the database whose states these are (`emu.store.identity`)."""


def spool_path(database: Path) -> Path:
    """Return the spool file of a database."""
    return database.with_name(f"{database.name}.unsaved")


def set_aside_path(spool: Path, why: str = "damaged") -> Path:
    """Return a free name for a spool file that is not used."""
    # It is kept for the operator, so an earlier one must not be replaced.
    names = (f"{spool.name}.{why}{number or ''}" for number in range(10_000))
    return next(
        (path for path in map(spool.with_name, names) if not path.exists()),
        spool.with_name(f"{spool.name}.{why}"),
    )


class SpoolFile:
    """An open spool file, for one thread at a time; it is made when it is needed.

    Every method raises `OSError` when the file cannot be read or written.
    """

    def __init__(self, path: Path, identity: str = "") -> None:
        """`identity` is that of the database whose states it keeps."""
        self.path = path
        self.identity = identity
        self._connection: sqlite3.Connection | None = None

    def keep_states(self, states: Collection[SavedState], gone: Collection[int] = ()) -> None:
        """Keep states, each in place of an earlier one of its character, and remove others.

        `gone` are ids of characters. All of it is done or nothing; afterwards it is on the disk. A
        file without states is removed.
        """
        try:
            connection = self._opened()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(
                    "INSERT INTO states VALUES (?, ?, ?) ON CONFLICT (character_id)"
                    " DO UPDATE SET state = excluded.state, sha256 = excluded.sha256",
                    [
                        (state.char_id, text, _digest(text.encode()))
                        for state, text in ((state, to_text(state)) for state in states)
                    ],
                )
                connection.executemany(
                    "DELETE FROM states WHERE character_id = ?", [(one,) for one in gone]
                )
            [left] = connection.execute("SELECT count(*) FROM states").fetchone()
        except sqlite3.Error as error:
            self.close()
            raise OSError(f"{self.path}: {error}") from error
        if not left:
            self.remove()

    def close(self) -> None:
        """Close the file; its states stay."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def remove(self) -> None:
        """Close and remove the file."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            if not self.path.exists():
                # Under another name first: nobody may find a file that is half made.
                with partial_file(self.path) as fresh:
                    _create(fresh, self.identity)
                    fresh.replace(self.path)
            self._connection = _connect(self.path)
        return self._connection


def _create(path: Path, identity: str) -> None:
    """Make an empty file one without states. Raises `sqlite3.Error`."""
    with closing(_connect(path)) as connection:
        connection.execute(_OWNER)
        connection.execute(_TABLE)
        connection.execute("INSERT INTO owner VALUES (?)", (identity,))
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def write_spool(path: Path, states: Sequence[SavedState], identity: str = "") -> None:
    """Replace a file by one with these states, completely or not at all. Raises `OSError`.

    `identity` is that of the database whose states they are.
    """
    with partial_file(path) as fresh:
        try:
            _create(fresh, identity)
        except sqlite3.Error as error:
            raise OSError(f"{path}: {error}") from error
        file = SpoolFile(fresh)
        try:
            file.keep_states(states)
        finally:
            file.close()
        # Content before name: after a power cut, a file of this name is complete.
        flush(fresh)
        fresh.replace(path)
    # The folder, too: otherwise a power cut could lose the name.
    flush(path.parent)


def read_spool(path: Path) -> list[SavedState]:
    """Return the states of a file.

    Raises `FileFormatError` for a file that this program did not write, and `OSError`.
    """
    with path.open("rb") as file:
        head = file.read(len(_SQLITE_HEAD))
    try:
        states = _read_old(path) if head[:1] == _OLD_HEAD else _read(path)
    except (ValueError, TypeError, KeyError, RecursionError, MalformedMessage, sqlite3.Error):
        raise FileFormatError(f"{path}: it is damaged") from None
    if not all(_is_whole(state) for state in states):
        raise FileFormatError(f"{path}: a character in it has values that cannot be stored")
    return states


def spool_identity(path: Path) -> str:
    """Return the identity of the database of a file that `read_spool` has read; empty if unknown.

    Programs up to 0.1 stored none. Raises `OSError`.
    """
    if not begins_with(path, _SQLITE_HEAD.decode()):
        return ""
    try:
        with closing(_connect(path)) as connection:
            found = connection.execute("SELECT identity FROM owner").fetchone()
    except sqlite3.OperationalError:  # it has no such table
        return ""
    return str(found[0]) if found else ""


def _read(path: Path) -> list[SavedState]:
    with closing(_connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        # A newer format may mean something else by the same columns.
        if version > FORMAT:
            raise FileFormatError(f"{path}: its format {version} is unknown")
        if (
            version not in (FORMAT - 1, FORMAT)
            or connection.execute("PRAGMA quick_check").fetchone()[0] != "ok"
        ):
            raise ValueError("not written by this program")
        rows = connection.execute("SELECT * FROM states ORDER BY character_id").fetchall()
    states = []
    for char_id, text, digest in rows:
        state = _state(from_text(Any, text))
        if _digest(text.encode()) != digest or state.char_id != char_id:
            raise ValueError("a row with another checksum")
        states.append(state)
    return states


def _read_old(path: Path) -> list[SavedState]:
    """Return the states of a file that a program up to 0.1 wrote."""
    head, _, body = path.read_bytes().partition(b"\n")
    body = body.removesuffix(b"\n")
    about = json.loads(head)
    if about["format"] != OLD_FORMAT:
        raise FileFormatError(f"{path}: its format {about['format']} is unknown")
    if about["sha256"] != _digest(body):
        raise FileFormatError(f"{path}: it is damaged: its checksum is wrong")
    return [_state(one) for one in from_text(Any, body.decode())]


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    # The usual journal and no WAL: one file can be renamed and removed without its companions.
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


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


def _state(plain: Any) -> SavedState:
    """Return a state from its JSON form. Raises `MalformedMessage`."""
    known = saved_facts(WorldCharacter)
    try:
        state: SavedState = _made(SavedState, plain)
        given = plain["facts"] if "facts" in plain else _older_facts(plain)
        # A newer version may have written other facts.
        facts = {
            name: _made(known[name].type, value) for name, value in given.items() if name in known
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MalformedMessage("a value that is not of its kind") from None
    return replace(state, facts=facts)


def _older_facts(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a state of an earlier format, which has None for an unchanged one."""
    names = saved_facts(WorldCharacter)
    facts = {name: value for name in names if (value := plain.get(name)) is not None}
    if (titles := facts.pop("titles", None)) is not None:
        facts |= {"titles": titles["given"], "prefix": titles["prefix"], "suffix": titles["suffix"]}
    return facts | (plain.get("progress") or {})


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
