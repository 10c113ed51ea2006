"""Files: those that ship with the package (`data/`, `opcodes/`), and those that people write.

A file that people write is read whole, within a size limit; one line says what is wrong with it.

In a wheel they lie in `emu/_data/`; in a checkout or an editable install they are the top folders
of the project. This module only finds paths; reading belongs to whoever needs the file.

A file may be anything: a device without an end, a binary, a text that takes minutes to read.
"""

from __future__ import annotations

import errno
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from emu.errors import FileFormatError

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent


def data_folder() -> Path:
    """Return the folder with SQL schemas, packet structs and the example configuration."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT / "data"


def opcodes_folder() -> Path:
    """Return the folder with the opcode tables as text, one CSV file per version range."""
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / "opcodes"


def data_file(*parts: str) -> Path:
    """Return the path of one shipped data file, for instance ``data_file("sql", "store.sql")``."""
    return data_folder().joinpath(*parts)


LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a file; the longest list of spawns that a zone may have takes a quarter of that."""
MOST_PARTS: Final = 64
"""Parts of a key; the time and the room that tomllib takes for one grow with their square."""
LONGEST_QUOTE: Final = 60
_PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_ENDLESS: Final = re.compile(rf"""(?<![\w"'-])(?:{_PART}){{{MOST_PARTS}}}""")


def read_whole(path: Path, most: int = LARGEST) -> bytes:
    """Return what a file holds. Raises `OSError`, for one that is too large as well."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def read_document(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises `FileFormatError`."""
    try:
        data = read_whole(path)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None
    return parse_document(data, path)


def parse_document(data: bytes, path: Path) -> dict[str, Any]:
    """Return what TOML says; `path` is where it stood. Raises `FileFormatError`."""
    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text) if not _ENDLESS.search(text) else None
    except RecursionError:
        raise FileFormatError(f"{path}: not a TOML file: it is nested too deeply") from None
    except ValueError as error:  # what tomllib and Python's integers refuse, and no UTF-8
        raise FileFormatError(f"{path}: not a TOML file: {error}") from None
    if document is None:
        raise FileFormatError(f"{path}: a key has more than {MOST_PARTS} parts")
    return document


def listed(folder: Path, ending: str, setting: str) -> list[Path]:
    """Return the files of a folder whose names end so, sorted; `setting` names the folder.

    Raises `FileFormatError`.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError as error:
        reason = error.strerror
        raise FileFormatError(f"{folder}: cannot be listed ({reason}); see {setting}") from None


def quoted(value: object, longest: int = LONGEST_QUOTE) -> str:
    """Return a value as Python writes it, cut to what fits into a line."""
    shown = repr(value)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."
