"""Voices, language and group options, as players choose them; and two windows of nothing yet."""

from __future__ import annotations

from dataclasses import replace

from tests.support.world.worlds import WorldHarness


def test_a_voice_is_shown_to_others_and_stored(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6)
    assert one.types("/set_combat_voice 52") == ["Your voice in fights is number 52 now."]
    assert one.types("/set_emote_voice 1060") == ["Your voice in emotes is number 1060 now."]
    harness.run(3.0)
    shown = two.fields_of("Aldana")
    assert (shown["combat_voice"], shown["emote_voice"]) == (52, 1060)
    harness.console("kick Aldana")
    one = harness.stand(5)
    harness.run(1.0)
    shown = two.fields_of("Aldana")
    assert (shown["combat_voice"], shown["emote_voice"]) == (52, 1060)
    assert one.types("/set_combat_voice 70000") == ["a voice has a number from 0 to 65535"]


def test_a_player_speaks_the_language_that_it_has_chosen(harness: WorldHarness) -> None:
    one = harness.stand(5, 561, name="Aldana", languages=(2,))
    two = harness.stand(6, 561, name="Borvik", languages=(7,))
    assert one.types("/set_language 7") == ["you do not know Ayr'Dal"]
    assert one.types("/set_language nonsense") == ["there is no language nonsense"]
    assert one.types("/set_language thexian") == ["You are now speaking Thexian."]
    one.types("/say hello")
    one.types("/ooc hello")
    heard = [(row["language"], row["understood"]) for row in two.decoded("WS_HearChat")]
    assert heard == [(2, 0), (0, 1)]
    own = [(row["language"], row["understood"]) for row in one.decoded("WS_HearChat")]
    assert own == [(2, 1), (0, 1)]
    assert one.types("/set_language 0") == ["You are now speaking Common."]
    one.types("/say hello")
    assert two.decoded("WS_HearChat")[-1]["language"] == 0


def test_a_player_that_has_forgotten_its_language_speaks_the_common_one(
    harness: WorldHarness,
) -> None:
    one = harness.stand(5, languages=(2,))
    one.types("/set_language 2")
    one.player.character = replace(one.player.character, languages=(7,))
    one.types("/say hello")
    assert one.decoded("WS_HearChat")[-1]["language"] == 0


def test_later_clients_have_no_known_window_of_group_options(harness: WorldHarness) -> None:
    one = harness.stand(5, 1208)
    assert len(one.types("/groupoptions")) == 1
    assert "OP_DisplayGroupOptionsScreenMsg" not in one.names


def test_group_options_are_shown_chosen_and_stored(harness: WorldHarness) -> None:
    one = harness.stand(5)
    (line,) = one.types("/groupoptions")
    assert line.startswith("Group options: loot method 1, loot items rarity 0, auto split coin 1")
    (screen,) = one.decoded("WS_DisplayGroupOptionsScreen")
    assert (screen["loot_method"], screen["auto_split_coin"]) == (1, 1)
    (line,) = one.types("/groupoptions 2 0 0")
    assert line.startswith("Group options: loot method 2, loot items rarity 0, auto split coin 0")
    assert one.decoded("WS_DefaultGroupOptions")[-1]["loot_method"] == 2
    assert harness.store.rows[5].client_data == '{"group":[2,0,0,0,1,0,0,0,0]}'
    assert one.types("/groupoptions 2 x") == ["groupoptions takes up to 8 numbers from 0 to 255"]


def test_windows_of_what_does_not_exist_say_so(harness: WorldHarness) -> None:
    one = harness.stand(5)
    assert one.types("/select_junction 0") == ["you are not dead"]
    assert one.types("/info inventory 5") == ["There is nothing to examine."]
