"""Files that come with the package (`data/`, `opcodes/`), operators' files, incomplete files.

In a wheel the shipped files are in `emu/_data/`; in a checkout or an editable install they are the
top folders of the project. An operator's file may be anything: a device without an end, binary
data, or a text that takes minutes to parse. So it is read up to a size limit, and every fault is
reported in one line.

Files are written under a temporary name and renamed when complete. A killed program cannot remove
the file that it was writing. So the temporary name, ``.NAME.<12 hex digits>.emu-partial``, marks it
as incomplete, and its writer holds a lock on it, which ends with the process. The next
writer in the same folder removes incomplete files without a lock.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from emu.errors import FileFormatError
from emu.system import open_locked

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
    # One byte more was read, which shows that the file is too large.
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


def begins_with(path: Path, head: str) -> bool:
    """Return whether a file begins with a text; one that cannot be read does not."""
    expected = head.encode()
    try:
        with path.open("rb") as file:
            return file.read(len(expected)) == expected
    except OSError:
        return False


def parse_document(data: bytes, path: Path) -> dict[str, Any]:
    """Parse TOML; `path` is for errors. Raises `FileFormatError`."""
    try:
        # `utf-8-sig`: editors on Windows put a mark at the beginning of files.
        text = data.decode("utf-8-sig")
        # Checked before the parse, which could take minutes.
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


SUFFIX: Final = ".emu-partial"
COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes beside a database."""

_NAME: Final = re.compile(
    rf"(\..*\.[0-9a-f]{{12}}{re.escape(SUFFIX)})(?:-wal|-shm|-journal)?", re.DOTALL
)
_LONGEST_NAME: Final = 200
"""Characters of the final name in the temporary name."""


OWNER_ONLY: Final = 0o600
"""Access mode for files with secrets."""
ANYBODY: Final = 0o666
"""Access mode for other files, before the user's umask."""


@contextmanager
def partial_file(path: Path, access: int = OWNER_ONLY) -> Iterator[Path]:
    """Create an empty file beside `path`; remove it at the end unless it was renamed.

    The caller writes it, and renames it to `path` when it is complete. First, incomplete files of
    killed programs are removed from the folder. Raises `OSError`.
    """
    remove_stale(path.parent)
    # The lock marks the file as in use, so that no other program removes it.
    fresh, lock = _make(path.parent, path.name, access)
    try:
        yield fresh
    finally:
        # Before the lock is released, because then another program may remove the files, too.
        for companion in COMPANIONS:
            Path(f"{fresh}{companion}").unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def partial_folder() -> Iterator[Path]:
    """Create a folder among the system's temporary files; remove it at the end.

    First, folders of killed programs are removed. Raises `OSError`.
    """
    parent = Path(tempfile.gettempdir())
    remove_stale(parent)
    while True:
        folder = parent / f".folder.{secrets.token_hex(6)}{SUFFIX}"
        folder.mkdir(mode=0o700)
        # Another program may have removed the folder as stale before it was locked.
        lock = open_locked(folder)
        if lock is not None:
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_stale(folder: Path) -> int:
    """Remove incomplete files of killed programs from a folder; return their number.

    Files that a program still writes, and those of other users, stay.
    """
    removed = 0
    try:
        # One pass over the folder: SUFFIX is rare, so few names remain.
        names = {entry.name for entry in os.scandir(folder) if SUFFIX in entry.name}
    except OSError:
        return 0
    # A companion without its file is stale as well.
    stems = {match[1] for name in names if (match := _NAME.fullmatch(name)) is not None}
    for stem in stems:
        path = folder / stem
        lock = open_locked(path) if stem in names else None
        # Another program still writes it.
        if stem in names and lock is None:
            continue
        for companion in COMPANIONS:
            removed += stem + companion in names and _remove(folder / f"{stem}{companion}")
        if lock is not None:
            os.close(lock)
    return removed


def take_name(fresh: Path, path: Path) -> bool:
    """Give a complete file its final name; return False if another file has that name."""
    try:
        os.link(fresh, path)  # unlike a rename it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        fresh.rename(path)
    return True


def _make(folder: Path, name: str, access: int) -> tuple[Path, int]:
    """Create and lock an empty file; return its path and the lock's descriptor."""
    # A loop, because another program may remove the file before it is locked.
    while True:
        fresh = folder / f".{name[:_LONGEST_NAME]}.{secrets.token_hex(6)}{SUFFIX}"
        # O_EXCL: an existing file of this name belongs to somebody else.
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, access))
        lock = open_locked(fresh)
        if lock is not None:
            return fresh, lock


def _remove(path: Path) -> bool:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        return True
    return False
