"""The public status over TCP: caches, other pages, and the setting that switches it off."""

from __future__ import annotations

import json

import pytest

from emu.admin.web.public import FRESH
from emu.config import Config
from emu.config.administration import WebConfig
from tests.net.web.test_access import Server, server
from tests.support.admin.web import Answer

PATHS = ("/status", "/status.json", "/status.svg")


async def get(made: Server, path: str, method: str = "GET", **headers: str) -> Answer:
    return await made.browser("nobody").ask(method, path, headers=headers)


@pytest.mark.parametrize("path", PATHS)
async def test_caches_keep_an_answer_and_ask_whether_it_is_new(path: str) -> None:
    async with server() as made:
        first = await get(made, path)
        assert first.headers["Cache-Control"] == f"public, max-age={FRESH:.0f}"
        assert first.headers["X-Content-Type-Options"] == "nosniff"
        known = first.headers["ETag"]
        again = await get(made, path, **{"If-None-Match": known})
        assert (again.code, again.body, again.headers["ETag"]) == (304, b"", known)
        other = await get(made, path, **{"If-None-Match": '"other"'})
        assert (other.code, other.body) == (200, first.body)
        head = await get(made, path, "HEAD")
        assert (head.code, head.body, head.headers["ETag"]) == (200, b"", known)
        assert (await get(made, path, "POST")).code == 405


async def test_scripts_of_every_page_read_the_json_and_nothing_else() -> None:
    async with server() as made:
        for path in (*PATHS, "/", "/admin", "/account", "/metrics", "/api/status"):
            answer = await get(made, path, Origin="https://forum.example.org")
            allowed = answer.headers.get("Access-Control-Allow-Origin")
            assert allowed == ("*" if path == "/status.json" else None), path
            assert "Access-Control-Allow-Credentials" not in answer.headers


async def test_the_answer_does_not_depend_on_who_asks() -> None:
    async with server() as made:
        for path in PATHS:
            bodies = {(await made.browser(who).get(path)).body for who in ("nobody", "boss")}
            assert len(bodies) == 1
        assert json.loads((await get(made, "/status.json")).body)["players"] == 2


async def test_a_reload_switches_it_off_and_the_start_leads_elsewhere() -> None:
    async with server() as made:
        assert (await get(made, "/")).headers["Location"] == "status"
        made.part.configure(Config(web=WebConfig(status=False)))
        assert [(await get(made, path)).code for path in PATHS] == [404] * 3
        assert (await get(made, "/")).headers["Location"] == "admin"
        assert b"status" not in (await get(made, "/account")).body
