"""Edits of the content file, in the database of each engine."""

from emu.processes.ports import ContentEdit
from emu.store import Store
from emu.times import Moment


def edit(number: int, name: str, value: str = "1.0", old: str = "2.0") -> ContentEdit:
    return ContentEdit("placement", number, name, value, old, "Aldana", Moment(5.0))


def test_edits_are_stored_and_removed(empty_store: Store) -> None:
    edits = empty_store.world.content_edits
    edits.save_edits([edit(12, "x"), edit(11, "y"), edit(2_000_000_001 + 2**40, "x")])
    assert [(one.number, one.name) for one in edits.every()] == [
        (11, "y"), (12, "x"), (2_000_000_001 + 2**40, "x"),
    ]  # fmt: skip
    assert edits.remove("placement", 12, "y") == 0
    assert edits.remove("placement", 12, "x") == 1
    assert edits.remove("placement", 11) == 1
    assert len(edits.every()) == 1


def test_the_first_value_of_the_content_file_is_kept(empty_store: Store) -> None:
    edits = empty_store.world.content_edits
    edits.save_edits([edit(11, "x")])
    edits.save_edits([edit(11, "x", "3.0", "1.0")])
    assert list(edits.every()) == [edit(11, "x", "3.0", "2.0")]
