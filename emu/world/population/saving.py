"""Saves a spawn into a zone file of the operator's folder.

The entry is added at the end of the file. Everything else in the file stays byte for byte: its
comments, its order and its spacing. The result is read before it replaces the file, so a file never
becomes unusable.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import tomlkit

from emu.errors import CommandError, FileFormatError
from emu.files import ANYBODY, parse_document, partial_file, read_whole
from emu.system import flush
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.atlas import STARTS
from emu.world.population.eq2emu_files import is_imported
from emu.world.population.files import read_fixtures
from emu.world.population.rows import spawn_row
from emu.world.zones.definitions import Atlas, Fixture, ZoneDefinition
from emu.world_stream.movement import Position

_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(\.toml)?")


def row_of(
    spawn: Spawn, behavior: str = "", options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a spawn as a ``[[spawn]]`` table, without the keys that have their default.

    The place is where it was added. Signs, widgets and destinations are not saved: only files have
    them. Raises `CommandError` for such a spawn.
    """
    # The rest of such a spawn is known only to the file that it came from.
    if spawn.kind not in (SpawnKind.NPC, SpawnKind.OBJECT) or spawn.destination is not None:
        raise CommandError(f"{spawn.name} is no creature and no object; it cannot be saved")
    at = spawn.origin
    # Rounded: nobody needs millimeters, and the file stays readable.
    x, y, z = (round(float(number), 3) for number in at[:3])
    place = Position(x, y, z, round(at.heading % 360.0, 2), at.grid)
    return spawn_row(Fixture(spawn.template(), place, behavior, dict(options or {})))


class ZoneFiles:
    """The zone files of the operator's folder, for saving spawns."""

    def __init__(self, atlas: Atlas, folder: Callable[[], Path | None]) -> None:
        """`folder` returns the folder of the setting world.zones, None if there is none."""
        self._atlas = atlas
        self._folder = folder

    def save(self, zone: ZoneDefinition, row: Mapping[str, Any], name: str = "") -> Path:
        """Add a ``[[spawn]]`` table to a file of a zone; return the file.

        Without a `name` it is the operator's own file of the zone, or one with the zone's name. A
        file that is missing is made; it extends the zone. Raises `CommandError`.
        """
        path = self._path(zone, name)
        try:
            before = read_whole(path) if path.exists() else None
            text = self._text(path, zone, row, before)
            _write(path, text, before)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written ({error.strerror})") from None
        except FileFormatError as error:
            raise CommandError(str(error)) from None
        return path

    def _path(self, zone: ZoneDefinition, name: str) -> Path:
        folder = self._folder()
        if folder is None:
            raise CommandError("there is no folder to save in; set world.zones")
        name = name or self._own_file(zone, folder)
        # A name comes from a command: it must not lead out of the folder.
        if not _FILE_NAME.fullmatch(name):
            raise CommandError(
                f"{name!r} is no name of a zone file; use letters, digits, - and _ and no folder"
            )
        file = f"{name.removesuffix('.toml')}.toml"
        path = folder / file
        if file == STARTS:
            raise CommandError(f"{file} has no spawns; name another file")
        # A link in the folder may lead anywhere.
        if path.is_symlink() or path.resolve().parent != folder.resolve():
            raise CommandError(f"{file} is a link to another place; name another file")
        return path

    def _own_file(self, zone: ZoneDefinition, folder: Path) -> str:
        """Return the name of the file to use if none is given."""
        source = self._atlas.sources.get(zone.id)
        # The next import would keep an imported file that has been changed, and not renew it.
        is_own = source is not None and source.path.parent == folder
        if source is not None and is_own and not is_imported(source.path):
            return source.path.name
        return re.sub(r"[^A-Za-z0-9_-]+", "-", zone.name).strip("-_")

    def _text(
        self, path: Path, zone: ZoneDefinition, row: Mapping[str, Any], before: bytes | None
    ) -> bytes:
        """Return the new content of a file. Raises `CommandError` and `FileFormatError`."""
        if before is None:
            head: dict[str, Any] = {"id": zone.id, "extends": True}
            before = tomlkit.dumps({"zone": head}).encode()
        document = parse_document(before, path)
        # The file must be of this zone, or the spawn would appear in another one.
        table = document.get("zone")
        if not isinstance(table, dict) or table.get("id") != zone.id:
            raise CommandError(f"{path.name} is no file of {zone.name}; name another file")
        if not isinstance(document.setdefault("spawn", []), list):
            raise CommandError(f"{path.name}: spawn must be [[spawn]] tables")
        added = _entry(row)
        # The file keeps its line breaks, which may be those of Windows.
        if b"\r\n" in before:
            added = added.replace("\n", "\r\n")
        line = b"" if before.endswith(b"\n") else b"\n"
        after = before + line + added.encode()
        # The expected content, to compare the new text with.
        document["spawn"].append(dict(row))
        # `spawn = [...]` cannot be continued by [[spawn]]; then the text is no TOML any more.
        try:
            is_added = parse_document(after, path) == document
        except FileFormatError:
            is_added = False
        if not is_added:
            raise CommandError(
                f"{path.name}: the spawn cannot be added at the end; write its spawns as [[spawn]]"
            )
        # The reader of the server decides, so a file that is written always loads.
        read_fixtures(path, document["spawn"], lambda _name: zone.id)
        return after


def _entry(row: Mapping[str, Any]) -> str:
    """Return a ``[[spawn]]`` table as TOML; tables in it stay on one line."""
    table = tomlkit.table()
    for key, value in row.items():
        table.add(key, _inline(value))
    tables = tomlkit.aot()
    tables.append(table)
    document = tomlkit.document()
    document.add("spawn", tables)
    return "\n" + tomlkit.dumps(document)


def _inline(value: Any) -> Any:
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        for key, inner in value.items():
            inline.add(key, _inline(inner))
        return inline
    if isinstance(value, (list, tuple)):
        items = tomlkit.array()
        for item in value:
            items.append(_inline(item))
        return items
    return value


def _write(path: Path, text: bytes, before: bytes | None) -> None:
    """Replace a file as a whole, unless it has changed since it was read. Raises `OSError`."""
    with partial_file(path, ANYBODY) as fresh:
        fresh.write_bytes(text)
        if before is not None:
            # The new file keeps the access rights of the old one.
            fresh.chmod(stat.S_IMODE(path.stat().st_mode))
        flush(fresh)
        # Compared at the last moment: an operator may have the file open in an editor.
        if (read_whole(path) if path.exists() else None) != before:
            raise CommandError(f"{path.name} was changed at the same moment; save again")
        fresh.replace(path)
        flush(path.parent)
