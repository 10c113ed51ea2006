"""The report about a server: its clock, tables, rights and connections."""

from dataclasses import replace

import pytest

from emu.database.postgresql.report import read_report
from emu.store.repository import schemas
from tests.support.database.engines import postgresql, run, store_database

STEPS = schemas().postgresql


def test_the_report_names_clock_version_and_connections() -> None:
    ((now,),) = run(postgresql(), "SELECT extract(epoch FROM clock_timestamp())::float")
    with store_database() as where:
        found = read_report(where, STEPS, lambda: now - 100.0, iter(range(100)).__next__)
    assert found.delay == 1.0
    assert found.skew == pytest.approx(100.0, abs=30.0)
    assert (found.schema, found.newest) == (STEPS[-1].number, STEPS[-1].number)
    assert 0 < found.connections < found.most_connections
    assert found.missing_rights == []


def test_tables_that_the_role_may_not_change_are_named() -> None:
    with store_database() as where:
        role = f"{where.database}_guest"
        run(where, f"CREATE ROLE {role} LOGIN")
        try:
            run(where, f"GRANT SELECT ON accounts, schema_version TO {role}")
            found = read_report(replace(where, user=role), STEPS, lambda: 0.0, lambda: 0.0)
        finally:
            run(where, f"DROP OWNED BY {role}")
            run(where, f"DROP ROLE {role}")
    assert "accounts" in found.missing_rights
