"""Makes and reads once in a process what does not change while tests run.

Every server reads the shipped files and asks for the installed packages: together more than half of
the CPU time of its start.
"""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Callable
from copy import copy
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from emu.database.sqlite import Schema

MOST_TEXTS = 256
"""TOML texts that are remembered; the shipped ones are about 40."""

_parse = tomllib.loads


@lru_cache(MOST_TEXTS)
def _parsed(text: str) -> bytes:
    return pickle.dumps(_parse(text), pickle.HIGHEST_PROTOCOL)


def _loads(text: str, /, **options: Any) -> dict[str, Any]:
    """Return what `tomllib.loads` returns; each call gets a document of its own."""
    if options or not isinstance(text, str):
        return _parse(text, **options)
    found: dict[str, Any] = pickle.loads(_parsed(text))
    return found


def remember_documents() -> None:
    """Let `tomllib.loads` remember the texts of this process and of its later forks."""
    tomllib.loads = _loads


def remember_databases() -> None:
    """Let a new SQLite database be a copy of the first one that was made with the same schema.

    The first one is made as ever, by all migrations, which takes ten times as long. Programs that
    tests start make theirs by migrations as well: a test kills them at any moment of it.
    """
    from emu.database.sqlite import files  # noqa: PLC0415  # not every run of tests needs it

    make = files._make
    made: dict[object, bytes] = {}

    def remembering(fresh: Path, schema: Schema) -> None:
        key = (tuple(schema.steps), schema.version, schema.set_version)
        if key in made:
            fresh.write_bytes(made[key])
            return
        make(fresh, schema)
        made[key] = fresh.read_bytes()

    vars(files)["_make"] = remembering


T = TypeVar("T")


def _of_shipped(read: Callable[[Path | None, Path | None], T]) -> Any:
    """Return a function that reads the shipped files once, but an operator's each time."""
    shipped = cache(read)

    def remembering(folder: Path | None = None, content: Path | None = None) -> T:
        if folder is not None or content is not None:
            return read(folder, content)
        # A copy, because a reload changes the atlas of its server.
        return copy(shipped(None, None))

    return remembering


@cache
def remember_starts() -> None:
    """Let servers remember what each reads at its start: shipped zones and lists, and packages."""
    from emu.net.world import ports, service  # noqa: PLC0415  # not every run of tests needs it
    from emu.world.behaviors import library  # noqa: PLC0415

    vars(library)["entry_points"] = cache(entry_points)
    for module, name in ((ports, "read_knowledge"), (service, "read_atlas")):
        vars(module)[name] = _of_shipped(vars(module)[name])


def read_shipped_files() -> None:
    """Read what every server reads and no test changes, so that later forks need not.

    It takes as long as all imports.
    """
    from emu.appearance import shipped_models  # noqa: PLC0415
    from emu.config import load  # noqa: PLC0415
    from emu.content.tables import content_tables  # noqa: PLC0415
    from emu.dialects.dialect import shipped_rules, shipped_world_rules  # noqa: PLC0415
    from emu.files import data_folder, read_document  # noqa: PLC0415
    from emu.net.world import ports, service  # noqa: PLC0415
    from emu.opcodes.text import fingerprint, shipped_rows, shipped_tables  # noqa: PLC0415
    from emu.store.repository import schemas  # noqa: PLC0415
    from emu.structs import shipped_catalog  # noqa: PLC0415
    from emu.world.population.files import appearance_fields  # noqa: PLC0415

    for read in (
        shipped_catalog, shipped_models, shipped_rules, shipped_tables, shipped_world_rules,
        content_tables, schemas, appearance_fields,
    ):  # fmt: skip
        read()
    fingerprint(shipped_rows())
    remember_starts()
    for path in data_folder().rglob("*.toml"):
        read_document(path)
    for module, name in ((ports, "read_knowledge"), (service, "read_atlas")):
        vars(module)[name]()  # what `remember_starts` has put there
    load(None, [])
