"""Names to listen on become addresses, or one clear line."""

import errno
import json
import os
import socket
from collections import Counter
from dataclasses import asdict

import pytest
from twisted.internet import reactor
from twisted.internet.address import IPv4Address, IPv6Address, UNIXAddress
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import Factory

from emu.admin.status import OpenPort
from emu.config import Address, Config
from emu.config.administration import WebConfig
from emu.config.world import WorldConfig
from emu.errors import ConfigError
from emu.net.stream import UdpPortTaken, cannot_listen, key_of, listen_address, open_port
from tests.support.running.names import know_no_invalid_names


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_addresses_stay_as_they_are(host: str) -> None:
    assert listen_address("login.listen", Address(host, 9100)) == Address(host, 9100)


def test_a_name_becomes_an_address_and_ipv4_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        assert (host, port) == ("login.example.org", 9100)
        return [
            (socket.AF_INET6, 2, 17, "", ("2001:db8::7", port, 0, 0)),
            (socket.AF_INET, 2, 17, "", ("192.0.2.7", port)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    found = listen_address("login.listen", Address("login.example.org", 9100))
    assert found == Address("192.0.2.7", 9100)


def test_a_name_without_an_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    know_no_invalid_names(monkeypatch)
    with pytest.raises(ConfigError) as caught:
        listen_address("world.listen", Address("no-such-host.invalid", 1))
    (line,) = caught.value.problems
    assert line.startswith("world.listen: the host name no-such-host.invalid cannot be resolved (")


def test_a_port_that_cannot_be_opened_is_one_line_with_its_key() -> None:
    taken = CannotListenError("127.0.0.1", 9100, OSError(98, "Address already in use"))
    assert cannot_listen("login.listen", taken) == (
        "login.listen: cannot listen on TCP 127.0.0.1:9100 (Address already in use); "
        "stop the program that holds the port, or choose another"
    )
    datagrams = UdpPortTaken("127.0.0.1", 9100, OSError(98, "Address already in use"))
    assert "cannot listen on UDP 127.0.0.1:9100 (" in cannot_listen("login.listen", datagrams)


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EADDRNOTAVAIL, "name an address of this machine, or 0.0.0.0 for all of them"),
        (errno.EACCES, "choose a port above 1023, or give the server the right to open lower ones"),
        (errno.EAFNOSUPPORT, "this machine has no IPv6; name an IPv4 address"),
        (errno.ENOBUFS, "choose another address or port"),
    ],
)
def test_the_cure_is_that_of_the_reason(number: int, cure: str) -> None:
    failed = UdpPortTaken("192.0.2.1", 80, OSError(number, os.strerror(number)))
    assert cannot_listen("world.listen", failed) == (
        f"world.listen: cannot listen on UDP 192.0.2.1:80 ({os.strerror(number)}); {cure}"
    )


def test_an_address_of_another_machine_is_refused_with_its_cure() -> None:
    # RFC 5737: no machine has this address.
    with pytest.raises(CannotListenError) as caught:
        reactor.listenTCP(0, Factory(), interface="192.0.2.1")  # type: ignore[attr-defined]
    assert "; name an address of this machine" in cannot_listen("rcon.listen", caught.value)


def test_the_setting_of_a_port_is_found_by_its_protocol() -> None:
    # TCP and UDP may have the same number under two settings.
    config = Config(
        world=WorldConfig(listen=Address("127.0.0.1", 9555)),
        web=WebConfig(listen=Address("127.0.0.1", 9555)),
    )
    reason = OSError(98, "Address already in use")
    assert key_of(config, UdpPortTaken("127.0.0.1", 9555, reason)) == "world.listen"
    assert key_of(config, CannotListenError("127.0.0.1", 9555, reason)) == "web.listen"


class Opened:
    def __init__(self, host: object) -> None:
        self.getHost = lambda: host


def test_an_open_port_is_reported_with_its_address() -> None:
    counted = Counter({"answered": 2})
    udp = open_port("a2s.listen", Opened(IPv4Address("UDP", "127.0.0.1", 9)), counted)
    assert udp == OpenPort("a2s.listen", "UDP", "127.0.0.1:9", {"answered": 2})
    assert json.dumps(asdict(udp)), "a Counter would not be written"
    tcp = open_port("link.tls_listen", Opened(IPv6Address("TCP", "::1", 9)), {})
    assert (tcp.protocol, tcp.address) == ("TCP", "[::1]:9")
    unix = open_port("console.path", Opened(UNIXAddress(b"/run/c")), {})
    assert (unix.protocol, unix.address) == ("UNIX", "/run/c")
