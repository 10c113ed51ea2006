from emu.admin.ssq.tables import ALIASES, PROCEDURES, TABLES, SsqContent
from tests.support.admin.worked_examples import server_status

REPORTED = SsqContent(server_status(), "192.0.2.1")
COLUMNS = {column.name: (table, column) for table in TABLES for column in table.columns}


def column_values(name: str) -> list[object]:
    table, column = COLUMNS[name]
    return [column.value(REPORTED, row) for row in table.rows(REPORTED)]


def test_names_are_the_protocols_or_ours() -> None:
    own = {
        "hostname", "hostip", "numplayers", "maxplayers", "map", "playername", "frags", "deaths",
        "playerping", "playertime", "rulename", "rulevalue", "source", "playerip",
    }  # fmt: skip
    names = [column.name for table in TABLES for column in table.columns]
    assert len(names) == len(set(names))
    assert {name for name in names if not name.startswith("x-")} == own
    assert set(ALIASES.values()) <= own


def test_procedures_select_what_there_is() -> None:
    for columns in PROCEDURES.values():
        assert {ALIASES.get(name, name) for name in columns.split(",")} <= set(COLUMNS)


def test_values() -> None:
    assert column_values("hostip") == ["192.0.2.1:9000"]
    _, hostip = COLUMNS["hostip"]
    assert hostip.value(SsqContent(server_status(), "2001:db8::1"), None) == "[2001:db8::1]:9000"
    assert column_values("playertime") == [321, 9]
    assert column_values("x-zone") == ["Qeynos Harbor"] * 2
    assert column_values("x-account") == [7, 7]
    assert column_values("x-zoneplayers") == [2]
    assert column_values("x-worldup") == [1]
    assert column_values("x-uptime") == [400]


def test_every_column_has_a_value_that_can_be_sent() -> None:
    for name in COLUMNS:
        assert all(isinstance(value, str | int) for value in column_values(name))
