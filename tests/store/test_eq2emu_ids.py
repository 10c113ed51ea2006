import pytest

from emu.store import Store
from emu.store.eq2emu_ids import Ids


def test_only_the_ids_of_a_table_in_the_dump_are_valid(store: Store) -> None:
    ids = Ids(store.login)
    assert (ids.account(1), ids.world(1)) == (1, 1)
    ids.accounts[30] = ids.worlds[31] = 1
    assert (ids.account(30), ids.world(31)) == (1, 1)
    for ask in (ids.account, ids.world, ids.character):
        with pytest.raises(ValueError, match="1 was not imported"):
            ask(1)
