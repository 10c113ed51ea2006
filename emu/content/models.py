"""Stand-ins for models of spawns that clients of older versions lack.

Source: docs/guides/content.md#stand-ins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from emu.content.file import ContentFile


class Model(NamedTuple):
    """A model, where clients have it, and the first client version that has it."""

    id: int
    path: str
    min_version: int

    @property
    def folder(self) -> str:
        """The folder of its path."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def plainer(self) -> Iterator[str]:
        """Yield its name without its last words, the longest first."""
        name = self.name
        while "_" in name:
            name = name.rpartition("_")[0]
            yield name


class StandIns:
    """The models that may stand in for others."""

    def __init__(
        self, models: Iterable[Model] = (), others: Iterable[tuple[int, str, int]] = ()
    ) -> None:
        """`models` need stand-ins for clients that lack them; `others` are all models, as rows."""
        wanted = [one for one in models if any(one.plainer())]
        named: dict[str, list[Model]] = {name: [] for one in wanted for name in one.plainer()}
        # Tens of thousands: only those that can stand in are kept.
        for row in others:
            found = named.get(row[1].rpartition("/")[2].casefold())
            if found is not None:
                found.append(Model(row[0], row[1].casefold(), row[2]))
        self._candidates: dict[Model, tuple[Model, ...]] = {}
        for one in wanted:
            # A longer name is more alike than a folder; of several rows the oldest is sure.
            candidates = [
                other
                for name in one.plainer()
                for other in sorted(
                    named[name],
                    key=lambda other: (other.folder != one.folder, other.min_version, other.id),
                )
                if other.min_version < one.min_version
            ]
            if candidates:
                self._candidates[one] = tuple(candidates)

    def for_version(self, version: int) -> Mapping[int, int]:
        """Return the stand-ins by the model that a client version lacks."""
        found: dict[int, int] = {}
        for model, candidates in self._candidates.items():
            if model.min_version > version:
                for one in candidates:
                    if one.min_version <= version:
                        found[model.id] = one.id
                        break
        return found


def read_stand_ins(path: Path | None) -> StandIns:
    """Read the models of a content file's spawns; without one there are no stand-ins.

    Raises `FileFormatError`.
    """
    if path is None:
        return StandIns()
    with ContentFile(path) as file:
        models = [Model(row[0], row[1].casefold(), row[2]) for row in file.models_of_spawns()]
        return StandIns(models, file.models())
