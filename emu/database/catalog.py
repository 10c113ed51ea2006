"""The tables of a database: their columns and keys, in the same form for every engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from emu.database.dialect import Kind


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of a database."""

    name: str
    columns: Mapping[str, Kind]
    """Name of each column -> its type; SQLite's booleans are integers."""
    key: Sequence[str]
    """The columns of the primary key, in its order; empty without one."""
    parents: Collection[str]
    """The tables to which its rows refer."""


def by_parents(tables: Collection[CatalogTable]) -> list[CatalogTable]:
    """Return tables in an order in which each one follows those to which it refers."""
    left = sorted(tables, key=lambda table: table.name)
    names = {table.name for table in left}
    found: list[CatalogTable] = []
    done: set[str] = set()
    while left:
        # A table may refer to itself, which its own order of keys has to serve.
        ready = [
            table
            for table in left
            if all(one in done or one == table.name or one not in names for one in table.parents)
        ]
        if not ready:
            raise ValueError(f"tables refer to each other: {', '.join(one.name for one in left)}")
        found += ready
        done |= {table.name for table in ready}
        left = [table for table in left if table.name not in done]
    return found
