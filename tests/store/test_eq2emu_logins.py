"""Rows of settings and models; accounts, worlds and bans are in test_dump.py."""

from emu.store import Store
from tests.support.files.eq2emu_dumps import counts, insert, take


def model(number: int, path: str) -> str:
    return insert("appearances", id=number, appearance_id=number, name=path, min_client_version=1)


def test_numbers_of_models_are_taken_over(empty_store: Store) -> None:
    dump = model(134, "ec/pc/Human/human_male") + model(9, "ec/pc/human/human_male") + model(0, "x")
    report = take(empty_store, dump)
    assert counts(report) == {"appearances": (3, 1, 1, 1)}
    assert empty_store.login.models.numbers(["ec/pc/human/human_male", "x"]) == {
        "ec/pc/human/human_male": 134
    }


def test_a_setting_that_occurs_twice_is_reported_and_no_failure(empty_store: Store) -> None:
    rows = "INSERT INTO login_config (config_name, config_value) VALUES ('a', '1'), ('a', '2');"
    report = take(empty_store, rows)
    assert report.left_out == 0
    assert report.notes == ["a occurs twice, with '1' and '2'; the first is used"]
    assert report.settings == {"a": "1"}
