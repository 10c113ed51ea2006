"""What a player knows of other zones: ways, windows, who lives where."""

from emu.client.evening.travels import KnownWay, Travels, zone_name
from emu.client.world.surroundings import Place
from tests.client.evening.conftest import spawn

BELL = KnownWay("mariners_bell", Place(10.0, 0.0, 0.0))
GATE = KnownWay("zone_to_peat_bog", Place(90.0, 0.0, 0.0))


def arrived(*steps: tuple[str, KnownWay | None]) -> Travels:
    made = Travels()
    for zone, way in steps:
        made.arrive(zone, way)
    return made


def test_names_of_zones_have_no_article() -> None:
    assert zone_name("The Willow Wood") == zone_name("Willow Wood ")


def test_a_way_that_was_taken_leads_there_again() -> None:
    one = arrived(("Nettleville Hovel", None), ("The Peat Bog", GATE), ("Nettleville Hovel", None))
    assert one.way_to("peat bog") == GATE
    assert one.way_to("antonica") is None


def test_a_window_shows_where_a_thing_leads() -> None:
    one = arrived(("Nettleville Hovel", None))
    one.offered(BELL, ["The Willow Wood", "Graystone Yard"])
    assert one.way_to("willow wood") == KnownWay(BELL.name, BELL.place, "The Willow Wood")


def test_a_route_has_several_zones() -> None:
    one = arrived(
        ("Graystone Yard", None), ("Nettleville Hovel", BELL), ("The Peat Bog", GATE),
        ("Graystone Yard", None),
    )  # fmt: skip
    assert one.way_to("peat bog") == BELL


def test_a_text_means_a_zone_or_where_somebody_lives() -> None:
    one = arrived(("Nettleville Hovel", None))
    one.look([spawn(4, "Lolla Cotgrove"), spawn(5, "a rat", is_enemy=True)])
    one.arrive("The Peat Bog", GATE)
    assert one.destinations("I need to return to Lolla Cotgrove.") == ["nettleville hovel"]
    assert one.destinations("Gather five tokens in the Peat Bog.") == ["peat bog"]
    assert one.destinations("I must kill a rat.") == []
    assert one.destinations("I should ask Cotgrove's sister.") == []


def test_a_text_means_the_zones_with_a_thing_of_which_it_has_several_words() -> None:
    one = arrived(("Willow Wood", None))
    one.look([spawn(4, "to_qey_citizenship_trial"), spawn(5, "zone_to_qey_south")])
    one.arrive("Nettleville Hovel", BELL)
    one.look([spawn(4, "to_qey_citizenship_trial")])
    one.arrive("The Peat Bog", GATE)
    text = "I need to enter the citizenship trial."
    assert one.destinations(text) == ["willow wood", "nettleville hovel"]
    assert one.destinations("I need to go south.") == []


def test_a_long_word_stands_for_the_only_zone_whose_name_has_it() -> None:
    one = arrived(("Peat Bog", None))
    one.offered(BELL, ["Graystone Yard", "Starcrest Commune", "Oakmyst Forest", "Forest Ruins"])
    assert one.destinations("I need tips from Hargan in Graystone.") == ["graystone yard"]
    assert one.destinations("I should rest in the forest.") == []
    assert one.destinations("I should look into the yard.") == []
    assert one.destinations("Hargan is famous in Graystone.", is_prose=True) == []


def test_a_town_has_many_people_and_few_kinds_of_enemies() -> None:
    people = [spawn(10 + at, f"Guard {name}") for at, name in enumerate("ABCDEFGHI")]
    foes = [spawn(30 + at, f"a {name}", is_enemy=True) for at, name in enumerate("bcd")]
    one = arrived(("South Qeynos", None))
    one.look([*people, foes[0]])
    one.arrive("Antonica", None)
    one.look([spawn(one.index, f"{one.name} of Antonica") for one in people] + foes)
    one.arrive("Peat Bog", None)
    one.look([spawn(5, "Ferius")])
    assert one.towns() == ["south qeynos"]
