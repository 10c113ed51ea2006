"""Commands by which a player chooses its voices, language and defaults of groups; and two windows.

What a player chooses is stored with its character (`emu.world.actors.client_data`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.errors import CommandError
from emu.model import SavedKind
from emu.world.actors.client_data import U8, U16
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet, confirmed
from emu.world.entry.client_records import GROUP_FIELDS, group_fields
from emu.world.items.texts import NOTHING_TO_EXAMINE

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

COMMON: Final = "Common"
"""The language that everybody speaks, number 0."""


# --- groups

VALUES = Argument(
    "values", ArgumentKind.TEXT, "numbers of loot method, rarity, coins, yell, lock and autolock",
    optional=True, default="",
)  # fmt: skip
CHOSEN: Final = tuple(name for name in GROUP_FIELDS if name != "unknown3")
"""The options that the command takes, in its order."""


@quiet("groupoptions", "show or choose the options of groups that you lead", VALUES,
       cost=Cost.CHANGE, example="groupoptions 1 0 1")  # fmt: skip
async def _group_options(context: CommandContext, player: Player, call: Call) -> Reply | None:
    words = call["values"].split()
    if not words:
        if player.client.dialect.world_rules.group_screen:
            player.client.send("WS_DisplayGroupOptionsScreen", group_fields(player))
        return Reply((_shown(player),))
    if len(words) > len(CHOSEN) or not all(_is_byte(word) for word in words):
        raise CommandError(f"groupoptions takes up to {len(CHOSEN)} numbers from 0 to {U8}")
    values = dict(group_fields(player))
    values.update(zip(CHOSEN, map(int, words), strict=False))
    player.client_data.group = tuple(values[name] for name in GROUP_FIELDS)
    answer = await confirmed(context, player, SavedKind.CLIENT_DATA, _shown(player))
    if answer is not None:
        player.client.send("WS_DefaultGroupOptions", group_fields(player))
    return answer


def _is_byte(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 3 and int(word) <= U8


def _shown(player: Player) -> str:
    values = group_fields(player)
    shown = ", ".join(f"{name.replace('_', ' ')} {values[name]}" for name in CHOSEN)
    return f"Group options: {shown}."


# --- language and voices

LANGUAGE = Argument("language", ArgumentKind.TEXT, "its number or name")


@quiet("set_language", "choose the language that you speak", LANGUAGE, cost=Cost.CHANGE,
       example="set_language Thexian")  # fmt: skip
async def _set_language(context: CommandContext, player: Player, call: Call) -> Reply | None:
    number, name = _language(context, call["language"])
    if not context.world.knowledge.understands(player.character, number):
        raise CommandError(f"you do not know {name}")
    player.client_data.language = number
    line = f"You are now speaking {name}."
    return await confirmed(context, player, SavedKind.CLIENT_DATA, line)


def _language(context: CommandContext, text: str) -> tuple[int, str]:
    """Return number and name of a language. Raises `CommandError`."""
    if text.casefold() in ("0", COMMON.casefold()):
        return 0, COMMON
    for number, language in context.world.knowledge.languages.items():
        if text.casefold() in (str(number), language.name.casefold()):
            return number, language.name
    raise CommandError(f"there is no language {text}")


VOICE = Argument("voice", ArgumentKind.NUMBER, "its number; 0 for the usual one")


def _declare_voice(name: str, about: str, place: int, field: str) -> None:
    """Declare a command that chooses one of the two voices."""

    @quiet(name, f"choose the voice of your character {about}", VOICE, cost=Cost.SHOWN,
           example=f"{name} 52")  # fmt: skip
    async def run(context: CommandContext, player: Player, call: Call) -> Reply | None:
        if not 0 <= call["voice"] <= U16:
            raise CommandError(f"a voice has a number from 0 to {U16}")
        voices = list(player.client_data.voices)
        voices[place] = call["voice"]
        player.client_data.voices = tuple(voices)
        player.spawn.set_info(appearance={**player.spawn.appearance, field: call["voice"]})
        line = f"Your voice {about} is number {call['voice']} now."
        return await confirmed(context, player, SavedKind.CLIENT_DATA, line)


_declare_voice("set_combat_voice", "in fights", 0, "combat_voice")
_declare_voice("set_emote_voice", "in emotes", 1, "emote_voice")


# --- windows of what does not exist yet

SUBJECT = Argument("what", ArgumentKind.TEXT, "kind and number of what to show", optional=True,
                   default="")  # fmt: skip


@quiet("info", "examine something by its kind and number", SUBJECT, cost=Cost.LISTING,
       example="info inventory 5")  # fmt: skip
async def _info(_context: CommandContext, _player: Player, _call: Call) -> None:
    raise CommandError(NOTHING_TO_EXAMINE)
