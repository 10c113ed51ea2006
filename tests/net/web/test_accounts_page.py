"""The page of players' accounts in a real browser, without JavaScript."""

from __future__ import annotations

import pytest

from emu.login.passwords import RegistrationConfig
from emu.login.registration import RegistrationDenial, RegistrationRefusal
from tests.net.web.test_accounts import Site, site
from tests.net.web.test_service_page import EACH_LOOK, LOOKS
from tests.support.foreign.browser import Browser, Page

pytestmark = pytest.mark.slow
REGISTER, PASSWORD = "form[action$=register]", "form[action$=password]"


def url(made: Site) -> str:
    return f"http://127.0.0.1:{made.browser.port}/account"


async def fill(page: Page, form: str, **fields: str) -> None:
    for name, text in fields.items():
        await page.locate(f"{form} [name={name}]", lambda box, text=text: box.fill(text))  # type: ignore[misc]
    await page.locate(f"{form} button", lambda button: button.click())


async def is_good(page: Page, size: tuple[int, int], name: str) -> None:
    """Look at a state of the page."""
    assert await page.width() <= size[0]
    assert await page.complaints() == ""
    await page.screenshot(name)


@pytest.mark.parametrize("look", EACH_LOOK)
async def test_everybody_can_register(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    async with site() as made:
        made.players.config = RegistrationConfig(enabled=True, invite_code="open sesame")
        async with browser.page(url(made), size, scheme) as page:
            await is_good(page, size, f"account-{look}")
            made.players.answer = RegistrationDenial(
                RegistrationRefusal.NAME_TAKEN, "This name is taken. Choose another one."
            )
            page.allowed.append("status of 409")
            words = {"password": "new password", "repeat": "new password", "code": "open sesame"}
            await fill(page, REGISTER, name="carol", **words)
            await page.shows("[role=alert]", "This name is taken.")
            kept = await page.locate(f"{REGISTER} [name=name]", lambda box: box.input_value())
            assert kept == "carol"
            await is_good(page, size, f"account-refused-{look}")
            made.players.answer = made.players.account
            await fill(page, REGISTER, name="carol2", **words)
            await page.shows("[role=status]", "The account Carol is ready.")
            await is_good(page, size, f"account-ready-{look}")
    assert [words[0] for words in made.players.asked] == ["carol", "carol2"]


async def test_a_password_is_changed_without_javascript(browser: Browser) -> None:
    async with site() as made, browser.page(url(made), script=False) as page:
        new = {"password": "new password", "repeat": "new password"}
        await fill(page, PASSWORD, name="carol", present="old password", **new)
        await page.shows("[role=status]", "The password of Carol is changed.")
        assert made.players.asked == [("carol", "old password", "new password", "127.0.0.1")]
        texts = await page.evaluate("[...document.querySelectorAll('input')].map((i) => i.value)")
        assert set(texts) == {""}


async def test_the_browser_itself_wants_enough_characters(browser: Browser) -> None:
    async with site() as made, browser.page(url(made), script=False) as page:
        await fill(page, REGISTER, name="carol", password="seven77", repeat="seven77")
        assert await page.evaluate(f"!document.querySelector('{REGISTER}').checkValidity()")
        assert made.players.asked == []
