from emu.store import Store


def test_a_value_is_told_when_it_is_new_or_another(store: Store) -> None:
    settings = store.login.settings
    assert settings.put("login_config", "max_characters", "7")
    assert not settings.put("login_config", "max_characters", "7")
    assert settings.put("login_config", "max_characters", "8")
    assert settings.put("other", "max_characters", "7")
    assert settings.of_source("login_config") == {"max_characters": "8"}
    assert settings.of_source("nowhere") == {}
