"""Functions for a character's levels, classes, titles and flags.

Everything is stored with the character. Source: docs/guides/lua.md#levels.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError
from emu.model import SavedKind, Title
from emu.scripts.signatures import FunctionTable
from emu.world.actors.looks import set_field
from emu.world.actors.options import BITS, SECOND_BITS, STATUS
from emu.world.actors.player import Player
from emu.world.scripts.bodies import Body, shown
from emu.world.scripts.host import Scripts

PROGRESS: Final = FunctionTable()
NO_TITLE: Final = -1
MOST_TITLES: Final = 1000
"""Titles that scripts may add to those of the world."""
_BITS: Final = 32
_OPTIONS: Final = {
    **{bit: option for option, bit in BITS.items()},
    **{_BITS + bit: option for option, bit in SECOND_BITS.items()},
}
"""Number of a flag -> the option that switches it."""


# -- levels and classes -----------------------------------------------------------------------


@PROGRESS("SetPlayerLevel", "P player, n level")
def set_player_level(scripts: Scripts, body: Body | None, level: int) -> None:
    """Give a player another level, with full health and power."""
    if body is None or body.player is None or not scripts.may_send():
        return
    if scripts.levels.set_level(body.player, level, scripts.now):
        scripts.states.sheet_changed(body)


@PROGRESS("SetAdventureClass", "S spawn, n number")
def set_adventure_class(scripts: Scripts, body: Body | None, number: int) -> None:
    """Give a spawn another class of adventurers; that of a player is stored."""
    if body is None:
        return
    if body.player is None:
        set_field(body.spawn, "class", str(number))
    elif scripts.levels.set_class(body.player, number, scripts.now):
        scripts.states.sheet_changed(body)


@PROGRESS("SetTradeskillClass", "S spawn, n number")
def set_trade_class(scripts: Scripts, body: Body | None, number: int) -> None:
    """Give a player another tradeskill class."""
    if body is None or body.player is None:
        return
    if scripts.levels.set_trade(body.player, number, scripts.now):
        scripts.states.sheet_changed(body)


@PROGRESS("SetTradeskillLevel", "S spawn, n level")
def set_trade_level(scripts: Scripts, body: Body | None, level: int) -> None:
    """Give a player another tradeskill level."""
    if body is None or body.player is None:
        return
    if scripts.levels.set_trade_level(body.player, level, scripts.now):
        scripts.states.sheet_changed(body)


@PROGRESS("GetExpRequiredByLevel", "n level")
def get_needed(scripts: Scripts, level: int) -> int:
    """Return the points that lead to a level; 0 for a level that there is not."""
    return scripts.levels.needed.get(level, 0)


# -- titles -----------------------------------------------------------------------------------


def _title(scripts: Scripts, text: str) -> Title | None:
    """Return a title of the world by its text."""
    found = scripts.world.knowledge.title(text)
    if found is not None:
        return found
    for titles in (scripts.titles, scripts.figures.titles):
        if text in titles:
            return Title(text, is_prefix=titles[text])
    return None


def _titles_changed(scripts: Scripts, player: Player) -> None:
    player.titles.show(player.spawn)
    if scripts.may_send():
        player.titles.send(player.client)
    scripts.world.saves.changed(player, SavedKind.TITLES, scripts.now)


@PROGRESS("AddMasterTitle", "t title, n prefix?")
def add_title(scripts: Scripts, text: str, prefix: int) -> int:
    """Add a title to those of the world while the server runs; return its number."""
    text = shown(text)
    if not text or (text not in scripts.titles and len(scripts.titles) >= MOST_TITLES):
        return NO_TITLE
    scripts.titles.setdefault(text, prefix != 0)
    return list(scripts.titles).index(text)


@PROGRESS("AddCharacterTitle", "P player, t title")
def give_title(scripts: Scripts, body: Body | None, text: str) -> int:
    """Give a player a title of the world; return its number among the player's, or -1."""
    title = _title(scripts, shown(text))
    if body is None or body.player is None or title is None:
        return NO_TITLE
    titles = body.player.titles
    try:
        if titles.give(title):
            _titles_changed(scripts, body.player)
    except CommandError:
        return NO_TITLE
    return titles.given.index(title)


def _bear(scripts: Scripts, body: Body | None, text: str, *, is_prefix: bool) -> None:
    title = Title(shown(text), is_prefix=is_prefix)
    if body is None or body.player is None or title not in body.player.titles.given:
        return
    body.player.titles.bear(title)
    _titles_changed(scripts, body.player)


def _lay_down(scripts: Scripts, body: Body | None, *, is_prefix: bool) -> None:
    if body is not None and body.player is not None:
        body.player.titles.lay_down(is_prefix=is_prefix)
        _titles_changed(scripts, body.player)


@PROGRESS("SetCharacterTitlePrefix", "P player, t title")
def set_prefix(scripts: Scripts, body: Body | None, text: str) -> None:
    """Show a title that a player has before its name."""
    _bear(scripts, body, text, is_prefix=True)


@PROGRESS("SetCharacterTitleSuffix", "P player, t title")
def set_suffix(scripts: Scripts, body: Body | None, text: str) -> None:
    """Show a title that a player has behind its name."""
    _bear(scripts, body, text, is_prefix=False)


@PROGRESS("ResetCharacterTitlePrefix", "P player")
def reset_prefix(scripts: Scripts, body: Body | None) -> None:
    """Show no title before a player's name."""
    _lay_down(scripts, body, is_prefix=True)


@PROGRESS("ResetCharacterTitleSuffix", "P player")
def reset_suffix(scripts: Scripts, body: Body | None) -> None:
    """Show no title behind a player's name."""
    _lay_down(scripts, body, is_prefix=False)


# -- flags ------------------------------------------------------------------------------------


@PROGRESS("GetCharacterFlag", "P player, n number")
def get_flag(_scripts: Scripts, body: Body | None, number: int) -> bool | None:
    """Return whether a flag of a player's sheet is set; numbers go from 0 to 63."""
    if body is None or body.player is None:
        return None
    if not 0 <= number < 2 * _BITS:
        return False
    fields = body.player.options.sheet_fields()
    flags = fields["flags"] | fields["flags2"] << _BITS
    return bool(flags >> number & 1)


@PROGRESS("ToggleCharacterFlag", "P player, n number")
def toggle_flag(scripts: Scripts, body: Body | None, number: int) -> None:
    """Switch a flag of a player's sheet, if it is one that players can switch."""
    option = _OPTIONS.get(number)
    if body is None or body.player is None or option is None:
        return
    player = body.player
    on = option not in player.options
    player.options.set(option, on=on)
    if option in STATUS:
        player.spawn.set_word(option, on=on)
    scripts.world.saves.changed(player, SavedKind.OPTIONS, scripts.now)
    scripts.states.sheet_changed(body)
