"""Every client version step against a running server: log in, list, create, delete, play."""

from pathlib import Path

import pytest

from emu.client import Credentials, PlayAnswer, flow
from emu.net.client.connection import ClientConnection, open_client
from emu.versions import LAST_OLD_CLIENT, LOGIN_VERSION_STEPS
from tests.support.running.whole_server import Harness, harness, sleep

STEPS = (
    546, 561, 562, 843, 887, 1096, 1142, 1188, 1208, 57080, 60085, 60100, 60114, 63181, 64753,
)  # fmt: skip
RACE, GENDER, CLASS = 9, 1, 21


def test_these_are_all_the_steps() -> None:
    assert STEPS == LOGIN_VERSION_STEPS


async def create(client: ClientConnection, world_id: int, name: str) -> None:
    """Create a character; an old client is then sent straight on to play it."""
    choices = {"race": RACE, "gender": GENDER, "class": CLASS}
    created = await client.create(world_id, name, **choices)
    assert created.ok, created
    assert created.name == name
    if client.core.version <= LAST_OLD_CLIENT:
        answer = await client.play_answer()
        assert answer.ok
    else:
        await sleep(0.03)
        assert not any(isinstance(event, PlayAnswer) for event in client.core.events)


def check_play(answer: PlayAnswer, server: Harness, client: ClientConnection) -> None:
    assert (answer.code, answer.address, answer.port) == (1, "127.0.0.1", server.world_port)
    assert answer.access_code != 0
    assert answer.account_id == client.core.account_id


@pytest.mark.parametrize("version", STEPS)
async def test_a_player_logs_in_lists_creates_deletes_and_plays(
    tmp_path: Path, version: int
) -> None:
    async with harness(tmp_path, {"world.name": "Qeynos Harbor"}) as server:
        await server.log.line(r"world Qeynos Harbor \(1\) registered")
        async with await server.logged_in(version=version) as client:
            (world,) = await client.worlds()
            assert (world.id, world.name, world.up, world.locked) == (
                1,
                "Qeynos Harbor",
                True,
                False,
            )
            assert await client.characters() == ()
            await create(client, world.id, "Firsta")
            await create(client, world.id, "Secondo")
            first, second = await client.characters()
            assert (first.name, second.name) == ("Firsta", "Secondo")
            for one in (first, second):
                assert (one.world_id, one.level) == (1, 1)
                assert (one.race, one.class_, one.fields["gender"]) == (RACE, CLASS, GENDER)
            taken = await client.create(world.id, "Firsta")
            assert taken.code == 13
            assert (await client.delete(first)).ok
            left = await client.characters()
            if version <= LAST_OLD_CLIENT:
                assert [one.name for one in left] == ["(deleted)", "Secondo"]
                assert left[0].deleted
            else:
                assert [one.name for one in left] == ["Secondo"]
            check_play(await client.play(second), server, client)
        async with await server.logged_in(version=version) as again:
            assert [one.name for one in await again.characters()] == ["Secondo"]
            refused = await again.delete(first)
            assert not refused.ok
            check_play(await again.play("secondo"), server, again)
        assert server.rows("SELECT name, deleted FROM characters ORDER BY id") == [
            ("Firsta", 1),
            ("Secondo", 0),
        ]
        assert server.rows("SELECT name, deleted FROM world_characters ORDER BY id") == [
            ("Firsta", 1),
            ("Secondo", 0),
        ]


@pytest.mark.parametrize("version", STEPS)
async def test_the_whole_script_of_the_command_line_runs(server: Harness, version: int) -> None:
    await server.world_registered()
    credentials = Credentials("testlabs", "testpass")
    opened = await open_client(
        server.clock, "127.0.0.1", server.login_port, credentials, version=version
    )
    async with opened as client:
        script = flow.whole_login(
            client.core, create_name="Testa", delete_name="Testa", world="norrath"
        )
        await client.run(script)
    assert server.rows("SELECT name, deleted FROM characters") == [("Testa", 1)]


async def test_looks_survive_the_way_through_world_and_list(server: Harness) -> None:
    """What a client of one coding chose is shown to clients of every other."""
    await server.world_registered()
    for version in STEPS:
        async with await server.logged_in(version=version) as client:
            await client.worlds()
            name = "Look" + "".join(chr(ord("a") + int(digit)) for digit in str(version))
            await create(client, 1, name)
    for version in STEPS:
        async with await server.logged_in(version=version) as client:
            await client.worlds()
            listed = await client.characters()
            assert len(listed) == len(STEPS)
            assert len({one.name for one in listed}) == len(STEPS)
