from emu.store import Store


def test_a_new_or_changed_value_is_reported(store: Store) -> None:
    settings = store.login.settings
    assert settings.put("login_config", "max_characters", "7")
    assert not settings.put("login_config", "max_characters", "7")
    assert settings.put("login_config", "max_characters", "8")
    assert settings.put("other", "max_characters", "7")
    assert settings.of_source("login_config") == {"max_characters": "8"}
    assert settings.of_source("nowhere") == {}
