from emu.admin.ssq.query import Select, pull_query, pull_rows
from emu.admin.ssq.tables import TABLES, Selection, SsqContent, known_columns
from emu.admin.status import ServerStatus
from tests.support.admin.worked_examples import player_status, server_status

SPACE = 100_000


def selected(
    text: str, status: ServerStatus | None = None, *, private: bool = False
) -> list[list[str]]:
    query = pull_query(text.encode())
    assert isinstance(query, Select)
    selection = Selection(query, known_columns(TABLES, private=private))
    body, is_cut = selection.body(SsqContent(status or server_status(), "192.0.2.1"), SPACE, SPACE)
    assert not is_cut
    return pull_rows(body)


def test_two_lists_stand_one_after_the_other() -> None:
    assert selected("SELECT hostname,playername,rulename") == [
        ["hostname", "playername", "rulename"],
        ["Qeynos", "Bob", ""],
        ["Qeynos", "Zo\u00eb", ""],
        ["Qeynos", "", "motd"],
        ["Qeynos", "", "path"],
    ]


def test_what_has_one_row_is_reported_with_empty_lists_too() -> None:
    empty = server_status(players=())
    assert selected("SELECT hostname,playername", empty)[1:] == [["Qeynos", ""]]
    assert selected("SELECT playername", empty) == [["playername"]]
    assert selected("SELECT hostname WHERE map = 'qeynos HARBOR'")[1:] == [["Qeynos"]]
    assert selected("SELECT hostname WHERE numplayers > 2")[1:] == []


def test_conditions_see_the_own_list_and_what_has_one_row() -> None:
    assert selected("SELECT name WHERE ping > 100 and max = 500")[1:] == [["Zo\u00eb"]]
    assert selected("SELECT name WHERE rulename = motd")[1:] == []
    assert selected("SELECT name,rulename WHERE rulename = motd or x-level = 10")[1:] == [
        ["Bob", ""],
        ["", "motd"],
    ]


def test_forms_of_the_header_row() -> None:
    assert selected("SELECT name,nosuch,ping HEADERS COMPACT")[:2] == [
        ["1", "0", "1"],
        ["Bob", "50"],
    ]
    assert selected("SELECT name,nosuch HEADERS NULL")[0] == ["1", "0"]
    assert selected("SELECT name,ping HEADERS NULL")[0] == [""]
    assert selected("SELECT name,name")[:2] == [["name", "name"], ["Bob", "Bob"]]
    assert selected("SELECT nosuch HEADERS COMPACT") == [[]]


def test_private_columns() -> None:
    assert selected("SELECT name,playerip")[0] == ["name"]
    assert selected("SELECT name WHERE playerip != x")[1:] == []
    assert selected("SELECT name WHERE x-account = 7")[1:] == []
    assert selected("SELECT playerip WHERE x-account = 7", private=True)[1:] == [["192.0.2.9"]] * 2


def test_only_whole_rows_that_fit() -> None:
    status = server_status(players=tuple(player_status(n, f"P{n:03}") for n in range(100)))
    query = Select(("playername",))
    selection = Selection(query, known_columns(TABLES, private=False))
    shown = SsqContent(status, "")
    body, is_cut = selection.body(shown, 13 + 7 * 10 + 6, SPACE)
    assert is_cut
    assert len(pull_rows(body)) == 11
    body, is_cut = selection.body(shown, SPACE, 20)
    assert is_cut
    assert len(pull_rows(body)) == 21
    assert selection.body(SsqContent(server_status(players=()), ""), 5, SPACE)[1]
