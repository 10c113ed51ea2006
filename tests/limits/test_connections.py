from __future__ import annotations

import pytest

from emu.limits.connections import ConnectionLimits, Connections

LIMITS = ConnectionLimits(most=4, per_address=3, silent_per_address=2)


class Port:
    def __init__(self) -> None:
        self.evicted: list[str] = []
        self.connections: Connections[str] = Connections(self.evicted.append)

    def connect(self, name: str, host: str, *, known: bool = False) -> str | None:
        reason = self.connections.admit(host, LIMITS)
        if reason is None:
            self.connections.add_connection(name, host)
            if known:
                self.connections.introduced(name)
        return reason


def test_a_silent_connection_is_evicted_for_its_own_address() -> None:
    port = Port()
    for name in "abc":
        assert port.connect(name, "192.0.2.1") is None
    assert port.evicted == ["a"]
    assert list(port.connections) == ["b", "c"]


def test_known_ones_stay() -> None:
    port = Port()
    for name in "abc":
        port.connect(name, "192.0.2.1", known=True)
    assert port.connect("d", "192.0.2.1") == "too many connections of one address"
    assert port.connect("e", "192.0.2.2", known=True) is None
    assert port.connect("f", "192.0.2.3") == "too many connections"
    assert port.evicted == []


def test_a_full_port_lets_go_of_the_oldest_silent_one() -> None:
    port = Port()
    port.connect("a", "192.0.2.1", known=True)
    for name, host in (("b", "192.0.2.2"), ("c", "192.0.2.3"), ("d", "192.0.2.4")):
        port.connect(name, host)
    assert port.connect("e", "192.0.2.5") is None
    assert port.evicted == ["b"]


def test_one_that_is_gone_counts_no_more() -> None:
    port = Port()
    for name in "abc":
        port.connect(name, "2001:db8::1", known=True)
    assert port.connect("d", "2001:db8::2") is not None
    assert port.connections.remove("a")
    assert not port.connections.remove("a")
    assert port.connect("d", "2001:db8::2") is None
    assert len(port.connections) == 3


@pytest.mark.parametrize("known", [True, False])
def test_nothing_is_left_behind(known: bool) -> None:
    port = Port()
    for number in range(200):
        port.connect(f"{number}", f"192.0.2.{number}", known=known)
        port.connections.remove(f"{number}")
    assert len(port.connections) == 0
    assert not port.connections._by_source
    assert not port.connections._silent


def test_an_answered_connection_is_evicted_after_the_silent_ones() -> None:
    port = Port()
    for name, host in (("a", "192.0.2.1"), ("b", "192.0.2.2"), ("c", "192.0.2.3")):
        port.connect(name, host)
        port.connections.answering(name)
    port.connect("d", "192.0.2.4")
    port.connect("e", "192.0.2.5")
    assert port.evicted == ["d"]
    port.connections.waiting("c")
    port.connect("f", "192.0.2.6")
    assert port.evicted == ["d", "e"], "silent for longest"
    port.connections.answering("f")
    port.connections.introduced("a")
    for name in "ghi":
        assert port.connect(name, f"192.0.2.{ord(name)}", known=True) is None
    assert port.evicted == ["d", "e", "c", "b", "f"]
    port.connections.waiting("a")
    port.connections.answering("a")
    assert port.connect("j", "192.0.2.10") == "too many connections"


def test_the_address_with_most_connections_loses_one() -> None:
    port = Port()
    port.connect("a", "192.0.2.1")
    port.connect("b", "192.0.2.2")
    for name in "cd":
        port.connect(name, "192.0.2.3")
    port.connect("e", "192.0.2.4")
    assert port.evicted == ["c"]
    assert list(port.connections) == ["a", "b", "d", "e"]


def test_an_address_at_its_limit_loses_its_own_connection() -> None:
    port = Port()
    for name in "abc":
        port.connect(name, "192.0.2.1")
        port.connections.answering(name)
    assert port.connect("d", "192.0.2.1") is None
    assert port.evicted == ["a"]
