"""The webhook of a running server: what a receiver gets, and receivers that fail."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor as real_reactor
from twisted.internet.defer import Deferred
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.commands import Caller
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.whole_server import (
    HOST,
    Harness,
    add_account,
    harness,
    server_process,
    until,
)

reactor: Any = real_reactor
pytestmark = pytest.mark.slow


class Receiver(Resource):
    """Keeps each request's body; answers with the next of `statuses`, then with 204."""

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(self) -> None:
        super().__init__()
        self.received: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.is_silent = False

    def render_POST(self, request: Any) -> Any:
        assert request.getHeader("content-type") == "application/json"
        self.received.append(json.loads(request.content.read()))
        if self.is_silent:
            return NOT_DONE_YET
        request.setResponseCode(self.statuses.pop(0) if self.statuses else 204)
        return b"x" * 1_000_000

    def events(self) -> list[str]:
        return [one["event"] for one in self.received]


@asynccontextmanager
async def receiver() -> AsyncIterator[tuple[Receiver, str]]:
    site = Receiver()
    port = reactor.listenTCP(0, Site(site), interface=HOST)
    yield site, f"http://{HOST}:{port.getHost().port}/secret-path"
    await port.stopListening()


async def player(server: Harness, name: str) -> ClientWorldConnection:
    """Make an account and enter the world with it."""
    add_account(server.database, name, "pass")
    return await enter(server, name)


async def enter(server: Harness, name: str) -> ClientWorldConnection:
    entrance = Entrance(Credentials(name, "pass"), name.capitalize(), create=True, version=546)
    return await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=lambda _event: None
    )


async def command(server: Harness, line: str) -> None:
    caller = Caller("console", 1000, "console")
    run = server.service.server.admin.commands.run(caller, line, server.clock.seconds())  # type: ignore[arg-type]
    await Deferred.fromCoroutine(run)


ALL = ("up", "down", "crash", "enter", "leave", "ban", "broadcast")


def settings(url: str, form: str = "json") -> dict[str, object]:
    return {"webhook.url": url, "webhook.format": form, "webhook.events": ",".join(ALL)}


async def test_a_receiver_gets_each_event_once_and_in_order(tmp_path: Path) -> None:
    async with receiver() as (site, url):
        async with harness(tmp_path, settings(url), accounts={}) as server:
            await server.world_registered()
            borvik = await player(server, "borvik")
            await until(lambda: "enter" in site.events(), "the event of entering")
            await command(server, "broadcast Be kind")
            await command(server, "account ban borvik 7d spam")
            await until(lambda: "leave" in site.events(), "the event of leaving")
            await borvik.leave()
            assert "secret-path" not in server.log.text
        assert site.events() == ["up", "enter", "broadcast", "leave", "ban", "down"]
    by_event = {one["event"]: one for one in site.received}
    assert by_event["enter"]["player"] == "Borvik"
    assert by_event["enter"]["server"] == "Norrath"
    assert by_event["broadcast"]["message"] == "Be kind"
    assert by_event["ban"]["by"] == "console"


async def test_hidden_players_are_in_no_event(tmp_path: Path) -> None:
    async with receiver() as (site, url):
        async with harness(tmp_path, settings(url), accounts={}) as server:
            await server.world_registered()
            boss = await player(server, "boss")
            await boss.leave()
            server.make_game_master("Boss")
            boss = await enter(server, "boss")
            await until(lambda: site.events().count("enter") == 2, "the second entry")
            boss.act(lambda core: core.command("/hide"))
            borvik = await player(server, "borvik")
            await boss.leave()
            await borvik.leave()
            await until(lambda: site.events().count("leave") == 2, "the last departure")
        names = [one.get("player") for one in site.received]
        assert names == [None, "Boss", "Boss", "Boss", "Borvik", "Borvik", None]


async def test_discord_gets_messages_that_notify_nobody(tmp_path: Path) -> None:
    async with receiver() as (site, url), harness(tmp_path, settings(url, "discord")) as server:
        await server.world_registered()
        await command(server, "broadcast @everyone come here")
        await until(lambda: len(site.received) == 2, "two messages")
        assert site.received[0]["content"] == "Norrath is up."
        assert site.received[1]["content"].endswith("@everyone come here")
        assert all(one["allowed_mentions"] == {"parse": []} for one in site.received)


async def test_a_receiver_that_fails_is_asked_again(tmp_path: Path) -> None:
    async with receiver() as (site, url):
        site.statuses = [503, 429]
        async with harness(tmp_path, settings(url), speed=10.0) as server:
            await until(lambda: site.events() == ["up"] * 3, "three attempts", 10)
            await until(lambda: "events are sent again" in server.log.text, "the line in the log")
            assert server.log.text.count("an event could not be sent: status 503") == 1


@pytest.mark.parametrize("kind", ["silent", "closed", "unresolved"])
async def test_a_dead_receiver_delays_neither_players_nor_the_stop(
    tmp_path: Path, kind: str
) -> None:
    async with receiver() as (site, silent):
        site.is_silent = True
        with socket.socket() as free:
            free.bind((HOST, 0))
            closed = f"http://{HOST}:{free.getsockname()[1]}/"
        urls = {"silent": silent, "closed": closed, "unresolved": "https://no-such-host.invalid/"}
        async with harness(tmp_path, settings(urls[kind]), accounts={}) as server:
            await server.world_registered()
            borvik = await player(server, "borvik")
            await borvik.leave()
        late = [line for line in server.log.text.splitlines() if "left behind" in line]
        assert all("the webhook's events" in line for line in late)


async def test_a_server_that_was_killed_is_reported_at_the_next_start(tmp_path: Path) -> None:
    async with receiver() as (site, url):
        words = [
            word for key, value in settings(url).items() for word in ("--set", f"{key}={value}")
        ]
        async with server_process(tmp_path, words=words) as server:
            await until(lambda: site.events() == ["up"], "the first event", 20)
            server.kill()
            await server.ended()
        async with server_process(tmp_path, words=words) as server:
            await until(lambda: len(site.received) == 2, "the second event", 20)
        assert site.events()[:2] == ["up", "crash"]
