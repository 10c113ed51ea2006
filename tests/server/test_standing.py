"""Bans, ranks, locks and hidden players on a running server, from the outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from emu.client import Credentials, PlayAnswer
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.commands import Caller
from emu.errors import CommandError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.store import Store
from emu.world.actors.spawn import Destination
from tests.support.admin.web import Browser
from tests.support.database.stores import world_character
from tests.support.foreign.programs import output_of
from tests.support.running.command_line import CommandLine
from tests.support.running.forked import forked_words
from tests.support.running.whole_server import (
    HOST,
    Harness,
    add_account,
    find_port,
    harness,
    sleep,
    until,
)
from tests.support.sessions.raw_client import by_number, raw_client

LOGIN_REPLY = 4
BANNED = 7
WEB = {"web.listen": f"{HOST}:0"}


async def player(
    server: Harness, name: str, events: list[Any] | None = None
) -> ClientWorldConnection:
    """Return somebody who is in the world; the account is made when there is none."""
    with Store.create(server.database) as store:
        known = store.login.accounts.find(name) is not None
    if not known:
        add_account(server.database, name, "pass")
    entrance = Entrance(Credentials(name, "pass"), name.capitalize(), create=True, version=546)
    heard = events.append if events is not None else (lambda _event: None)
    return await enter_world(server.clock, HOST, server.login_port, entrance, on_event=heard)


async def granted(server: Harness, name: str) -> PlayAnswer:
    """Return a key for a character, and leave the login server."""
    async with await server.logged_in(name, "pass") as client:
        await client.worlds()
        await client.characters()
        return await client.play(name.capitalize())


def gone(client: ClientWorldConnection) -> Callable[[], bool]:
    return lambda: client.core.phase is WorldPhase.CLOSED


async def command(server: Harness, line: str, rank: int = 1000) -> str:
    """Run a line as the operator's console does; returns the answer."""
    caller = Caller("console", rank, "console")
    reply = await Deferred.fromCoroutine(
        server.service.server.admin.commands.run(caller, line, server.clock.seconds())  # type: ignore[arg-type]
    )
    return reply.text


SHUT: dict[str, tuple[str, ...]] = {
    "ban": ("account", "ban", "borvik", "--for", "7d"),
    "disable": ("account", "disable", "borvik"),
    "remove": ("account", "remove", "borvik", "--characters"),
    "address": ("account", "address", "ban", "127.0.0.1"),
    "delete": ("character", "delete", "Borvik"),
}
"""What an operator types beside the running server."""


@pytest.mark.parametrize("how", SHUT)
async def test_a_key_given_out_before_lets_nobody_in_after(tmp_path: Path, how: str) -> None:
    async with harness(tmp_path, {"world.review_seconds": 60.0}, accounts={}) as server:
        await server.world_registered()
        await (await player(server, "borvik")).leave()
        answer = await granted(server, "borvik")
        assert answer.ok
        await deferToThread(CommandLine(tmp_path).good, *SHUT[how])
        await sleep(1.1)  # bans of addresses are read again once a second
        async with raw_client(answer.port) as client:
            await client.enter(by_number(answer.account_id, answer.access_code))
            reply = await client.message(LOGIN_REPLY)
            assert reply[0] == (BANNED if how != "delete" else 9)
            await until(lambda: client.disconnected, "the end of the session")
        assert server.service.server.world is not None
        assert len(server.service.server.world.parts.world.players) == 0


@pytest.mark.parametrize("how", ["ban", "disable", "remove", "delete"])
async def test_a_command_notifies_the_server(tmp_path: Path, how: str) -> None:
    """No waiting for the next comparison with the database, which is a minute away here."""
    async with harness(tmp_path, {"world.review_seconds": 60.0}, accounts={}) as server:
        await server.world_registered()
        borvik = await player(server, "borvik")
        await deferToThread(CommandLine(tmp_path).good, *SHUT[how])
        await until(gone(borvik), "the end of the player's session")


async def test_a_new_rank_counts_at_once(tmp_path: Path) -> None:
    async with harness(tmp_path, {"world.review_seconds": 60.0}, accounts={}) as server:
        await server.world_registered()
        events: list[Any] = []
        borvik = await player(server, "borvik", events)
        assert "broadcast" not in borvik.core.commands
        await deferToThread(CommandLine(tmp_path).good, "character", "rank", "Borvik", "gamemaster")
        await until(lambda: "broadcast" in borvik.core.commands, "the commands of the rank")
        borvik.act(lambda core: core.command("/broadcast now I may"))
        await until(lambda: "now I may" in repr(events), "the broadcast")


@pytest.mark.parametrize("how", SHUT)
async def test_who_is_in_the_world_leaves_it(tmp_path: Path, how: str) -> None:
    async with harness(tmp_path, {"world.review_seconds": 0.2}, accounts={}) as server:
        await server.world_registered()
        borvik = await player(server, "borvik")
        await deferToThread(CommandLine(tmp_path).good, *SHUT[how])
        await until(gone(borvik), "the end of the player's session")
        with pytest.raises(CommandError):
            await player(server, "borvik")


@pytest.mark.parametrize(
    "line", ["account ban borvik", "account disable borvik", "ban Borvik", "kick Borvik"]
)
async def test_commands_send_away_at_once_and_take_keys_back(tmp_path: Path, line: str) -> None:
    async with harness(tmp_path, {"world.review_seconds": 60.0}, accounts={}) as server:
        await server.world_registered()
        borvik = await player(server, "borvik")
        world = server.service.server.world
        assert world is not None
        key = await world.cluster.processes.handoffs.issue(1, 1, "Borvik")
        await command(server, line)
        await until(gone(borvik), "the end of the player's session")
        assert await world.cluster.processes.handoffs.redeem(1, key) is None


async def test_a_rank_that_is_taken_counts_at_once(tmp_path: Path) -> None:
    async with harness(tmp_path, {"world.review_seconds": 0.2}, accounts={}) as server:
        await server.world_registered()
        await (await player(server, "boss")).leave()
        server.make_game_master("Boss")
        events: list[Any] = []
        boss, borvik = await player(server, "boss", events), await player(server, "borvik")
        world = server.service.server.world
        assert world is not None
        seen = world.parts.world.players.named("Boss")
        assert seen is not None

        assert await command(server, "character rank Boss 0") == "Boss has the rank player"
        assert seen.character.admin_status == 0
        boss.act(lambda core: core.command("/kick Borvik"))
        await sleep(0.3)
        assert not gone(borvik)()
        server.set_rank("Boss", 100)  # as another program stores it
        await until(lambda: seen.character.admin_status == 100, "the rank that was stored")
        server.set_rank("Boss", 0)
        await until(lambda: seen.character.admin_status == 0, "the rank that was stored")
        boss.act(WorldClientCore.close)
        await until(lambda: not seen.is_online, "the lost link")
        again = await player(server, "boss")
        assert world.parts.world.players.named("Boss").character.admin_status == 0  # type: ignore[union-attr]
        await again.leave()
        await borvik.leave()


async def test_a_player_changes_zones_in_a_locked_and_full_world(tmp_path: Path) -> None:
    async with harness(tmp_path, {"world.max_players": 1}, accounts={}) as server:
        await server.world_registered()
        add_account(server.database, "late", "pass")
        borvik = await player(server, "borvik")
        for line in ("lock", "shutdown 600"):
            await command(server, line)
        world = server.service.server.world
        assert world is not None
        one = world.parts.world.players.named("Borvik")
        assert one is not None
        session = borvik.core.session
        await world.parts.departures.change_zone(one, Destination(12))
        await borvik.until(lambda: borvik.core.session is not session, "the new session")
        await borvik.stand()
        assert borvik.core.zone is not None
        assert borvik.core.zone.description == "Antonica"
        with pytest.raises(CommandError):
            await player(server, "late")
        borvik.act(WorldClientCore.close)  # without having camped
        await until(lambda: not one.is_online, "the lost link", 20.0)
        again = await player(server, "borvik")
        assert world.parts.world.players.named("Borvik") is one
        await again.leave()


QUERIES = {
    "a2s.listen": f"{HOST}:0", "ogp.listen": f"{HOST}:0", "query.per_address": 1000,
    "ssq.enabled": True, "ssq.listen": f"{HOST}:0",
}  # fmt: skip
PINGS = re.compile(r',\s*"(average_)?ping":\s*\d+')
PATHS = ("status", "worlds", "zones", "players", "population")
PUBLIC = ("status", "status.json", "status.svg")


async def all_answers(server: Harness, browser: Browser) -> dict[str, str]:
    """Ask in every way, the browser being a guide's; without what only time changes."""
    reported: dict[str, str] = {}
    for verb in ("a2s", "ogp", "ssq"):
        area = "ssq" if verb == "ssq" else "query"
        what = {"a2s": "A2S on UDP", "ogp": "OGP on UDP", "ssq": "on UDP"}[verb]
        at = f"{HOST}:{find_port(server.log.text, area, what)}"
        words = [*forked_words("emu"), "query", verb, at, "--json"]
        reported[verb] = await output_of(words)
    for path in PATHS:
        reported[path] = (await browser.get(f"/api/{path}")).body.decode()
    web: Any = server.service.server._web
    web._public._answers.clear()  # kept for five seconds
    for path in PUBLIC:
        reported[f"public {path}"] = (await Browser(browser.port).get(f"/{path}")).body.decode()
    metrics = (await browser.get("/metrics")).body.decode()
    reported["metrics"] = "\n".join(
        line for line in metrics.splitlines()
        if line.startswith(("emu_players", 'emu_sessions_now{port="world"', "emu_zone_tick"))
        and "_bucket" not in line and "_created" not in line and "_sum" not in line
    )  # fmt: skip
    return reported


def numbers(reported: dict[str, str]) -> dict[str, Any]:
    """Return what counts players, and names them."""
    reported = {name: PINGS.sub("", text) for name, text in reported.items()}
    a2s, status = json.loads(reported["a2s"]), json.loads(reported["status"])
    return {
        "a2s": (a2s["info"]["players"], [one["name"] for one in a2s["players"]]),
        "rules": {k: v for k, v in a2s["rules"].items() if "player" in v or k == "players"},
        "ogp": [json.loads(reported["ogp"])[part] for part in ("server", "teams")],
        "status": [status[name] for name in ("online", "players", "zones", "map")],
        "zones": reported["zones"],
        "players": [one["name"] for one in json.loads(reported["players"])],
        "worlds": reported["worlds"],
        "public": [reported[f"public {path}"] for path in PUBLIC],
        "metrics": reported["metrics"].count("\n"),
        "players now": [
            line for line in reported["metrics"].splitlines() if "zone_tick" not in line
        ],
    }


def add_guide(database: Path) -> None:
    """Add an account that may sign in on the operators' page."""
    add_account(database, "guide", "guidepass")
    with Store.create(database) as store:
        account = store.login.accounts.find("guide")
        assert account is not None
        row = world_character(account_id=account.id, name="Guide", place=None)
        made = store.world.characters.create(row)
        store.world.characters.set_admin_status(made.id, 10)


@pytest.mark.slow
async def test_monitors_find_no_hidden_game_master(tmp_path: Path) -> None:
    settings = {**QUERIES, **WEB, "web.admin": True}
    add_guide(tmp_path / "emu.sqlite")
    async with harness(tmp_path, settings, accounts={}) as server:
        await server.world_registered()
        await (await player(server, "boss")).leave()
        server.make_game_master("Boss")
        borvik = await player(server, "borvik")
        browser = Browser(find_port(server.log.text, "web", "metrics on"))
        await browser.sign_in("guide", "guidepass")
        for _ in range(60):  # a world reports its players to its login server now and then
            if '"players":1' in numbers(await all_answers(server, browser))["worlds"]:
                break
            await sleep(0.5)
        before = numbers(await all_answers(server, browser))
        assert before["players"] == ["Borvik"]
        boss = await player(server, "boss")
        await sleep(1.5)
        assert numbers(await all_answers(server, browser))["players"] == ["Borvik", "Boss"]
        boss.act(lambda core: core.command("/hide"))
        await sleep(2.5)
        reported = await all_answers(server, browser)
        assert numbers(reported) == before
        assert "boss" not in repr(reported).casefold()
        session = boss.core.session
        boss.act(lambda core: core.command("/zone Antonica"))
        await boss.until(lambda: boss.core.session is not session, "the new session")
        await boss.stand()
        await sleep(2.5)
        reported = await all_answers(server, browser)
        assert numbers(reported) == before
        assert "boss" not in repr(reported).casefold()
        await boss.leave()
        await sleep(2.5)
        reported = await all_answers(server, browser)
        assert numbers(reported) == before
        assert "boss" not in repr(reported).casefold()
        await borvik.leave()
