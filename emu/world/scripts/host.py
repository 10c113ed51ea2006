"""The host of Lua scripts: binds files to spawns, calls their events, and reports their errors.

A file is loaded when the first spawn needs it. An error ends the call that has it; a file whose
calls fail three times in a row is switched off until `reload scripts`. Nothing runs while no player
is in the zone: timers that fall due then wait for the next player.
Source: docs/guides/lua.md#events.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from emu.content.population import Standing
from emu.errors import ScriptError
from emu.scripts.runtime import Environment, Runtime, ScriptFolder
from emu.scripts.signatures import FunctionTable, bind, merged
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.behaviors import Behaviors
from emu.world.deadlines import Deadlines
from emu.world.messages import WorldMessageRule, WorldMessages
from emu.world.scripts.bodies import Body, Home, Nearness, Timer, distance_between, given
from emu.world.scripts.stubs import stub_names
from emu.world.scripts.talks import Talks
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

HAIL_DISTANCE: Final = 5.0
NEAR_PAUSE: Final = 2.0
"""Seconds between two looks at who is near."""
TURNED: Final = 30.0
"""Seconds that a spawn faces a player whom `FaceTarget` has turned it to."""
MOST_FAILURES: Final = 3
MOST_TIMERS: Final = 64
"""Timers of one spawn."""
SHORTEST_TIMER: Final = 0.01
BEAT: Final = 0.1
"""Seconds between the calls of a timer that is to be called several times."""
MOST_REPEATS: Final = 20
MOST_MESSAGES: Final = 200
"""Messages that one call from outside may send players."""


DESPAWN: Final = "\0despawn"
"""The function of a timer that removes its spawn: no script can name it."""


class Chances(Protocol):
    """Random numbers, as `random.Random` gives them."""

    def uniform(self, a: float, b: float, /) -> float:
        """Return a number between two others."""

    def randint(self, a: int, b: int, /) -> int:
        """Return a whole number from a to b, both included."""


class Due(enum.Enum):
    """What is due when a deadline of scripts expires."""

    TIMER = enum.auto()
    TURN = enum.auto()
    NEAR = enum.auto()


@dataclass(slots=True)
class _File:
    path: str
    environment: Environment
    failures: int = 0
    """Calls that failed since the last one that did not."""


class Scripts:
    """The scripts of a world."""

    def __init__(
        self,
        world: World,
        chat: Chat,
        behaviors: Behaviors,
        folder: ScriptFolder,
        functions: Sequence[FunctionTable],
        *,
        chances: Chances,
        report: Callable[[str], object],
    ) -> None:
        """Make the runtime and subscribe to a world's events.

        `report` writes a line for operators. Raises `ConfigError` if lupa is not installed.
        """
        self.world = world
        self.chat = chat
        self.chances = chances
        self.counters: Counter[str] = Counter()
        """Events and how they ended."""
        self.stubs: Counter[str] = Counter()
        """Calls of functions that this server does not have."""
        self.errors: Counter[str] = Counter()
        """Errors of scripts, by place."""
        self.despawn: Callable[[Zone, Spawn], object] = lambda _zone, _spawn: None
        """Removes a spawn of the content file from its zone."""
        self.talks = Talks(behaviors.context.dialogs.next_number)
        self._behaviors = behaviors
        self._folder = folder
        self._report = report
        self._functions: dict[str, Callable[..., Any]] = {
            name: self._stub(name, value) for name, value in stub_names().items()
        }
        self._functions |= {name: bind(one, self) for name, one in merged(functions).items()}
        self._runtime = self._new_runtime()
        self._files: dict[str, _File | None] = {}
        self._homes: dict[Zone, Home] = {}
        self._messages_left = 0
        self._depth = 0
        self._deadlines: Deadlines[Timer | Body | Home, Due] = Deadlines(world.wake)
        world.notifications.said.subscribe(self.heard)
        world.notifications.standing.subscribe(self.entered)
        world.notifications.out_of_zone.subscribe(self.left)

    # -- files ----------------------------------------------------

    def reload(self) -> str:
        """Read all files anew when they are next needed; return one line that sums up.

        Timers, talks and nearness stay, and `spawn` is not called again.
        """
        count = sum(one is not None for one in self._files.values())
        self._files.clear()
        self._folder.forget()
        self._runtime = self._new_runtime()
        self.errors.clear()
        return f"{count} scripts will be read again"

    def switched_off(self) -> list[str]:
        """Return the files that are switched off."""
        return [
            file.path for file in self._files.values()
            if file is not None and file.failures >= MOST_FAILURES
        ]  # fmt: skip

    def _new_runtime(self) -> Runtime:
        return Runtime(self._folder, self._functions, seed=self.chances.randint(0, 2**31 - 1))

    def _file(self, name: str) -> _File | None:
        """Return a loaded file by the name of a row; None if there is none that can run."""
        if name not in self._files:
            self._files[name] = self._loaded(name)
        return self._files[name]

    def _loaded(self, name: str) -> _File | None:
        path = self._folder.find(name)
        if path is None:
            self.counters["files missing"] += 1
            self._report(f"there is no script {name!r}")
            return None
        # Two rows may name one file with other letters: its globals are the same.
        for known in self._files.values():
            if known is not None and known.path == path:
                return known
        try:
            return _File(path, self._runtime.load(path))
        except ScriptError as error:
            self.counters["files that do not load"] += 1
            self._report(f"script not loaded: {error}")
            return None

    # -- calls ----------------------------------------------------

    def call(self, body: Body, event: str, *values: Body | str | float | None) -> bool:
        """Call a function of a spawn's script; return whether there is one and it ran."""
        file = self._file(body.script) if body.script and not body.is_gone else None
        if file is None or file.failures >= MOST_FAILURES:
            return False
        if not self._depth:
            self._messages_left = MOST_MESSAGES
        self._depth += 1
        try:
            found, _result = self._runtime.call(
                file.environment, event, body.handle, *(_lua_value(value) for value in values)
            )
        except ScriptError as error:
            self._failed(file, body, event, error)
            return False
        except Exception as error:  # noqa: BLE001  # the fault of a function, not of its script
            self.counters["functions failed"] += 1
            self.world.faults.add("a function for scripts", body.spawn.name, error)
            return False
        finally:
            self._depth -= 1
        if found:
            self.counters[f"event {event}" if event in _EVENTS else "functions called"] += 1
            file.failures = 0
        return bool(found)

    def may_send(self) -> bool:
        """Count a message of the running call; return False if it must be dropped."""
        self._messages_left -= 1
        if self._messages_left < 0:
            self.counters["messages dropped"] += 1
        return self._messages_left >= 0

    def _failed(self, file: _File, body: Body, event: str, error: ScriptError) -> None:
        file.failures += 1
        self.counters["errors"] += 1
        place = f"{error.path}:{error.line}:{event}"
        self.errors[place] += 1
        if self.errors[place] == 1:
            self._report(f"{error} (in {event} of {body.spawn.name})")
        if file.failures == MOST_FAILURES:
            self._report(f"{file.path} failed {MOST_FAILURES} times in a row and is switched off")

    def _stub(self, name: str, value: Any) -> Callable[..., Any]:
        def call(*_values: Any) -> Any:
            self.stubs[name] += 1
            if self.stubs[name] == 1:
                self._report(f"a script calls {name}, which this server does not have")
            return value

        return call

    # -- spawns and players ----------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Bind a spawn of the content file to its script, and call the event `spawn`."""
        home = self._home(zone)
        body = Body(spawn, home, standing=standing, script=standing.entry.script)
        home.add(body)
        self.call(body, "spawn")

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """End the handle of a spawn that has left its zone."""
        home = self._homes.get(zone)
        body = home.bodies.get(spawn.id) if home is not None else None
        if body is not None:
            self._forget(body)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        home = self._homes.pop(zone, None)
        if home is not None:
            for body in list(home.bodies.values()):
                self._forget(body)
            self._deadlines.clear(home, Due.NEAR)
            home.end()

    def body_of(self, spawn: Spawn, zone: Zone) -> Body | None:
        """Return a spawn of the content file, or a player, as scripts have it."""
        home = self._homes.get(zone)
        if home is None:
            return None
        found = home.bodies.get(spawn.id)
        if found is not None:
            return found
        for player in self.world.players:
            if player.spawn is spawn and player.zone is zone:
                return self.player_body(player)
        return None

    def player_body(self, player: Player) -> Body:
        """Return the one body of a player in its zone."""
        home = self._home(player.zone)
        found = home.players.get(player.id)
        # A player can be replaced by another object of the same character, after a second login.
        if found is None or found.player is not player:
            if found is not None:
                found.end()
            found = home.players[player.id] = Body(player.spawn, home, player)
        return found

    def home_of(self, zone_id: int) -> Home | None:
        """Return a running zone by its number."""
        return next((home for zone, home in self._homes.items() if zone.zone_id == zone_id), None)

    def players_in(self, home: Home) -> list[Player]:
        """Return the players who stand in a zone."""
        return self.world.players.standing_in(home.zone)

    def _home(self, zone: Zone) -> Home:
        home = self._homes.get(zone)
        if home is None:
            home = self._homes[zone] = Home(zone)
        return home

    def _forget(self, body: Body) -> None:
        for timer in body.timers:
            timer.is_stopped = True
            self._deadlines.clear(timer, Due.TIMER)
        self._deadlines.clear(body, Due.TURN)
        self.talks.forget_speaker(body)
        body.home.remove(body)

    # -- events of the world ----------------------------------------------------

    def heard(self, speaker: Player, text: str, _now: Monotonic) -> None:
        """Call `hailed` of the target that a player hails from near."""
        target = speaker.target
        home = self._homes.get(speaker.zone)
        if target is None or home is None or not text.casefold().startswith("hail"):
            return
        body = home.bodies.get(target.id)
        if body is not None and distance_between(body.spawn, speaker.spawn) < HAIL_DISTANCE:
            self.call(body, "hailed", self.player_body(speaker))

    def entered(self, player: Player, now: Monotonic) -> None:
        """Let the scripts of a zone go on when a player stands there."""
        home = self._homes.get(player.zone)
        if home is None:
            return
        waiting, home.waiting = home.waiting, []
        for timer in waiting:
            if not timer.is_stopped:
                self._deadlines.set(timer, Due.TIMER, now)
        self._watch(home, now)

    def left(self, player: Player) -> None:
        """End the handle of a player who leaves a zone."""
        self.talks.forget_player(player)
        for home in self._homes.values():
            body = home.players.get(player.id)
            if body is None:
                continue
            del home.players[player.id]
            body.end()
            # No function is called: a player who comes back is greeted again.
            for near in home.near:
                if near.nearness is not None:
                    near.nearness.inside.pop(player.id, None)

    def register(self, messages: WorldMessages) -> None:
        """Take over the messages about dialogs; those of behaviors are passed on."""
        messages["OP_DialogSelectMsg"] = WorldMessageRule(self.select_message, IN_ZONE)
        messages["OP_DialogCloseMsg"] = WorldMessageRule(self.close_message, IN_ZONE)

    def select_message(self, player: Player, message: bytes, now: Monotonic) -> None:
        """Handle OP_DialogSelectMsg. Raises `MalformedMessage`, and `CommandError`."""
        fields = player.client.dialect.layout("WS_DialogSelect").decode(message)
        number = fields["conversation_id"]
        if not self.talks.knows(player, number):
            self._behaviors.select_message(player, message, now)
            return
        speaker, function = self.talks.answered(player, number, fields["response"])
        if speaker is not None and function and speaker.home.zone is player.zone:
            self.call(speaker, function, self.player_body(player))

    def close_message(self, player: Player, message: bytes, now: Monotonic) -> None:
        """Handle OP_DialogCloseMsg. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(message)
        self.talks.closed_by(player, fields["conversation_id"])
        self._behaviors.close_message(player, message, now)

    # -- what scripts want later ----------------------------------------------------

    def add_timer(
        self, body: Body, seconds: float, function: str, times: int, other: Body | None
    ) -> None:
        """Call a function of a spawn's script later."""
        for turn in range(max(1, min(times, MOST_REPEATS))):
            if len(body.timers) >= MOST_TIMERS:
                self.counters["timers left out"] += 1
                return
            timer = Timer(body, function, other)
            body.timers.append(timer)
            wait = max(SHORTEST_TIMER, seconds) + turn * BEAT
            self._deadlines.set(timer, Due.TIMER, Monotonic(self.now + wait))

    def stop_timers(self, body: Body, function: str) -> None:
        """Stop the timers of a spawn with one function; all of them if that is empty."""
        for timer in list(body.timers):
            if not function or timer.function == function:
                timer.is_stopped = True
                body.timers.remove(timer)
                self._deadlines.clear(timer, Due.TIMER)

    def watch_nearness(self, body: Body, distance: float, enter: str, leave: str) -> None:
        """Call functions when players come near a spawn and leave it; replace those of before."""
        body.nearness = Nearness(distance, enter, leave, {})
        body.home.near[body] = None
        if self.players_in(body.home):
            self._watch(body.home, self.now)

    def face(self, body: Body, other: Body) -> None:
        """Turn a spawn to another; from a player it turns back after a while."""
        at = body.spawn.position
        heading = at.heading_to(other.spawn.position)
        body.spawn.move(at._replace(heading=heading), speed=body.spawn.speed)
        if other.player is not None:
            self._deadlines.set(body, Due.TURN, Monotonic(self.now + TURNED))

    @property
    def now(self) -> Monotonic:
        """The time of the world's clock."""
        return self.world.clock.now()

    # -- time ----------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`, None if nothing is due."""
        return self._deadlines.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Call what is due."""
        while (due := self._deadlines.pop_due(now)) is not None:
            owner, what = due
            if isinstance(owner, Timer):
                self._ring(owner)
            elif isinstance(owner, Home):
                self._look(owner, now)
            elif what is Due.TURN:
                at = owner.spawn.position
                owner.spawn.move(at._replace(heading=owner.spawn.origin.heading))

    def _ring(self, timer: Timer) -> None:
        body = timer.body
        if not self.players_in(body.home):
            body.home.waiting.append(timer)
            return
        # Before the call: the function may set the same timer again.
        body.timers.remove(timer)
        timer.is_stopped = True
        if timer.function == DESPAWN:
            self.despawn(body.home.zone, body.spawn)
            return
        other = timer.other
        self.call(body, timer.function, other if other is None or not other.is_gone else None)

    def _watch(self, home: Home, now: Monotonic) -> None:
        if home.near and not home.is_watched:
            home.is_watched = True
            self._deadlines.set(home, Due.NEAR, now)

    def _look(self, home: Home, now: Monotonic) -> None:
        """Call the functions of the spawns to which players came near, or which they left."""
        players = self.players_in(home)
        home.is_watched = bool(players and home.near)
        if home.is_watched:
            self._deadlines.set(home, Due.NEAR, Monotonic(now + NEAR_PAUSE))
        for body in list(home.near):
            if body.nearness is not None:
                self._compare(body, body.nearness, players)

    def _compare(self, body: Body, nearness: Nearness, players: list[Player]) -> None:
        inside = nearness.inside
        for player in players:
            distance = distance_between(body.spawn, player.spawn)
            if player.id in inside:
                if distance > nearness.distance:
                    del inside[player.id]
                    if nearness.leave:
                        self.call(body, nearness.leave, self.player_body(player))
            elif distance < nearness.distance and player.index_of(body.spawn) is not None:
                inside[player.id] = player
                if nearness.enter:
                    self.call(body, nearness.enter, self.player_body(player))


_EVENTS: Final = frozenset(("spawn", "hailed"))


def _lua_value(value: Body | str | float | None) -> Any:
    if isinstance(value, Body):
        return value.handle
    return given(value) if isinstance(value, str) else value
