from emu.appearance import class_name, race_name


def test_numbers_have_the_names_that_people_know() -> None:
    assert [race_name(number) for number in (0, 9, 20)] == ["Barbarian", "Human", "Aerakyn"]
    assert [class_name(number) for number in (0, 23, 40)] == ["Commoner", "Wizard", "Assassin"]


def test_numbers_that_nobody_has_are_reported_as_numbers() -> None:
    assert (race_name(99), class_name(-1)) == ("race 99", "class -1")
