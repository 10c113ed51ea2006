from emu.store.repository import schema


def test_the_number_of_the_schema_is_that_of_its_last_step() -> None:
    assert schema().newest == len(schema().steps) >= 8
    assert schema().steps[0].name == "0001-accounts"
