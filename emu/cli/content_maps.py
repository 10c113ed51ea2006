"""`emu content maps`: the imported ground, meshes and regions, and the server's answers of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import pairwise
from math import dist
from pathlib import Path
from typing import Any, Final

import click

from emu.cli.common import Command, VerbGroup, content_path, load_config, together
from emu.cli.installed import install_command
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_record, print_rows
from emu.content.file import ContentFile, ZoneContent
from emu.content.regions import region_counts, region_digests, regions_of
from emu.errors import CommandError, FileFormatError
from emu.ground.ground_map import GroundMap
from emu.ground.importing import MapsReport, Progress, import_maps, plan_maps
from emu.ground.map_folder import MapFolder, maps_folder
from emu.ground.map_names import MapName, chosen, zones_of
from emu.ground.path_mesh import PathMesh
from emu.ground.regions import Region, ZoneRegions
from emu.ground.routes import RouteSearch
from emu.scripts.folder import ScriptFolder
from emu.texts import counted

NEAR: Final = 1.0
"""Meters up to which a placement stands on the surface."""
COLUMNS: Final = (
    "map", "triangles", "grids", "mb", "polygons", "components", "regions", "scripts",
)  # fmt: skip
MOST_ZONES: Final = 20
"""Zones without a map that are named."""


def import_zone_maps(folder: Path, content: Path, progress: Progress) -> MapsReport:
    """Import a folder of maps beside a content file; report on standard error.

    Raises `CommandError` without numpy, and `FileFormatError`.
    """
    try:
        report = import_maps(folder, maps_folder(content), progress)
    except ImportError as error:
        raise CommandError(f"--maps needs numpy; install it: {install_command('maps')}") from error
    read = f", {counted(report.triangles, 'triangle')} read" if report.triangles else ""
    drawn = f", {counted(report.outlines, 'outline')} made" if report.outlines else ""
    made = counted(report.made, "ground and path file")
    click.echo(
        f"{made} made, {report.unchanged} unchanged{drawn}{read},"
        f" {counted(sum(len(one.regions) for one in report.regions.values()), 'region')}",
        err=True,
    )
    for fault in report.faults:
        click.echo(f"left out: {fault}", err=True)
    return report


def plan_zone_maps(folder: Path, content: Path) -> None:
    """Show on standard error what an import of a folder of maps would change.

    Raises `FileFormatError` if the folder cannot be used.
    """
    kept = region_digests(content) if content.is_file() else {}
    count: Counter[str] = Counter()
    for one in plan_maps(folder, maps_folder(content), kept):
        count[one.change] += 1
        if one.change != "unchanged":
            click.echo(f"{one.change}: {one.reason or one.name}", err=True)
    shown = ", ".join(f"{number} {change}" for change, number in sorted(count.items()))
    click.echo(f"maps, meshes and region files: {shown}", err=True)


class Maps:
    """The folder of ground and path files, and the content file with the regions."""

    def __init__(self, folder: Path | None, content: Path | None) -> None:
        self.content = content or content_path()
        self.folder = MapFolder(folder or maps_folder(self.content), _warn)
        self.has_content = self.content.is_file()

    def zone_file(self, name: str) -> str:
        """Return the file of a zone by this, its number, its name or its description."""
        lower = name.lower()
        if lower in zones_of((*self.folder.grounds, *self.folder.meshes)):
            return lower
        if self.has_content:
            with ContentFile(self.content) as file:
                number = file.zone_named(name)
                rows = [] if number is None else file.rows_of("zones", "id", number)
            if rows:
                return str(rows[0]["file"]).lower()
        raise CommandError(f"there is no map of {name!r}; `emu content maps info` lists the maps")

    def ground(self, zone: str, version: int | None) -> GroundMap:
        """Open the ground of a zone. Raises `CommandError` if there is none."""
        found = self.folder.ground(zone, version)
        if found is None:
            raise CommandError(
                f"there is no usable map of {zone}; `emu content import --maps` makes it"
            )
        return found

    def regions(self, zone: str, version: int | None) -> ZoneRegions:
        """Return the regions of a zone; none without a content file."""
        if not self.has_content:
            return ZoneRegions()
        return ZoneRegions(chosen(regions_of(self.content, zone), zone, version) or ())

    def region_counts(self) -> dict[MapName, int]:
        """Return the number of regions of each region file."""
        return region_counts(self.content) if self.has_content else {}


def _warn(line: str) -> None:
    click.echo(line, err=True)


_CONTENT: Final = "emu.cli.content_maps.content"
"""The key of ``--file`` in a command's `meta`, until ``--folder`` is read."""

_maps_options: Callable[[Command], Command] = together(
    click.option(
        "--file", type=FilePath(dir_okay=False, path_type=Path), expose_value=False,
        # Eager options are read first, so `--folder` finds the value of `--file`.
        is_eager=True, callback=lambda ctx, _param, value: ctx.meta.__setitem__(_CONTENT, value),
        help="The content file; without it the configured one.",
    ),
    click.option(
        "--folder", "maps_", type=FilePath(exists=True, file_okay=False, path_type=Path),
        callback=lambda ctx, _param, value: Maps(value, ctx.meta.get(_CONTENT)),
        help="The folder of ground and path files; without it that beside the content file.",
    ),
)  # fmt: skip
_version_option: Callable[[Command], Command] = click.option(
    "--version", type=click.IntRange(min=1), help="Answer for a client of this version."
)
_PLACES: Final = {"ignore_unknown_options": True}
"""So that a negative number is no option."""


def _place(name: str) -> Callable[[Command], Command]:
    return click.argument(name, nargs=3, type=float, metavar="X Y Z")


@click.group("maps", cls=VerbGroup)
def maps() -> None:
    """Show and check imported maps: ground, meshes and regions.

    Example: emu content maps info
    """


@maps.command()
@click.argument("name", required=False, metavar="[ZONE]")
@_maps_options
@format_option
def info(name: str | None, maps_: Maps, style: str) -> None:
    """List the maps, or show the map of ZONE with the placements under, on and over its ground.

    Example: emu content maps info antonica
    """
    if name is not None:
        zone = maps_.zone_file(name)
        print_record(_zone_record(maps_, zone), style)
        return
    counts, scripts = maps_.region_counts(), _scripts()
    names = sorted({*maps_.folder.grounds, *maps_.folder.meshes, *counts})
    rows: list[Row] = [_map_row(maps_, one, counts.get(one, 0), scripts) for one in names]
    print_rows(rows, style, COLUMNS)
    total = sum(int(row["triangles"] or 0) for row in rows)
    click.echo(f"{counted(len(rows), 'map')}, {counted(total, 'triangle')}", err=True)


def _scripts() -> ScriptFolder | None:
    folder = load_config().world.scripts
    return None if folder is None else ScriptFolder(folder)


def _map_row(maps_: Maps, name: MapName, regions: int, scripts: ScriptFolder | None) -> Row:
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"map": str(name), "regions": regions}
    path = maps_.folder.grounds.get(name)
    if path is not None:
        try:
            with closing(GroundMap(path)) as ground:
                row |= {"triangles": ground.triangles, "grids": len(ground.grids())}
            row["mb"] = round(path.stat().st_size / 1e6, 2)
        except FileFormatError as error:
            _warn(str(error))
    path = maps_.folder.meshes.get(name)
    if path is not None:
        try:
            with closing(PathMesh(path)) as mesh:
                row |= {"polygons": mesh.polygons, "components": mesh.components}
        except FileFormatError as error:
            _warn(str(error))
    if regions and scripts is not None:
        found = regions_of(maps_.content, name.zone).get(name, [])
        row["scripts"] = sum(_script_of(scripts, one, name.zone) is not None for one in found)
    return row


def _script_of(scripts: ScriptFolder, region: Region, zone: str) -> str | None:
    found = (scripts.find(name) for name in region.scripts(zone))
    return next((one for one in found if one is not None), None)


def _zone_record(maps_: Maps, zone: str) -> Row:
    counts = maps_.region_counts()
    record: dict[str, Any] = dict(
        _map_row(maps_, MapName(zone), counts.get(MapName(zone), 0), _scripts())
    )
    ground = maps_.folder.ground(zone)
    if ground is None:
        return record
    with closing(ground):
        record |= {"lowest": round(ground.low[1], 2), "highest": round(ground.high[1], 2)}
        if maps_.has_content:
            count: Counter[str] = Counter()
            with ContentFile(maps_.content) as file:
                for row in file.zones():
                    is_own = str(row["file"]).lower() == zone
                    content = file.zone_content(row["id"]) if is_own else None
                    if content is not None:
                        count += placements_by_ground(content, ground)
            record |= {f"placements {one}": count[one] for one in KINDS}
    return record


KINDS: Final = ("on the ground", "under the ground", "over the ground", "without ground")
"""Relations of a placement to the ground, as `emu content maps` counts them."""


def placements_by_ground(content: ZoneContent, ground: GroundMap) -> Counter[str]:
    """Count the places of creatures in a zone by their relation to the ground."""
    count: Counter[str] = Counter()
    for placement in content.placements:
        entries = content.entries.get(placement.location_id, ())
        templates = (content.templates.get(entry.spawn_id) for entry in entries)
        if not any(one is not None and one.kind == "npcs" for one in templates):
            continue
        surface = ground.surface(placement.x, placement.y, placement.z)
        if surface is None:
            count[KINDS[3]] += 1
        elif placement.y < surface.y - NEAR:
            count[KINDS[1]] += 1
        else:
            count[KINDS[2 if placement.y > surface.y + NEAR else 0]] += 1
    return count


@maps.command()
@_maps_options
def check(maps_: Maps) -> None:
    """Read all ground and path files and compare their checksums; name the zones without a map.

    The exit code is 1 if a file is damaged.

    Example: emu content maps check
    """
    faults = 0
    paths: Iterable[Path] = (*maps_.folder.grounds.values(), *maps_.folder.meshes.values())
    for path in paths:
        try:
            with closing((GroundMap if path.suffix == ".ground" else PathMesh)(path)) as found:
                found.check()
        except FileFormatError as error:
            _warn(str(error))
            faults += 1
    for name, count in maps_.region_counts().items():
        if count:
            regions_of(maps_.content, name.zone)
    if maps_.has_content:
        _name_zones_without(maps_)
    if faults:
        raise CommandError(
            f"{counted(faults, 'file')} damaged; `emu content import --maps` makes them anew"
        )
    click.echo(f"{counted(len([*paths]), 'file')}: good")


def _name_zones_without(maps_: Maps) -> None:
    with ContentFile(maps_.content) as file:
        wanted = {str(row["file"]).lower() for row in file.zones()} - {""}
    missing = sorted(wanted - zones_of(maps_.folder.grounds))
    if missing:
        more = ", ..." if len(missing) > MOST_ZONES else ""
        named = ", ".join(missing[:MOST_ZONES])
        click.echo(f"{counted(len(missing), 'zone file')} without a map: {named}{more}", err=True)


@maps.command(context_settings=_PLACES)
@click.argument("zone")
@_place("place")
@_version_option
@_maps_options
@format_option
def height(
    zone: str, place: tuple[float, float, float], version: int | None, maps_: Maps, style: str
) -> None:
    """Show the surface at a place of ZONE: its height, grid and widget, the mesh and regions.

    Example: emu content maps height antonica 12 -5 300
    """
    found = maps_.zone_file(zone)
    record: dict[str, Any] = {"y": None, "grid": None, "widget": None}
    with closing(maps_.ground(found, version)) as ground:
        surface = ground.surface(*place)
    if surface is not None:
        record |= {"y": round(surface.y, 3), "grid": surface.grid, "widget": surface.widget}
    mesh = maps_.folder.mesh(found)
    if mesh is not None:
        with closing(mesh):
            spot = mesh.nearest(place)
        if spot is not None:
            record |= {"polygon": spot.polygon, "component": spot.component}
    inside = maps_.regions(found, version).at(place)
    record["regions"] = ", ".join(
        f"{one.region.file or one.region.number} ({one.substance.name.lower()})" for one in inside
    )
    print_record(record, style)


@maps.command(context_settings=_PLACES)
@click.argument("zone")
@_place("start")
@_place("end")
@_version_option
@_maps_options
@format_option
def sight(
    zone: str,
    *,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    version: int | None,
    maps_: Maps,
    style: str,
) -> None:
    """Show whether two who stand at two places of ZONE have a line of sight.

    It is drawn 2 meters above both places.

    Example: emu content maps sight antonica 12 -5 300 40 -5 310
    """
    with closing(maps_.ground(maps_.zone_file(zone), version)) as ground:
        record = {"sees": ground.sees(start, end), "meters": round(dist(start, end), 2)}
    print_record(record, style)


@maps.command(context_settings=_PLACES)
@click.argument("zone")
@_place("start")
@_place("goal")
@_maps_options
@format_option
def path(
    zone: str,
    start: tuple[float, float, float],
    goal: tuple[float, float, float],
    maps_: Maps,
    style: str,
) -> None:
    """Show the points of the way that a creature would take between two places of ZONE.

    Example: emu content maps path antonica 12 -5 300 40 -5 310
    """
    found = maps_.zone_file(zone)
    route = RouteSearch(maps_.folder.ground(found), maps_.folder.mesh(found), start, goal).finish()
    rows: list[Row] = [
        {
            "x": round(one.place[0], 2), "y": round(one.place[1], 2), "z": round(one.place[2], 2),
            "grid": one.surface and one.surface.grid,
        }
        for one in route.corners
    ]  # fmt: skip
    print_rows(rows, style, ("x", "y", "z", "grid"))
    places = [one.place for one in route.corners]
    length = sum(dist(one, other) for one, other in pairwise(places))
    how = "straight" if route.is_straight else "over the mesh"
    end = "to the goal" if route.reaches else "not known to reach the goal"
    click.echo(f"{length:.1f} m, {how}, {end}", err=True)
