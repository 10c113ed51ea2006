from __future__ import annotations

import pytest

from emu.world.registration.registry import address_for, is_private


@pytest.mark.parametrize(
    "address",
    ["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.1", "169.254.1.1",
     "::1", "fd00::1", "fe80::1", "::ffff:192.168.1.1"],
)  # fmt: skip
def test_private_addresses(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.32.0.1", "192.169.0.1", "203.0.113.1", "2001:db8::1", "::ffff:8.8.8.8",
     "", "localhost", "999.1.1.1"],
)  # fmt: skip
def test_other_addresses(address: str) -> None:
    assert not is_private(address)


@pytest.mark.parametrize(
    ("client", "internal", "reported"),
    [
        ("8.8.8.8", "192.168.0.5", "play.example.org"),
        ("192.168.0.9", "192.168.0.5", "192.168.0.5"),
        ("play.example.org", "192.168.0.5", "192.168.0.5"),
        ("192.168.0.9", None, "play.example.org"),
        ("192.168.0.9", "", "play.example.org"),
        ("", "192.168.0.5", "play.example.org"),
    ],
)
def test_which_address_a_client_is_sent(client: str, internal: str | None, reported: str) -> None:
    assert address_for(client, "play.example.org", internal) == reported
