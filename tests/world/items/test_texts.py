"""Links and refusals, as ../shared/data/recordings/items-*-carry have them."""

import pytest

from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal, Why
from emu.world.items.texts import RED, STATUS, YELLOW, link, refusal_text

VISOR = ItemKind(910019, "Champion's Visor")


def test_links_differ_by_version() -> None:
    assert link(VISOR, 561) == r"\aITEM 910019 Champion's Visor:Champion's Visor\/a"
    assert link(VISOR, 1096) == r"\aITEM 910019 0:Champion's Visor\/a"


@pytest.mark.parametrize(
    ("reason", "color", "text"),
    [
        (Why.LORE, STATUS, "You cannot obtain Champion's Visor due to lore conflict."),
        (Why.NO_SUCH_PLACE, YELLOW, "Could not move item to that location."),
        (
            Why.TOO_LOW, RED,
            r"You must be at least level 60 to equip \aITEM 910019 0:Champion's Visor\/a.",
        ),
    ],
)  # fmt: skip
def test_a_refusal_has_its_color(reason: Why, color: int, text: str) -> None:
    assert refusal_text(Refusal(reason, VISOR, 60), 1208) == (color, text)


def test_some_refusals_are_silent() -> None:
    assert refusal_text(Refusal(Why.SILENT), 546) is None
    said = [one for one in Why if refusal_text(Refusal(one, VISOR), 546) is not None]
    assert set(Why) - set(said) == {Why.SILENT, Why.MUST_ATTUNE, Why.TOO_FEW}
