"""The views over HTTP: ranks, fields, and that reading keeps no session alive."""

from __future__ import annotations

import json

import pytest

from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from tests.net.web.test_service import Bench, bench

COMMANDS = CommandSet[None]()


@COMMANDS.command(
    "note list", "list", Argument("account", help="whose"), rank=GUIDE, is_quiet=True,
)  # fmt: skip
async def _notes(_context: None, call: Call) -> Reply:
    if call["account"] == "nobody":
        raise CommandError("there is no account nobody")
    return Reply(("1 note",), [{"text": call["account"]}])


@COMMANDS.command(
    "audit", "list", Argument("subject", ArgumentKind.TEXT, "what", optional=True, default=""),
    rank=MASTER, is_quiet=True,
)  # fmt: skip
async def _audit(_context: None, _call: Call) -> Reply:
    return Reply((), [])


async def read(made: Bench, path: str) -> tuple[int, object]:
    code, _, body = await made.get(path)
    return code, json.loads(body)


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("notes?account=nobody", 422, "there is no account nobody"),
        ("notes", 400, "account is missing"),
        ("notes?account=a%20b", 400, "account: 'a b' is not name of an account"),
        ("notes?which=a", 400, "which: there is no such field"),
        ("notes?account=a&account=b", 400, "the fields are too many or too long"),
        ("notes?account=%ff", 400, "the body cannot be read"),
        ("nothing", 404, "there is no such view"),
        ("", 404, "there is no such view"),
        ("notes/x", 404, "there is nothing here"),
        ("player?player=Aldana", 403, "your rank is too low for this"),
    ],
)
async def test_what_cannot_be_read_is_refused(path: str, code: int, text: str) -> None:
    async with bench() as made:
        made.dashboard.endpoint.dashboard._registry.extend(COMMANDS.commands(None))
        assert await read(made, f"/api/views/{path}") == (code, {"ok": False, "text": text})


async def test_a_view_is_the_data_of_its_command_and_keeps_no_session_alive() -> None:
    async with bench() as made:
        made.dashboard.endpoint.dashboard._registry.extend(COMMANDS.commands(None))
        code, value = await read(made, "/api/views/notes?account=alice")
        assert (code, value) == (200, {"ok": True, "text": "", "data": [{"text": "alice"}]})
        assert await read(made, "/api/views/audit") == (200, {"ok": True, "text": "", "data": []})
        sessions = made.dashboard.endpoint._sessions.every()
        assert all(one.used == one.begun for one in sessions)
        made.signed_in = False
        assert (await made.get("/api/views/notes?account=alice"))[0] == 403
