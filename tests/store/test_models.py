from emu.store import Store, models


def test_the_first_number_of_a_path_counts(empty_store: Store) -> None:
    with empty_store.transaction() as connection:
        assert models.add(connection, "hair/a", 5)
        assert not models.add(connection, "hair/a", 6)
        assert models.add(connection, 'hair/"b', 6)
    assert empty_store.model_numbers(["hair/a", 'hair/"b', "hair/c"]) == {"hair/a": 5, 'hair/"b': 6}
    assert empty_store.model_numbers([]) == {}
