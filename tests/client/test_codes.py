import pytest

from emu.client import codes
from emu.reply_codes import LoginCode


@pytest.mark.parametrize(
    ("table", "code", "text"),
    [
        (codes.LOGIN_TEXTS, 1, "bad user name or password"),
        (codes.LOGIN_TEXTS, 6, "the client version does not match"),
        (codes.CREATE_TEXTS, 13, "the name is taken"),
        (codes.DELETE_TEXTS, 0, "refused"),
        (codes.PLAY_TEXTS, 8, "the world did not answer in time"),
        (codes.PLAY_TEXTS, 253, "the world is full"),
    ],
)
def test_a_code_has_the_text_a_client_would_show(table, code: int, text: str) -> None:
    assert codes.text_of(table, code) == text


@pytest.mark.parametrize(
    "table", [codes.LOGIN_TEXTS, codes.CREATE_TEXTS, codes.DELETE_TEXTS, codes.PLAY_TEXTS]
)
def test_a_code_of_no_table_is_an_unknown_reason(table) -> None:
    assert codes.text_of(table, 200) == "unknown reason"


def test_only_success_has_the_number_of_success() -> None:
    assert codes.LOGIN_TEXTS[LoginCode.ACCEPTED] == "accepted"
    assert (codes.CREATE_TEXTS[1], codes.DELETE_TEXTS[1]) == ("created", "deleted")
