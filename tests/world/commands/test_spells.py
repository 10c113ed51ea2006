"""Commands of spells."""

from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from emu.world.commands.spells import MOST_LISTED, PET_LINES
from emu.world.spells.pets import GUARDS_ITSELF, GUARDS_MASTER
from tests.support.world.spell_scenes import BUFF, SMITE, SpellScene


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path, toml=SMITE + BUFF, admin_status=200)


def test_a_book_is_listed_and_cast_by_name(scene: SpellScene) -> None:
    assert scene.client.types("spells") == ["Smite (110014), tier 1"]
    scene.player.set_target(scene.creature())
    scene.client.types("cast smite")
    assert scene.spells.casts.is_casting(scene.player.spawn)
    assert scene.client.types("cast Fireball") == ["your book has no spell Fireball"]


def test_guides_change_books_and_cast_anything(scene: SpellScene) -> None:
    assert scene.client.types("givespell 110002 1") == ["Aldana has Courage now."]
    assert scene.client.types("givespell 110002 1") == ["Aldana has Courage of this tier already"]
    # EQ2Emulator's WS_SpellGainedMsg of 1011 has the tier in one byte.
    assert scene.client.types("givespell 110002 230028") == ["Aldana has Courage now."]
    assert scene.player.past.spell_tier(110002) == 255
    assert scene.client.types("takespell 110002") == ["Aldana does not have Courage any more."]
    assert scene.client.types("takespell 110002") == ["Aldana does not have Courage"]
    assert scene.client.types("castspell 9 1") == ["there is no spell 9"]
    scene.client.types("castspell 110002 1")
    assert scene.player.spawn.sheet.attribute("sta") == 32
    scene.client.types("takespell 110014")
    assert scene.client.types("spells") == ["Your book has no spells."]


def test_each_command_of_a_client_asks_for_its_act(
    scene: SpellScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    spells, asked = scene.harness.command_context.spells, list[tuple[Any, ...]]()
    for owner, act in (
        (spells, "use"), (spells, "cancel_maintained"), (spells, "cancel_effect"),
        (spells.casts, "clear_queue"),
    ):  # fmt: skip
        monkeypatch.setattr(type(owner), act, partialmethod(record, asked, act))
    for line, expected in (
        ("useability 110014", ("use", scene.player, 110014)),
        ("useability 110014 3", ("use", scene.player, 110014)),
        ("cast 110014", ("use", scene.player, 110014)),
        ("cancel_maintained 2", ("cancel_maintained", scene.player, 2)),
        ("cancel_effect 110002", ("cancel_effect", scene.player, 110002)),
        ("clearallqueuedabilities", ("clear_queue", scene.player)),
        ("clear_all_queuedabilities", ("clear_queue", scene.player)),
    ):
        assert scene.client.types(line) == [], line
        assert asked.pop() == expected, line
        assert asked == []


def record(
    _owner: object, asked: list[tuple[Any, ...]], act: str, *values: Any, **more: Any
) -> Any:
    asked.append((act, *values, *more.values()))
    return len(asked) == 1


def test_a_long_book_is_listed_in_part(tmp_path: Path) -> None:
    numbers = range(200_001, 200_002 + MOST_LISTED)
    toml = "".join(SMITE.replace("110014", str(number)) for number in numbers)
    scene = SpellScene(tmp_path, toml=toml)
    scene.know(*numbers)
    lines = scene.client.types("spells")
    assert len(lines) == MOST_LISTED + 1
    assert (lines[0], lines[-1]) == ("Smite (200001), tier 1", "and 1 more")
    scene.spells.books.unlearn(scene.player, numbers[-1])
    assert len(scene.client.types("spells")) == MOST_LISTED


def test_a_guide_changes_the_book_of_the_target(scene: SpellScene) -> None:
    friend = scene.friend()
    scene.player.set_target(friend.spawn)
    assert scene.client.types("givespell 110002 2") == ["Borvik has Courage now."]
    assert (friend.past.spell_tier(110002), scene.player.past.spell_tier(110002)) == (2, 0)
    scene.player.set_target(scene.creature())
    assert scene.client.types("takespell 110002") == ["Aldana does not have Courage"]


def test_orders_reach_the_pet(scene: SpellScene, monkeypatch: pytest.MonkeyPatch) -> None:
    pets, own, asked = scene.spells.pets, scene.player.spawn, list[tuple[Any, ...]]()
    foe, pet = scene.creature(), scene.creature("a pet")
    assert scene.client.types("pet stay") == ["you have no pet"]
    assert scene.client.types("pet dance") == ["pets do not know dance"]
    monkeypatch.setattr(type(pets), "of", lambda *_about: pet)
    for act in ("attack", "back_off", "dismiss", "stay", "toggle_guard"):
        monkeypatch.setattr(type(pets), act, partialmethod(record, asked, act))
    assert scene.client.types("pet attack") == ["your pet cannot attack that"]
    scene.player.set_target(scene.friend().spawn)
    assert scene.client.types("pet attack") == ["your pet cannot attack that"]
    assert asked == []
    scene.player.set_target(foe)
    for order, line, expected in (
        ("attack", "You command your pet to attack your target.", ("attack", own, foe)),
        ("BACKOFF", "You command your pet to back down.", ("back_off", own)),
        ("stay", "You command your pet to stay.", ("stay", own, True)),
        ("stayhere", "You command your pet to stay.", ("stay", own, True)),
        ("follow", "You command your pet to follow.", ("stay", own, False)),
        ("followme", "You command your pet to follow.", ("stay", own, False)),
        ("getlost", PET_LINES["getlost"], ("dismiss", pet)),
        ("guardme", "Your pet guards you now.", ("toggle_guard", own, GUARDS_MASTER)),
        ("preserve_self", "Your pet guards itself now.", ("toggle_guard", own, GUARDS_ITSELF)),
    ):
        assert scene.client.types(f"pet {order}") == [line]
        assert asked == [expected]
        asked.clear()
    asked.append(())
    assert scene.client.types("pet guardhere") == ["Your pet guards itself no more."]
