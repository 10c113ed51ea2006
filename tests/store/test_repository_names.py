from hypothesis import given
from hypothesis import strategies as st

from emu.store.repository import name_key


def test_case_and_composition_do_not_count() -> None:
    assert name_key("Zoë") == name_key("ZOE\u0308")
    assert name_key("Straße") == name_key("STRASSE")
    assert name_key("alice") != name_key("alicia")


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
