import pytest

from emu.admin.ogp.elements import Numbers91, Numbers94
from emu.admin.ogp.fields import (
    ADDRESS,
    IPV4,
    MAP_94,
    MOD_94,
    NEXT_MAP_94,
    SERVER_FLAGS_91,
    SERVER_FLAGS_94,
    TEAM_FIELDS,
    ServerFlags,
    Style,
    flags_of,
    pull_row,
    push_row,
)
from emu.admin.reader import Reader
from emu.errors import MalformedMessage


def style(**more: int) -> Style:
    return Style(Numbers94(), **more)


def test_linux_is_bit_3_in_one_version_and_bit_5_in_the_other() -> None:
    flags = ServerFlags(dedicated=True, system=2)
    assert SERVER_FLAGS_91.push(flags, style()) == b"\x09"
    assert SERVER_FLAGS_94.push(flags, style()) == b"\x22"
    listen = ServerFlags(dedicated=False, proxy=True, system=1, password=True)
    assert SERVER_FLAGS_94.push(listen, style()) == b"\x1d"


def test_a_map_says_which_fields_it_has_and_the_next_one_has_the_same() -> None:
    wanted = style(map_fields=0x3F)
    first = {"name": "Harbor", "file": "qey_harbor", "size": 7, "md5": "ab" * 16}
    wire = MAP_94.push(first, wanted) + NEXT_MAP_94.push({"name": "Plains"}, wanted)
    assert wire[:1] == b"\x07"
    reader, found = Reader(wire), style()
    assert MAP_94.pull(reader, found) == first
    assert NEXT_MAP_94.pull(reader, found)["md5"] == "00" * 16
    assert reader.is_done


def test_only_the_fields_of_a_map_that_were_asked_for_are_reported() -> None:
    assert MAP_94.push({"name": "Harbor", "file": "x"}, style()) == b"\0Harbor\0"


def test_a_mod_has_fields_behind_its_name_if_it_has_one() -> None:
    mod = {"name": "Mod", "dir": "x", "identifier": "m", "size": 258, "author": "me"}
    asked = style()
    asked.mod_fields = 0x1F
    assert MOD_94.push({"name": "", "identifier": "m"}, asked) == b"\0"
    assert MOD_94.push(mod, style()) == b"Mod\0\0"
    written = MOD_94.push(mod, asked)
    assert written == b"Mod\0\x13m\0\x02\x01\0\0me\0"
    del mod["dir"]
    assert MOD_94.pull(Reader(written), style()) == mod
    assert MOD_94.pull(Reader(b"\0"), style()) == {"name": ""}
    with pytest.raises(MalformedMessage, match="unknown fields"):
        MOD_94.pull(Reader(b"Mod\0\x20"), style())


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::7", ""])
def test_addresses_of_either_kind(address: str) -> None:
    assert ADDRESS.pull(Reader(ADDRESS.push(address, style())), style()) == address
    assert IPV4.push("192.0.2.7", style()) == bytes.fromhex("070200c0")
    with pytest.raises(MalformedMessage, match="wrong address"):
        ADDRESS.pull(Reader(b"\x05abcde"), style())


def test_a_row_has_the_fields_that_its_flags_say_in_the_tables_order() -> None:
    row = {"player_count": 3, "average_ping": 50}
    flags = flags_of(row, TEAM_FIELDS)
    assert flags == 0b10100
    wire = push_row(row, TEAM_FIELDS, flags, Style(Numbers91()))
    assert wire == bytes.fromhex("3200 03")
    assert pull_row(Reader(wire), TEAM_FIELDS, flags, Style(Numbers91())) == row
    with pytest.raises(MalformedMessage, match="unknown fields"):
        pull_row(Reader(wire), TEAM_FIELDS, 1 << 6, Style(Numbers91()))
