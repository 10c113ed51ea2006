"""The enemies that a player attacks: no stronger ones, the nearest of about its own level."""

from emu.client.evening.fighting import Fighting
from emu.client.evening.prey import Prey
from emu.client.evening.seen import SeenSpawn
from emu.client.world.surroundings import Place
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn

NOW = Monotonic(1000.0)


def prey(core: NotingClient, level: int, *spawns: SeenSpawn) -> Prey:
    known = KnownSpawns(core, *spawns)
    fighting = Fighting(core, known, lambda _kind, _text: None, 8.0)  # type: ignore[arg-type]
    fighting.level = level
    return Prey(core, known, fighting)  # type: ignore[arg-type]


def test_the_nearest_of_about_its_own_level_is_worth_a_fight(core: NotingClient) -> None:
    one = prey(
        core, 8, spawn(4, "a rat", 5.0, level=2, is_enemy=True),
        spawn(5, "a bear", -30.0, level=11, is_enemy=True),
        spawn(6, "a snake", 80.0, level=8, is_enemy=True),
        spawn(7, "a wolf", 50.0, level=6, is_enemy=True), spawn(8, "a guard", 1.0, level=8),
    )  # fmt: skip
    worthy = one.worthy(NOW)
    assert worthy is not None
    assert worthy.index == 7
    assert [each.index for each in one.weak(NOW)] == [4, 7, 6]


def test_who_stands_alone_is_attacked_before_one_of_a_pack(core: NotingClient) -> None:
    one = prey(
        core, 8, spawn(4, "a wolf", 20.0, level=8, is_enemy=True),
        spawn(5, "a wolf", 28.0, level=8, is_enemy=True),
        spawn(6, "a wolf", 36.0, level=11, is_enemy=True),
        spawn(7, "a wolf", 64.0, level=8, is_enemy=True),
        spawn(8, "a rat", 66.0, level=1, is_enemy=True),
    )  # fmt: skip
    worthy = one.worthy(NOW)
    assert worthy is not None
    assert worthy.index == 7, "the other two would come with the first, the rat does not matter"


def test_an_enemy_may_have_a_name_like_the_text_of_a_task(core: NotingClient) -> None:
    one = prey(
        core, 3, spawn(4, "a goblin war totem", 30.0, is_enemy=True),
        spawn(5, "a rat", 5.0, is_enemy=True),
    )  # fmt: skip
    like = one.like("I need to destroy 3 war statues.", NOW)
    assert like is not None
    assert like.index == 4
    assert one.like("I should speak to Waulon.", NOW) is None
    one = prey(core, 5, spawn(4, "The Dark Puppeteer", level=5, is_enemy=True))
    assert one.like("Kill the Dark Blademaster near the fog on Sapswill Hill.", NOW) is None


def test_it_leads_enemies_to_the_person_whom_a_task_names(core: NotingClient) -> None:
    one = prey(
        core, 6, spawn(4, "a lost scout", 5.0, level=3, is_enemy=True),
        spawn(5, "Cleric Mara'Vaen", -30.0, level=20), spawn(6, "Murrar Shar", 40.0, level=20),
    )  # fmt: skip
    text = "Pull lost scouts back to Cleric Mara'Vaen from Dead Canyon."
    assert one.leads_to(text) == Place(-30.0, 0.0, 0.0)
    assert one.leads_to("Lure down hawks to kill in Cliffdiver Canyon to the west.") is None
    assert one.leads_to("Pull lost scouts back to Predator Sha'dur.") is None
