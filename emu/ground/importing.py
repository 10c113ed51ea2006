"""Imports a folder of EQ2Emulator's maps: ground files with outlines, path files and regions.

Files are made one after the other, so the memory is that of the largest. Each is written under
another name, checked, and then takes the place of the one before. A source that has not changed is
not read again. A source that cannot be used is named with the reason, and skipped; the file that
was made of it before stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from emu.errors import FileFormatError
from emu.files import ANYBODY, partial_file
from emu.ground import ground_layout, path_layout
from emu.ground.ground_file import GroundFile
from emu.ground.map_files import MapReader
from emu.ground.map_names import MapName, check_path, read_name
from emu.ground.mesh_building import build_paths
from emu.ground.mesh_files import read_mesh
from emu.ground.outline_file import OutlineFile
from emu.ground.path_file import PathFile
from emu.ground.region_files import read_regions
from emu.ground.regions import Region
from emu.ground.source_bytes import SourceBytes
from emu.system import flush

GROUND: Final = ".ground"
PATHS: Final = ".paths"
OUTLINE: Final = ".outline"
_BLOCK: Final = 1 << 20

_MAKINGS: Final = {GROUND: ground_layout.MAKING, PATHS: path_layout.FORM}
_MADE: Final[Mapping[str, type[GroundFile | PathFile | OutlineFile]]] = {
    GROUND: GroundFile, PATHS: PathFile, OUTLINE: OutlineFile,
}  # fmt: skip
"""Readers of the files that are made, by their endings."""

Progress = Callable[[int, int, str], object]
"""Gets the bytes of the sources that are done, all their bytes, and the name of the present one."""


class RegionSource(NamedTuple):
    """The regions of a file, and the file's digest."""

    digest: str
    regions: list[Region]


class MapSource(NamedTuple):
    """One file of the folder."""

    path: Path
    kind: str
    """`GROUND`, `PATHS`, or empty for a region file."""
    name: MapName
    size: int


@dataclass(slots=True)
class MapsReport:
    """What an import of maps made."""

    made: int = 0
    """Ground and path files that were made."""
    unchanged: int = 0
    """Ground and path files whose source has not changed."""
    triangles: int = 0
    """Triangles of the maps that were read."""
    kept: int = 0
    """Triangles in the ground files made of them."""
    polygons: int = 0
    outlines: int = 0
    """Outlines of ground files that were made."""
    faults: list[str] = field(default_factory=list)
    """A line for each file that cannot be used."""
    regions: dict[MapName, RegionSource] = field(default_factory=dict)
    """The regions of each usable region file."""
    unread_regions: set[MapName] = field(default_factory=set)
    """Region files that cannot be used."""


def map_sources(folder: Path) -> list[MapSource]:
    """Return the map, mesh and region files of a folder. Raises `FileFormatError`."""
    kinds = (
        (folder / "Maps", ".EQ2MapDeflated", GROUND),
        (folder / "Maps" / "nav", ".nav", PATHS),
        (folder / "Regions", ".EQ2Region", ""),
    )
    found: list[MapSource] = []
    for place, ending, kind in kinds:
        for path in sorted(place.glob(f"*{ending}")):
            stem = path.name.removesuffix(ending)
            # A copy such as `zone.bkp` is no zone's file, and no server reads it.
            if "." not in stem and path.is_file():
                found.append(MapSource(path, kind, read_name(stem), path.stat().st_size))
    if not found:
        raise FileFormatError(
            f"{folder}: has no map, mesh or region; name the folder with Maps and Regions"
        )
    return found


def import_maps(
    folder: Path, target: Path, progress: Progress = lambda _done, _all, _name: None
) -> MapsReport:
    """Make the ground and path files of a folder of maps in the folder `target`.

    Raises `FileFormatError` if the folders cannot be used, and `ImportError` without numpy.
    """
    sources = map_sources(folder)
    from emu.ground.building import build_ground  # noqa: PLC0415  # the extra may be missing

    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"{target}: cannot be made ({error.strerror})") from error
    report = MapsReport()
    done, everything = 0, sum(one.size for one in sources)
    known: set[tuple[str, MapName]] = set()
    for source in sources:
        progress(done, everything, source.path.name)
        try:
            if (source.kind, source.name) in known:
                raise FileFormatError("another file has the same name in other letters")  # noqa: TRY301
            known.add((source.kind, source.name))
            _import_one(source, target, report, build_ground)
        except (FileFormatError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            report.faults.append(f"{source.path}: {reason}")
            if not source.kind:
                report.unread_regions.add(source.name)
        done += source.size
    return report


class MapChange(NamedTuple):
    """What an import would do to one file."""

    name: str
    """A ground file, a path file, an outline that its ground file lacks, or a zone's regions."""
    change: str
    """``new``, ``changed``, ``unchanged``, ``removed`` or ``left out``."""
    reason: str = ""


def plan_maps(folder: Path, target: Path, regions: Mapping[MapName, str]) -> Iterator[MapChange]:
    """Yield what an import of a folder would do; maps and meshes are compared, not parsed.

    `regions` are the digests of the region files that the content file has. Raises
    `FileFormatError` if the folder cannot be used.
    """
    seen: set[MapName] = set()
    for source in map_sources(folder):
        name = f"{source.name}{source.kind or ' regions'}"
        try:
            if source.kind:
                made = target / name
                before, digest = _digest_of(made), _digest(source.path, _MAKINGS[source.kind])
                is_new = not made.exists()
            else:
                seen.add(source.name)
                before, digest = _hex(regions.get(source.name)), _digest(source.path, 0)
                is_new = source.name not in regions
                with source.path.open("rb") as stream:
                    check_path(source.name, read_regions(SourceBytes(stream.read)).path)
        except (FileFormatError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            yield MapChange(name, "left out", f"{source.path}: {reason}")
            continue
        yield MapChange(name, "new" if is_new else "unchanged" if before == digest else "changed")
        outline = target / f"{source.name}{OUTLINE}"
        if source.kind == GROUND and before == digest != _digest_of(outline):
            yield MapChange(outline.name, "changed" if outline.exists() else "new")
    for one in regions:
        if one not in seen:
            yield MapChange(f"{one} regions", "removed")


def _hex(digest: str | None) -> bytes:
    return bytes.fromhex(digest) if digest else b""


BuildGround = Callable[[MapReader, bytes, BinaryIO], tuple[int, int, int, int, bool]]


def _import_one(
    source: MapSource, target: Path, report: MapsReport, build_ground: BuildGround
) -> None:
    if not source.kind:
        digest = _digest(source.path, 0)
        with source.path.open("rb") as stream:
            found = read_regions(SourceBytes(stream.read))
        check_path(source.name, found.path)
        report.regions[source.name] = RegionSource(digest.hex(), found.regions)
        return
    made = target / f"{source.name}{source.kind}"
    digest = _digest(source.path, _MAKINGS[source.kind])
    if _digest_of(made) == digest:
        report.unchanged += 1
    else:
        _make(source, made, digest, report, build_ground)
        report.made += 1
    if source.kind == GROUND:
        _draw(made, digest, report)


def _make(
    source: MapSource, made: Path, digest: bytes, report: MapsReport, build_ground: BuildGround
) -> None:
    """Make the ground or path file of a source."""
    with source.path.open("rb") as stream, _complete(made) as out:
        if source.kind == GROUND:
            reader = MapReader(stream)
            check_path(source.name, reader.path)
            triangles, kept, *_ = build_ground(reader, digest, out)
            report.triangles += triangles
            report.kept += kept
        else:
            check_path(source.name, str(source.name))
            built = build_paths(read_mesh(SourceBytes(stream.read)), digest, out)
            report.polygons += built.polygons


def _draw(ground: Path, digest: bytes, report: MapsReport) -> None:
    """Make the outline of a ground file if it has none of this digest."""
    from emu.ground.outline_building import build_outline  # noqa: PLC0415  # needs numpy

    made = ground.with_suffix(OUTLINE)
    if _digest_of(made) == digest:
        return
    with GroundFile(ground) as file, _complete(made) as out:
        build_outline(file, out)
    report.outlines += 1


@contextmanager
def _complete(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, which takes its name when it is complete and passes the check."""
    with partial_file(target, ANYBODY) as fresh:
        with fresh.open("wb") as out:
            yield out
        flush(fresh)
        with _MADE[target.suffix](fresh) as file:
            file.check()
        fresh.replace(target)


def _digest(path: Path, making: int) -> bytes:
    """Return the digest of a file and of the way in which another one is made of it."""
    total = sha256(making.to_bytes(4, "little"))
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return total.digest()


def _digest_of(made: Path) -> bytes | None:
    """Return the digest that a made file has; None for one that is missing or unusable."""
    try:
        with _MADE[made.suffix](made) as file:
            return file.header.digest
    except FileFormatError:
        return None
