"""Functions that show and play: animations, sounds, visual effects, popups and windows."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, Final

from emu.scripts.signatures import FunctionTable, Handle, HandleKind, read_text
from emu.world.actors.player import Player
from emu.world.actors.spawn import EntranceAnimation
from emu.world.scripts.bodies import Body, shown
from emu.world.scripts.functions.talk import viewers_of
from emu.world.scripts.host import Scripts
from emu.world.speech import spoken, windows
from emu.world_stream.movement import Position

SHOWS: Final = FunctionTable()
MOST_GOALS: Final = 4
LARGEST_ANIMATION: Final = 0xFFFF
_COINS: Final = (("Platinum", 1_000_000), ("Gold", 10_000), ("Silver", 100), ("Copper", 1))
_ONLY, _OTHERS = 1, 2
"""Who is shown an animation that names a player: this one, or all others."""


def _player(scripts: Scripts, body: Body | None) -> Player | None:
    """Return a player who may be sent one more message of this call."""
    player = body.player if body is not None else None
    return player if player is not None and scripts.may_send() else None


# -- what spawns play ----------------------------------------


@SHOWS("PlayAnimation", "S spawn, u number, S player?, n who?")
def play_animation(
    scripts: Scripts, spawn: Body | None, number: int, player: Body | None, who: int
) -> None:
    """Show an animation: to all, to one player (1), or to all but one (2)."""
    if spawn is None or (who in (_ONLY, _OTHERS) and (player is None or player.player is None)):
        return
    viewers = viewers_of(scripts, spawn, player if who == _ONLY else None)
    if who == _OTHERS and player is not None:
        viewers = [one for one in viewers if one is not player.player]
    if viewers and scripts.may_send():
        spoken.play_animation(spawn.spawn, viewers, number)


@SHOWS("PlayAnimationString", "S spawn, t gesture, S target?, b alone?, b targets?, b others?")
def play_gesture(
    scripts: Scripts, spawn: Body | None, gesture: str, _target: Body | None, _alone: bool,
    _targets: bool, _others: bool,
) -> None:  # fmt: skip
    """Show a gesture by the name of an emote."""
    if spawn is not None and gesture and scripts.may_send():
        spoken.play_gesture(spawn.spawn, viewers_of(scripts, spawn, None), gesture)


@SHOWS("SetSpawnAnimation", "S spawn, u number, n milliseconds=5000")
def set_entrance(scripts: Scripts, spawn: Body | None, number: int, milliseconds: int) -> None:
    """Show an animation to those who see a spawn for the first time in the next milliseconds."""
    if spawn is not None:
        until = scripts.now + max(0, milliseconds) / 1000
        spawn.spawn.entrance = (
            EntranceAnimation(number & LARGEST_ANIMATION, until) if number else None
        )


@SHOWS("PlayVoice", "S spawn, t voice, u key1, u key2, P player?")
def play_voice(
    scripts: Scripts, spawn: Body | None, voice: str, key1: int, key2: int, player: Body | None
) -> None:
    """Play a sound file in a spawn's voice, to a player or to all who see it."""
    if spawn is not None and voice and scripts.may_send():
        hearers = viewers_of(scripts, spawn, player)
        spoken.play_voice(spawn.spawn, hearers, shown(voice), (key1, key2))


@SHOWS("PlaySound", "S spawn, t file, f x, f y, f z, P player?")
def play_sound(
    scripts: Scripts, spawn: Body | None, name: str, x: float, y: float, z: float,
    player: Body | None,
) -> None:  # fmt: skip
    """Play a sound to a player or to the whole zone, at a place or without one."""
    if spawn is None or not name:
        return
    if player is None:
        hearers = scripts.players_in(spawn.home)
    else:
        hearers = [player.player] if player.player is not None else []
    if hearers and scripts.may_send():
        place = Position(x, y, z, 0.0) if x or y or z else None
        spoken.play_sound(hearers, shown(name), place)


@SHOWS("ApplySpellVisual", "S spawn, u visual")
def apply_visual(scripts: Scripts, spawn: Body | None, visual: int) -> None:
    """Show the visual effect of a spell on a spawn; no spell is cast."""
    if spawn is not None and scripts.may_send():
        spoken.play_visual(spawn.spawn, viewers_of(scripts, spawn, None), visual)


@SHOWS("SendHearCast", "S spawn, u visual, n tenths, S caster?, S target?")
def send_hear_cast(
    scripts: Scripts, player: Body | None, visual: int, tenths: int, caster: Body | None,
    target: Body | None,
) -> None:  # fmt: skip
    """Show one player the visual effect of a spell."""
    viewer = _player(scripts, player)
    if viewer is not None and player is not None:
        seen = caster or player
        targets = [target.spawn] if target is not None else []
        spoken.play_visual(seen.spawn, [viewer], visual, tenths / 10, targets)


@SHOWS("SendStateCommand", "S spawn, u state, P player?")
def send_state(scripts: Scripts, spawn: Body | None, state: int, player: Body | None) -> bool:
    """Show a state of a spawn to a player, or to all who see it."""
    if spawn is None or not scripts.may_send():
        return False
    spoken.send_state(spawn.spawn, viewers_of(scripts, spawn, player), state)
    return True


# -- windows ----------------------------------------


@SHOWS("SendPopUpMessage", "P player, t text, n red, n green, n blue")
def send_popup(
    scripts: Scripts, body: Body | None, text: str, red: int, green: int, blue: int
) -> None:
    """Show a player a text in the middle of the screen."""
    player = _player(scripts, body)
    if player is not None and text:
        windows.popup(player, shown(text), (red, green, blue))


@SHOWS("PerformCameraShake", "P player, f strength, n direction?")
def shake_camera(scripts: Scripts, body: Body | None, strength: float, direction: int) -> None:
    """Shake a player's camera."""
    player = _player(scripts, body)
    if player is not None:
        windows.shake_camera(player, strength, direction)


@SHOWS("SetServerControlFlag", "P player, n byte, n bits, n value")
def set_control_flag(scripts: Scripts, body: Body | None, byte: int, bits: int, value: int) -> None:
    """Set or clear bits of a player's control flags, in one of five bytes."""
    player = _player(scripts, body)
    if player is not None:
        windows.set_control_flags(player, byte, bits, value)


@SHOWS("CreateOptionWindow")
def create_options(_scripts: Scripts) -> Handle:
    """Return an empty window of options."""
    return Handle(HandleKind.WINDOW, [], is_lasting=False)


@SHOWS(
    "AddOptionWindowOption",
    "O window, t name, t text, u sheet?, n icon?, t command?, t question?",
)
def add_option(
    _scripts: Scripts, options: list[windows.OfferedOption] | None, name: str, text: str,
    sheet: int, icon: int, command: str, question: str,
) -> None:  # fmt: skip
    """Add a row to a window of options; it needs a name and a text."""
    if options is not None and name and text and len(options) < windows.MOST_OPTIONS:
        row = windows.OfferedOption(
            shown(name), shown(text), sheet, icon, shown(command), shown(question)
        )
        options.append(row)


@SHOWS("SendOptionWindow", "O window, P player, t title, t cancel?")
def send_options(
    scripts: Scripts, options: list[windows.OfferedOption] | None, body: Body | None, title: str,
    cancel: str,
) -> None:  # fmt: skip
    """Show a player a window of options; each window can be shown once."""
    if not options or not title:
        return
    player = _player(scripts, body)
    if player is not None:
        target = player.target
        # The script has no name for whose window it is: it is that of the player's target.
        speaker = scripts.body_of(target, player.zone) if target is not None else None
        scripts.choices.offer(speaker, player, shown(title), list(options), shown(cancel))
        options.clear()


@SHOWS(
    "CreateChoiceWindow",
    "N npc, P player, t text, t yes, t yes_command, t no?, t no_command?, u seconds?,"
    " n text_box?, n needed?, u longest?",
)
def ask_question(
    scripts: Scripts, npc: Body | None, body: Body | None, text: str, yes: str, yes_command: str,
    no: str, no_command: str, seconds: int, text_box: int, needed: int, longest: int,
) -> bool:  # fmt: skip
    """Ask a player something in a window; the answer is passed to `casted_on` of the asker."""
    if npc is None or not text or not yes_command:
        return False
    player = _player(scripts, body)
    if player is None or player.zone is not npc.home.zone:
        return False
    question = windows.Question(
        shown(text), shown(yes), shown(yes_command), shown(no), shown(no_command), seconds,
        text_box != 0, needed != 0, longest,
    )  # fmt: skip
    return scripts.choices.ask(npc, player, question)


@SHOWS("ClearChoice", "P player, t command, n declines?")
def withdraw_question(scripts: Scripts, body: Body | None, command: str, declines: int) -> bool:
    """Forget which spawn has asked with a command; return whether one had."""
    if body is None or body.player is None:
        return False
    return scripts.choices.withdraw(body.player, shown(command), declines=declines != 0)


@SHOWS("GetChoiceSpawnID", "P player, t command, n declines?")
def get_asker(scripts: Scripts, body: Body | None, command: str, declines: int) -> int:
    """Return the number of the spawn that has asked with a command; 0 if none has."""
    if body is None or body.player is None:
        return 0
    asker = scripts.choices.asker_of(body.player, shown(command), declines=declines != 0)
    return asker.spawn.id if asker is not None else 0


@SHOWS("SetPlayerPOVGhost", "P player, S spawn?")
def look_through(scripts: Scripts, body: Body | None, spawn: Body | None) -> bool:
    """Let a player see through the eyes of a spawn; without one through its own."""
    player = _player(scripts, body)
    index = player.index_of((spawn or body).spawn) if player is not None and body else None
    if player is None or index is None:
        return False
    player.client.send("WS_SetPOVGhostCmd", {"spawn_id": index})
    return True


@SHOWS(
    "InstructionWindow", "P player, f seconds, t text, t voice?, u key1?, u key2?, t signal?, ..."
)
def show_instruction(
    scripts: Scripts, body: Body | None, seconds: float, text: str, voice: str, key1: int,
    key2: int, signal: str, *goals: Any,
) -> None:  # fmt: skip
    """Show a window of the tutorial: a text, and up to four goals, each with a task."""
    if not text:
        return
    player = _player(scripts, body)
    if player is None:
        return
    words = [shown(read_text(one)) for one in goals[: 2 * MOST_GOALS]]
    pairs = [*zip_longest(words[::2], words[1::2], fillvalue="")] or [("", "")]
    # The first goal may have no text: its task can be a button of the window (recorded).
    pairs = [pairs[0], *(pair for pair in pairs[1:] if pair[1])]
    windows.instruct(
        player,
        windows.Instruction(
            seconds, shown(text), shown(voice), (key1, key2), shown(signal), tuple(pairs)
        ),
    )


@SHOWS("InstructionWindowGoal", "P player, n number")
def mark_goal(scripts: Scripts, body: Body | None, number: int) -> None:
    """Mark a goal of the tutorial's window as reached."""
    player = _player(scripts, body)
    if player is not None:
        windows.mark_goal(player, number)


@SHOWS("InstructionWindowClose", "P player")
def end_instruction(scripts: Scripts, body: Body | None) -> None:
    """Close the tutorial's window."""
    player = _player(scripts, body)
    if player is not None:
        windows.end_instruction(player)


@SHOWS("ShowWindow", "P player, t window, n show")
def show_window(scripts: Scripts, body: Body | None, window: str, is_open: int) -> None:
    """Open or close one of the client's own windows by its name."""
    player = _player(scripts, body)
    if player is not None and window:
        windows.show_window(player, shown(window), bool(is_open))


@SHOWS("FlashWindow", "P player, t window, f seconds")
def flash_window(scripts: Scripts, body: Body | None, window: str, seconds: float) -> None:
    """Let one of the client's own windows flash."""
    player = _player(scripts, body)
    if player is not None and window:
        windows.flash_window(player, shown(window), seconds)


@SHOWS("EnableGameEvent", "P player, t event, n on")
def enable_event(scripts: Scripts, body: Body | None, event: str, is_on: int) -> None:
    """Switch an event of the client's tutorial on or off."""
    player = _player(scripts, body)
    if player is not None and event:
        windows.enable_event(player, shown(event), bool(is_on))


# -- texts ----------------------------------------


@SHOWS("GetCoinMessage", "u copper")
def coin_message(_scripts: Scripts, copper: int) -> str:
    """Return an amount of coins in words, each with a blank before it."""
    words = ""
    for name, worth in _COINS:
        count, copper = divmod(copper, worth)
        words += f" {count} {name}" if count else ""
    return words or "0 copper"
