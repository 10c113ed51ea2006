"""Files that come with the package (`data/`, `opcodes/`), and safe reading of operators' files.

In a wheel the shipped files are in `emu/_data/`; in a checkout or an editable install they are the
top folders of the project. An operator's file may be anything: a device without an end, binary
data, or a text that takes minutes to parse. So it is read up to a size limit, and every fault is
reported in one line.
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
    """Return the folder with schemas, packet structs, zones and the example configuration."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT / "data"


def opcodes_folder() -> Path:
    """Return the folder with the opcode tables as text, one CSV file per version range."""
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / "opcodes"


def data_file(*parts: str) -> Path:
    """Return the path of a shipped data file, for instance ``data_file("world", "chat.toml")``."""
    return data_folder().joinpath(*parts)


LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a file; the longest list of spawns of a zone takes a quarter of them."""
MOST_PARTS: Final = 64
"""Parts of a dotted key; time and memory of tomllib grow with the square of their number."""
LONGEST_QUOTE: Final = 60
_PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_ENDLESS: Final = re.compile(rf"""(?<![\w"'-])(?:{_PART}){{{MOST_PARTS}}}""")


def read_whole(path: Path, most: int = LARGEST) -> bytes:
    """Return a file's content. Raises `OSError`, also if the file is too large."""
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
    """Parse TOML; `path` is for errors. Raises `FileFormatError`."""
    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text) if not _ENDLESS.search(text) else None
    except RecursionError:
        raise FileFormatError(f"{path}: not a TOML file: it is nested too deeply") from None
    except ValueError as error:  # from tomllib, from long integers, and from decoding
        raise FileFormatError(f"{path}: not a TOML file: {error}") from None
    if document is None:
        raise FileFormatError(f"{path}: a key has more than {MOST_PARTS} parts")
    return document


def listed(folder: Path, ending: str, setting: str) -> list[Path]:
    """Return the files of a folder with this ending, sorted; `setting` is for errors.

    Raises `FileFormatError`.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError as error:
        reason = error.strerror
        raise FileFormatError(f"{folder}: cannot be listed ({reason}); see {setting}") from None


def quoted(value: object, longest: int = LONGEST_QUOTE) -> str:
    """Return the repr of a value, cut to `longest` characters."""
    shown = repr(value)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."
