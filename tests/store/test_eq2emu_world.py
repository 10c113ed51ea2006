"""Characters of old worlds that continue in the built-in world: what the store keeps of them.

`tests/cli/test_eq2emu_continued.py` has the whole import.
"""

from emu.store import Store
from emu.store.eq2emu_world import ImportedCharacters, listed
from tests.support.database.stores import world_character


def test_an_imported_character_is_known_by_world_and_number(empty_store: Store) -> None:
    imported = ImportedCharacters(empty_store.database)
    imported.add("anto", 900, 7, 1)
    assert imported.find("anto", 900) == (7, 1)
    assert imported.find("anto", 901) is None
    assert imported.find("perma", 900) is None
    assert (imported.has_world("anto"), imported.has_world("perma")) == (True, False)


def test_friends_get_new_names_only_in_new_characters(empty_store: Store) -> None:
    characters, belongings = empty_store.world.characters, empty_store.world.belongings
    ids = []
    for name in ("Old", "New"):
        made = characters.create(world_character(name=name))
        belongings.save(made.id, {"relations": [(0, "Borvik"), (2, "Borvik"), (0, "Cestra")]})
        ids.append(made.id)
    ImportedCharacters(empty_store.database).rename_friends(ids[1], "Borvik", "Borvikx")
    assert belongings.of(ids[0])["relations"] == ((0, "Borvik"), (0, "Cestra"), (2, "Borvik"))
    assert belongings.of(ids[1])["relations"] == ((0, "Borvikx"), (0, "Cestra"), (2, "Borvikx"))


def test_a_line_lists_some_names_and_counts_the_others() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcdefg"]) == "a, b, c, d, e and 2 more"
