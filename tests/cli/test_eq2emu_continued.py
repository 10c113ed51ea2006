"""`emu account import-eq2emu --world`: characters continue in the server's own world."""

import gzip
from pathlib import Path

import pytest

from emu.config import load
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.items.held import Place, Where
from emu.ledger import Owner, OwnerKind
from emu.model import Hotkey, KnownSkill, Title
from emu.net.world.registration import reconcile
from emu.store import Store, eq2emu_list
from emu.store.server_lock import ServerLock
from emu.world.actors.client_data import ClientData, Macro
from emu.world.actors.past import Past
from emu.world.population.atlas import read_atlas
from tests.support.content.dumps import write_dumps
from tests.support.files.eq2emu_imports import IMPORT, Dumps, character
from tests.support.files.eq2emu_players import (
    ANTONIA,
    BORVIK,
    HOMES,
    LOGIN,
    changed,
    mysqldump,
)
from tests.support.running.command_line import CommandLine


@pytest.fixture
def dumps(tmp_path: Path) -> Dumps:
    return Dumps(tmp_path)


def listed(emu: CommandLine) -> list[tuple[str, str, int]]:
    rows = emu.rows("character", "list")
    return [(row["name"], row["world"], row["level"]) for row in rows]


def test_a_character_has_what_it_had(emu: CommandLine, dumps: Dumps) -> None:
    result = emu.good(*dumps.words, "--format", "csv")
    aldana = character(emu, "Aldana")
    assert (aldana.account_id, aldana.level, aldana.race, aldana.class_) == (7, 37, 9, 3)
    assert (aldana.zone_id, aldana.place) == (12, (348.5, -9.25, 829.75, 120.0, 0))
    assert (aldana.coins, aldana.status_points) == (7_654_321, 77)
    assert (aldana.experience, aldana.experience_needed) == (1234, 10_000)
    assert (aldana.last_name, aldana.tradeskill_class, aldana.tradeskill_level) == (
        "O'Stormfist", 4, 12,
    )  # fmt: skip
    assert aldana.titles == (Title("of the Harbor"), Title("Master Baker", is_prefix=True))
    assert (aldana.prefix, aldana.suffix) == ("Master Baker", "of the Harbor")
    assert aldana.skills == (KnownSkill(540022425, 90, 100), KnownSkill(3421494576, 180, 185))
    assert aldana.languages == (2, 13)
    assert aldana.relations == ((0, "Borvik"), (2, "Rude"))
    assert aldana.hotkeys == (Hotkey(1, 2, 4, text="hail"), Hotkey(1, 3, 1, 0, 0, 110014, 5))
    assert dict(Past(aldana.past).spells) == {99: 7, 110014: 5}
    assert ClientData(aldana.client_data).macros == [
        (2, Macro("Greet", 31, ("hail", "say Well met!")))
    ]
    assert aldana.appearance["model_type"] == 111
    assert aldana.appearance["body_size"] == 25
    assert set(aldana.colors) == {"skin_color", "eyes2"}
    assert (aldana.created, aldana.last_played) == (1433160000.0, 1580673722.0)
    assert "character_details,2,2,0,0" in result.stdout.splitlines()
    assert "characters,2,2,0,0" in result.stdout.splitlines()


def test_the_list_shows_them_on_this_server_s_world(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words)
    assert listed(emu) == [
        ("Aldana", "Norrath", 37), ("Borvik", "Norrath", 8), ("Dusk", "Permafrost", 8),
    ]  # fmt: skip
    with Store.open(emu.database) as store:
        (row,) = store.login.characters.of_account(7)
        assert (row.zone_name, row.zone_description) == ("antonica", "Antonica")
        assert [item.model for item in row.equipment] == [500]
        assert row.appearance["race_type"] == 111
        assert set(row.colors) == {"skin_color", "eye_type"}
        world = store.login.worlds.find("Norrath")
        assert world is not None
        assert store.login.worlds.find("Antonia") is None
        assert reconcile(store, world.id, read_atlas()) == 0


def test_the_report_says_what_differs_and_what_stays(emu: CommandLine, dumps: Dumps) -> None:
    report = emu.good(*dumps.words).stderr
    assert "this server has no OldCellar (4711), so these characters begin" in report
    assert "characters with a rank: Borvik 100" in report
    assert "deleted characters stay in the dump: 1" in report
    for later in ("character_quest_rewards 1", "hotkeys of items and macros 1"):
        assert later in report
    assert "1 character of 'Permafrost' stays with the old world" in report
    assert "--world Permafrost=FILE, where" in report
    assert character(emu, "Borvik").admin_status == 100
    assert character(emu, "Borvik").zone_id == 325


def test_things_come_with_their_owner(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words)
    own = character(emu, "Aldana")
    with Store.open(emu.database) as store:
        owner = Owner.character(own.id)
        things = store.world.things.of([owner])[owner]
        bag = things[0]
        assert [(one.item_id, one.place, one.count) for one in things] == [
            (70, Place(Where.BANK, 0, 2), 1), (71, Place(Where.BANK, bag.id, 3), 9),
            (72, Place(Where.WORN, 0, 2), 1),
        ]  # fmt: skip
        assert (things[1].condition, things[1].is_attuned, things[1].creator) == (90, True, "Meg")
        sold = Owner(OwnerKind.SOLD, own.id)
        back = store.world.things.of([sold])[sold]
        assert [(one.item_id, one.count, one.most_price, one.place.where) for one in back] == [
            (73, 4, 6, Where.HELD), (74, 1, 120, Where.HELD),
        ]  # fmt: skip
        library = Owner(OwnerKind.LIBRARY, own.id)
        books = store.world.things.of([library])[library]
        assert [(one.item_id, one.place.where) for one in books] == [
            (75, Where.HELD), (76, Where.HELD),
        ]  # fmt: skip
        bank = Owner(OwnerKind.BANK, own.id)
        entries = store.world.ledger.of_owner(bank, 9)
        assert [(one.giver, one.amount, one.taker_left) for one in entries] == [
            ("import", 20_000, 20_000)
        ]
        audit = store.world.ledger.audit()
        assert (audit.wrong_things, audit.differences) == ((), ())


def test_collections_and_houses_come_with_their_owner(
    emu: CommandLine, dumps: Dumps, tmp_path: Path
) -> None:
    content = tmp_path / "content.sqlite"
    tables = {
        "collections": [{"id": number, "collection_name": "Shells"} for number in (3, 4)],
        "collection_details": [
            {"id": at, "collection_id": collection, "item_id": item, "item_index": at}
            for at, (collection, item) in enumerate([(3, 81), (3, 82), (4, 80), (4, 79)])
        ],
        "houses": [{"id": 5, "name": "an inn", "zone_id": 12}],
        "zones": [{"id": 12, "name": "Antonica", "file": "antonica"}],
    }
    import_content(dump_parts([write_dumps(tmp_path / "content", tables)]), content)
    with emu.config.open("a", encoding="utf-8") as config:
        config.write(f'[world]\ncontent = "{content}"\n')
    dumps.write(world={**ANTONIA, **HOMES})
    emu.good(*dumps.words)
    own = character(emu, "Aldana")
    with Store.open(emu.database) as store:
        pieces = Owner(OwnerKind.PIECES, own.id)
        put_away = store.world.things.of([pieces])[pieces]
        assert {(one.item_id, one.place[1:], one.is_attuned) for one in put_away} == {
            (82, (3, 1), False), (80, (4, 0), True), (79, (4, 1), True),
        }  # fmt: skip
        (house,) = store.world.houses.owned(own.id)
        assert (house.home, house.upkeep_due, house.coins, house.status) == (
            5, 1_700_000_000, 250, 7,
        )  # fmt: skip
        ((thing, placed),) = store.world.houses.things(house.id)
        assert (thing.item_id, *placed[1:]) == (90, house.id, 5.5, 0.25, -2.5, 10.0)
        books = store.world.houses.books(house.id)
        assert [one.coins for one in books.deposits] == [300]
        assert [one.reason for one in books.history] == ["Paid Upkeep"]
        audit = store.world.ledger.audit()
        assert (audit.wrong_things, audit.differences) == ((), ())


def test_what_the_content_lacks_is_left_out_with_its_reason(
    emu: CommandLine, dumps: Dumps
) -> None:  # fmt: skip
    dumps.write(world={**ANTONIA, **HOMES})
    reported = emu.run(*dumps.words)
    assert "this server has no house 5; import its content first" in reported.output
    assert "this server has no collection 4; import its content first" in reported.output
    assert character(emu, "Aldana").level == 37


@pytest.mark.slow
def test_a_second_import_changes_nothing_that_was_done_since(
    emu: CommandLine, dumps: Dumps
) -> None:
    emu.good(*dumps.words)
    aldana = character(emu, "Aldana")
    with Store.open(emu.database) as store:
        store.world.characters.save_place(aldana.id, 166, (1.0, 2.0, 3.0, 4.0, 5))
    emu.good("character", "rename", "Aldana", "Newname")
    emu.good("character", "delete", "Borvik")
    before = listed(emu)
    for words in (dumps.words, dumps.words[:3]):
        again = emu.good(*words, "--format", "csv")
        assert "login_characters,4,0,4,0" in again.stdout.splitlines()
        assert listed(emu) == before
    assert character(emu, "Newname").place == (1.0, 2.0, 3.0, 4.0, 5)


def test_characters_of_an_earlier_import_are_brought_over(emu: CommandLine, dumps: Dumps) -> None:
    first = emu.good(*dumps.words[:3])
    assert "2 characters of 'Antonia' stay with the old world" in first.stderr
    assert listed(emu)[0] == ("Aldana", "Antonia", 37)
    result = emu.good(*dumps.words)
    assert listed(emu)[:2] == [("Aldana", "Norrath", 37), ("Borvik", "Norrath", 8)]
    assert "world 'Antonia' has no characters any more and was removed" in result.stderr
    with Store.open(emu.database) as store:
        (row,) = store.login.characters.of_account(7)
    assert [item.model for item in row.equipment] == [500]


@pytest.mark.slow
def test_a_later_dump_needs_no_worlds_and_adds_what_is_new(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words[:3])
    login = {table: rows for table, rows in LOGIN.items() if table != "login_worldservers"}
    dumps.write(login=login)
    emu.good(*dumps.words)
    assert listed(emu)[0] == ("Aldana", "Norrath", 37)
    new = {**ANTONIA["characters"][0], "id": 950, "name": "Newcomer"}
    dumps.write(world=changed(ANTONIA, characters=[*ANTONIA["characters"], new]), login=changed(
        LOGIN, login_characters=[
            *LOGIN["login_characters"],
            {**LOGIN["login_characters"][0], "id": 60, "char_id": 950, "name": "Newcomer"},
        ]
    ))  # fmt: skip
    result = emu.good(*dumps.words, "--format", "csv")
    assert "characters,3,1,2,0" in result.stdout.splitlines()
    assert ("Newcomer", "Norrath", 37) in listed(emu)


def test_a_number_that_was_assigned_again_is_the_later_character(
    emu: CommandLine, dumps: Dumps
) -> None:
    aldana = LOGIN["login_characters"][0]
    first = {**aldana, "id": 30, "name": "Before", "deleted": 1}
    dumps.write(login=changed(LOGIN, login_characters=[first, aldana]))
    emu.good(*dumps.words)
    with Store.open(emu.database) as store:
        (row,) = store.login.characters.of_account(7)
    assert (row.name, len(row.equipment)) == ("Aldana", 1)


def test_a_character_whose_world_lost_it_is_reported(emu: CommandLine, dumps: Dumps) -> None:
    dumps.write(world=changed(ANTONIA, characters=ANTONIA["characters"][:1]))
    result = emu.run(*dumps.words)
    assert str(result.exception) == "the import is incomplete: 2 rows skipped"
    assert "the dump of the world 'Antonia' does not have it" in result.stderr
    assert [name for name, _, _ in listed(emu)] == ["Aldana", "Dusk"]


def test_this_world_may_have_the_name_of_the_old_one(emu: CommandLine, dumps: Dumps) -> None:
    with emu.config.open("a", encoding="utf-8") as file:
        file.write('[world]\nname = "Antonia"\n')
    emu.good(*dumps.words[:3])
    emu.good(*dumps.words)
    assert listed(emu)[:2] == [("Aldana", "Antonia", 37), ("Borvik", "Antonia", 8)]
    with Store.open(emu.database) as store:
        accounts = [report.world.account for report in store.login.worlds.reports()]
    assert accounts == ["perma", "built-in"]


def test_this_world_may_not_have_the_name_of_one_that_stays(emu: CommandLine, dumps: Dumps) -> None:
    with emu.config.open("a", encoding="utf-8") as file:
        file.write('[world]\nname = "Permafrost"\n')
    assert "another registered world has the name 'Permafrost'" in emu.refused(*dumps.words)
    assert emu.rows("account", "list") == []


@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize(("complete", "definitions"), [(False, True), (True, True), (True, False)])
def test_every_form_of_mysqldump_is_read(
    emu: CommandLine, dumps: Dumps, *, extended: bool, complete: bool, definitions: bool
) -> None:
    world = changed(ANTONIA)
    if not definitions:  # then a table without rows is not in the dump at all
        world = {table: rows for table, rows in ANTONIA.items() if rows}
    dumps.write(world=world, extended=extended, complete=complete, definitions=definitions)
    for path in (dumps.login, dumps.world):
        path.write_bytes(gzip.compress(path.read_bytes()))
    emu.good(*dumps.words)
    assert character(emu, "Aldana").coins == 7_654_321


def test_the_tables_may_be_in_several_files(emu: CommandLine, dumps: Dumps, tmp_path: Path) -> None:
    details = tmp_path / "details.sql"
    details.write_text(mysqldump({"character_details": ANTONIA["character_details"]}), "utf-8")
    rest = {table: rows for table, rows in ANTONIA.items() if table != "character_details"}
    dumps.write(world=rest)
    refusal = emu.refused(*dumps.words)
    assert "lacks character_details: the import needs these tables, even empty" in refusal
    emu.good(*dumps.words, "--world", f"antonia={details}")
    assert character(emu, "Aldana").coins == 7_654_321


def test_both_databases_may_be_in_one_file(emu: CommandLine, dumps: Dumps) -> None:
    both = dumps.login.read_text("utf-8") + dumps.world.read_text("utf-8")
    dumps.login.write_text(both, encoding="utf-8")
    emu.good(*IMPORT, str(dumps.login), "--world", f"ANTONIA={dumps.login}")
    assert character(emu, "Aldana").coins == 7_654_321


def test_two_old_worlds_may_have_the_same_numbers_and_names(
    emu: CommandLine, dumps: Dumps, tmp_path: Path
) -> None:
    other = tmp_path / "perma.sql"
    dusk, friend = dict(ANTONIA["characters"][0]), dict(ANTONIA["characters"][1])
    dusk |= {"name": "Aldana", "account_id": 8, "level": 50}
    tables = changed(ANTONIA, characters=[dusk, friend | {"id": 905, "name": "Duskfriend"}])
    tables["character_social"] = [{"id": 1, "char_id": 905, "name": "Aldana", "type": "FRIEND"}]
    tables["character_details"] = []
    other.write_text(mysqldump(tables), encoding="utf-8")
    result = emu.good(*dumps.words, "--world", f"Permafrost={other}")
    assert "Permafrost: names were taken, so Aldana is Aldanax" in result.stderr
    assert [name for name, _, _ in listed(emu)] == [
        "Aldana", "Aldanax", "Borvik", "Duskfriend",
    ]  # fmt: skip
    assert (character(emu, "Aldana").level, character(emu, "Aldanax").level) == (37, 50)
    assert character(emu, "Duskfriend").relations == ((0, "Aldanax"),)
    assert character(emu, "Aldana").relations == ((0, "Borvik"), (2, "Rude"))


def test_friends_of_characters_with_new_names_stay_friends(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words)
    aldana = LOGIN["login_characters"][0]
    second = {**LOGIN["login_worldservers"][0], "id": 9, "name": "Second", "account": "second"}
    ids = {"Aldana": 1, "Aldanax": 2, "Friend": 3}
    login = changed(LOGIN, login_worldservers=[second], ls_world_zones=[], login_characters=[
        {**aldana, "server_id": 9, "id": 80 + number, "char_id": number, "name": name}
        for name, number in ids.items()
    ], login_char_colors=[], login_equipment=[])  # fmt: skip
    world = {table: [] for table in ANTONIA} | {
        "characters": [{**ANTONIA["characters"][0], "id": number, "name": name}
                       for name, number in ids.items()],
        "character_social": [{"id": 1, "char_id": 3, "name": name, "type": "FRIEND"}
                             for name in ("Aldana", "Aldanax")],
    }  # fmt: skip
    dumps.write(login=login, world=world)
    emu.good(*IMPORT, str(dumps.login), "--world", f"Second={dumps.world}")
    assert character(emu, "Friend").relations == ((0, "Aldanax"), (0, "Aldanaxx"))


def test_the_same_file_given_twice_is_read_as_one(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words, *dumps.words[-2:])
    aldana = character(emu, "Aldana")
    assert aldana.relations == ((0, "Borvik"), (2, "Rude"))
    assert len(aldana.titles) == len(aldana.skills) == 2
    assert [name for name, _, _ in listed(emu)] == ["Aldana", "Borvik", "Dusk"]


def test_a_name_that_is_taken_here_is_changed(emu: CommandLine, dumps: Dumps) -> None:
    emu.good(*dumps.words)
    second = {**LOGIN["login_worldservers"][0], "id": 9, "name": "Second", "account": "second"}
    aldana = {**LOGIN["login_characters"][0], "server_id": 9}
    other = changed(LOGIN, login_worldservers=[second], login_characters=[aldana])
    other["ls_world_zones"] = []
    dumps.write(login=other)
    emu.good(*IMPORT, str(dumps.login), "--world", f"Second={dumps.world}")
    assert character(emu, "Aldanax").account_id == 7
    assert ("Aldanax", "Norrath", 37) in listed(emu)


def test_rows_that_cannot_be_used_are_reported_and_the_others_imported(
    emu: CommandLine, dumps: Dumps
) -> None:
    world = changed(
        ANTONIA,
        characters=[
            *ANTONIA["characters"],
            {**ANTONIA["characters"][1], "id": 910, "name": "Lost", "account_id": 4000},
            {**ANTONIA["characters"][1], "id": 911, "name": "High", "level": 300},
            {**ANTONIA["characters"][1], "id": 912, "name": "Weird", "x": 1e30,
             "current_zone_id": 12},
        ],
        character_titles=[{"id": 1, "char_id": 900, "title_id": 99999},
                          {"id": 2, "char_id": 900, "title_id": 70},
                          {"id": 3, "char_id": 666, "title_id": 70}],
        character_social=[{"id": 1, "char_id": "x", "name": "A", "type": "FRIEND"},
                          {"id": 1, "char_id": 900, "name": "A", "type": "ENEMY"}],
    )  # fmt: skip
    dumps.write(world=world)
    result = emu.run(*dumps.words)
    assert str(result.exception) == "the import is incomplete: 6 rows skipped"
    for reason in (
        "row of characters left out: its account 4000 was not imported",
        "row of characters left out: level is out of range: 300",
        "title 99999 is unknown; dump the table titles too",
        "row of character_titles left out: its character does not exist",
        "row of character_social left out: char_id is no number: 'x'",
        "'ENEMY' is neither FRIEND nor IGNORE",
        "Weird: unusable place",
    ):
        assert reason in result.stderr
    assert "eq2emu.sql, line " in result.stderr
    aldana = character(emu, "Aldana")
    assert (aldana.titles, aldana.prefix) == ((Title("of the Harbor"),), "")
    assert character(emu, "Weird").place is None


@pytest.mark.slow
def test_accounts_with_other_ids_keep_their_characters(emu: CommandLine, dumps: Dumps) -> None:
    for name in ("first", "second", "alice", "x4", "x5", "x6", "x7", "x8"):
        emu.good("account", "add", name, "--password", "longer password")
    assert "ids are taken" in emu.refused(*dumps.words)
    assert listed(emu) == []
    emu.good(*dumps.words, "--renumber")
    assert character(emu, "Aldana").account_id == 3
    with Store.open(emu.database) as store:
        bob = store.login.accounts.find("bob")
        assert bob is not None
        assert store.login.characters.of_account(bob.id)[0].name == "Borvik"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("swapped", "none of a login server: it is one of a world. Give the login"),
        ("login twice", "it is the login server's, but --world needs the world's"),
        ("nothing", "has no table account, so it is none of a login server"),
        ("no names", "the columns of account have no names; dump the table definitions too"),
        ("torn", "the file ends inside"),
        ("old", "the dump has no world 'Atlantis'; its worlds: 'Antonia', 'Permafrost'"),
        ("missing", "there is no file"),
        ("nobody's", "must not name the home folder of an unknown user"),
        ("no equals", "give the world's name and a file, OLD=FILE"),
    ],
)
def test_a_wrong_file_is_named_in_one_line_and_nothing_changes(
    emu: CommandLine, dumps: Dumps, tmp_path: Path, fault: str, reason: str
) -> None:
    names = {"old": "Atlantis=", "no equals": "Antonia:", "nobody's": "Antonia=~nobody-at-all"}
    login, world, name = dumps.login, dumps.world, names.get(fault, "Antonia=")
    if fault == "swapped":
        login, world = world, login
    elif fault == "login twice":
        world = login
    elif fault == "nothing":
        login = tmp_path / "other.sql"
        login.write_text(mysqldump({"poem": [{"line": "x"}]}), encoding="utf-8")
    elif fault == "no names":
        dumps.write(definitions=False)
    elif fault == "torn":
        world.write_text(world.read_text("utf-8")[:-700], encoding="utf-8")
    elif fault == "missing":
        world = tmp_path / "none.sql"
    assert reason in emu.refused(*IMPORT, str(login), "--world", f"{name}{world}")
    if emu.database.exists():
        assert emu.rows("account", "list") == []


def test_a_trial_changes_nothing_and_says_the_same(emu: CommandLine, dumps: Dumps) -> None:
    tried = emu.good(*dumps.words, "--dry-run", "--format", "csv")
    assert not emu.database.exists()
    done = emu.good(*dumps.words, "--format", "csv")
    assert done.stdout == tried.stdout


@pytest.mark.parametrize("service", ["login", "world"])
def test_both_services_must_be_in_this_server(emu: CommandLine, dumps: Dumps, service: str) -> None:
    elsewhere = 'account = "a"\npassword = "b"\nlogin_servers = ["192.0.2.1:9100"]\n'
    switched = "enabled = false\n[world]\n" + elsewhere
    with emu.config.open("a", encoding="utf-8") as file:
        file.write(switched if service == "login" else "[world]\nenabled = false\n")
    refusal = emu.refused(*dumps.words)
    assert refusal.startswith("--world needs a login server and a world in one server")


def test_a_running_server_must_be_stopped(emu: CommandLine, dumps: Dumps) -> None:
    emu.good("account", "add", "carol", "--password", "longer password")
    with ServerLock(load(emu.config).database.path):
        refusal = emu.refused(*dumps.words)
        assert refusal.startswith("an import with --world needs a stopped server: ")
        emu.good(*dumps.words, "--dry-run")
        emu.good(*dumps.words[:3])
    assert listed(emu)[0] == ("Aldana", "Antonia", 37)


def test_an_interrupted_import_leaves_nothing_behind(
    emu: CommandLine, dumps: Dumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(eq2emu_list, "own_list_row", fail)
        emu.run(*dumps.words)
    assert emu.rows("account", "list") == []
    assert listed(emu) == []
    emu.good(*dumps.words)
    assert len(listed(emu)) == 3


def test_a_character_that_only_the_world_has_is_listed_when_the_server_starts(
    emu: CommandLine, dumps: Dumps
) -> None:
    dumps.write(login=changed(LOGIN, login_characters=[], login_char_colors=[], login_equipment=[]))
    emu.good(*dumps.words)
    with Store.open(emu.database) as store:
        world = store.login.worlds.find("Norrath")
        assert world is not None
        assert reconcile(store, world.id, read_atlas()) == 2
        (row,) = store.login.characters.of_account(7)
    assert (row.name, row.appearance["race_type"], row.appearance["chest_type"]) == (
        "Aldana", 111, 5459,
    )  # fmt: skip
    assert BORVIK["name"] in [name for name, _, _ in listed(emu)]
