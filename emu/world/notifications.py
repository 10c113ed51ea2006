"""Notifications of the world: typed subscriptions to what happens to players.

A listener that raises does not stop the other listeners: the fault is counted and reported
(`Faults`). Events for the log of operators are in `emu.world.events`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVarTuple

from emu.times import Monotonic
from emu.world.events import Fault, WorldEvent

if TYPE_CHECKING:
    from emu.world.actors.player import Player

Ts = TypeVarTuple("Ts")


class Faults:
    """Faults of the server that are confined to one actor: counted and reported."""

    def __init__(self, report: Callable[[WorldEvent], None]) -> None:
        self.report = report
        self.counts: Counter[str] = Counter()
        """How many faults there were, by task."""

    def attempt(
        self,
        task: str,
        player: Player | None,
        call: Callable[[*Ts], object],
        *values: *Ts,
    ) -> bool:
        """Call a function; count and report what it raises, and return whether it returned.

        `task` names the work in the metric's label, so it contains no player's name. `player` is
        the player concerned, if there is one.
        """
        try:
            call(*values)
        except Exception as error:  # noqa: BLE001  # everything else must go on
            self.add(task, player.name if player is not None else "", error)
            return False
        return True

    def add(self, task: str, actor: str, error: Exception) -> None:
        """Count and report a fault; raise nothing."""
        self.counts[task] += 1
        try:
            self.report(Fault(task, actor, error))
        except Exception:  # noqa: BLE001  # there is no other place to report this
            self.counts["reporting"] += 1


class WorldSubscription(Generic[*Ts]):
    """Listeners to one kind of event; `Ts` are the event's values, a player first."""

    __slots__ = ("_faults", "_listeners", "_task")

    def __init__(self, event: str, faults: Faults) -> None:
        """`event` names the event in the count of faults."""
        self._task: Final = f"a listener ({event})"
        self._faults = faults
        self._listeners: list[Callable[[*Ts], object]] = []

    def subscribe(self, listener: Callable[[*Ts], object]) -> None:
        """Call a function at each event from now on."""
        self._listeners.append(listener)

    def publish(self, *values: *Ts) -> None:
        """Call every listener."""
        for listener in tuple(self._listeners):
            self._faults.attempt(self._task, _player_of(values), listener, *values)

    def publish_twice(self, *values: *Ts) -> None:
        """Call every listener, and those that raised once more.

        For a player's leaving: what a listener still knows of the player would stay for ever.
        """
        attempt, player = self._faults.attempt, _player_of(values)
        failed = [
            listener
            for listener in tuple(self._listeners)
            if not attempt(self._task, player, listener, *values)
        ]
        for listener in failed:
            attempt(f"{self._task} again", player, listener, *values)


def _player_of(values: tuple[Any, ...]) -> Player | None:
    return values[0] if values else None


class WorldNotifications:
    """The subscriptions of one world."""

    def __init__(self, faults: Faults) -> None:
        self.arrived: WorldSubscription[Player, Monotonic] = WorldSubscription("arrived", faults)
        """A player stands in a zone and has come from outside the world."""
        self.standing: WorldSubscription[Player, Monotonic] = WorldSubscription("standing", faults)
        """A player stands in a zone."""
        self.out_of_zone: WorldSubscription[Player] = WorldSubscription("out of zone", faults)
        """A player has left its zone, or the world."""
        self.left: WorldSubscription[Player] = WorldSubscription("left", faults)
        """A player has left the world."""
        self.hidden_changed: WorldSubscription[Player] = WorldSubscription("hidden", faults)
        """A player is hidden now, or visible again."""
        self.rank_changed: WorldSubscription[Player] = WorldSubscription("rank", faults)
        """The rank of a player whose client is here has changed."""
        self.said: WorldSubscription[Player, str, Monotonic] = WorldSubscription("said", faults)
        """A player has said something aloud: the text."""
        self.status_changed: WorldSubscription[()] = WorldSubscription("status", faults)
        """The number of players or the lock has changed: what login servers and queries show."""
