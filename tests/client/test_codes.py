import pytest

from emu.client import codes


@pytest.mark.parametrize(
    ("table", "code", "text"),
    [
        (codes.LOGIN_CODES, 1, "bad user name or password"),
        (codes.LOGIN_CODES, 6, "the client version does not match"),
        (codes.CREATE_CODES, 13, "the name is taken"),
        (codes.DELETE_CODES, 0, "refused"),
        (codes.PLAY_CODES, 8, "the world did not answer in time"),
        (codes.PLAY_CODES, 253, "the world is full"),
    ],
)
def test_a_code_has_the_text_a_client_would_show(table, code: int, text: str) -> None:
    assert codes.text_of(table, code) == text


@pytest.mark.parametrize(
    "table", [codes.LOGIN_CODES, codes.CREATE_CODES, codes.DELETE_CODES, codes.PLAY_CODES]
)
def test_a_code_of_no_table_is_an_unknown_reason(table) -> None:
    assert codes.text_of(table, 200) == "unknown reason"


def test_only_success_has_the_number_of_success() -> None:
    assert codes.LOGIN_CODES[codes.LOGIN_ACCEPTED] == "accepted"
    assert (codes.CREATE_CODES[1], codes.DELETE_CODES[1]) == ("created", "deleted")
