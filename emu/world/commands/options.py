"""Commands that switch options of a player: invitations it declines, and what it shows.

Options are stored with the character, and its sheet has them. Declined invitations to groups, raids
and guilds are refused; the other options wait for what they are about.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.errors import CommandError
from emu.model import SavedKind
from emu.world.actors.client import LONGEST_LAST_NAME
from emu.world.actors.options import STATUS, Option
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice, confirmed
from emu.world.items.effects import show_worn

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True, cost=Cost.SHOWN)

SHORTEST_LAST_NAME = 3
SHOWN = Argument(
    "shown", ArgumentKind.SWITCH, "true or false; without it, the other one", optional=True
)


async def switch(
    context: CommandContext, player: Player, options: Iterable[Option], line: str, *, on: bool
) -> Reply | None:
    """Switch options of a player: store them, send them to its client, and return the answer."""
    switched = [option for option in options if player.options.set(option, on=on)]
    if not switched:
        return Reply((line,))
    for option in STATUS.intersection(switched):
        player.spawn.set_word(option, on=on)
    show_worn(player)
    answer = await confirmed(context, player, SavedKind.OPTIONS, line)
    if player.is_online:
        context.sheets.send(player)
    return answer


def _declare_decline(name: str, option: Option, what: str) -> None:
    """Declare a command that declines all invitations of a kind, or accepts them again."""
    aliases = ("toggle_bonus_exp",) if option is Option.NO_BONUS_EXP else ()

    @quiet(name, f"decline {what}, or accept them again", aliases=aliases)
    async def run(context: CommandContext, player: Player, _call: Call) -> Reply | None:
        on = option not in player.options
        line = f"You {'decline' if on else 'accept'} {what} now."
        return await switch(context, player, (option,), line, on=on)


for _name, _option, _what in (
    ("decline_duels", Option.DECLINE_DUELS, "challenges to duels"),
    ("decline_trades", Option.DECLINE_TRADES, "offers to trade"),
    ("decline_groups", Option.DECLINE_GROUPS, "invitations to groups"),
    ("decline_raids", Option.DECLINE_RAIDS, "invitations to raids"),
    ("decline_guilds", Option.DECLINE_GUILDS, "invitations to guilds"),
    ("decline_lon", Option.DECLINE_LON, "invitations to card games"),
    ("decline_vcinvite", Option.DECLINE_VOICE, "invitations to voice chat"),
    ("disable_combat_exp", Option.NO_COMBAT_EXP, "experience of fights"),
    ("disable_quest_exp", Option.NO_QUEST_EXP, "experience of quests"),
    ("disable_char_bonus_exp", Option.NO_BONUS_EXP, "bonus experience"),
):
    _declare_decline(_name, _option, _what)


def _declare_shown(name: str, options: tuple[Option, ...], what: str, *, hides: bool) -> None:
    """Declare a command that shows or hides something; `hides`: its options mean hidden."""

    @quiet(name, f"show or hide {what}", SHOWN, example=f"{name} false")
    async def run(context: CommandContext, player: Player, call: Call) -> Reply | None:
        shown = (options[0] in player.options) == hides if call["shown"] is None else call["shown"]
        line = f"{what[0].upper()}{what[1:]}: {'shown' if shown else 'hidden'}."
        return await switch(context, player, options, line, on=shown != hides)


for _name, _options, _what, _hides in (
    ("showhood", (Option.HIDE_HOOD,), "your hood", True),
    ("showhelm", (Option.HIDE_HELM,), "your helmet", True),
    ("showhoodorhelm", (Option.HIDE_HOOD, Option.HIDE_HELM), "your hood and helmet", True),
    ("showcloak", (Option.SHOW_CLOAK,), "your cloak", False),
    ("showranged", (Option.SHOW_RANGED,), "your ranged weapon", False),
):
    _declare_shown(_name, _options, _what, hides=_hides)


def _declare_hidden(name: str, option: Option, what: str) -> None:
    """Declare a command whose argument says whether something is hidden."""

    @quiet(name, f"hide or show {what}",
           Argument("hidden", ArgumentKind.SWITCH, "true or false; without it, the other one",
                    optional=True),
           example=f"{name} true")  # fmt: skip
    async def run(context: CommandContext, player: Player, call: Call) -> Reply | None:
        on = option not in player.options if call["hidden"] is None else call["hidden"]
        line = f"{what[0].upper()}{what[1:]}: {'hidden' if on else 'shown'}."
        return await switch(context, player, (option,), line, on=on)


_declare_hidden("hide_illusions", Option.HIDE_ILLUSIONS, "illusions")
_declare_hidden("hide_achievements", Option.HIDE_ACHIEVEMENTS, "your achievements")


# --- the last name

LAST_NAME = Argument("name", help="the last name; none removes it")
NO_NAME = "none"


@quiet("lastname", "propose a last name for yourself", LAST_NAME, example="lastname Oakheart")
async def _last_name(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    name = call["name"]
    # Letters of the client's alphabet alone: the sheet and ghosts count bytes.
    if name != NO_NAME and not (name.isascii() and name.isalpha()):
        raise CommandError("a last name has only letters")
    if not SHORTEST_LAST_NAME <= len(name) <= LONGEST_LAST_NAME:
        raise CommandError(f"a last name has {SHORTEST_LAST_NAME} to {LONGEST_LAST_NAME} letters")
    player.session.proposed_last_name = "" if name == NO_NAME else name.capitalize()
    shown = player.session.proposed_last_name or "no last name"
    return f"{player.name}, you choose {shown}: confirmedlastname sets it."


@quiet("confirmedlastname", "take the last name that you have proposed")
async def _confirm_last_name(context: CommandContext, player: Player, call: Call) -> Reply | None:
    await check_voice(context, call)
    name, player.session.proposed_last_name = player.session.proposed_last_name, None
    if name is None:
        raise CommandError("propose a name first: lastname NAME")
    player.rename_family(name)
    line = f"You are {player.name} {name} now." if name else "You have no last name any more."
    answer = await confirmed(context, player, SavedKind.OPTIONS, line)
    if player.is_online:
        context.sheets.send(player)
    return answer
