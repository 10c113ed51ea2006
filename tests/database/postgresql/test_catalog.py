"""The tables of a server's database are described as those of a file."""

from emu.store import Store
from emu.store.copying import SKIPPED
from tests.support.database.engines import postgresql_store


def test_both_engines_describe_the_same_tables(tmp_path: object) -> None:
    with Store.create(tmp_path / "emu.sqlite") as file, postgresql_store() as server:  # type: ignore[operator]
        ours = {one.name: one for one in file.database.tables_of() if one.name not in SKIPPED}
        theirs = {one.name: one for one in server.database.tables_of() if one.name not in SKIPPED}
    assert ours.keys() == theirs.keys()
    for name, table in ours.items():
        assert (set(table.columns), [*table.key], set(table.parents)) == (
            set(theirs[name].columns), [*theirs[name].key], set(theirs[name].parents),
        ), name  # fmt: skip
