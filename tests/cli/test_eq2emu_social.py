"""`emu account import-eq2emu --world`: guilds and letters continue."""

import time
from pathlib import Path

import pytest

from emu.correspondence import MAIL_FULL, Postage
from emu.guilds import Guild
from emu.store import Store
from emu.times import Moment
from tests.support.files.eq2emu_imports import Dumps, character
from tests.support.files.eq2emu_players import ANTONIA, LETTERS, LOGIN, WOLVES, changed
from tests.support.running.command_line import CommandLine


@pytest.fixture
def dumps(tmp_path: Path) -> Dumps:
    return Dumps(tmp_path)


def test_letters_come_with_their_coins(emu: CommandLine, dumps: Dumps) -> None:
    dumps.write(world={**ANTONIA, **LETTERS})
    report = emu.good(*dumps.words).stderr
    assert "things in letters 1" in report
    aldana = character(emu, "Aldana")
    postage = Postage(price=0, lasts=0.0, most=MAIL_FULL, most_of_one=MAIL_FULL)
    now = Moment(time.time())
    with Store.open(emu.database) as store:
        mailbox = store.world.mail.open(aldana.account_id, aldana.id, postage, now)
        second, first = sorted(mailbox.letters, key=lambda one: one.coins)
        assert (first.sender, first.subject, first.body, first.coins, first.sent) == (
            "Meg", "Bread", "Two loaves,\nas agreed.", 1_000_205, 1_580_000_000,
        )  # fmt: skip
        assert (second.subject, second.body, second.thing) == ("Bread", "", None)
        assert first.expires > now
        assert not store.world.ledger.audit().differences
    # They came once.
    emu.good(*dumps.words)
    with Store.open(emu.database) as store:
        mailbox = store.world.mail.open(aldana.account_id, aldana.id, postage, now)
    assert len(mailbox.letters) == 2


def guild_named(emu: CommandLine, name: str) -> Guild:
    with Store.open(emu.database) as store:
        found = store.world.guilds.find(store.world.guilds.named(name))
    assert found is not None
    return found


def with_newcomer(dumps: Dumps) -> None:
    """Write dumps in which the guild has one more member."""
    new = {**ANTONIA["characters"][0], "id": 950, "name": "Newcomer"}
    row = {**WOLVES["guild_members"][1], "id": 599, "char_id": 950}
    members = [*WOLVES["guild_members"], row]
    dumps.write(
        world={**ANTONIA, **WOLVES, "guild_members": members,
               "characters": [*ANTONIA["characters"], new]},
        login=changed(LOGIN, login_characters=[
            *LOGIN["login_characters"],
            {**LOGIN["login_characters"][0], "id": 60, "char_id": 950, "name": "Newcomer"},
        ]),
    )  # fmt: skip


def test_a_guild_continues_with_its_members(emu: CommandLine, dumps: Dumps) -> None:
    dumps.write(world={**ANTONIA, **WOLVES})
    report = emu.good(*dumps.words).stderr
    assert "Antonia: guilds that continue: The Wolves of 99" in report
    guild = guild_named(emu, "The Wolves of 99")
    assert (guild.motd, guild.formed, guild.ranks[2].name) == (
        "Meet at the inn", 1_500_000_000, "Beta",
    )  # fmt: skip
    # Nobody has the leader's rank in the dump, so the highest one leads.
    assert [(one.name, one.rank, one.note) for one in guild.members.values()] == [
        ("Aldana", 0, "Bakes bread"), ("Borvik", 7, ""),
    ]  # fmt: skip


def test_who_comes_with_a_later_import_joins_the_same_guild(emu: CommandLine, dumps: Dumps) -> None:
    dumps.write(world={**ANTONIA, **WOLVES})
    emu.good(*dumps.words)
    with_newcomer(dumps)
    emu.good(*dumps.words)
    guild = guild_named(emu, "The Wolves of 99")
    assert [one.name for one in guild.members.values()] == ["Aldana", "Borvik", "Newcomer"]
    before = guild.revision
    emu.good(*dumps.words)
    assert guild_named(emu, "The Wolves of 99").revision == before


def test_another_guild_of_the_same_name_stays_another_guild(emu: CommandLine, dumps: Dumps) -> None:
    with Store.create(emu.database) as store:
        store.world.guilds.create(Guild(name="the wolves of 99"))
    dumps.write(world={**ANTONIA, **WOLVES})
    report = emu.good(*dumps.words).stderr
    assert "names were taken, so The Wolves of 99 is The Wolves of 99x" in report
    assert not guild_named(emu, "The Wolves of 99").members
    assert len(guild_named(emu, "The Wolves of 99x").members) == 2


def test_a_guild_without_its_row_is_left_out(emu: CommandLine, dumps: Dumps) -> None:
    dumps.write(world={**ANTONIA, "guild_members": WOLVES["guild_members"]})
    reported = emu.run(*dumps.words)
    assert "guild 19 is unknown; dump the tables guilds and guild_ranks too" in reported.output
    assert character(emu, "Aldana").level == 37
