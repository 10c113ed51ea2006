from emu.store import Store


def test_the_first_number_of_a_path_counts(empty_store: Store) -> None:
    models = empty_store.login.models
    assert models.add("hair/a", 5)
    assert not models.add("hair/a", 6)
    assert models.add('hair/"b', 6)
    assert models.numbers(["hair/a", 'hair/"b', "hair/c"]) == {"hair/a": 5, 'hair/"b': 6}
    assert models.numbers([]) == {}
    assert empty_store.world.models.numbers(["hair/a"]) == {"hair/a": 5}
