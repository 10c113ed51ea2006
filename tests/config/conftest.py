"""Users as the configuration finds them."""

import pwd

import pytest


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as a number without a user and without variables, as in some containers."""

    def no_user(number: int) -> object:
        raise KeyError(number)

    for variable in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_user)
