"""The greeter, as players meet it."""

from __future__ import annotations

from tests.support.world.behavior_scenes import choose, hail, scene


def test_the_greeter_greets_once_and_answers() -> None:
    harness, client, guard = scene(
        "greeter",
        {"greeting": "Hello {name}", "choices": ["Who are you?"], "answers": ["A guard."]},
    )
    harness.run(10.0)
    assert [text for _, _, text in client.hears()] == ["Hello Aldana"]
    assert client.fields_of("Guard Vexel")["pos_heading1"] == -90 * 64  # Aldana is at -x of it.
    hail(client, guard)
    assert client.decoded("WS_DialogOpen")[-1]["text"] == "Well met, Aldana."
    choose(client, 1)
    assert client.hears()[-1] == ("8", "Guard Vexel", "A guard.")


def test_the_greeter_without_choices_only_speaks() -> None:
    _, client, guard = scene("greeter", {})
    hail(client, guard)
    assert [text for _, _, text in client.hears()] == [
        "Welcome, Aldana!", "Hail, Guard Vexel", "Well met, Aldana.",
    ]  # fmt: skip


def test_it_begins_without_options() -> None:
    harness, client, guard = scene("greeter", {})
    hail(client, guard)
    harness.run(20.0)
    assert not [event for event in harness.events if type(event).__name__ == "BehaviorFailed"]
