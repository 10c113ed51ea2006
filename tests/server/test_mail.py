"""Mail, petitions and friends over real UDP, through a kill -9, and at the operators' page."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import LetterShown, LineShown, MailboxShown, MailSent, WorldEvent
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.server.test_web_dashboard import office, player
from tests.support.running.command_line import CommandLine
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    harness,
    reactor,
    rows,
    server_process,
    until,
)

CAP = 2_000_000_030
"""A shipped thing."""
SETTINGS = {"login.auto_create_accounts": True}


class Writer:
    """A player, and what its client has shown it."""

    def __init__(
        self, client: ClientWorldConnection, events: list[WorldEvent] | None = None
    ) -> None:
        self.client = client
        self.events = [] if events is None else events
        client.on_event = self.events.append

    def types(self, line: str) -> None:
        self.client.act(lambda core: core.command(line))

    async def shown(self, kind: type[WorldEvent]) -> WorldEvent:
        """Wait for an event and return the last one of its kind."""
        await self.client.until(
            lambda: any(isinstance(one, kind) for one in self.events), kind.__name__
        )
        return [one for one in self.events if isinstance(one, kind)][-1]

    async def reads(self, text: str) -> None:
        await self.client.until(
            lambda: any(isinstance(one, LineShown) and text in one.text for one in self.events),
            text,
        )


def rich(database: Path) -> None:
    """Give all characters coins, as an import does before the server starts."""
    with closing(sqlite3.connect(database, timeout=10.0)) as connection, connection:
        connection.execute("UPDATE world_characters SET coins = 1000")


@pytest.mark.parametrize("versions", [(546, 1208), (60114, 546)])
async def test_a_letter_with_coins_goes_from_client_to_client(
    tmp_path: Path, versions: tuple[int, int]
) -> None:
    accounts = {"aldana": "a", "borvik": "b"}
    async with harness(tmp_path, accounts=accounts, speed=5) as server:
        await server.world_registered()

        async def enter(name: str, version: int) -> Writer:
            user = name.lower()
            credentials = Credentials(user, accounts[user])
            entrance = Entrance(credentials, name, create=True, version=version)
            return Writer(await enter_world(server.clock, HOST, server.login_port, entrance))

        one = await enter("Aldana", versions[0])
        # Without coins the letter is refused.
        other = await enter("Borvik", versions[1])
        one.client.act(lambda core: core.send_mail("Borvik", "Hello", "How are you?"))
        refused = await one.shown(MailSent)
        assert refused == MailSent(6, "Borvik")
        await one.client.leave()
        rich(server.database)
        one = await enter("Aldana", versions[0])
        one.types("start_mail")
        assert await one.shown(MailboxShown) == MailboxShown((), 10)
        one.types("add_mail_silver 3")
        one.client.act(lambda core: core.send_mail("Borvik", "Hello", "How are you?"))
        assert await one.shown(MailSent) == MailSent(0, "Borvik")
        await other.reads("You have unread mail in your mailbox.")
        other.types("start_mail")
        box = await other.shown(MailboxShown)
        assert isinstance(box, MailboxShown)
        [letter] = box.letters
        assert (letter.sender, letter.subject, letter.coins) == ("Aldana", "Hello", 300)
        other.types(f"getmailmessage {letter.id}")
        assert await other.shown(LetterShown) == LetterShown(
            letter.id, "Aldana", "Hello", "How are you?", 300
        )
        other.types(f"takemailattachments {letter.id}")
        await other.reads("You take 3 silver")
        coins = dict(server.rows("SELECT name, coins FROM world_characters"))
        assert coins == {"Aldana": 690, "Borvik": 1300}
        # Operators read the log while the server runs.
        emu = CommandLine(server.database.parent)
        taken, paid = (
            [row for row in emu.rows("character", "log", name) if row["what"] == "coins"]
            for name in ("Borvik", "Aldana")
        )
        assert [(row["change"], row["other"]) for row in taken] == [(300, f"letter {letter.id}")]
        assert [row["change"] for row in paid] == [-300, -10]
        for client in (one, other):
            await client.client.leave()


@pytest.mark.parametrize("versions", [(546, 60114), (561, 373)])
async def test_a_letter_with_a_thing_goes_from_client_to_client(
    tmp_path: Path, versions: tuple[int, int]
) -> None:
    """A client of version 373 has neither a window for letters nor a list of things."""
    accounts = {"aldana": "a", "borvik": "b"}
    async with harness(tmp_path, accounts=accounts, speed=5) as server:
        await server.world_registered()

        async def enter(name: str, version: int) -> Writer:
            credentials = Credentials(name.lower(), accounts[name.lower()])
            entrance = Entrance(credentials, name, create=True, version=version)
            return Writer(await enter_world(server.clock, HOST, server.login_port, entrance))

        for name, version in zip(("Aldana", "Borvik"), versions, strict=True):
            await (await enter(name, version)).client.leave()
        with closing(sqlite3.connect(server.database, timeout=10.0)) as connection, connection:
            connection.execute("UPDATE world_characters SET coins = 1000, admin_status = 100")
        one, other = await enter("Aldana", versions[0]), await enter("Borvik", versions[1])
        for place in range(12):
            one.types(f"inventory destroy {place}")
        one.types(f"summonitem {CAP}")
        one.types("start_mail")
        one.types("add_mail_copper 7")
        one.types("set_mail_item 0 1")
        one.types("mail send Borvik Hello / A gift.")
        await one.reads("Your letter to Borvik is sent.")
        await other.reads("You have unread mail in your mailbox.")
        ((letter,),) = server.rows("SELECT id FROM world_mail")
        held = "SELECT keeper, keeper_id FROM world_things WHERE item_id = ?"
        assert server.rows(held, CAP) == [("letter", letter)]
        other.types(f"mail read {letter}")
        await other.reads("with 7 copper and ")
        other.types(f"mail take {letter}")
        await other.reads("and 7 copper out of the letter.")
        ((number,),) = server.rows("SELECT id FROM world_characters WHERE name = 'Borvik'")
        assert server.rows(held, CAP) == [("character", number)]
        emu = CommandLine(server.database.parent)
        log = [row for row in emu.rows("character", "log", "Borvik") if row["what"] == "things"]
        assert (log[0]["change"], log[0]["other"]) == (1, f"letter {letter}")
        for client in (one, other):
            await client.client.leave()


@pytest.mark.slow
async def test_mails_friends_and_petitions_survive_a_kill(tmp_path: Path) -> None:
    database = tmp_path / "emu.sqlite"

    async def enter(server: ServerProcess, name: str) -> Writer:
        entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
        events: list[WorldEvent] = []  # from the entry on, at which mail is announced
        port = server.login_port
        client = await enter_world(reactor, HOST, port, entrance, on_event=events.append)
        return Writer(client, events)

    async with server_process(tmp_path, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        for name in ("Aldana", "Borvik"):
            await (await enter(server, name)).client.leave()
        rich(database)
        one = await enter(server, "Aldana")
        one.types("friend_add Borvik")
        one.types("decline_groups")
        await one.reads("You decline invitations to groups now.")
        one.types("petition I am stuck")
        await one.reads("Your petition has the number 1")
        one.types("start_mail")
        one.types("add_mail_copper 90")
        one.client.act(lambda core: core.send_mail("Borvik", "Hello", "Hi"))
        # A letter that is reported as sent is stored: the server is killed at once.
        assert await one.shown(MailSent) == MailSent(0, "Borvik")
        await until(
            lambda: rows(database, "SELECT count(*) FROM world_relations") == [(1,)], "the friend"
        )
        server.kill()
        await one.client.stop()
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    assert rows(database, "SELECT name, coins FROM world_characters ORDER BY name") == [
        ("Aldana", 900), ("Borvik", 1000),
    ]  # fmt: skip
    assert rows(database, "SELECT coins, is_read FROM world_mail") == [(90, 0)]
    async with server_process(tmp_path, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        other = await enter(server, "Borvik")
        await other.reads("You've got mail! :)")  # recorded in real-entry-546-*
        other.types("petition list")
        other.types("mail take 1")
        await other.reads("You take 90 copper")
        one = await enter(server, "Aldana")
        one.types("friends")
        await one.reads("You have 1 friend.")
        other.types("invite Aldana")
        await other.reads("Aldana declines such invitations")
        one.types("petition mine")
        await one.reads("I am stuck")
        for client in (one, other):
            await client.client.leave()


async def test_an_operator_answers_at_the_page(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, browser):
        one = Writer(await player(server, "aldana"))
        await one.client.stand()
        one.types("petition I am stuck")
        await one.reads("Your petition has the number 1")
        await browser.sign_in("guide", "guidepass")
        listed = (await browser.act("petitions")).content
        [petition] = listed["data"]
        assert (petition["player"], petition["text"]) == ("Aldana", "I am stuck")
        answer = await browser.act("answer", {"petition": 1, "text": "We come"})
        assert answer.content == {"ok": True, "text": "petition 1 of Aldana is answered"}
        await one.reads("Your petition 1 is answered: We come")
        assert (await browser.act("close", {"petition": 1})).content["ok"]
        assert (await browser.act("petitions")).content["data"] == []
        await one.client.leave()
