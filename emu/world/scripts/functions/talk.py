"""What scripts say and show: speech, lines of text, conversations."""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable, Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.scripts.bodies import Body, distance_between, shown
from emu.world.scripts.host import Scripts
from emu.world.scripts.talks import Conversation, Page

TALK: Final = FunctionTable()
HEARD: Final = 30.0
"""Distance in which a spawn is heard, unless a script says another."""
_SPEECH: Final = "S speaker, t text, P player?, f distance=30, n language?"
_COLORS: Final = (("red", "error"), ("yellow", "system"))
"""Beginnings of the names of colors -> the channel that has it."""


def _hearers(scripts: Scripts, speaker: Body, player: Body | None, distance: float) -> list[Player]:
    if player is not None:
        players = [player.player] if player.player is not None else []
    else:
        players = scripts.players_in(speaker.home)
    return [one for one in players if distance_between(one.spawn, speaker.spawn) <= distance]


def _speak(
    scripts: Scripts, speaker: Body | None, text: str, channel: str, hearers: list[Player]
) -> None:
    if speaker is not None and text and hearers and scripts.may_send():
        scripts.chat.spawn_says(speaker.spawn, hearers, shown(text), channel)


def _say(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    channel: str,
) -> None:  # fmt: skip
    if speaker is not None:
        _speak(scripts, speaker, text, channel, _hearers(scripts, speaker, player, distance))


@TALK("Say", _SPEECH)
def say(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    _language: int,
) -> None:  # fmt: skip
    """Say something to a player, or to all who are near."""
    _say(scripts, speaker, text, player, distance, "say")


@TALK("Shout", _SPEECH)
def shout(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    _language: int,
) -> None:  # fmt: skip
    """Shout something to a player, or to all who are near."""
    _say(scripts, speaker, text, player, distance, "shout")


@TALK("Emote", "S speaker, t text, S to?, P player?")
def emote(
    scripts: Scripts, speaker: Body | None, text: str, _to: Body | None, player: Body | None
) -> None:
    """Show an emote in words to a player, or to all who are near."""
    _say(scripts, speaker, text, player, HEARD, "emote")


@TALK(
    "PlayFlavor",
    "S speaker, t voice, t text, t gesture, u key1, u key2, P player?, n language?",
)
def play_flavor(
    scripts: Scripts, speaker: Body | None, _voice: str, text: str, _gesture: str, _key1: int,
    _key2: int, player: Body | None, _language: int,
) -> None:  # fmt: skip
    """Say a text; voice and gesture are not played."""
    # No message for spoken files is known to this server: the words are shown as speech.
    if speaker is None:
        return
    if player is None:
        hearers = _hearers(scripts, speaker, None, HEARD)
    else:
        one = player.player
        hearers = [one] if one is not None and one.index_of(speaker.spawn) is not None else []
    _speak(scripts, speaker, text, "say", hearers)


@TALK("SendMessage", "P player, t text, t color?")
def send_message(scripts: Scripts, player: Body | None, text: str, color: str) -> None:
    """Show a player a line of text."""
    if player is None or player.player is None or not scripts.may_send():
        return
    channel = next((known for name, known in _COLORS if color.startswith(name)), "narrative")
    scripts.chat.line(player.player, shown(text), channel)


@TALK("CreateConversation")
def create_conversation(_scripts: Scripts) -> Handle:
    """Return an empty list of answers."""
    return Handle(HandleKind.CONVERSATION, Conversation())


@TALK("AddConversationOption", "C conversation, t answer, t function?")
def add_option(
    _scripts: Scripts, conversation: Conversation | None, answer: str, function: str
) -> None:
    """Add an answer and the function that it calls; without one it closes the window."""
    if conversation is not None:
        conversation.add(answer, function)


@TALK(
    "StartConversation",
    "C conversation, S speaker, P player, t text, t voice?, u key1?, u key2?, n language?,"
    " n closable=1",
)
def start_conversation(
    scripts: Scripts, conversation: Conversation | None, speaker: Body | None, player: Body | None,
    text: str, voice: str, key1: int, key2: int, language: int, closable: int,
) -> None:  # fmt: skip
    """Show a player a text and the answers; each list can be shown once."""
    if conversation is None or speaker is None or player is None or player.player is None:
        return
    if conversation.is_used or not conversation.answers or not text or not scripts.may_send():
        return
    conversation.is_used = True
    page = Page(text, voice, (key1, key2), language, is_closable=bool(closable))
    scripts.talks.start(speaker, player.player, conversation.answers, page)


@TALK("CloseConversation", "S speaker, P player")
def close_conversation(scripts: Scripts, speaker: Body | None, player: Body | None) -> None:
    """Close the window of a talk."""
    if speaker is None or player is None or player.player is None or not scripts.may_send():
        return
    scripts.talks.close(speaker, player.player)


@TALK("FaceTarget", "S spawn, S target, b reset=true")
def face_target(scripts: Scripts, spawn: Body | None, target: Body | None, _reset: bool) -> None:
    """Turn a spawn to another; from a player it turns back after 30 seconds."""
    if spawn is not None and target is not None and spawn.player is None and spawn is not target:
        scripts.face(spawn, target)
