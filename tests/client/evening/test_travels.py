"""What a player knows of other zones: ways, windows, who lives where."""

from dataclasses import replace

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


def test_it_knows_where_people_with_a_word_in_their_names_live() -> None:
    one = arrived(("Beggar's Court", None))
    one.look([spawn(4, "Mender Glanae"), spawn(5, "Waulon")])
    one.arrive("Big Bend", None)
    assert one.homes("mender") == ["beggar's court"]
    assert one.homes("banker") == []


def test_prose_may_name_people_who_do_not_matter() -> None:
    one = arrived(("North Freeport", None))
    one.look([spawn(4, "Emissary Millia")])
    text = "Emissary Millia wants me to act the fool here in the city."
    assert one.destinations(text, is_prose=True) == ["north freeport"]
    assert one.destinations(text, is_prose=True, has_people=False) == []


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
    assert one.likely_towns() == ["peat bog"]


def test_it_knows_where_it_has_seen_the_enemies_of_a_text() -> None:
    one = arrived(("The Thieves' Way", None))
    one.look([spawn(4, "a Darkblade scout", is_enemy=True), spawn(5, "a cube", is_enemy=True)])
    assert one.foes_here() == ["a Darkblade scout", "a cube"]
    one.arrive("North Freeport", None)
    assert one.foes_here() == []
    assert one.homes_of_foes("I need to kill five Darkblade Scouts.") == ["thieves' way"]
    assert one.homes_of_foes("I need to kill five scouts.") == []


def test_the_hunting_ground_has_most_kinds_of_enemies_of_some_levels() -> None:
    one = arrived(("Nettleville Hovel", None))
    assert one.hunting_ground(5, 8) is None
    one.arrive("The Peat Bog", GATE)
    one.look(
        [spawn(4, "a slug", level=6, is_enemy=True), spawn(5, "a bat", level=7, is_enemy=True)]
    )
    one.arrive("Antonica", BELL)
    one.look(
        [spawn(6, "a bear", level=8, is_enemy=True), spawn(7, "an owl", level=15, is_enemy=True)]
    )
    assert one.hunting_ground(5, 8) == "antonica"  # no way leads back
    one.arrive("Nettleville Hovel", BELL)
    assert one.hunting_ground(5, 8) == "peat bog"


def test_a_part_of_a_name_that_only_one_has_is_enough_to_speak_with_somebody() -> None:
    one = arrived(("South Qeynos", None))
    one.look(
        [spawn(4, "Master-at-Arms Dagorel"), spawn(5, "Guard Nea"), spawn(6, "Guard Falkener")]
    )
    one.arrive("Nettleville Hovel", GATE)
    assert one.destinations("I need to speak with Dagorel.") == ["south qeynos"]
    assert one.destinations("I need to speak with a guard.") == []
    assert one.destinations("I must kill Dagorel.") == []


def test_the_sign_of_a_way_needs_one_long_word() -> None:
    one = arrived(("South Qeynos", None))
    one.look([spawn(4, "zone_to_qey_harbor"), spawn(5, "zone_to_qey_north")])
    one.arrive("Nettleville Hovel", GATE)
    text = "I need to speak with Squire Moorford in Qeynos Harbor."
    assert one.destinations(text) == ["south qeynos"]


def test_the_nearest_way_behind_leads_back_until_it_was_taken() -> None:
    one = arrived(("Nettleville Hovel", None), ("The Peat Bog", GATE))
    here = Place(0.0, 0.0, 0.0)
    one.guess_way_back(here, [spawn(4, "Nettleville Gate", 99.0), spawn(5, "a box", 1.0)])
    assert one.way_to("nettleville hovel") is None
    one.guess_way_back(here, [spawn(4, "a gate", 20.0), spawn(5, "Nettleville Gate", 9.0)])
    back = one.way_to("nettleville hovel")
    assert back == KnownWay("Nettleville Gate", Place(9.0, 0.0, 0.0), "Nettleville Hovel")
    one.arrive("Antonica", back)
    one.arrive("The Peat Bog", None)
    assert one.way_to("nettleville hovel") is None


def test_no_way_back_is_guessed_after_a_death() -> None:
    one = arrived(("Nettleville Hovel", None), ("The Peat Bog", None))
    one.guess_way_back(Place(0.0, 0.0, 0.0), [spawn(5, "Nettleville Gate", 9.0)])
    assert one.way_to("nettleville hovel") is None


def test_a_window_without_the_zone_that_it_comes_from_is_not_the_way_back() -> None:
    one = arrived(("South Qeynos", None), ("The Caves", BELL))
    outside = spawn(4, "mariners_bell_classic", 10.0)
    one.guess_way_back(Place(0.0, 0.0, 0.0), [outside])
    assert one.way_to("south qeynos") is not None
    one.offered(KnownWay(outside.name, outside.place), ["Antonica"])
    assert one.way_to("south qeynos") is None
    assert one.way_to("antonica") is not None


def test_what_was_chosen_at_a_bell_is_chosen_again() -> None:
    one = Travels()
    one.arrive("Antonica", None)
    bell = KnownWay("mariners_bell", Place(5.0, 0.0, 0.0))
    one.offered(bell, ["The Caves", "Oakmyst Forest"])
    one.arrive("The Caves", bell)
    one.arrive("Antonica", None)
    assert one.way_to("caves") == KnownWay(bell.name, bell.place, "The Caves")


def test_it_knows_the_sign_to_a_zone_where_it_was_never() -> None:
    text = "I need to speak with Sir Laughlin in North Qeynos"
    one = arrived(("South Qeynos", None))
    one.look([spawn(6, "zone_to_qey_north", 40.0, level=0), spawn(7, "To North Qeynos", 9.0)])
    assert [way.name for _, way in one.signs(text)] == ["zone_to_qey_north", "To North Qeynos"]
    assert one.destinations(text) == [], "a sign lives nowhere"
    one.arrive("Nettleville Hovel", None)
    assert one.signs(text) == []
    one.offered(BELL, ["South Qeynos"])
    assert [zone for zone, _ in one.signs(text)] == ["south qeynos", "south qeynos"]
    one.arrive("North Qeynos", BELL)
    assert one.signs(text) == []


def test_a_sign_that_led_nowhere_is_of_no_use_for_a_while() -> None:
    text = "I must defeat the bears in the arena."
    one = arrived(("Qeynos Harbor", None))
    sign = KnownWay("To arena", Place(10.0, 0.0, 0.0))
    one.look([spawn(6, sign.name, 10.0)])
    one.use(sign.name)
    assert one.is_vain(sign.name)
    assert one.signs(text) == []
    one.renew()
    assert [way.name for _, way in one.signs(text)] == [sign.name]
    one.use(sign.name)
    one.arrive("The Arena", sign)
    one.arrive("Qeynos Harbor", None)
    assert not one.is_vain(sign.name)


def test_zones_of_windows_where_it_was_never() -> None:
    one = arrived(("Nettleville Hovel", None))
    one.offered(BELL, ["The Baubbleshire", "Graystone Yard"])
    one.arrive("Graystone Yard", replace(BELL, choice="Graystone Yard"))
    one.arrive("Nettleville Hovel", GATE)
    assert one.new_zones() == ["baubbleshire"]


def test_signs_that_were_never_taken_lead_on() -> None:
    one = arrived(("Nettleville Hovel", None))
    south = spawn(4, "zone_to_qey_south", 50.0, level=0)
    one.look([south, spawn(5, "zone_to_peat_bog", 90.0, level=0)])
    one.arrive("The Peat Bog", GATE)
    one.arrive("Nettleville Hovel", KnownWay("To Nettleville", GATE.place))
    assert [(zone, way.name) for zone, way in one.new_signs()] == [
        ("nettleville hovel", "zone_to_qey_south")
    ]
    one.use("zone_to_qey_south")
    assert one.new_signs() == [], "who is no citizen is sent back"
    one.renew()
    one.arrive("The Peat Bog", GATE)
    assert [way.name for _, way in one.new_signs()] == ["zone_to_qey_south"]


def test_a_new_sign_to_a_part_of_a_city_comes_before_one_into_a_house() -> None:
    one = arrived(("South Qeynos", None))
    names = ["zone_to_qey_epic07_p08_sneeds", "zone_to_village06", "zone_to_qey_north"]
    one.look([spawn(at, name, 9.0, level=0) for at, name in enumerate(names)])
    assert [way.name for _, way in one.new_signs()] == names[::-1]


def test_what_leads_to_a_zone_is_nobody_who_lives_elsewhere() -> None:
    one = arrived(("Starcrest Commune", None), ("The Peat Bog", GATE))
    one.look([spawn(4, "Starcrest Gate"), spawn(5, "Starcrest Banner", level=0)])
    assert one.destinations("I need to speak with Ooli in Starcrest.") == ["starcrest commune"]


def test_a_guessed_way_back_is_forgotten_if_it_leads_nowhere() -> None:
    # The trial's hideout is left by a word; no way of North Freeport leads back to it.
    one = arrived(("The Hideout", None), ("North Freeport", GATE))
    exit_ = spawn(5, "door_to_cleric_cap", 3.0, level=0)
    one.guess_way_back(Place(0.0, 0.0, 0.0), [exit_])
    used = KnownWay(exit_.name, exit_.place)
    one.doubt(used)
    assert one.way_to("hideout") is not None, "it may have been too far away"
    one.doubt(used)
    assert one.way_to("hideout") is None


def test_a_way_by_its_verb_is_forgotten_if_the_thing_does_nothing() -> None:
    # Manholes of a later twin of Freeport say "enter thieves' way", and do nothing.
    one = arrived(("The Thieves' Way", None), ("The City of Freeport", GATE))
    hole = KnownWay("fprt_manhole_hood_to_sewer01", Place(5.0, 0.0, 0.0))
    assert one.reads(hole, "enter thieves' way")
    assert one.way_to("thieves' way") == hole
    one.led_nowhere(hole)
    assert one.way_to("thieves' way") is None
    assert not one.reads(hole, "enter thieves' way"), "it has just tried that"
    one.renew()
    assert one.reads(hole, "enter thieves' way")


def test_a_way_that_was_taken_is_known_also_if_it_does_nothing_now() -> None:
    one = arrived(("Nettleville Hovel", None), ("The Peat Bog", GATE), ("Nettleville Hovel", None))
    one.led_nowhere(GATE)
    assert not one.is_sure("peat bog")
    assert one.way_to("peat bog") == GATE


def test_a_word_of_a_zone_means_it_only_as_a_place() -> None:
    one = arrived(("East Freeport", None), ("Graystone Yard", GATE))
    assert one.destinations("Judge the traitors and prove your loyalty to Freeport.") == []
    assert one.destinations("I need to speak with a smith in Graystone.") == ["graystone yard"]


def test_a_task_to_use_a_bell_does_not_mean_the_zone_with_the_bell() -> None:
    # With that, the bell counted as one that leads to where the player is, and was not rung.
    one = arrived(("Beggar's Court", None))
    one.look([spawn(4, "mariners_bell", level=0)])
    text = "I need to use the mariner's bells near the docks to get to the Ruins."
    assert one.destinations(text) == []
    one.offered(BELL, ["The Ruins", "The Commonlands"])
    assert one.destinations(text) == ["ruins"]


def test_a_way_that_has_led_nowhere_is_taken_last() -> None:
    # The trial is over for a citizen: its sign leads nowhere any more.
    trial = KnownWay("to_fprt_citizenship_trial", Place(5.0, 0.0, 0.0))
    one = arrived(("Beggar's Court", None), ("The Hideout", trial), ("North Freeport", GATE))
    one.arrive("Beggar's Court", None)
    sign = spawn(5, "zone_to_fprt_north", level=0)
    one.look([sign])
    assert one.way_to("north freeport") == trial
    assert one.signs("north freeport") == []
    one.use(trial.name)
    assert not one.is_sure("north freeport")
    assert [way.name for _, way in one.signs("north freeport")] == [sign.name]
    assert one.way_to("north freeport") == trial, "nothing else is known to lead there"
    one.renew()
    assert one.is_sure("north freeport")
