"""Scripts for a client: logging in, lists, characters, playing; `emu.client.steps` runs them.

The same ones serve the command line, the shell's methods, the tests and the benchmark.
"""

from __future__ import annotations

from functools import partial

from emu.client.core import LoginClient
from emu.client.events import (
    Characters,
    Closed,
    Created,
    Deleted,
    Keymap,
    KeySent,
    ListedCharacter,
    ListedWorld,
    LoginAccepted,
    PlayAnswer,
    SessionUp,
    StatisticsAnswered,
    WorldList,
)
from emu.client.steps import Script, Step, take
from emu.errors import CommandError
from emu.versions import LAST_OLD_CLIENT

SESSION = Step("session", SessionUp)
STATISTICS = Step("statistics", StatisticsAnswered)
KEY = Step("key", KeySent)
LOGIN = Step("login", LoginAccepted, "OP_LoginReplyMsg")
WORLDS = Step("worlds", WorldList, "OP_WorldListMsg", LoginClient.request_worlds)
CHARACTERS = Step("characters", Characters, "OP_AllCharactersDescReplyMsg")
AUTO_PLAY = Step("play after create", PlayAnswer, "OP_PlayCharacterReplyMsg")
KEYMAP = Step("keymap", Keymap, "OP_KeymapDataMsg", LoginClient.load_keymap)
CLOSE = Step("close", Closed, "", LoginClient.close)


def ping() -> Script[None]:
    """Set a session up, wait for the server's statistics, and close."""
    yield SESSION
    yield STATISTICS
    yield CLOSE


session = partial(take, SESSION)
"""Waits for the server's answer to the session request."""
worlds = partial(take, WORLDS)
"""Asks for the worlds."""
load_keymap = partial(take, KEYMAP)
"""Asks for the keymap and waits for it; a server of EQ2Emulator never answers."""
auto_play = partial(take, AUTO_PLAY)
"""Waits for the answer to the play request that a server makes after a create up to 561."""
close = partial(take, CLOSE)
"""Ends the session in order."""


def finish_login() -> Script[LoginAccepted]:
    """Wait for key exchange and login reply of a session that is up."""
    yield KEY
    return (yield from take(LOGIN))


def login() -> Script[LoginAccepted]:
    """Set a session up and log in."""
    yield SESSION
    return (yield from finish_login())


def characters(client: LoginClient) -> Script[tuple[ListedCharacter, ...]]:
    """Return the latest character list, asking for it (by way of the worlds) if there is none."""
    if client.characters is None:
        yield WORLDS
        yield CHARACTERS
    assert client.characters is not None  # noqa: S101  # CHARACTERS has just set it
    return client.characters


def whole_list() -> Script[None]:
    """Set a session up, log in, and wait for worlds and characters."""
    yield from login()
    yield WORLDS
    yield CHARACTERS


def create(world_id: int, name: str, **choices: object) -> Script[Created]:
    """Ask for a character; when it is made, wait for the new list as well.

    Up to 561 the server goes on to a play request by itself; `AUTO_PLAY` waits for its answer.
    """
    ask = partial(LoginClient.create, world_id=world_id, name=name, choices=choices)
    created = yield from take(Step("create", Created, "OP_CreateCharacterReplyMsg", ask))
    if created.ok:
        yield CHARACTERS
    return created


def delete(character: ListedCharacter) -> Script[Deleted]:
    """Ask for a character's deletion; when it is done, wait for the new list as well."""
    ask = partial(LoginClient.delete, character=character)
    deleted = yield from take(Step("delete", Deleted, "OP_DeleteCharacterReplyMsg", ask))
    if deleted.ok:
        yield CHARACTERS
    return deleted


def play(character: ListedCharacter) -> Script[PlayAnswer]:
    """Ask to enter the world with a character."""
    ask = partial(LoginClient.play, character=character)
    return (yield from take(Step("play", PlayAnswer, "OP_PlayCharacterReplyMsg", ask)))


def find_character(client: LoginClient, name: str) -> ListedCharacter:
    """Return a listed character by name, without regard to case; raises `CommandError`."""
    listed = [one for one in client.characters or () if not one.deleted]
    for character in listed:
        if character.name.lower() == name.lower():
            return character
    names = ", ".join(character.name for character in listed) or "none"
    raise CommandError(f"the account has no character {name} (it has: {names})")


def choose_world(client: LoginClient, world: str | None) -> ListedWorld:
    """Return a listed world by id or name, or the first that is up; raises `CommandError`."""
    listed = client.worlds.values()
    for one in listed:
        if one.up if world is None else world.lower() in (str(one.id), one.name.lower()):
            return one
    names = ", ".join(f"{one.id} {one.name}" for one in listed) or "none"
    what = "no world is up" if world is None else f"there is no world {world}"
    raise CommandError(f"{what} (listed: {names})")


def whole_login(
    client: LoginClient,
    *,
    create_name: str | None = None,
    world: str | None = None,
    delete_name: str | None = None,
    play_name: str | None = None,
) -> Script[None]:
    """Do what a player does: log in, list, and as asked create, delete and play, then leave.

    A refused create, delete or play ends the script with a `CommandError`.
    """
    yield from whole_list()
    if create_name is not None:
        need_created(create_name, (yield from create(choose_world(client, world).id, create_name)))
        if client.version <= LAST_OLD_CLIENT:
            yield from auto_play()
    if delete_name is not None:
        deleted = yield from delete(find_character(client, delete_name))
        _need(deleted.ok, f"delete {delete_name}", deleted.code, deleted.text)
    if play_name is not None:
        need_played(play_name, (yield from play(find_character(client, play_name))))
    yield CLOSE


def need_created(name: str, created: Created) -> Created:
    """Return an answer to a create request that is no refusal; raises `CommandError`."""
    _need(created.ok, f"create {name}", created.code, created.text)
    return created


def need_played(name: str, answer: PlayAnswer) -> PlayAnswer:
    """Return an answer to a play request that is no refusal; raises `CommandError`."""
    _need(answer.ok, f"play {name}", answer.code, answer.text)
    return answer


def _need(ok: bool, what: str, code: int, text: str) -> None:
    if not ok:
        raise CommandError(f"{what} was refused: {text} (code {code})")
