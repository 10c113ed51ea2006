import pytest

from emu.world.actors.spawn import SpawnKind
from emu.world.content import eq2emu


def test_what_is_not_said_is_left_out() -> None:
    assert eq2emu.spawn_keys({"name": "a rock"}, SpawnKind.OBJECT) == {
        "kind": "object", "name": "a rock", "size": 32, "attackable": False, "targetable": False,
        "show_name": False,
    }  # fmt: skip


def test_appearance_that_no_client_can_be_sent_is_left_out() -> None:
    color = {"type": "hair_color1", "red": "1", "green": "2", "blue": "3"}
    keys = eq2emu.npc_keys({"gender": 1, "hair_type_id": 0}, {}, [color, {"type": "moon"}])
    assert keys == {"level": 1, "looks": {"gender": 1, "hair_color1": [1, 2, 3]}}


def test_a_generic_sign_leads_nowhere() -> None:
    assert "to" not in eq2emu.sign_keys({"type": "Generic", "zone_id": 5})
    assert eq2emu.sign_keys({"type": "Zone", "zone_id": 5})["to"] == {"zone": 5}


def test_a_widget_without_a_place_has_none() -> None:
    nowhere = dict.fromkeys(("widget_x", "widget_y", "widget_z"), "0")
    assert eq2emu.widget_keys(nowhere) == {"widget": {"id": 0}}
    with pytest.raises(ValueError, match="the dump has no place for it"):
        eq2emu.own_place(nowhere)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="model_type"):
        eq2emu.spawn_keys({"model_type": "x"}, SpawnKind.NPC)
    with pytest.raises(ValueError, match="widget_x"):
        eq2emu.widget_place({"widget_x": "x"})


def test_verbs_without_a_text_are_none() -> None:
    rows = [{"command_text": ""}, {"command_text": "Read", "distance": "5", "command": "read"}]
    assert eq2emu.verb_rows(rows) == [{"name": "Read", "distance": 5.0, "command": "read"}]
