"""How a script runs: its steps, what ends them, and what they are mistaken for."""

import pytest

from emu.client import flow
from emu.client.flow import LoginFlow
from emu.errors import CommandError, LocalProtocolError
from tests.support.sessions.client_pair import ClientPair
from tests.support.sessions.reference_messages import ReferenceCharacter
from tests.support.sessions.reference_server import Script

OLD = [ReferenceCharacter(5, 1, "Olda", 7), ReferenceCharacter(6, 1, "Oldb", 70)]


def characters() -> list[ReferenceCharacter]:
    return [ReferenceCharacter(one.char_id, 1, one.name, one.level) for one in OLD]


def test_each_step_says_how_long_it_took(pair: ClientPair) -> None:
    seen = []
    run = LoginFlow(pair.client, flow.login(), on_step=seen.append)
    run.begin(pair.now)
    begun = pair.now
    while not run.done:
        pair.step(run)
    assert seen == run.steps
    assert all(step.seconds >= 0 for step in run.steps)
    assert sum(step.seconds for step in run.steps) == pytest.approx(pair.now - begun, abs=0.011)
    assert run.steps[0].seconds == pytest.approx(0.02)  # a datagram each way


def test_a_disconnect_in_the_middle_names_step_and_reason() -> None:
    pair = ClientPair(Script(silent_from="worlds"))
    pair.run(flow.login())
    run = LoginFlow(pair.client, flow.worlds())
    run.begin(pair.now)
    pair.server.wire.disconnect()
    while not run.done:
        pair.step(run)
    assert str(run.failure) == "the session ended at step 'worlds': closed by peer"


def test_an_unreadable_answer_ends_the_step_that_waits_for_it() -> None:
    pair = ClientPair(Script(silent_from="play", characters=characters()))
    pair.run(flow.whole_list())
    run = LoginFlow(pair.client, flow.play(flow.find_character(pair.client, "Olda")))
    run.begin(pair.now)
    pair.step(run)
    pair.server.wire.send(19, b"\x01\x09", pair.now)
    while not run.done:
        pair.step(run)
    assert str(run.failure).startswith("the server's OP_PlayCharacterReplyMsg cannot be read: ")


def test_an_older_answer_is_not_taken_for_a_newer_requests() -> None:
    pair = ClientPair(Script(version=546))
    pair.run(flow.whole_list())
    pair.run(flow.create(1, "Testa"))
    pair.settle(0.5)  # the answer to the play request that the server made itself lies ready
    pair.server.script.play_code = 7
    answer = pair.run(flow.play(flow.find_character(pair.client, "Testa"))).result
    assert answer.code == 7


def test_a_list_that_came_before_an_answer_is_not_taken_for_the_one_after_it() -> None:
    pair = ClientPair(Script(version=1208, characters=characters()))
    pair.run(flow.login())
    pair.run(flow.worlds())
    pair.settle(0.5)  # the list that follows the worlds is there, and nobody has asked for it
    run = pair.run(flow.create(1, "Testa"))
    assert run.steps[-1].event.characters == pair.client.characters
    assert [one.name for one in run.steps[-1].event.characters] == ["Olda", "Oldb", "Testa"]


def test_a_request_on_a_closed_session_fails_at_once(pair: ClientPair) -> None:
    pair.run(flow.whole_login(pair.client))
    run = pair.run(flow.worlds())
    assert isinstance(run.failure, LocalProtocolError)
    assert "closed" in str(run.failure)


def test_a_flow_can_be_ended_from_outside_once() -> None:
    run = LoginFlow(ClientPair().client, flow.login())
    run.begin(0.0)
    run.fail(CommandError("the network is gone"))
    run.fail(CommandError("again"))
    assert str(run.failure) == "the network is gone"
