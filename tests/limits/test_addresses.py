"""Whom an address stands for, in whatever spelling it comes."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.limits.addresses import (
    address_key,
    is_host,
    is_loopback,
    parse_host,
    plain_host,
    reachable,
    socket_host,
)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:c000:207", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("somewhere", "somewhere"),
        ("", ""),
    ],
)
def test_what_counts_as_one_sender(address: str, key: str) -> None:
    assert address_key(address) == key


@pytest.mark.parametrize(
    ("host", "plain"),
    [
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("::ffff:nonsense", "::ffff:nonsense"),
        ("somewhere", "somewhere"),
    ],
)
def test_ipv4_inside_ipv6_is_ipv4(host: str, plain: str) -> None:
    assert plain_host(host) == plain


@given(st.ip_addresses())
def test_a_plain_host_goes_back_to_its_ipv6_socket(address) -> None:
    host = str(address)
    if address.version == 4:
        host = f"::ffff:{host}"
    assert ipaddress.ip_address(socket_host(plain_host(host))) == ipaddress.ip_address(host)


@given(st.ip_addresses(v=6))
def test_what_stands_for_an_ipv6_address_holds_it(address) -> None:
    if address.ipv4_mapped is None:
        assert address in ipaddress.ip_network(address_key(str(address)))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_many_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", "somewhere", ""])
def test_others_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="somewhere"):
        parse_host("somewhere")


def test_a_port_bound_to_every_address_is_reached_on_loopback() -> None:
    assert reachable("0.0.0.0") == "127.0.0.1"
    assert reachable("::") == "::1"
    assert reachable("203.0.113.7") == "203.0.113.7"


@pytest.mark.parametrize(
    "host", ["192.0.2.7", "::1", "fe80::1%eth0", "localhost", "my_world.example", "example.org."]
)
def test_addresses_and_names_are_hosts(host: str) -> None:
    assert is_host(host)


@pytest.mark.parametrize(
    "host",
    ["", "-", "a b", "10.0.0.300", "[::1]", "-a.example", "a..b", "a." * 127 + "aa", "x" * 64],
)
def test_mistyped_addresses_and_names_are_no_hosts(host: str) -> None:
    """The lengths are those of DNS: 63 characters for a part, 253 for a name (RFC 1035)."""
    assert not is_host(host)
