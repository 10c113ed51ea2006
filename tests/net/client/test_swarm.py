"""A swarm's names and addresses; all of it runs in tests/cli/client/test_swarm.py."""

import pytest

from emu.net.client.swarm import character_name, own_address


def test_names_are_letters_and_differ() -> None:
    names = [character_name("swarm-7", number) for number in range(3000)]
    assert len(set(names)) == 3000
    assert all(name.isalpha() and name.istitle() and len(name) <= 15 for name in names)


@pytest.mark.parametrize(
    ("host", "number", "address"),
    [("127.0.0.1", 0, "127.2.0.0"), ("127.0.0.1", 513, "127.2.2.1"), ("192.0.2.1", 5, ""),
     ("::1", 5, ""), ("example.org", 5, "")],
)  # fmt: skip
def test_on_loopback_each_has_an_address_of_its_own(host: str, number: int, address: str) -> None:
    assert own_address(host, number) == address
