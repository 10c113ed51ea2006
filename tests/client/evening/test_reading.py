"""Names in the texts of tasks, and the choice of answers."""

import pytest

from emu.client.evening.reading import (
    GOOD,
    WEAK,
    DialogChoices,
    fit,
    is_decline,
    is_named_way,
    is_peaceful,
    is_placing,
    is_visit,
    leads_to,
    may_have_choices,
    names_part_of,
    names_person,
    names_somebody,
    resemblance,
    sides_of,
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a rat", "I must kill the rats on the deck."),
        ("a giant spider", "I need to collect five giant spider venom sacs."),
        ("a war wolf", "slaying the trained battle and war wolves"),
        ("Garven Tralk", "I need to talk to Garven again."),
        ("Captain Varlos", "I should speak to Captain Varlos."),
        ("Banker Vertbridge", "I need to pick up my boots from the bank."),
        ("Vim", "I should find a way to buy the shard from Merchant Vim."),
        ("North Qeynos", "the warehouse of northern Qeynos"),
        ("Squire Moorford", "I need to speak with Squire Moorford in Qeynos Harbor."),
        ("Ambassador Fallon", "Speak with an Ambassador if you are ready to leave."),
        ("Master-at-Arms Dagorel", "I must see Master at Arms Dagorel in South Qeynos."),
        ("Waulon's Hat", "I found Waulon\u2019s hat."),
    ],
)
def test_names_that_a_text_means(name: str, text: str) -> None:
    assert fit(name, text) >= GOOD


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a goblin runner", "I need to take these goblin totems to Nathinia."),
        ("a giant spider", "I need to kill five giant wolves."),
        ("Ingrid", "I should speak to Waulon."),
        ("", "I should speak to Waulon."),
        ("Squire-Guard Williamson", "I need to speak with Squire Moorford in Qeynos Harbor."),
        ("qeynos_sign_post01", "I need to speak with Squire Moorford in Qeynos Harbor."),
        ("a hunter", "I need to hunt a shoal glider."),
        ("housing_five_room_1", "I must kill five white spiderlings."),
    ],
)
def test_names_that_a_text_does_not_mean(name: str, text: str) -> None:
    assert fit(name, text) < GOOD


def test_the_whole_name_fits_better_than_a_part_of_it() -> None:
    text = "I need to collect four totems from Gruttooth brutes."
    assert fit("a Gruttooth brute", text) > fit("a troll brute", text) > 0.0


def test_a_name_that_resembles_a_text() -> None:
    text = "I need to use my smite spell to destroy 3 war statues."
    assert fit("Guttertooth War Totem", text) < GOOD
    assert resemblance("Guttertooth War Totem", text) >= WEAK
    assert resemblance("a shore crab", text) < WEAK
    assert resemblance("", text) == 0.0


def test_tasks_without_a_fight() -> None:
    assert is_peaceful("I need to report back to Mizan.")
    assert is_peaceful("I need to scout the goblin camp.")
    assert not is_peaceful("I must kill the rats and report back.")
    assert not is_peaceful("I need to open the boxes.")
    assert not is_peaceful("Pull lost scouts back to Cleric Mara'Vaen from Dead Canyon.")


def test_answers_that_decline() -> None:
    assert is_decline("No, I do not think so.")
    assert is_decline("  Never.")
    assert is_decline("I'll let you get back to work.  Good bye.")
    assert is_decline("Not now.")
    assert not is_decline("Not unless she buys eight of them.")
    assert not is_decline("Now is the time.")
    assert not is_decline("Nothingness calls.")


def test_each_answer_comes_once_before_one_comes_twice() -> None:
    choices, texts = DialogChoices((), ()), ["Who are you?", "Never.", "Where am I?"]
    taken = [texts[choices.choose("Hello.", texts)] for _ in range(3)]
    assert taken == ["Who are you?", "Where am I?", "Who are you?"]
    assert texts[choices.choose("Hello again.", texts)] == "Who are you?"


def test_a_talk_is_seen_whole_behind_the_answers_that_were_taken() -> None:
    # Murrar Shar of Queen's Colony gives the first quest three questions deep.
    choices = DialogChoices((), ())
    hello, who, why = ["Who are you?", "I would leave."], ["Why?", "Later."], ["Qeynos?", "Help?"]
    assert choices.choose("Hello.", hello) == 0
    assert choices.choose("Murrar.", who, follows=True) == 0
    assert choices.choose("A colony.", why, follows=True) == 0
    assert choices.choose("Hello.", hello) == 1, "it has not tried that"
    assert choices.choose("Hello.", hello) == 0, "there is more behind it"
    assert choices.choose("Murrar.", who, follows=True) == 1
    assert choices.choose("Hello.", hello) == 0
    assert choices.choose("Murrar.", who, follows=True) == 0, "there is more behind it"
    assert choices.choose("A colony.", why, follows=True) == 1
    assert choices.choose("Hello.", hello) == 1, "all was said"


def test_a_talk_is_unfinished_as_long_as_an_answer_behind_it_is_new() -> None:
    # Aulus Crispian of North Freeport gives in four questions deep.
    choices = DialogChoices((), ("Qeynos",))
    assert not choices.is_unfinished
    hello, price = ["It is about ink.", "Good bye."], ["Please?", "For Qeynos!", "Half of it?"]
    choices.choose("Welcome.", hello)
    assert not choices.is_unfinished, "it knows of nothing behind that"
    choices.choose("Ten gold.", price, follows=True)
    assert choices.is_unfinished
    choices.choose("Welcome.", hello)
    assert choices.choose("Ten gold.", price, follows=True) == 2
    assert not choices.is_unfinished, "it never says the other one"


def test_a_talk_may_go_on_after_a_new_answer_and_after_one_that_something_has_followed() -> None:
    # Ranik Calman of East Freeport lets the player sing for 4.3 seconds between his questions.
    choices = DialogChoices((), ())
    assert not choices.may_go_on
    choices.choose("Welcome.", ["I can sing!"])
    assert choices.may_go_on
    choices.choose("What song is this?", ["A sad one.", "Good bye."], follows=True)
    assert choices.may_go_on
    choices.choose("Welcome.", ["I can sing!"])
    assert choices.may_go_on, "the next question came the last time"
    choices.choose("What song is this?", ["A sad one."], follows=True)
    assert not choices.may_go_on, "nothing came the last time"
    choices.choose("What song is this?", ["Good bye."], follows=True)
    assert not choices.may_go_on


@pytest.mark.parametrize(
    ("text", "is_about"),
    [
        ("I should dance before Grum Zoomly of the Back Alley Brewhouse.", True),
        ("I need to speak with Vemerik.", False),
        ("I need to kill five Darkblade Scouts.", False),
        ("I need to locate the grate to the Down Below.", False),
        ("Speak with the Banker Caroline Copperstone in Nettleville Hovel.", True),
    ],
)
def test_a_text_may_be_about_somebody_with_a_full_name(text: str, *, is_about: bool) -> None:
    assert names_person(text) is is_about


@pytest.mark.parametrize(
    ("sign", "zone", "is_part"),
    [
        ("zone_to_fprt_west_tunnel", "east freeport", True),
        ("zone_to_commonlands", "east freeport", False),
        ("zone_to_qey_north", "south qeynos", True),
        ("zone_to_qey_north", "nettleville hovel", False),
    ],
)
def test_a_sign_may_lead_to_another_part_of_the_city(
    sign: str, zone: str, *, is_part: bool
) -> None:
    assert names_part_of(sign, zone) is is_part


def test_a_talk_that_goes_in_a_circle_ends() -> None:
    choices, texts = DialogChoices((), ()), ["Go on.", "I see."]
    taken = [choices.choose("Once upon a time ...", texts, follows=True) for _ in range(4)]
    assert taken == [0, 1, 0, 1]


def test_two_questions_that_lead_to_each_other_do_not_go_on_for_ever() -> None:
    # Trainer Hayl McGuinness of Queen's Colony explains fights in a circle.
    choices = DialogChoices((), ())
    questions = {"Melee?": ["Tell me of spells.", "I see."], "Spells?": ["Of melee.", "Thanks."]}
    taken = [
        questions[one][choices.choose(one, questions[one], follows=True)]
        for one in ["Melee?", "Spells?"] * 2
    ]
    assert taken == ["Tell me of spells.", "Of melee.", "I see.", "Thanks."]


def test_wished_and_refused_words() -> None:
    texts = ["I am a mage.", "I am a scout.", "I am no scout.", "No scout here."]
    assert DialogChoices(("Scout",), ()).choose("Who are you?", texts) == 1
    assert DialogChoices(("Scout",), ("am",)).choose("Who are you?", texts) == 3
    assert DialogChoices((), ("Mage",)).choose("Who are you?", texts) == 1


def test_a_question_about_leaving() -> None:
    question, texts = "Do you want to leave the ship?", ["Yes", "No"]
    choices = DialogChoices((), ())
    assert choices.choose(question, texts, may_leave=False) == 1
    assert choices.choose(question, texts, may_leave=True) == 0
    assert choices.choose("Is it cold?", texts, may_leave=False) == 0


def test_technical_names_fit_by_any_word_and_by_what_they_stand_for() -> None:
    assert fit("to_qey_citizenship_trial", "Take an application from the citizenship sign.") >= GOOD
    assert fit("widget_player_housing_0", "I should sign in at the inn's guest registry.") == 1.0
    assert fit("widget_player_housing_0", "I must find the Steward.") == 0.0
    assert fit("door_fprt_ph_door_with_handle_12", "I need to speak with Emissary Millia") == 0.0


@pytest.mark.parametrize(
    ("task", "is_meant"),
    [
        ("I need to place the table in my inn and speak with the caretaker.", True),
        ('Open your inventory.  "Place" your new painting and then speak with her.', True),
        ("I need to find a better place for the bed.", False),
    ],
)
def test_a_task_to_place_a_thing(task: str, *, is_meant: bool) -> None:
    assert is_placing(task) is is_meant


def test_tasks_to_visit_a_place() -> None:
    assert is_visit("I need to visit the gates to the Peat Bog.")
    assert is_visit("I need to find the Tower of the Oracles.")
    assert is_visit("I need to locate the gates to North Freeport.")
    assert not is_visit("I must kill the rats.")
    assert not is_visit("I need to find Zipiff Clamorclang."), "it is a person"


def test_tasks_that_name_whom_they_are_about() -> None:
    assert names_somebody("I need to find Zipiff Clamorclang.")
    assert names_somebody("I must speak with Braksan.")
    assert not names_somebody("I need to judge the traitors.")
    assert not names_somebody("I need to find the memorial in the Willow Wood.")


def test_things_that_may_lead_to_several_zones() -> None:
    assert may_have_choices("mariners_bell")
    assert not may_have_choices("zone_to_antonica")
    assert not may_have_choices("gate_widget4")


@pytest.mark.parametrize(
    ("name", "text", "is_meant"),
    [
        ("zone_to_qey_north", "I need to speak with Sir Laughlin in North Qeynos", True),
        ("To North Qeynos", "I need to speak with Sir Laughlin in North Qeynos", True),
        ("zone_to_qey_south", "I need to speak with Sir Laughlin in North Qeynos", False),
        ("zone_to_qey_village01", "I need to speak with Sir Laughlin in North Qeynos", False),
        ("zone_to_antonica", "I must kill a gnoll in Antonica.", True),
        ("zone_to_antonica_south", "I must kill a gnoll in Antonica.", False),
        ("zone_to_fprt_north", "I need to locate the gates to North Freeport.", True),
        ("zone_to_fprt_south", "I need to locate the gates to North Freeport.", False),
        ("zone_to_fprt_north", "I need to locate the gates to North Qeynos.", False),
        ("zone_to_qey_city", "I need to speak with Sir Laughlin in North Qeynos", False),
        ("Beggars Court Zone", "Speak with the Banker Voranius in Beggar's Court.", True),
        ("Serpent Sewer Zone", "I am to stalk the sewers for Darkblade Scouts.", False),
    ],
)
def test_the_name_of_a_sign_says_where_it_leads(name: str, text: str, is_meant: bool) -> None:
    assert is_named_way(name)
    assert leads_to(name, text) is is_meant


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("I need to help Selennia near the two southern guard towers.", {(0, 1)}),
        ("I must look to the north of the lake, or east of it.", {(0, -1), (-1, 0)}),
        ("I need to speak with Magister Niksel in South Qeynos.", set()),
    ],
)
def test_a_text_names_sides_of_the_compass(text: str, sides: set[tuple[int, int]]) -> None:
    assert sides_of(text) == sides


def test_who_has_the_title_of_another_one_is_not_meant() -> None:
    text = "I need to help the soldier Homrie near the Claymore in Antonica."
    assert fit("Soldier Homrie", text) == 1.0
    assert fit("Soldier Selennia", text) < GOOD
    assert fit("Soldier Selennia", "I need to speak with a soldier in Antonica.") == GOOD
