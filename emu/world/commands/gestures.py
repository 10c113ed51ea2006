"""Commands that change how a player looks to others: emotes, mood, posture, and status words."""

from __future__ import annotations

from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.errors import CommandError
from emu.model import SavedKind
from emu.world.actors.options import Option
from emu.world.actors.player import Player, refuses_dead
from emu.world.actors.spawn import SITTING, STANDING, StateWord
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice, confirmed
from emu.world.commands.targets import visible_target
from emu.world.speech.emotes import read_emotes, show_emote

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

EMOTE = Argument("emote", help="its name", optional=True, default="")
MOOD = Argument(
    "mood", help="how you feel", optional=True, default="none",
    choices_of=lambda _context: tuple(read_emotes().moods),
)  # fmt: skip


@quiet("cannedemote", "show an emote with its animation, to your target if you have one", EMOTE,
       example="cannedemote wave")  # fmt: skip
async def _canned_emote(context: CommandContext, player: Player, call: Call) -> str | None:
    table = read_emotes()
    if not call["emote"]:
        return f"Emotes: {', '.join(sorted(table.emotes))}"
    emote = table.emotes.get(call["emote"].casefold())
    if emote is None:
        raise CommandError(f"there is no emote {call['emote']}")
    # An emote shows a text to others, so a muted player may not use it.
    await check_voice(context, call)
    context.chat.pace(player, call.now)
    show_emote(context.world, player, emote, visible_target(call, player), table)
    return None


@quiet("mood", "show a mood in your face", MOOD, cost=Cost.SHOWN, example="mood happy")
async def _mood(_context: CommandContext, player: Player, call: Call) -> str:
    player.spawn.set_info(mood_state=read_emotes().moods[call["mood"]])
    return f"Your mood is {call['mood']} now."


@quiet("sit", "sit down", cost=Cost.SHOWN)
async def _sit(_context: CommandContext, player: Player, _call: Call) -> None:
    if not refuses_dead(player):
        player.spawn.set_info(visual_state=SITTING)


@quiet("stand", "stand up", cost=Cost.SHOWN)
async def _stand(context: CommandContext, player: Player, _call: Call) -> None:
    context.departures.stop_camp(player)
    if not refuses_dead(player):
        player.spawn.set_info(visual_state=STANDING)


STATE = Argument(
    "state", ArgumentKind.SWITCH, "on or off; without it, the other state", optional=True
)


def _toggle(name: str, help_text: str, word: StateWord, on: str, off: str, *aliases: str) -> None:
    """Declare a command that sets a status word of the player, or removes it."""

    @quiet(name, help_text, STATE, cost=Cost.SHOWN, aliases=aliases, example=f"{name} on")
    async def run(context: CommandContext, player: Player, call: Call) -> Reply | None:
        is_on = word not in player.spawn.words if call["state"] is None else call["state"]
        player.spawn.set_word(word, on=is_on)
        player.options.set(Option(word), on=is_on)
        # The lists of other processes show it, too.
        if word is StateWord.ANONYMOUS:
            context.world.processes.presence.seen(player.id, anonymous=is_on)
        line = on if is_on else off
        answer = await confirmed(context, player, SavedKind.OPTIONS, line)
        if player.is_online:
            context.sheets.send(player)
        return answer


_toggle("anon", "hide your level, class and zone in lists of players", StateWord.ANONYMOUS,
        "You are now anonymous.", "You are no longer anonymous.")  # fmt: skip
_toggle("role", "show that you play a role", StateWord.ROLEPLAYING,
        "You are now roleplaying.", "You are no longer roleplaying.", "roleplaying")  # fmt: skip
_toggle("lfg", "show that you look for a group", StateWord.LOOKING_FOR_GROUP,
        "You are now LFG.", "You are no longer LFG.")  # fmt: skip
_toggle("lfw", "show that you look for work", StateWord.LOOKING_FOR_WORK,
        "You are now LFW.", "You are no longer LFW.")  # fmt: skip
