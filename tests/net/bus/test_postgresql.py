"""The bus on PostgreSQL: the contracts through a relay, parts, channels, and faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor

from emu.database import ServerUrl
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.cluster_bus import ClusterBusContract
from tests.support.cluster.joined import HEARTBEAT, Joined
from tests.support.database.engines import empty_database
from tests.support.running.whole_server import until
from tests.world.social.contracts.groups import GroupsContract

postgresql_bus = pytest.importorskip("emu.net.bus.postgresql", reason="psycopg is not installed")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database() -> Iterator[ServerUrl]:
    with empty_database() as where:
        yield where


@pytest_twisted.async_yield_fixture
async def nodes(database: ServerUrl) -> AsyncIterator[Joined]:
    joined = Joined(
        int(database.port or 5432),
        lambda port, scheduler: postgresql_bus.PostgresqlTransport(
            replace(database, port=str(port)), reactor, scheduler, HEARTBEAT
        ),
    )
    yield joined
    await joined.stop()


class TestPostgresql(BusContract):
    @pytest.fixture
    def buses(self, nodes: Joined) -> Buses:
        self.nodes = nodes
        return nodes.add

    async def settle(self) -> None:
        await self.nodes.settle()


class TestSeveral(ClusterBusContract):
    pass


class TestGroups(GroupsContract):
    pass


@given(st.binary(max_size=30), st.integers(1, 5))
def test_parts_are_joined(data: bytes, size: int) -> None:
    joiner = postgresql_bus.Joiner()
    before, postgresql_bus.PART = postgresql_bus.PART, size
    try:
        payloads = postgresql_bus.parts_of(255, data)
        assert len(set(payloads)) == len(payloads)
        joined = [joiner.join(1, payload) for payload in payloads]
        assert joined == [None] * (len(payloads) - 1) + [data]
        assert not joiner._begun
    finally:
        postgresql_bus.PART = before


def test_a_message_with_a_lost_part_is_lost_alone() -> None:
    joiner = postgresql_bus.Joiner()
    assert joiner.join(1, b"1.1.3 a") is None
    assert joiner.join(2, b"1.1.2 x") is None
    assert joiner.join(1, b"1.3.3 c") is None
    assert joiner.join(1, b"2.2.2 b") is None
    assert joiner.join(1, b"3.1.2 d") is None
    assert joiner.join(1, b"3.2.2 e") == b"de"
    assert joiner.join(2, b"1.2.2 y") == b"xy"
    for payload in (b"", b"x", b"1.2 a", b"1.a.b c"):
        with pytest.raises(ValueError):
            joiner.join(1, payload)


def test_channels_have_the_length_that_postgresql_allows() -> None:
    long = "note." + "a" * 100
    names = {postgresql_bus.channel_of(subject) for subject in (long, long + "b", "note.a")}
    assert len(names) == 3
    assert "emu.note.a" in names
    assert all(len(name) <= 63 for name in names)


def test_texts_of_any_kind_are_an_array() -> None:
    assert postgresql_bus.array_of([]) == b"{}"
    assert postgresql_bus.array_of([b"a", b'"\\', b"{,}"]) == rb'{"a","\"\\","{,}"}'


async def test_a_connection_that_is_lost_at_once_is_made_anew(
    database: ServerUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, tries = postgresql_bus.Link, list[object]()

    def lost_first(*given: Any) -> Any:
        tries.append(given)
        if len(tries) == 1:
            raise OSError(24, "too many open files")
        return link(*given)

    monkeypatch.setattr(postgresql_bus, "Link", lost_first)
    joined = Joined(
        int(database.port or 5432),
        lambda _port, scheduler: postgresql_bus.PostgresqlTransport(
            database, reactor, scheduler, HEARTBEAT
        ),
    )
    try:
        bus = joined.add()
        await until(lambda: bus.is_connected, "it is connected", 5.0)
    finally:
        await joined.stop()
