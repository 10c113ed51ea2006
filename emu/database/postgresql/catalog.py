"""The tables of a PostgreSQL database."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from emu.database.catalog import CatalogTable
from emu.database.dialect import Kind
from emu.database.postgresql.connection import ServerConnection
from emu.errors import StoreError

_KINDS: Final = {
    "bigint": Kind.INTEGER, "boolean": Kind.BOOLEAN, "double precision": Kind.REAL,
    "text": Kind.TEXT,
}  # fmt: skip
_COLUMNS: Final = """
    SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns AS c
    JOIN information_schema.tables AS t USING (table_schema, table_name)
    WHERE table_schema = current_schema() AND t.table_type = 'BASE TABLE'
    ORDER BY c.table_name, c.ordinal_position
"""
_KEYS: Final = """
    SELECT child.relname, kind.contype, parent.relname, column_of.attname
    FROM pg_constraint AS kind
    JOIN pg_class AS child ON child.oid = kind.conrelid
    LEFT JOIN pg_class AS parent ON parent.oid = kind.confrelid
    CROSS JOIN LATERAL unnest(kind.conkey) WITH ORDINALITY AS part (number, place)
    JOIN pg_attribute AS column_of
        ON column_of.attrelid = child.oid AND column_of.attnum = part.number
    WHERE kind.contype IN ('p', 'f') AND child.relnamespace = current_schema()::regnamespace
    ORDER BY child.relname, part.place
"""


def read_tables(server: ServerConnection) -> list[CatalogTable]:
    """Return the tables of the schema that the connection uses. Raises `psycopg.Error`."""
    columns: defaultdict[str, dict[str, Kind]] = defaultdict(dict)
    for table, column, kind in server.execute(_COLUMNS):
        if kind not in _KINDS:
            raise StoreError(f"{table}.{column} has the type {kind}, which no table of ours has")
        columns[table][column] = _KINDS[kind]
    keys, parents = defaultdict[str, list[str]](list), defaultdict[str, set[str]](set)
    for table, kind, parent, column in server.execute(_KEYS):
        if kind == "p":
            keys[table].append(column)
        else:
            parents[table].add(parent)
    return [CatalogTable(name, found, keys[name], parents[name]) for name, found in columns.items()]
