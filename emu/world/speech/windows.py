"""Windows and marks that scripts show a player. Source: docs/protocol/world/shows.md#windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from emu.world.actors.player import Player

POPUP_SOUND: Final = "ui_harvested_normal"
LEAST_POPUP: Final = 5
"""Seconds that the shortest popup stays; a longer one stays one second for each word."""
LEAST_INSTRUCTION: Final = 2.0
MOST_OPTIONS: Final = 50
LONGEST_NAME: Final = 255
_U32: Final = 0xFFFFFFFF
_BYTES_OF_FLAGS: Final = 5


class OfferedOption(NamedTuple):
    """One row of a window of options."""

    name: str
    text: str
    sheet: int
    icon: int
    command: str
    """The client command of the choice."""
    question: str
    """The client asks it before it sends the command; empty for no question."""


def popup(player: Player, text: str, color: tuple[int, int, int]) -> None:
    """Show a text in the middle of the screen."""
    red, green, blue = (part & 0xFF for part in color)
    player.client.send(
        "WS_OnScreenMsg",
        {
            "unknown": 10, "text": text, "message_type": POPUP_SOUND,
            "size": float(max(LEAST_POPUP, len(text.split()))),
            "red": red, "green": green, "blue": blue,
        },
    )  # fmt: skip


def choose(player: Player, title: str, options: Sequence[OfferedOption], cancel: str) -> None:
    """Show a window of options; the choice comes as a client command."""
    player.client.send(
        "WS_SelectOption",
        {
            "title": title,
            "num_options": len(options),
            "options": [
                {
                    "name": one.name, "text": one.text, "icon": one.icon & 0xFFFF,
                    "sheet": one.sheet & _U32, "command": one.command, "question": one.question,
                }
                for one in options
            ],
            "cancel_command": cancel,
        },
    )  # fmt: skip


class Question(NamedTuple):
    """A window with a text, two buttons, and a line for an answer."""

    text: str
    accept: str
    accept_command: str
    """The client sends it, with the answer behind it."""
    cancel: str
    cancel_command: str
    seconds: int = 0
    """The window closes after so many; 0 keeps it open."""
    has_line: bool = False
    is_needed: bool = False
    """Whether the answer must not be empty; clients above 561 are not sent it."""
    longest: int = 0
    """The most letters of the answer."""


def ask(player: Player, question: Question) -> None:
    """Show a question; the answer comes as a client command."""
    player.client.send(
        "WS_ChoiceWindow",
        {
            "text": question.text,
            "accept_text": question.accept, "accept_command": question.accept_command,
            "cancel_text": question.cancel, "cancel_command": question.cancel_command,
            "seconds": question.seconds & _U32,
            "text_box": int(question.has_line), "is_text_needed": int(question.is_needed),
            "longest": min(question.longest, LONGEST_NAME),
            # Recorded at 1096, 1208 and 60114.
            "unknown4": [0, 0, 0, 0, 0, 0, 1, 0],
        },
    )  # fmt: skip


class Instruction(NamedTuple):
    """A window of the tutorial."""

    seconds: float
    """How long it stays; a negative number keeps it open."""
    text: str
    voice: str
    keys: tuple[int, int]
    signal: str
    """What the client sends when the goals are reached."""
    goals: tuple[tuple[str, str], ...]
    """The text of each goal, and its task."""


def instruct(player: Player, window: Instruction) -> None:
    """Show a window of the tutorial."""
    seconds = window.seconds
    player.client.send(
        "WS_InstructionWindow",
        {
            "most_seconds": max(LEAST_INSTRUCTION, seconds) if seconds >= 0 else seconds,
            "text": window.text,
            "voice": window.voice,
            "num_goals": len(window.goals),
            "goals": [
                {"goal": goal, "num_tasks": 1, "tasks": [{"task": task}]}
                for goal, task in window.goals
            ],
            "done_sound": "click",
            "signal": window.signal,
            "key1": window.keys[0] & _U32,
            "key2": window.keys[1] & _U32,
        },
    )


def mark_goal(player: Player, number: int) -> None:
    """Mark a goal of the tutorial's window as reached."""
    player.client.send("WS_InstructionWindowGoal", {"number": number & 0xFF})


def end_instruction(player: Player) -> None:
    """Close the tutorial's window."""
    player.client.command("OP_EqInstructionWindowCloseCmd", b"")


def show_window(player: Player, window: str, is_open: bool) -> None:  # from scripts
    """Open or close one of the client's own windows."""
    player.client.send("WS_ShowWindow", {"window": window[:LONGEST_NAME], "show": int(is_open)})


def flash_window(player: Player, window: str, seconds: float) -> None:
    """Let one of the client's own windows flash."""
    player.client.send("WS_FlashWindow", {"window": window[:LONGEST_NAME], "seconds": seconds})


def enable_event(player: Player, event: str, is_on: bool) -> None:  # from scripts
    """Switch an event of the client's tutorial on or off."""
    player.client.send("WS_EnableGameEvent", {"event": event[:LONGEST_NAME], "enabled": int(is_on)})


def shake_camera(player: Player, strength: float, direction: int) -> None:
    """Shake a player's camera."""
    player.client.send("WS_CameraShake", {"strength": strength, "direction": direction & 0xFF})


def set_control_flags(player: Player, byte: int, bits: int, value: int) -> None:
    """Set or clear bits of one of the five bytes of control flags, counted from 1.

    Clients up to 561 have the first byte only; nothing changes there for the others.
    """
    if not 1 <= byte <= _BYTES_OF_FLAGS:
        return
    parameters = [0] * _BYTES_OF_FLAGS
    parameters[byte - 1] = bits & 0xFF
    player.client.send(
        "WS_ServerControlFlags",
        {"parameter": parameters[0], "parameters": parameters, "value": value & 0xFF},
    )
