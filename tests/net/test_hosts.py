"""Names to listen on become addresses, or one clear line."""

import socket

import pytest
from twisted.internet.error import CannotListenError

from emu.config import Address
from emu.errors import ConfigError
from emu.net.hosts import cannot_listen, listen_address
from tests.support.names import know_no_invalid_names


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
        "login.listen: cannot listen on 127.0.0.1:9100 (Address already in use); "
        "stop the program that holds the port, or choose another"
    )
