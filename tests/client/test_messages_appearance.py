import struct

import pytest

from emu.client import shipped_messages
from emu.client.messages import create_fields
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.sessions.reference_messages import read_create_request


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_file_name_of_a_layout_is_filled(version: int) -> None:
    _, body = shipped_messages(version).create(1, "Testa", {})
    texts = read_create_request(version, body).texts
    look = [
        "ec/pc/human/human_male", "accessories/hair/hair_01", "accessories/hair/face_01",
        "accessories/chest/shirt_01", "accessories/legs/pants_01",
    ]  # fmt: skip
    if version < 562:
        assert texts == look
    else:
        look.insert(3, "")  # wings
        assert texts == look * 2


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_colors_go_out_as_three_floats(version: int) -> None:
    _, body = shipped_messages(version).create(1, "Testa", {})
    skin = struct.pack("<fff", 0.78, 0.60, 0.49)
    assert body.count(skin) == (1 if version < 562 else 3)
    sliders = struct.pack("<fff", 0.25, -0.50, 0.75)
    assert body.count(sliders) == (7 if version < 562 else 14)


def test_what_a_layout_does_not_have_is_left_out() -> None:
    old = create_fields(shipped_catalog().layout("CreateCharacter", 546), 1, "Testa")
    new = create_fields(shipped_catalog().layout("CreateCharacter", 60100), 1, "Testa")
    assert "soga_race_file" not in old
    assert "wing_file" not in old
    assert "soga_race_file" in new
    assert old["server_id"] == new["server_id"] == 1
