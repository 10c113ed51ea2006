"""What the doctor says of a database's server."""

import pytest

from emu.cli.doctor import server_database as module
from emu.cli.doctor.findings import Level
from emu.cli.doctor.server_database import check_server_database
from emu.database.postgresql.report import ServerReport
from tests.support.database.engines import store_database

GOOD = ServerReport("15.1", 0.001, 0.1, 20, 0, 20, 12, 100)


def levels(monkeypatch: pytest.MonkeyPatch, **changes: object) -> list[str]:
    report = ServerReport(**{name: getattr(GOOD, name) for name in GOOD.__slots__} | changes)
    monkeypatch.setattr(module, "read_server", lambda *_: report)
    found = check_server_database(None, lambda: 0.0, lambda: 0.0)  # type: ignore[arg-type]
    return [f"{one.level}: {one.what}" for one in found if one.level is not Level.OK]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"delay": 0.1}, ["warn: a statement takes 100.0 ms"]),
        ({"skew": -3.0}, ["warn: its clock differs by 3.0 s from this machine's"]),
        ({"schema": 0}, ["warn: it has no tables yet"]),
        ({"schema": 19}, ["fail: its schema is 19, this program's 20"]),
        ({"schema": 21}, []),
        (
            {"schema": 22, "compatible": 21},
            ["fail: its schema 22 needs a program of 21; this one is 20"],
        ),
        ({"missing_rights": ["a", "b"]}, ["fail: the role may not read and change: a, b"]),
        ({"connections": 95}, ["warn: 95 of 100 connections are used"]),
    ],
)
def test_faults_are_judged(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], expected: list[str]
) -> None:
    assert levels(monkeypatch, **changes) == expected


def test_a_server_without_faults_is_good() -> None:
    with store_database() as where:
        found = [*check_server_database(where)]
    assert {one.level for one in found} == {Level.OK}
    assert str(where) in found[0].what
