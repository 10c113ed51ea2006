"""Scripts for a client: login, lists, characters, playing.

A script is a generator that yields `FlowStep`s and receives the event that each of them waited for.
A `LoginFlow` runs it over a `LoginClient`, without a clock of its own. The command line, the
shell's methods, the tests and the benchmark share the scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from emu.client.core import Credentials, LoginClient
from emu.client.events import (
    Characters,
    Closed,
    Created,
    Deleted,
    Event,
    Keymap,
    KeySent,
    ListedCharacter,
    ListedWorld,
    LoginAccepted,
    LoginDenied,
    PlayAnswer,
    SessionUp,
    StatisticsAnswered,
    Unexpected,
    WorldList,
)
from emu.errors import CommandError, EmuError
from emu.times import Monotonic
from emu.versions import CLIENT_2006, LAST_OLD_CLIENT

STEP_TIMEOUT = 10.0
"""Default limit of a step in seconds."""

Result = TypeVar("Result")
Awaited = TypeVar("Awaited", bound=Event)


@dataclass(frozen=True, slots=True)
class FlowStep(Generic[Awaited]):
    """One event to wait for, and the request that is sent before."""

    name: str
    wanted: type[Awaited]
    """The event that ends the step."""
    message: str = ""
    """Opcode name of the answer: if it cannot be read, the step fails at once."""
    action: Callable[[LoginClient], None] | None = None


class StepFailed(CommandError):
    """A step failed, or its answer was a refusal; `step` is its name."""

    def __init__(self, step: str, text: str) -> None:
        self.step = step
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class StepDone:
    """One finished step: its event, and how many seconds it took."""

    name: str
    seconds: float
    event: Event


Script = Generator[FlowStep[Any], Any, Result]


def take(step: FlowStep[Awaited]) -> Script[Awaited]:
    """Run one step and return its event: a script, or a piece of one."""
    found: Awaited = yield step
    return found


@dataclass(slots=True, eq=False)
class LoginFlow(Generic[Result]):
    """One running script over one client.

    Call `begin`, then `advance` whenever the client has handled a datagram or its timer. The script
    has ended when `done` is true. Then `result` is its return value, or `failure` is the error.
    `steps` are the finished steps in order.
    """

    client: LoginClient
    script: Script[Result]
    _: KW_ONLY
    timeout: float = STEP_TIMEOUT
    on_step: Callable[[StepDone], None] | None = None
    steps: list[StepDone] = field(default_factory=list, init=False)
    result: Result | None = field(default=None, init=False)
    failure: EmuError | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)
    _step: FlowStep[Any] | None = field(default=None, init=False)
    _reached: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)

    def begin(self, now: Monotonic) -> None:
        """Start the first step and handle the events so far."""
        self._next_step(None, now)
        self.advance(now)

    def get_timer(self) -> Monotonic | None:
        """Return when `advance` is due because the present step takes too long, or None."""
        return None if self._step is None else Monotonic(self._since + self.timeout)

    def advance(self, now: Monotonic) -> None:
        """Handle the client's new events and run the steps that they complete."""
        # A loop, because one datagram may carry the events of several steps.
        while self._step is not None and (event := self._take(self._step)) is not None:
            step = StepDone(self._step.name, now - self._since, event)
            self.steps.append(step)
            if self.on_step is not None:
                self.on_step(step)
            self._next_step(event, now)
        if self._step is not None and now >= self._since + self.timeout:
            text = f"timed out at step '{self._step.name}' after {self.timeout:g} s"
            self.fail(CommandError(text))

    def fail(self, failure: EmuError) -> None:
        """End the script from outside, for example because the network failed."""
        if not self.done:
            # Subclasses carry their own context, for instance the step that has failed.
            if self._reached and type(failure) is CommandError:
                # A CommandError of the script itself gets the name of the step that it failed in.
                failure = StepFailed(self._reached, str(failure))
            self.failure = failure
            self._end()

    def _take(self, step: FlowStep[Any]) -> Event | None:
        """Remove and return the event that ends the step; end the script if none can come."""
        events = self.client.events
        # The awaited event comes first, even behind a failure: a server may deny a later request in
        # the same datagram.
        found: Event | None = next((one for one in events if isinstance(one, step.wanted)), None)
        if found is not None:
            self._forget_lists_before(found)
            events.remove(found)
            return found
        # No event completes the step. One of them may mean that none ever will.
        for event in events:
            reason = _failure(step, event)
            if reason is not None:
                self.fail(CommandError(reason))
                break
        return None

    def _forget_lists_before(self, found: Event) -> None:
        """Drop character lists from before an event: the one that follows it is newer."""
        events = self.client.events
        for event in list(events)[: events.index(found)]:
            if isinstance(event, Characters):
                events.remove(event)

    def _next_step(self, event: Event | None, now: Monotonic) -> None:
        # The time of a step includes its request, so the clock starts before `action`.
        self._since = now
        try:
            # `send(None)` starts a generator that has not run yet.
            self._step = step = self.script.send(event)
            self._reached = step.name
            if step.action is not None:
                step.action(self.client)
        except StopIteration as end:
            self.result = end.value
            self._end()
        except EmuError as error:
            self.fail(error)

    def _end(self) -> None:
        self._step = None
        # Runs the script's `finally` blocks, also if it was abandoned in the middle.
        self.script.close()
        self.done = True


def _failure(step: FlowStep[Any], event: Event) -> str | None:
    """Return why an event means that the step will fail, or None."""
    match event:
        case LoginDenied(code, text):
            return f"login denied: {text} (code {code})"
        case Closed(reason):
            return f"the session ended at step '{step.name}': {reason}"
        case Unexpected(_, name, reason) if name and name == step.message:
            return f"the server's {name} cannot be read: {reason}"
    return None


SESSION = FlowStep("session", SessionUp)
STATISTICS = FlowStep("statistics", StatisticsAnswered)
KEY = FlowStep("key", KeySent)
LOGIN = FlowStep("login", LoginAccepted, "OP_LoginReplyMsg")
WORLDS = FlowStep("worlds", WorldList, "OP_WorldListMsg", LoginClient.request_worlds)
CHARACTERS = FlowStep("characters", Characters, "OP_AllCharactersDescReplyMsg")
AUTO_PLAY = FlowStep("play after create", PlayAnswer, "OP_PlayCharacterReplyMsg")
KEYMAP = FlowStep("keymap", Keymap, "OP_KeymapDataMsg", LoginClient.load_keymap)
CLOSE = FlowStep("close", Closed, "", LoginClient.close)


def ping() -> Script[None]:
    """Set up a session, wait for the server's statistics, and close."""
    yield SESSION
    yield STATISTICS
    yield CLOSE


session = partial(take, SESSION)
"""Waits for the server's answer to the session request."""
worlds = partial(take, WORLDS)
"""Requests the worlds."""
load_keymap = partial(take, KEYMAP)
"""Requests the keymap and waits for it; EQ2Emulator's server never answers."""
auto_play = partial(take, AUTO_PLAY)
"""Waits for the answer to the play request that a server makes after a create up to 561."""
close = partial(take, CLOSE)
"""Ends the session."""


def finish_login() -> Script[LoginAccepted]:
    """Wait for key exchange and login reply of an established session."""
    yield KEY
    return (yield from take(LOGIN))


def login() -> Script[LoginAccepted]:
    """Set up a session and log in; return the reply. Ends with `CommandError` if it is denied."""
    yield SESSION
    return (yield from finish_login())


def characters(client: LoginClient) -> Script[tuple[ListedCharacter, ...]]:
    """Return the latest character list; request the worlds first if there is none."""
    if client.characters is None:
        yield WORLDS
        yield CHARACTERS
    assert client.characters is not None  # noqa: S101  # CHARACTERS has just set it
    return client.characters


def whole_list() -> Script[None]:
    """Set up a session, log in, and wait for worlds and characters."""
    yield from login()
    yield WORLDS
    yield CHARACTERS


def create(world_id: int, name: str, **choices: object) -> Script[Created]:
    """Request a character; if it is created, wait for the new list too.

    Up to 561 the server then makes a play request itself; `AUTO_PLAY` waits for its answer.
    """
    ask = partial(LoginClient.create, world_id=world_id, name=name, choices=choices)
    created = yield from take(FlowStep("create", Created, "OP_CreateCharacterReplyMsg", ask))
    # A refused request changes nothing, so no new list follows.
    if created.ok:
        yield CHARACTERS
    return created


def delete(character: ListedCharacter) -> Script[Deleted]:
    """Request the deletion of a character; if it is done, wait for the new list too."""
    ask = partial(LoginClient.delete, character=character)
    deleted = yield from take(FlowStep("delete", Deleted, "OP_DeleteCharacterReplyMsg", ask))
    if deleted.ok:
        yield CHARACTERS
    return deleted


def play(character: ListedCharacter) -> Script[PlayAnswer]:
    """Request to enter the world with a character; return address and key, or the refusal."""
    ask = partial(LoginClient.play, character=character)
    return (yield from take(FlowStep("play", PlayAnswer, "OP_PlayCharacterReplyMsg", ask)))


def find_character(client: LoginClient, name: str) -> ListedCharacter:
    """Return a listed character by name, without regard to case; raises `CommandError`."""
    # Older clients keep the entries of characters that were deleted in this session.
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
    """Log in, list, then create, delete and play as the arguments say, and leave.

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
    """Return an answer to a create request unless it is a refusal; raises `CommandError`."""
    _need(created.ok, f"create {name}", created.code, created.text)
    return created


def need_played(name: str, answer: PlayAnswer) -> PlayAnswer:
    """Return an answer to a play request unless it is a refusal; raises `CommandError`."""
    _need(answer.ok, f"play {name}", answer.code, answer.text)
    return answer


def _need(ok: bool, what: str, code: int, text: str) -> None:
    if not ok:
        raise CommandError(f"{what} was refused: {text} (code {code})")


@dataclass(frozen=True, slots=True)
class Entrance:
    """The arguments of `enter_world` besides the login server's address."""

    credentials: Credentials
    character: str | None = None
    """The character's name; None is the first of the account."""
    create: bool = False
    """Whether a missing character is created."""
    world: str | None = None
    """Name or id of the world for a new character; None is the first that is up."""
    version: int = CLIENT_2006
    interface: str = ""
    """The address that the sockets are bound to."""
    reads_ghosts: bool = True
    """Whether ghosts are read; see `WorldClient`."""
    reads_possessions: bool = False
    """Whether sheet, things and spells are read; see `WorldClientCore`."""
    choices: Mapping[str, object] = field(default_factory=dict)
    """Race, class and the like of a new character; see `LoginClient.create`."""


def granted(core: LoginClient, entrance: Entrance) -> Script[PlayAnswer]:
    """Log in and get a key for a character, created if requested; raises `CommandError`."""
    yield from whole_list()
    have = [one for one in core.characters or () if not one.deleted]
    name = entrance.character
    if name is None and not have:
        raise CommandError("the account has no character: name one to be made")
    if name is None:
        return need_played(have[0].name, (yield from play(have[0])))
    if entrance.create and name.casefold() not in (one.name.casefold() for one in have):
        world_id = choose_world(core, entrance.world).id
        need_created(name, (yield from create(world_id, name, **entrance.choices)))
        if entrance.version <= LAST_OLD_CLIENT:
            return need_played(name, (yield from auto_play()))
    return need_played(name, (yield from play(find_character(core, name))))
