import pytest

from emu.store import Store
from emu.store.eq2emu import Ids


def test_a_dump_that_tells_who_its_numbers_are_means_nobody_else(store: Store) -> None:
    ids = Ids(store.login)
    assert (ids.account(1), ids.world(1)) == (1, 1)
    ids.accounts[30] = ids.worlds[31] = 1
    assert (ids.account(30), ids.world(31)) == (1, 1)
    for ask in (ids.account, ids.world, ids.character):
        with pytest.raises(ValueError, match="1 was not imported"):
            ask(1)
