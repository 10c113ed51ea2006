"""One world of two processes: travel, talk and order across them, and one of them dying."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world import WorldPhase
from emu.client.world.events import Heard, LineShown, WhoListed, WorldEvent
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.link.tls import certificate_fingerprint, make_certificate
from emu.store.spool import read_spool, spool_path
from tests.support.running.whole_server import HOST, Harness, harness, server_process, until
from tests.support.sessions.raw_client import by_number, raw_client

pytestmark = pytest.mark.usefixtures("collect_garbage")
ACCOUNTS = {name: f"{name}pass" for name in ("aldana", "borvik", "cenwyn")}
SECRET = "a secret of both"
HUB = {
    "processes.listen": f"{HOST}:0", "processes.secret": SECRET,
    "processes.zones": "antonica=east",
}  # fmt: skip


def member(hub: int, **more: object) -> dict[str, object]:
    """Return the settings of the process that serves Antonica."""
    return {
        "login.enabled": False, "processes.hub": f"{HOST}:{hub}", "processes.name": "east",
        "processes.secret": SECRET, **more,
    }  # fmt: skip


class Company:
    """Players of a world of several processes, and what they receive."""

    def __init__(self, hub: Harness) -> None:
        self.hub = hub
        self.events: dict[str, list[WorldEvent]] = {name: [] for name in ACCOUNTS}
        self.clients: dict[str, ClientWorldConnection] = {}

    def entrance(self, name: str) -> Entrance:
        return Entrance(Credentials(name, ACCOUNTS[name]), name.capitalize(), create=True)

    async def make(self, name: str) -> None:
        """Make a character that may use every command."""
        async with await self.hub.begun(name, ACCOUNTS[name]) as login:
            await login.run(granted(login.core, self.entrance(name)))
        self.hub.make_game_master(name.capitalize())

    async def come(self, name: str) -> ClientWorldConnection:
        client = self.clients[name] = await enter_world(
            self.hub.clock, HOST, self.hub.login_port, self.entrance(name),
            on_event=self.events[name].append,
        )  # fmt: skip
        return client

    async def types(self, name: str, line: str) -> None:
        self.clients[name].act(lambda core: core.command(line))

    async def travels(self, name: str, zone: str, description: str) -> None:
        client = self.clients[name]
        await self.types(name, f"zone {zone}")
        await client.until(
            lambda: (
                client.core.phase is WorldPhase.STANDING
                and client.core.zone is not None
                and client.core.zone.description == description
            ),
            f"{name} in {description}",
        )

    async def hears(self, name: str, text: str) -> Heard:
        def heard() -> list[Heard]:
            reported = [event for event in self.events[name] if isinstance(event, Heard)]
            return [event for event in reported if event.text == text]

        await self.clients[name].until(heard, f"{name} hear {text}")
        return heard()[0]

    async def reads(self, name: str, text: str) -> None:
        await self.clients[name].until(
            lambda: any(isinstance(e, LineShown) and text in e.text for e in self.events[name]),
            f"{name} read {text}",
        )

    def listed(self, name: str) -> dict[str, str]:
        """Return who was listed with their zones, when that was asked last."""
        lists = [event for event in self.events[name] if isinstance(event, WhoListed)]
        return {who: zone for who, _, zone in lists[-1].players} if lists else {}

    async def sees(self, name: str, other: str) -> None:
        core = self.clients[name].core
        await self.clients[name].until(
            lambda: core.surroundings is not None and core.surroundings.find(other) is not None,
            f"{name} see {other}",
        )


@asynccontextmanager
async def company(hub: Harness) -> AsyncIterator[Company]:
    made = Company(hub)
    try:
        for name in ACCOUNTS:
            await made.make(name)
            await made.come(name)
        yield made
    finally:
        for client in made.clients.values():
            await client.leave()


def folder(path: Path, name: str) -> Path:
    made = path / name
    made.mkdir()
    return made


@asynccontextmanager
async def two(path: Path, **more: object) -> AsyncIterator[tuple[Harness, Harness]]:
    async with harness(folder(path, "hub"), HUB, accounts=ACCOUNTS) as hub:
        await hub.world_registered()
        port = hub.log.port("processes", "members on TCP")
        async with harness(folder(path, "east"), member(port, **more), accounts={}) as east:
            await hub.log.line("processes: east joined")
            yield hub, east


async def test_players_travel_and_talk_across_processes(tmp_path: Path) -> None:
    async with two(tmp_path) as (hub, east), company(hub) as made:
        for name in ("aldana", "borvik"):
            await made.travels(name, "antonica", "Antonica")
            assert made.clients[name].core.handoff.port == east.world_port
        await made.sees("aldana", "Borvik")
        await made.sees("borvik", "Aldana")
        await made.types("aldana", "tell cenwyn are you there")
        assert (await made.hears("cenwyn", "are you there")).speaker == "Aldana"
        assert (await made.hears("aldana", "are you there")).to == "Cenwyn"
        await made.types("cenwyn", "tell aldana yes")
        await made.hears("aldana", "yes")
        await made.types("cenwyn", "who all")
        await made.clients["cenwyn"].until(
            lambda: made.listed("cenwyn") == {
                "Aldana": "Antonica", "Borvik": "Antonica", "Cenwyn": "Isle of Refuge",
            },
            "the list of everybody",
        )  # fmt: skip
        for name in ("cenwyn", "aldana"):
            await made.types(name, "joinchannel Trade")
        await made.types("aldana", "tellchannel Trade selling turnips")
        assert (await made.hears("cenwyn", "selling turnips")).channel_name == "Trade"
        await made.types("cenwyn", "broadcast hear hear")
        await made.reads("borvik", "hear hear")
        await made.travels("aldana", "IsleRefuge1", "Isle of Refuge")
        assert made.clients["aldana"].core.handoff.port == hub.world_port
        await made.sees("cenwyn", "Aldana")


async def test_a_key_for_another_process_works_there_once(tmp_path: Path) -> None:
    async with two(tmp_path) as (hub, east), company(hub) as made:
        await made.travels("aldana", "antonica", "Antonica")
        listener = made.clients["aldana"].core.handoff
        request = by_number(listener.account_id, listener.key)
        for port in (east.world_port, hub.world_port):
            async with raw_client(port) as thief:
                await thief.enter(request)
                await until(lambda client=thief: client.disconnected, "the end of the session")  # type: ignore[misc]
        assert made.clients["aldana"].core.phase is WorldPhase.STANDING


async def test_who_plays_elsewhere_is_known_at_login_and_can_be_kicked(tmp_path: Path) -> None:
    async with two(tmp_path) as (hub, east), company(hub) as made:
        await made.travels("aldana", "antonica", "Antonica")
        hub.set_rank("Aldana", 0)
        async with await hub.logged_in("aldana", ACCOUNTS["aldana"]) as login:
            (world,) = await login.worlds()
            assert (await login.create(world.id, "Dorlas")).ok
            assert (await login.play_answer()).code == 7, "another character of the account plays"
        await made.types("cenwyn", "summon Aldana")
        await made.reads("cenwyn", "Aldana is in the process east")
        hub.set_rank("Aldana", 100)
        await made.types("cenwyn", "kick Aldana")
        await made.reads("cenwyn", "Aldana has your rank or a higher one")
        hub.set_rank("Aldana", 0)
        await made.types("cenwyn", "kick Aldana")
        await made.reads("cenwyn", "Aldana was disconnected from the process east")
        aldana = made.clients["aldana"]
        await aldana.until(lambda: aldana.core.phase is WorldPhase.CLOSED, "being sent away")
        zone = "SELECT zone_id FROM world_characters WHERE name = 'Aldana'"
        await until(lambda: hub.rows(zone) == [(12,)], "the place is stored at the hub")
        await aldana.stop()
        await made.come("aldana")
        assert made.clients["aldana"].core.handoff.port == east.world_port, "straight to its zone"


async def test_a_client_that_crashed_elsewhere_takes_its_character_over_there(
    tmp_path: Path,
) -> None:
    async with two(tmp_path) as (hub, east), company(hub) as made:
        await made.travels("aldana", "antonica", "Antonica")
        hub.set_rank("Aldana", 0)
        await made.clients["aldana"].stop()
        await made.come("aldana")
        assert made.clients["aldana"].core.handoff.port == east.world_port
        assert "link-dead" not in east.log.text


async def test_what_is_left_when_the_process_of_a_zone_dies(tmp_path: Path) -> None:
    async with harness(folder(tmp_path, "hub"), HUB, accounts=ACCOUNTS) as hub:
        await hub.world_registered()
        settings = member(hub.log.port("processes", "members on TCP"))
        async with server_process(folder(tmp_path, "east"), settings) as east, company(hub) as made:
            await hub.log.line("processes: east joined", 20)
            await made.travels("aldana", "antonica", "Antonica")
            await made.travels("borvik", "antonica", "Antonica")
            east.kill()
            await hub.log.line("processes: east has left: connection lost")
            await made.types("cenwyn", "zones")
            await made.reads("cenwyn", "in the process east, which cannot be reached")
            await made.types("cenwyn", "zone antonica")
            await made.reads("cenwyn", "its server east is not connected")
            await made.types("cenwyn", "tell aldana are you there")
            await made.reads("cenwyn", "Unable to find client aldana")
            assert made.clients["cenwyn"].core.phase is WorldPhase.STANDING
            await made.clients["aldana"].stop()
            await made.come("aldana")
            await made.reads("aldana", "You cannot be where you were")
            await made.sees("cenwyn", "Aldana")


async def test_a_member_goes_on_without_the_hub_and_stores_all_when_it_is_back(
    tmp_path: Path,
) -> None:
    with closing(socket.socket()) as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    hubs = folder(tmp_path, "hub")
    settings = {**HUB, "processes.listen": f"{HOST}:{port}"}
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        hub = await first.enter_async_context(harness(hubs, settings, accounts=ACCOUNTS))
        await hub.world_registered()
        east = await stack.enter_async_context(
            harness(folder(tmp_path, "east"), member(port), accounts={})
        )
        await hub.log.line("processes: east joined")
        made = await stack.enter_async_context(company(hub))
        for name in ("aldana", "borvik"):
            await made.travels(name, "antonica", "Antonica")
        await first.aclose()
        await east.log.line(r"no hub at 127\.0\.0\.1:\d+")
        await made.sees("aldana", "Borvik")
        await made.types("borvik", "say we are alone")
        await made.hears("aldana", "we are alone")
        await made.types("aldana", "zone IsleRefuge1")
        await made.reads("aldana", "that zone cannot be reached now")
        at = made.clients["aldana"].core.place
        made.clients["aldana"].walk_to(at.x + 3.0, at.y, at.z)
        await made.clients["aldana"].until(
            lambda: made.clients["aldana"].core.place.x > at.x + 2.9, "a walk"
        )
        aldana = made.clients["aldana"]
        aldana.act(lambda core: core.quit())
        await aldana.until(lambda: aldana.core.phase is WorldPhase.CLOSED, "its leaving")
        async with harness(hubs, settings, accounts={}) as again:
            await again.log.line("processes: east joined")
            place = "SELECT x FROM world_characters WHERE name = 'Aldana'"
            await until(lambda: abs(again.rows(place)[0][0] - at.x - 3.0) < 0.1, "its place stored")
            world = east.service.server.world
            assert world is not None
            await until(lambda: len(world.world.saver) == 0, "nothing left to store")
            assert made.clients["borvik"].core.phase is WorldPhase.STANDING


async def test_what_a_member_cannot_store_its_next_start_stores(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        hub = await first.enter_async_context(
            harness(folder(tmp_path, "hub"), HUB, accounts=ACCOUNTS)
        )
        await hub.world_registered()
        port = hub.log.port("processes", "members on TCP")
        east = await stack.enter_async_context(
            harness(folder(tmp_path, "east"), member(port), accounts={})
        )
        await hub.log.line("processes: east joined")
        made = await stack.enter_async_context(company(hub))
        await made.travels("aldana", "antonica", "Antonica")
        await first.aclose()
        await east.log.line(r"no hub at 127\.0\.0\.1:\d+")
        aldana = made.clients["aldana"]
        x = aldana.core.place.x + 3.0
        aldana.walk_to(x, aldana.core.place.y, aldana.core.place.z)
        await aldana.until(lambda: aldana.core.place.x > x - 0.1, "a walk")
    spool = spool_path(tmp_path / "east" / "emu.sqlite")
    assert f"the next start stores from {spool} what could not be stored: Aldana" in east.log.text
    assert [state.name for state in read_spool(spool)] == ["Aldana"]
    async with harness(tmp_path / "hub", HUB, accounts={}) as hub:
        port = hub.log.port("processes", "members on TCP")
        async with harness(tmp_path / "east", member(port), accounts={}):
            place = "SELECT x FROM world_characters WHERE name = 'Aldana'"
            await until(lambda: abs(hub.rows(place)[0][0] - x) < 0.2, "its place stored")
    assert not spool.exists()


async def test_over_tls_with_a_pinned_certificate(tmp_path: Path) -> None:
    pem = make_certificate("hub", datetime.now(UTC))
    (tmp_path / "hub.pem").write_bytes(pem)
    settings = {**HUB, "processes.certificate": tmp_path / "hub.pem"}
    async with harness(folder(tmp_path, "hub"), settings, accounts={}) as hub:
        port = hub.log.port("processes", "members on TLS")
        pinned = certificate_fingerprint(pem)
        more = {"processes.hub_tls_fingerprint": pinned}
        async with harness(folder(tmp_path, "east"), member(port, **more), accounts={}) as east:
            await east.log.line("processes: joined the hub hub at 127.0.0.1")
        other = certificate_fingerprint(make_certificate("hub", datetime.now(UTC)))
        more = {"processes.hub_tls_fingerprint": other}
        async with harness(folder(tmp_path, "west"), member(port, **more), accounts={}) as west:
            await west.log.line("its certificate is not the one of processes.hub_tls_fingerprint")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"processes.secret": "another secret !"}, "the secret is another one"),
        ({"processes.name": "west"}, "processes.zones of the hub gives west no zone"),
    ],
)
async def test_who_may_not_join_gets_the_reason(
    tmp_path: Path, more: dict[str, object], why: str
) -> None:
    async with harness(folder(tmp_path, "hub"), HUB, accounts={}) as hub:
        port = hub.log.port("processes", "members on TCP")
        async with harness(folder(tmp_path, "east"), member(port, **more), accounts={}) as east:
            await east.log.line(f"processes: no hub at .*: {why}")
            await hub.log.line(f"processes: 127.0.0.1 did not join: {why}")
            async with raw_client(east.world_port) as visitor:
                await visitor.enter(by_number(1, 1))
                await until(lambda: visitor.disconnected, "the end of the session")
                await east.log.line("was refused: the store failed: the hub cannot be reached now")
