"""How addresses are shown."""

from __future__ import annotations

from emu.capture.formats.records import show_address


def test_ipv6_addresses_stand_in_brackets():
    assert show_address(("10.0.0.1", 9100)) == "10.0.0.1:9100"
    assert show_address(("2001:db8::1", 9100)) == "[2001:db8::1]:9100"
