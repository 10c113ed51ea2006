"""Players of an EQ2Emulator server, after an import: an independent client continues with them.

The client is written by hand from the pages: docs/protocol/characters.md#entry,
docs/protocol/characters.md#play-reply, docs/protocol/world/entering.md#order,
docs/protocol/structs.md#packed.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from emu.login.passwords import is_phc
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, SECRET, WORD, mysqldump
from tests.support.running.emu_process import emu
from tests.support.running.whole_server import Harness, harness, until
from tests.support.sessions.raw_client import RawClient, by_number, login_request, raw_client

WORLD_LIST, CHARACTERS, PLAY = 8, 10, 19
pytestmark = pytest.mark.slow
ZONE_INFO, LANGUAGES, RELATIONS, SKILLS, SHEET, TITLES = 29, 211, 162, 63, 55, {546: 317, 561: 318}
LOADED_ZONE, ALL_SENT, LOADED_SPAWNS, LOADED_INTERFACE, SIGNAL = 30, 31, 32, 33, 191
SHEET_SIZE = {546: 4897, 561: 4908}
COINS = {546: 296, 561: 328}


class Reader:
    """Reads little-endian values of a message in their order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self._data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def text(self) -> str:
        size = self.number("H")
        self.at += size
        return self._data[self.at - size : self.at].decode()


def unpacked(data: bytes, size: int) -> bytes:
    """Undo the packing of a first message, without our code (docs/protocol/structs.md#packed)."""
    length = int.from_bytes(data[:4], "little")
    stream, out, at = data[4 : 4 + length], b"", 0
    while at < len(stream):
        head = stream[at]
        at += 1
        if head < 0x80:
            out += bytes(head)
            continue
        group = bytearray(7)
        for place in reversed([bit for bit in range(7) if head & 1 << bit]):
            group[place] = stream[at]
            at += 1
        out += group
    return out[:size]


@asynccontextmanager
async def imported(folder: Path) -> AsyncIterator[Harness]:
    """Run a server with the imported players, and only with them."""
    (folder / "eq2ls.sql").write_text(mysqldump(LOGIN), encoding="utf-8")
    (folder / "eq2emu.sql").write_text(mysqldump(ANTONIA), encoding="utf-8")
    shown, complaints, status = await emu(
        folder, "account", "import-eq2emu", "eq2ls.sql", "--world", "Antonia=eq2emu.sql",
        "--db", folder / "emu.sqlite",
    )  # fmt: skip
    assert status == 0, shown + complaints
    async with harness(folder, accounts={}) as server:
        await server.world_registered()
        assert "brought in line" not in server.log.text
        yield server


async def log_in(client: RawClient, user: str, password: str, version: int) -> bytes:
    """Log in with the old password; return the character list."""
    await client.log_in(user.encode(), password.encode(), version)
    client.send(b"\x07")
    await client.message(WORLD_LIST)
    return await client.message(CHARACTERS)


async def play(client: RawClient, char_id: int, world_id: int) -> tuple[int, int]:
    """Ask to play a character; return the account and the world key."""
    client.send(b"\x12" + struct.pack("<II3x", char_id, world_id))
    reply = Reader(await client.message(PLAY))
    assert reply.number("B") == 1
    address = reply.number("B")
    reply.at += address + 2  # the address and the port
    account_id, key = reply.number("I"), reply.number("I")
    return account_id, key


@pytest.mark.parametrize("version", [546, 561])
async def test_a_player_continues_with_what_it_had(tmp_path: Path, version: int) -> None:
    async with imported(tmp_path) as server:
        ((world_id, own_id),) = server.rows(
            "SELECT world_id, char_id FROM characters WHERE name = 'Aldana'"
        )
        async with raw_client(server.login_port) as client:
            entry = Reader(await log_in(client, "alice", SECRET, version))
            assert entry.number("B") == 1
            assert (entry.number("I"), entry.number("I")) == (own_id, world_id)
            assert entry.text() == "Aldana"
            race, class_, gender = (entry.number("B") for _ in range(3))
            assert (race, class_, gender, entry.number("I")) == (9, 3, 1, 37)
            assert entry.text() == "antonica"
            entry.at += 8
            assert (entry.number("I"), entry.number("I")) == (1433160000, 1580673722)
            entry.at += 8
            assert entry.text() == " "
            assert entry.text() == "Antonica"
            entry.at += 4
            assert entry.number("B") == 11
            assert entry.number("H") == 111
            assert [entry.number("b") for _ in range(3)] == [-61, -106, 122]
            account_id, key = await play(client, own_id, world_id)
        ((stored,),) = server.rows("SELECT password FROM accounts WHERE name = 'Alice'")
        assert is_phc(stored)

        async with raw_client(server.world_port) as client:
            await client.enter(by_number(account_id, key, version))
            languages = await client.message(LANGUAGES)
            assert languages[:3] == bytes((2, 2, 13))
            zone = await client.message(ZONE_INFO)
            assert b"antonica" in zone
            assert struct.pack("<3f", 348.5, -9.25, 829.75) in zone
            friends, ignored = await client.message(RELATIONS), await client.message(RELATIONS)
            assert (b"Borvik" in friends, b"Rude" in ignored) == (True, True)
            client.send(bytes((LOADED_ZONE,)))
            await client.message(ALL_SENT)
            client.send(bytes((LOADED_SPAWNS,)))
            sheet = unpacked(await client.message(SHEET), SHEET_SIZE[version])
            assert sheet[:7] == b"Aldana\0"
            assert (sheet[41], sheet[42]) == (9, 1)
            assert struct.unpack_from("<6I", sheet, 43) == (0, 0, 3, 0, 0, 4)
            assert struct.unpack_from("<3H", sheet, 67) == (37, 37, 12)
            assert sheet[101:121].rstrip(b"\0") == b"O'Stormfist"
            assert struct.unpack_from("<4I", sheet, COINS[version]) == (21, 43, 65, 7)
            skills = await client.message(SKILLS)
            assert skills[:2] == struct.pack("<H", 2)
            client.send(bytes((LOADED_INTERFACE,)))
            client.send(bytes((SIGNAL,)) + struct.pack("<H", 23) + b"sys_client_avatar_ready")
            titles = await client.message(TITLES[version])
            assert b"of the Harbor" in titles
            assert b"Master Baker" in titles
            await server.log.line("Aldana entered from 127")
        assert server.rows("SELECT coins FROM world_characters WHERE id = ?", own_id) == [
            (7_654_321,)
        ]


async def test_every_other_player_continues_too(tmp_path: Path) -> None:
    """Bob's character begins anew where his zone is missing, and Carl stays disabled."""
    async with imported(tmp_path) as server:
        async with raw_client(server.login_port) as client:
            entry = Reader(await log_in(client, "Bob", WORD, 561))
            assert entry.number("B") == 1, "Dusk's world is not connected"
            own_id, world_id = entry.number("I"), entry.number("I")
            assert entry.text() == "Borvik"
            account_id, key = await play(client, own_id, world_id)
        async with raw_client(server.world_port) as client:
            await client.enter(by_number(account_id, key, 561))
            assert b"Isle of Refuge" in await client.message(ZONE_INFO)
        async with raw_client(server.login_port) as client:
            await client.enter(login_request(b"Carl", b"x", 546))
            await until(lambda: client.disconnected, "the end of the session")
        await server.log.line("login of Carl from 127.0.0.1 refused: .*disabled")
