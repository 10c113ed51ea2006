from emu.client.events import NO_ID, Created, Deleted, ListedCharacter, PlayAnswer


def test_an_entry_deleted_in_this_session_is_only_a_shell() -> None:
    assert ListedCharacter(7, 1, "(deleted)", 1, 9, 25, {}).deleted
    assert ListedCharacter(NO_ID, NO_ID, "Testa", 1, 9, 25, {}).deleted
    assert not ListedCharacter(7, 1, "Testa", 1, 9, 25, {}).deleted


def test_only_code_one_is_success() -> None:
    for code in range(256):
        assert Created(code, "", "Testa", 1).ok is (code == 1)
        assert Deleted(code, "", 1, 2, "Testa").ok is (code == 1)
        assert PlayAnswer(code, "", "", 0, 0, 0).ok is (code == 1)
