import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.limits.addresses import BanList, networks_of, normalize_prefix

NETWORKS = st.one_of(
    st.builds(
        lambda address, bits: ipaddress.ip_network((address, bits), strict=False),
        st.ip_addresses(v=4),
        st.integers(0, 32),
    ),
    st.builds(
        lambda address, bits: ipaddress.ip_network((address, bits), strict=False),
        st.ip_addresses(v=6),
        st.integers(0, 128),
    ),
)


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
    with pytest.raises(ValueError, match="is not an address"):
        normalize_prefix(wrong)


@pytest.mark.parametrize(
    ("prefix", "hit", "missed"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.17"),
        ("10.0.0.1", "::ffff:10.0.0.1", "110.0.0.1"),
        ("10.0", "10.0.255.255", "10.1.0.0"),
        ("10", "10.255.0.1", "11.0.0.1"),
        ("10", "10::5", "11::5"),
        ("192.0.2.0/25", "192.0.2.127", "192.0.2.128"),
        ("2001:db8", "2001:db8::5", "2001:db9::5"),
        ("2001:0db8", "2001:db8::5", "2001:db80::5"),
        ("2001:db8::1", "2001:db8::1", "2001:db8::1:2:3:4"),
        ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
        ("::1", "::1", "127.0.0.1"),
        ("::/0", "2001:db8::1", "192.0.2.1"),
        ("0.0.0.0/0", "192.0.2.1", "2001:db8::1"),
    ],
)
def test_a_ban_covers_whole_groups_only(prefix: str, hit: str, missed: str) -> None:
    bans = BanList([(normalize_prefix(prefix), None)])
    assert bans.covers(hit, 10.0)
    assert not bans.covers(missed, 10.0)


def test_a_ban_ends_and_the_longest_of_one_network_counts() -> None:
    bans = BanList([("10.0.0.1", 100.0), ("10.0", 50.0), ("10.0.0.0/16", 60.0)])  # type: ignore[list-item]
    assert bans.covers("10.0.0.1", 99.0)
    assert not bans.covers("10.0.0.1", 100.0)
    assert bans.covers("10.0.0.2", 59.0)
    assert not bans.covers("10.0.0.2", 60.0)
    for ends in ([50.0, None], [None, 50.0]):
        both = BanList(zip(("10.0", "10.0.0.0/16"), ends, strict=True))
        assert both.covers("10.0.0.1", 1e9)


def test_something_that_is_no_address_is_covered_by_itself_only() -> None:
    bans = BanList([("/run/emu.sock", 7.0), ("no address", None), ("1.2.3.4.5", None)])  # type: ignore[list-item]
    assert bans.covers("/run/emu.sock", 6.0)
    assert not bans.covers("/run/emu.sock", 7.0)
    assert not bans.covers("/run/other.sock", 6.0)
    assert not bans.covers("1.2.3.4", 6.0)


@pytest.mark.slow
@given(st.lists(NETWORKS, max_size=20), st.ip_addresses())
def test_a_list_covers_what_one_of_its_networks_does(networks: list, address: object) -> None:
    bans = BanList([(normalize_prefix(str(network)), None) for network in networks])
    mapped = getattr(address, "ipv4_mapped", None)
    plain = address if mapped is None else mapped
    stored = [ipaddress.ip_network(normalize_prefix(str(network))) for network in networks]
    assert bans.covers(str(address), 0.0) == any(plain in network for network in stored)
    if networks and networks[0].version == plain.version:
        inside = BanList([(str(networks[0]), None)])
        assert inside.covers(str(networks[0].network_address), 0.0)


@given(st.text(alphabet="0123456789abcdef.:/g", max_size=45))
def test_whatever_can_be_stored_is_understood(text: str) -> None:
    try:
        stored = normalize_prefix(text)
    except ValueError:
        return
    assert all(network.prefixlen <= network.max_prefixlen for network in networks_of(stored))
