"""Scripts over every version step, and every way in which they can fail."""

import pytest

from emu.client import PlayAnswer, flow
from emu.client.flow import StepFailed
from emu.errors import CommandError
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.sessions.client_pair import ClientPair
from tests.support.sessions.reference_messages import ReferenceCharacter
from tests.support.sessions.reference_server import Script

OLD = [ReferenceCharacter(5, 1, "Olda", 7), ReferenceCharacter(6, 1, "Oldb", 70)]


def characters() -> list[ReferenceCharacter]:
    return [ReferenceCharacter(one.char_id, 1, one.name, one.level) for one in OLD]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_version_logs_in_lists_creates_deletes_and_plays(version: int) -> None:
    pair = ClientPair(Script(version=version, characters=characters()))
    script = flow.whole_login(
        pair.client, create_name="Testa", delete_name="olda", play_name="Testa"
    )
    run = pair.run(script)
    assert run.failure is None
    assert run.done
    names = [step.name for step in run.steps]
    after_create = ["play after create"] if version <= 561 else []
    assert names == [
        "session", "key", "login", "worlds", "characters", "create", "characters",
        *after_create, "delete", "characters", "play", "close",
    ]  # fmt: skip
    assert pair.server.login is not None
    assert pair.server.login.version == version
    assert pair.server.created is not None
    assert (pair.server.created.world_id, pair.server.created.name) == (1, "Testa")
    (play,) = pair.server.play_requests
    assert play == bytes([102, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    shown = [(one.name, one.level) for one in pair.client.characters or () if not one.deleted]
    assert shown == [("Oldb", 70), ("Testa", 1)]
    assert len(pair.client.characters or ()) == (3 if version <= 561 else 2)
    answer = run.steps[-2].event
    assert answer == PlayAnswer(1, "go", "127.0.0.1", 9001, 0x1234ABCD, 77)
    assert pair.server.wire.disconnected


@pytest.mark.parametrize(
    ("silent", "step"),
    [("login", "login"), ("worlds", "worlds"), ("create", "create"), ("delete", "delete"),
     ("play", "play")],
)  # fmt: skip
def test_a_server_that_falls_silent_is_named_with_the_step(silent: str, step: str) -> None:
    pair = ClientPair(Script(version=1208, silent_from=silent, characters=characters()))
    script = flow.whole_login(
        pair.client, create_name="Testa", delete_name="olda", play_name="Oldb"
    )
    run = pair.run(script, timeout=3.0)
    assert str(run.failure) == f"timed out at step '{step}' after 3 s"
    assert isinstance(run.failure, StepFailed)
    assert run.failure.step == step
    assert run.done
    assert run.get_timer() is None


@pytest.mark.parametrize(
    ("server", "asked", "said"),
    [
        (
            Script(create_code=13),
            {"create_name": "Testa"},
            "create Testa was refused: the name is taken (code 13)",
        ),
        (
            Script(version=1208, delete_code=0),
            {"delete_name": "olda"},
            "delete olda was refused: refused (code 0)",
        ),
        (
            Script(version=1208, play_code=8),
            {"play_name": "Olda"},
            "play Olda was refused: the world did not answer in time (code 8)",
        ),
    ],
)
def test_a_refusal_ends_the_script_with_its_text(server: Script, asked, said: str) -> None:
    server.characters = characters()
    pair = ClientPair(server)
    run = pair.run(flow.whole_login(pair.client, **asked))
    assert isinstance(run.failure, StepFailed)
    assert run.failure.step == said.partition(" ")[0]
    assert str(run.failure) == said


@pytest.mark.parametrize("version", [546, 561])
def test_the_2006_clients_own_short_forms_are_taken(version: int) -> None:
    script = Script(version=version, characters=characters(), short_forms=True, play_code=6)
    pair = ClientPair(script)
    pair.run(flow.whole_list())
    deleted = pair.run(flow.delete(flow.find_character(pair.client, "Olda"))).result
    assert (deleted.ok, deleted.name, deleted.char_id) == (True, "Olda", 5)
    answer = pair.run(flow.play(flow.find_character(pair.client, "Oldb"))).result
    assert answer == PlayAnswer(6, "the character was not found", "", 0, 0, 0)


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    pair = ClientPair(Script(characters=characters()))
    run = pair.run(flow.whole_login(pair.client, play_name="Nobody"))
    assert str(run.failure) == "the account has no character Nobody (it has: Olda, Oldb)"


def test_a_world_is_chosen_by_id_by_name_or_because_it_is_up() -> None:
    pair = ClientPair(Script(worlds=[(3, "Oggok"), (9, "Kithicor")]))
    pair.run(flow.whole_list())
    assert flow.choose_world(pair.client, None).id == 3
    assert flow.choose_world(pair.client, "9").name == "Kithicor"
    assert flow.choose_world(pair.client, "kithicor").id == 9
    with pytest.raises(CommandError, match=r"there is no world 4 \(listed: 3 Oggok, 9 Kithicor\)"):
        flow.choose_world(pair.client, "4")
    pair.client.worlds.clear()
    with pytest.raises(CommandError, match=r"no world is up \(listed: none\)"):
        flow.choose_world(pair.client, None)


def test_the_answer_nobody_asked_for_can_be_waited_for() -> None:
    pair = ClientPair(Script(version=561))
    pair.run(flow.whole_list())
    pair.run(flow.create(1, "Testa"))
    assert pair.run(flow.auto_play()).result.port == 9001


def test_characters_are_asked_for_only_once() -> None:
    pair = ClientPair(Script(characters=characters()))
    pair.run(flow.login())
    for _ in range(2):
        result = pair.run(flow.characters(pair.client)).result
        assert [one.name for one in result] == ["Olda", "Oldb"]
    assert pair.server.requests.count("worlds") == 1


@pytest.mark.parametrize("data", [None, b"", b"keys" * 90])
def test_a_keymap_can_be_asked_for(data: bytes | None) -> None:
    pair = ClientPair(Script(keymap=data))
    pair.run(flow.whole_list())
    assert pair.run(flow.load_keymap()).result.data == data


def test_a_ping_logs_nobody_in(pair: ClientPair) -> None:
    pair.client.credentials = None
    run = pair.run(flow.ping())
    assert [step.name for step in run.steps] == ["session", "statistics", "close"]
    assert pair.server.requests == []
