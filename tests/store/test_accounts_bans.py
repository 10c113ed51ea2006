from emu.store import BannedAddress, Store


def test_a_ban_is_stored_replaced_and_lifted(store: Store) -> None:
    assert store.login.bans.add(BannedAddress("10.0.0.1", until=100.0))
    assert not store.login.bans.add(BannedAddress("10.0.0.1", "for good", 7.0))
    assert store.login.bans.add(BannedAddress("192.0.2.0/24", "rude", 8.0, 9.0))
    assert store.login.bans.every() == [
        BannedAddress("10.0.0.1", "for good", 7.0),
        BannedAddress("192.0.2.0/24", "rude", 8.0, 9.0),
    ]
    assert store.login.bans.lift("10.0.0.1")
    assert not store.login.bans.lift("10.0.0.1")
