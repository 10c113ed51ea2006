import pytest

from emu.config import Config, parse
from emu.config.ports import TCP, UDP, listening_ports, shared_ports
from emu.errors import ConfigError


def keys(*settings: str) -> list[tuple[str, str]]:
    return [(port.key, port.protocol) for port in listening_ports(parse({}, settings))]


def test_the_ports_of_players_are_open_from_the_start() -> None:
    assert [(port.key, port.protocol) for port in listening_ports(Config())] == [
        ("login.listen", UDP), ("login.listen", TCP), ("world.listen", UDP),
    ]  # fmt: skip


def test_each_endpoint_is_open_once_it_is_set() -> None:
    assert ("ogp.listen", UDP) in keys("ogp.listen=127.0.0.1:1")
    assert ("a2s.listen", UDP) in keys("a2s.listen=127.0.0.1:1")
    assert ("web.listen", TCP) in keys("web.listen=127.0.0.1:1")
    assert ("rcon.listen", TCP) in keys("rcon.password=secret")
    assert not [one for one in keys("world.enabled=no") if one[0] == "world.listen"]


def test_two_of_a_kind_cannot_share_a_port_and_others_can() -> None:
    fine = parse({}, ["a2s.listen=127.0.0.1:27015", "rcon.password=x"])
    assert list(shared_ports(fine)) == []
    any_port = parse({}, ["ogp.listen=127.0.0.1:0", "a2s.listen=127.0.0.1:0"])
    assert list(shared_ports(any_port)) == []


def test_a_port_that_two_want_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError) as caught:
        parse({}, ["ogp.listen=127.0.0.1:5000", "a2s.listen=127.0.0.1:5000"])
    assert caught.value.problems == (
        "a2s.listen: 127.0.0.1:5000 is ogp.listen as well; give it another port",
    )
