"""Answers to windows: each after a while, in the order in which they came."""

from types import SimpleNamespace

import pytest

from emu.client.evening.answers import MAKES_PLACE, READING, TALKS_ON, WindowAnswers
from emu.client.evening.reading import DialogChoices
from emu.client.world.events import (
    DialogOpened,
    LineShown,
    RevivalOffered,
    Vanished,
    WayRow,
    WaysShown,
    WorldEvent,
)
from emu.client.world.surroundings import Place
from emu.client.world.windows import (
    ChoiceOffered,
    HousePriced,
    HouseShown,
    LessonShown,
    LootShown,
    OfferShown,
    PlaceAsked,
    RewardOffered,
)
from emu.times import Monotonic
from tests.client.evening.conftest import NotingClient

NOW = Monotonic(100.0)
OFFER = OfferShown("Rats", "Kill them.", "accept 7", "deny 7")


def answers(
    core: NotingClient, *refused: str, wanted: str = "", lines: list[str] | None = None
) -> WindowAnswers:  # fmt: skip
    noted = lines if lines is not None else []
    return WindowAnswers(
        core, DialogChoices((), refused), refused,  # type: ignore[arg-type]
        note=lambda kind, text: noted.append(f"{kind} {text}"), may_leave=lambda: True,
        wanted=lambda: wanted, wants_quest=lambda title: title != "Bats",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("event", "asked"),
    [
        (OFFER, "command accept 7"),
        (OfferShown("Bats", "", "accept 8", "deny 8"), "command deny 8"),
        (RewardOffered("Rats", (5, 6), (), 3), "command accept_reward 5 5"),
        (RewardOffered("Rats", (), ("a cap",), 3), "command accept_reward 0 0"),
        (RewardOffered("Rats", (), (), 3, ("Qeynos",)), "command accept_reward 0 0"),
        (LessonShown("Look.", "looked", (("camera first",),)), "signal looked"),
        (ChoiceOffered("Attune?", "Yes", "attune 1", "", False), "command attune 1"),
        (LootShown(9, ((4, "a cap"),)), "loot_all 9"),
        (HousePriced(9, "an inn", 0, True), "buy_house 9"),
        (HouseShown(9, "an inn", False), "enter_house 9"),
        (HouseShown(9, "an inn", True), "command leave_house"),
        (PlaceAsked(9), f"put_thing 9 {Place(0.0, 0.0, 0.0)}"),
        (RevivalOffered(((2, "Tower"),)), "command select_junction 2"),
        (RevivalOffered(()), "command select_junction 0"),
    ],
)
def test_the_answer_to_a_window(core: NotingClient, event: WorldEvent, asked: str) -> None:
    one = answers(core)
    one.handle_event(event, NOW)
    assert one.think(NOW)
    assert core.asked == []
    assert one.think(Monotonic(NOW + READING))
    assert core.asked == [asked]
    assert not one.think(Monotonic(NOW + READING))


@pytest.mark.parametrize(
    "event",
    [
        RewardOffered("Rats", (), (), 3),
        LessonShown("Hail.", "hailed", (("server",),)),
        LessonShown("Welcome.", ""),
        LootShown(9, ()),
    ],
)
def test_windows_without_an_answer(core: NotingClient, event: WorldEvent) -> None:
    one = answers(core)
    one.handle_event(event, NOW)
    assert not one.think(Monotonic(NOW + READING))


def test_a_refused_word_declines_the_offer(core: NotingClient) -> None:
    one = answers(core, "rats")
    one.handle_event(OFFER, NOW)
    one.think(Monotonic(NOW + READING))
    assert core.asked == ["command deny 7"]


def test_a_window_of_loot_that_comes_again_and_again_is_left(core: NotingClient) -> None:
    one = answers(core)
    for _ in range(5):
        one.handle_event(LootShown(9, ((4, "a cap"),)), NOW)
        one.think(Monotonic(NOW + READING))
    assert core.asked == ["loot_all 9"] * 2


def test_it_writes_down_each_body_once(core: NotingClient) -> None:
    lines: list[str] = []
    one = answers(core, lines=lines)
    for event in (
        LootShown(9, ((4, "a cap"),)), LootShown(9, ()), LootShown(8, ()),
        Vanished(9, "a rat"), LootShown(9, ((5, "a tail"),)),
    ):  # fmt: skip
        one.handle_event(event, NOW)
        one.think(Monotonic(NOW + READING))
    assert lines == ["loot a cap", "loot no thing", "loot a tail"]
    assert core.asked == ["loot_all 9"] * 2, "another body may get the number of one that is gone"


def test_it_writes_down_what_it_gets_buys_and_uses(core: NotingClient) -> None:
    lines: list[str] = []
    one = answers(core, lines=lines)
    for event in (
        RewardOffered("Rats", (5,), ("a cap", "a tail"), 3), HousePriced(9, "an inn", 7, True),
        HousePriced(9, "a villa", 7, False), HouseShown(9, "an inn", False),
    ):  # fmt: skip
        one.handle_event(event, NOW)
    assert lines == [
        "reward Rats: a cap, a tail, 3 c", "buy an inn for 7 c", "use house: an inn",
    ]  # fmt: skip


def test_windows_of_another_zone_are_forgotten(core: NotingClient) -> None:
    one = answers(core)
    one.handle_event(OFFER, NOW)
    one.forget()
    assert not one.think(Monotonic(NOW + READING))


def test_a_dialog_is_answered_if_it_is_still_open(core: NotingClient) -> None:
    one, dialog = answers(core), DialogOpened(3, "Vim", "Hello.", ("Hail.", "No."))
    one.handle_event(dialog, NOW)
    one.think(Monotonic(NOW + READING))
    assert core.asked == []
    core.dialog = dialog
    one.handle_event(dialog, NOW)
    one.think(Monotonic(NOW + READING))
    assert core.asked == ["answer 1"]
    core.dialog = SimpleNamespace(conversation=3, title="Vim", text="Bye.", choices=())
    one.handle_event(dialog, NOW)
    one.think(Monotonic(NOW + READING))
    assert core.asked[-1] == "close_dialog"


def test_the_rest_of_a_talk_may_come_some_seconds_after_an_answer(core: NotingClient) -> None:
    one, dialog = answers(core), DialogOpened(3, "Ranik", "Welcome.", ("I can sing!",))
    core.dialog = dialog
    assert not one.talk_goes_on(NOW)
    one.handle_event(dialog, NOW)
    one.think(answered := Monotonic(NOW + READING))
    late = Monotonic(answered + TALKS_ON - 0.1)
    assert one.talk_goes_on(late)
    assert not one.talk_goes_on(Monotonic(answered + TALKS_ON))
    core.dialog = DialogOpened(4, "Ranik", "What song is this?", ("A sad one.", "A short one."))
    one.handle_event(core.dialog, late)
    one.think(Monotonic(late + READING))
    assert one.choices.is_unfinished, "the second question belongs to the first one"
    one.forget()
    assert not one.talk_goes_on(Monotonic(late + READING)), "it is in another zone"


def test_a_reward_without_a_free_place_waits_and_lets_others_go_on(core: NotingClient) -> None:
    one = answers(core)
    full = LineShown("error", "You do not have enough free slots!  Free some slots and try again.")
    one.handle_event(full, NOW)
    one.handle_event(RewardOffered("Rats", (5, 6), (), 3), NOW)
    assert not one.think(Monotonic(NOW + READING + 0.1))
    assert core.asked == []
    one.think(Monotonic(NOW + MAKES_PLACE + 0.1))
    assert core.asked == ["command accept_reward 5 5"]


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [("", ["travel Antonica"]), ("The Caves", ["travel The Caves"]), ("Oakmyst Forest", [])],
)
def test_it_travels_to_no_zone_that_it_does_not_want(
    core: NotingClient, wanted: str, asked: list[str]
) -> None:
    ways = WaysShown(4, (WayRow(1, "Antonica", "antonica", 0), WayRow(2, "The Caves", "caves", 0)))
    core.ways = ways
    one = answers(core, wanted=wanted)
    one.handle_event(ways, NOW)
    one.think(Monotonic(NOW + READING))
    assert core.asked == asked
