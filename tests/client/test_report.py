import json

import pytest

from emu.client import (
    AccountInfo,
    Characters,
    Closed,
    Created,
    Deleted,
    Keymap,
    ListedCharacter,
    ListedWorld,
    LoginAccepted,
    PlayAnswer,
    SessionUp,
    WorldList,
    report,
)
from emu.client.flow import StepDone, StepFailed
from emu.errors import CommandError

WORLD = ListedWorld(
    1, "Antonia Bayle", up=True, locked=False, players=3, load=0, allowed_races=0xFFFF
)
TESTA = ListedCharacter(5, 1, "Testa", 42, 9, 25, {"zone": "antonica"})
GONE = ListedCharacter(0xFFFFFFFF, 0xFFFFFFFF, "(deleted)", 1, 9, 25, {})
ACCOUNT = AccountInfo(77, 7, 0, 0)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (SessionUp(0x1A), "session 0000001a"),
        (WorldList((WORLD,)), "1 world: 1 Antonia Bayle (up, 3 players)"),
        (WorldList(()), "0 worlds"),
        (Characters((TESTA, GONE), ACCOUNT), "account 77, 1 character: Testa (level 42, world 1)"),
        (Created(1, "created", "Testa", 77), "Testa created"),
        (Created(13, "the name is taken", "", 77), "character the name is taken"),
        (Deleted(1, "deleted", 1, 5, "Testa"), "Testa deleted"),
        (PlayAnswer(1, "go", "::1", 9001, 7, 77), "world at ::1:9001, access code 7"),
        (PlayAnswer(8, "late", "", 0, 0, 77), "late (code 8)"),
        (Keymap(None), "no keymap is kept"),
        (Keymap(b"abc"), "keymap of 3 bytes"),
        (Closed("closed by this side"), ""),
    ],
)
def test_an_event_is_said_in_a_few_words(event, said: str) -> None:
    assert report.describe(event) == said


def test_a_line_has_name_time_and_what_came() -> None:
    assert report.as_line(StepDone("session", 0.0123, SessionUp(1))) == (
        "session                12.3 ms  session 00000001"
    )
    assert report.as_line(StepDone("close", 1.0, Closed("x"))) == "close                1000.0 ms"


def test_a_record_can_be_written_as_json_without_the_long_structs() -> None:
    listed = StepDone("characters", 0.5, Characters((TESTA,), ACCOUNT))
    assert json.loads(json.dumps(report.as_record(listed))) == {
        "step": "characters",
        "ms": 500.0,
        "event": "Characters",
        "characters": [
            {"id": 5, "world_id": 1, "name": "Testa", "level": 42, "race": 9, "class": 25}
        ],
        "account": {
            "account_id": 77,
            "max_characters": 7,
            "veteran_adventure_bonus": 0,
            "veteran_tradeskill_bonus": 0,
        },
    }
    accepted = StepDone("login", 0.5, LoginAccepted({"login_response": 0}))
    assert report.as_record(accepted) == {"step": "login", "ms": 500.0, "event": "LoginAccepted"}
    played = report.as_record(StepDone("play", 0.5, PlayAnswer(1, "go", "::1", 9001, 7, 77)))
    assert played["server"] == {"host": "::1", "port": 9001}
    assert not {"address", "port"} & played.keys()
    assert report.as_record(StepDone("keymap", 0.0, Keymap(b"\xff")))["data"] == "ff"


def test_worlds_are_listed_one_a_line() -> None:
    locked = ListedWorld(2, "Oggok", up=False, locked=True, players=0, load=2, allowed_races=0)
    down = ListedWorld(3, "Kithicor", up=False, locked=False, players=0, load=0, allowed_races=0)
    assert list(report.world_lines([WORLD, locked, down], as_json=False)) == [
        "1\tAntonia Bayle\tup\t3",
        "2\tOggok\tlocked\t0",
        "3\tKithicor\tdown\t0",
    ]
    (line,) = report.world_lines([WORLD], as_json=True)
    assert json.loads(line)["name"] == "Antonia Bayle"


def test_a_failure_names_its_step() -> None:
    failed = StepFailed("play Testa", "play Testa was refused: banned (code 18)")
    assert report.failure_record(failed) == {"step": "play Testa", "error": str(failed)}
    assert report.failure_record(CommandError("no such host")) == {
        "step": None,
        "error": "no such host",
    }
