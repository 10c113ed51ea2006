"""The folder of ground files, path files and outlines that a server or a tool reads.

It is listed once; a new import is seen by a new `MapFolder`. A file that cannot be used is reported
and is as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from emu.errors import FileFormatError
from emu.ground.ground_map import GroundMap
from emu.ground.importing import GROUND, OUTLINE, PATHS
from emu.ground.map_names import MapName, chosen, read_name
from emu.ground.outline_file import OutlineFile, OutlineHeader
from emu.ground.path_mesh import PathMesh

ENDING: Final = ".maps"


def maps_folder(content: Path) -> Path:
    """Return the folder with the ground and path files that belong to a content file."""
    return content.with_suffix(ENDING)


class MapFolder:
    """Ground and path files by zone."""

    def __init__(self, folder: Path, report: Callable[[str], object] = lambda _line: None) -> None:
        """`report` gets a line for each file that cannot be used, now or later."""
        self.folder = folder
        self._report = report
        files = self._files()
        self.grounds = _of_kind(files, GROUND)
        """Ground files by name."""
        self.meshes = _of_kind(files, PATHS)
        """Path files by name."""
        self.outlines = _of_kind(files, OUTLINE)
        """Outline files by name."""

    def ground(self, zone: str, version: int | None = None) -> GroundMap | None:
        """Open the ground of a zone file; None without a usable one.

        A player's is that of his client's version, a spawn's that of no version.
        """
        path = chosen(self.grounds, zone, version)
        try:
            return None if path is None else GroundMap(path, self._report)
        except FileFormatError as error:
            self._report(f"{error}; the zone goes on without this map: import it anew")
            return None

    def mesh(self, zone: str) -> PathMesh | None:
        """Open the mesh of a zone file; None without a usable one."""
        path = chosen(self.meshes, zone, None)
        try:
            return None if path is None else PathMesh(path, self._report)
        except FileFormatError as error:
            self._report(f"{error}; the zone goes on without this mesh: import it anew")
            return None

    def outline(self, zone: str) -> tuple[OutlineHeader, bytes] | None:
        """Read the outline of a zone file: what it shows, and a PNG. None without a usable one."""
        path = chosen(self.outlines, zone, None)
        try:
            if path is None:
                return None
            with OutlineFile(path) as file:
                return file.header, file.image()
        except FileFormatError as error:
            self._report(f"{error}; the zone has no outline: import its map anew")
            return None

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.iterdir())
        except OSError:
            return []  # nothing was imported


def _of_kind(files: Iterable[Path], ending: str) -> dict[MapName, Path]:
    # An incomplete file begins with a dot.
    return {
        read_name(one.stem): one
        for one in files
        if one.suffix == ending and not one.name.startswith(".")
    }
