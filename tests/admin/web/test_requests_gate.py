from __future__ import annotations

import dataclasses

import pytest

from emu.admin.web.requests import Monitors, Origin, RequestGate
from emu.admin.web.sessions import RequestRefused

HERE = Origin("127.0.0.1", "127.0.0.1:8080", "http://127.0.0.1:8080", "same-origin")
PROXIED = Origin("127.0.0.1", "emu.example.org", "https://emu.example.org", "same-origin",
                 "203.0.113.9, 192.0.2.7")  # fmt: skip
URL = "https://emu.example.org"


def refused(gate: RequestGate, origin: Origin) -> str:
    with pytest.raises(RequestRefused) as caught:
        gate.admit(origin)
    assert caught.value.code == 403
    return caught.value.reason


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:9", "[::1]:8080", "LOCALHOST"])
def test_the_machine_itself_may_act_by_whatever_port(host: str) -> None:
    gate = RequestGate(None)
    gate.admit(dataclasses.replace(HERE, host=host, origin=f"http://{host}"))
    gate.admit(dataclasses.replace(HERE, host=host, origin=f"http://{host}", fetch_site=""))
    assert gate.address(HERE) == "127.0.0.1"


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": ""},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "https://127.0.0.1:8080"},
        {"origin": "http://127.0.0.1:8081"},
        {"origin": "http://127.0.0.1:8080.evil.example"},
        {"fetch_site": "cross-site"},
        {"fetch_site": "same-site"},
        {"fetch_site": "none"},
    ],
)
def test_foreign_pages_may_not(changes: dict[str, str]) -> None:
    assert refused(RequestGate(None), dataclasses.replace(HERE, **changes)) == "foreign origin"


@pytest.mark.parametrize(
    "host", ["evil.example", "", "127.0.0.1.evil.example", "192.0.2.7", "[", "localhost:x"]
)
def test_a_foreign_name_for_the_loopback_is_refused(host: str) -> None:
    origin = dataclasses.replace(HERE, host=host, origin=f"http://{host}")
    assert refused(RequestGate(None), origin) == "foreign name"


def test_a_proxy_that_nobody_has_configured_is_refused() -> None:
    assert refused(RequestGate(None), dataclasses.replace(HERE, forwarded_for="192.0.2.7")) == (
        "unknown proxy"
    )


def test_behind_a_proxy_the_last_address_counts() -> None:
    gate = RequestGate(URL)
    gate.admit(PROXIED)
    assert gate.address(PROXIED) == "192.0.2.7"
    for odd, address in (("", "127.0.0.1"), ("nonsense", "127.0.0.1"), ("::ffff:192.0.2.7",
                                                                       "192.0.2.7")):  # fmt: skip
        assert gate.address(dataclasses.replace(PROXIED, forwarded_for=odd)) == address


def test_nobody_goes_past_the_proxy() -> None:
    assert (
        refused(RequestGate(URL), dataclasses.replace(PROXIED, peer="192.0.2.9"))
        == "past the proxy"
    )
    named = RequestGate(URL, ["192.0.2.9"])
    assert named.address(dataclasses.replace(PROXIED, peer="192.0.2.9")) == "192.0.2.7"
    assert refused(named, PROXIED) == "past the proxy"
    plain = dataclasses.replace(PROXIED, origin="http://emu.example.org")
    assert refused(RequestGate(URL), plain) == "foreign origin"


def test_a_browser_on_this_machine_needs_no_proxy() -> None:
    gate = RequestGate(URL)
    assert gate.admit(HERE) == "127.0.0.1"
    assert not gate.is_secure(HERE)
    assert gate.cookie(HERE) == "emu-session-8080"
    reading = dataclasses.replace(HERE, origin="")
    assert gate.cookies(reading) == ["__Host-emu-session", "emu-session-8080"]
    assert gate.cookies(PROXIED) == ["__Host-emu-session"]
    assert RequestGate(None).cookies(HERE) == ["emu-session-8080"]
    assert RequestGate(URL, ["192.0.2.9"]).admit(HERE) == "127.0.0.1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"origin": "http://evil.example"}, "foreign origin"),
        ({"fetch_site": "cross-site"}, "foreign origin"),
        ({"host": "evil.example", "origin": "http://evil.example"}, "foreign origin"),
        ({"forwarded_for": "192.0.2.7"}, "foreign origin"),
        ({"peer": "192.0.2.9"}, "past the proxy"),
    ],
)
def test_what_only_looks_like_this_machine_is_refused(changes: dict[str, str], reason: str) -> None:
    assert refused(RequestGate(URL), dataclasses.replace(HERE, **changes)) == reason


def test_a_proxy_that_hides_its_clients_still_works() -> None:
    # nginx sends the name of its target, and no X-Forwarded-For, by default.
    hidden = dataclasses.replace(HERE, origin=URL)
    gate = RequestGate(URL)
    assert gate.admit(hidden) == "127.0.0.1"
    assert gate.is_secure(hidden)
    assert gate.cookie(hidden) == "__Host-emu-session"


def test_cookies_have_names_that_do_not_meet() -> None:
    assert RequestGate(URL).cookie(PROXIED) == "__Host-emu-session"
    assert RequestGate(None).cookie(HERE) == "emu-session-8080"
    assert RequestGate(None).cookie(dataclasses.replace(HERE, host="localhost")) == "emu-session-80"
    assert RequestGate(None).cookie(dataclasses.replace(HERE, host="[")) == "emu-session-80"


@pytest.mark.parametrize(
    ("peer", "forwarded", "admitted"),
    [
        ("127.0.0.1", "", True),
        ("::1", "", True),
        ("192.0.2.7", "", True),
        ("2001:db8::1", "", True),
        ("198.51.100.1", "", False),
        ("", "", False),
        ("127.0.0.1", "192.0.2.7", False),
        ("192.0.2.7", "127.0.0.1", False),
    ],
)
def test_monitors_are_this_machine_and_listed_networks(
    peer: str, forwarded: str, admitted: bool
) -> None:
    monitors = Monitors(("192.0.2.0/24", "2001:db8::1"))
    assert monitors.admit(Origin(peer, forwarded_for=forwarded)) is admitted
