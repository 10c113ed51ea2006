import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.store import BannedAddress, Store
from emu.store.addresses import covering, is_covered, normalize_prefix


def banned(store: Store, address: str, now: float) -> bool:
    bans = {ban.prefix: ban.until for ban in store.banned_addresses()}
    return is_covered(bans, address, now)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" 192.0.2. ", "192.0.2"),
        ("10", "10"),
        ("192.0.2.9/24", "192.0.2.0/24"),
        ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8:", "2001:db8"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
        ("::/0", "::/0"),
    ],
)
def test_a_ban_is_stored_in_one_spelling(written: str, stored: str) -> None:
    assert normalize_prefix(written) == stored


@pytest.mark.parametrize("wrong", ["", "...", "example.org", "192.0.2.0/33", "*"])
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="is no address"):
        normalize_prefix(wrong)


@pytest.mark.parametrize(
    ("prefix", "hit", "missed"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.17"),
        ("10.0.0.1", "::ffff:10.0.0.1", "110.0.0.1"),
        ("10.0", "10.0.255.255", "10.1.0.0"),
        ("192.0.2.0/25", "192.0.2.127", "192.0.2.128"),
        ("2001:db8", "2001:db8::5", "2001:db9::5"),
        ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
        ("::1", "::1", "127.0.0.1"),
    ],
)
def test_a_ban_covers_whole_parts_only(store: Store, prefix: str, hit: str, missed: str) -> None:
    assert store.ban_address(BannedAddress(normalize_prefix(prefix), "rude", 1.0))
    assert banned(store, hit, 10.0)
    assert not banned(store, missed, 10.0)


def test_a_ban_ends_and_can_be_replaced_and_lifted(store: Store) -> None:
    assert not banned(store, "10.0.0.1", 5.0)
    assert store.ban_address(BannedAddress("10.0.0.1", until=100.0))
    assert banned(store, "10.0.0.1", 99.0)
    assert not banned(store, "10.0.0.1", 100.0)
    assert not store.ban_address(BannedAddress("10.0.0.1", "for good", 7.0))
    assert store.banned_addresses() == [BannedAddress("10.0.0.1", "for good", 7.0)]
    assert store.unban_address("10.0.0.1")
    assert not store.unban_address("10.0.0.1")


def test_something_that_is_no_address_is_covered_by_itself_only() -> None:
    assert list(covering("/run/emu.sock")) == ["/run/emu.sock"]


@given(st.ip_addresses())
def test_every_spelling_that_covers_an_address_can_be_stored(address: object) -> None:
    found = list(covering(str(address)))
    assert len(found) < 200
    for prefix in found:
        if prefix:
            assert normalize_prefix(prefix) in found
