"""The files of a folder of scripts, found as the community's rows name them.

Source: docs/guides/lua.md#names.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.errors import ScriptError

ENCODING: Final = "latin-1"
"""Texts pass unchanged, byte by byte."""
LARGEST_SOURCE: Final = 2 * 1024 * 1024
"""Bytes of a file; the community's longest one has 826,221."""
Stamp = tuple[int, int]
"""The time of a file's last change in nanoseconds, and its size."""


class ScriptFolder:
    """The files of a folder of scripts, found as the community's rows name them.

    Rows name files relative to the folder. Most names are exact; some have quotes or blanks around
    them, or another case (docs/guides/lua.md#names).
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._root = str(root)
        self._listed: dict[str, dict[str, str]] = {}
        """Names of the entries of folders: without regard to case -> as they are."""

    def find(self, name: str) -> str | None:
        """Return the path of a named script relative to the folder, or None."""
        for wanted in (name, name.strip(" '\"\t\r\n")):
            path = wanted.replace("\\", "/")
            if self._is_inside(path) and self._is_file(path):
                return path
        return self._by_case(path) if self._is_inside(path) else None

    def has(self, path: str) -> bool:
        """Return whether there is exactly this file."""
        return self._is_inside(path) and self._is_file(path)

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the exact names of what a folder contains; none if there is no such folder."""
        if not self._is_inside(folder):
            return frozenset()
        try:
            return frozenset(entry.name for entry in (self.root / folder).iterdir())
        except OSError:
            return frozenset()

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a file that `find` has returned. Raises `ScriptError`."""
        try:
            with (self.root / path).open("rb") as file:
                data = file.read(LARGEST_SOURCE + 1)
        except OSError as error:
            raise ScriptError(path, 0, f"cannot be read: {error.strerror}") from error
        if len(data) > LARGEST_SOURCE:
            raise ScriptError(path, 0, f"is larger than {LARGEST_SOURCE} bytes")
        return data

    def stamp(self, path: str) -> Stamp | None:
        """Return the time of a file's last change in nanoseconds and its size; None without it."""
        try:
            found = (self.root / path).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def forget(self) -> None:
        """Look for the files anew at the next name that is not exact."""
        self._listed.clear()

    def files(self) -> Iterator[str]:
        """Yield the paths of all scripts below the folder, sorted."""
        for path in sorted(self.root.rglob("*.lua")):
            if path.is_file():
                yield path.relative_to(self.root).as_posix()

    def _by_case(self, path: str) -> str | None:
        """Return the path of a file whose name is written in another case."""
        # Step by step: a list of all files of a large folder would take too long.
        found = ""
        for part in path.split("/"):
            name = self._names(found).get(part.casefold())
            if name is None:
                return None
            found = f"{found}/{name}" if found else name
        return found if self._is_file(found) else None

    def _is_file(self, path: str) -> bool:
        # As text, since each spawn without a row asks for the script of its name. False also if the
        # name is too long for the file system, or the folder may not be read.
        return os.path.isfile(f"{self._root}/{path}")  # noqa: PTH113  # a path object costs more

    def _names(self, folder: str) -> dict[str, str]:
        known = self._listed.get(folder)
        if known is None:
            try:
                names = [entry.name for entry in (self.root / folder).iterdir()]
            except OSError:
                names = []
            known = self._listed[folder] = {name.casefold(): name for name in names}
        return known

    @staticmethod
    def _is_inside(path: str) -> bool:
        parts = path.split("/")
        # A colon and a NUL mean something else to some systems; no script has them.
        return bool(path) and not path.startswith("/") and ".." not in parts and "\0" not in path
