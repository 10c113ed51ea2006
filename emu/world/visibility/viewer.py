"""A viewer and its interest set: the ghosts that one client has, and the updates that are due.

The zone decides when to create, update and destroy ghosts; this module encodes and sends the
commands. The state that a viewer was sent last moves only when an update is taken, so every update
that is taken must be sent. A viewer with a full link takes no update. It gets the newest state
later, and skips the states between. Source: docs/protocol/structs.md#packed,
docs/protocol/world/movement.md#updates, docs/protocol/world/recorded.md#update-ghost,
docs/protocol/world/spawns.md#visibility, docs/protocol/world/spawns.md#create-ghost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol

from emu.errors import LimitExceeded
from emu.rules.stance import OWN_ARROW, Look, Stance, look_at
from emu.structs.packed import oversized
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import BaselineCache, GhostBaseline, GhostState
from emu.world.visibility.fields import INDEX_SIZE
from emu.world.visibility.forms import NO_SPAWN, GhostForm
from emu.world_stream.ghosts import (
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    DESTROY_GHOST,
    TITLE_CHANGED,
    UPDATE_GHOST,
)
from emu.world_stream.movement import Position

OWN_INDEX: Final = 1
LAST_INDEX: Final = 0xFFFE
# A larger round would also occupy the link for long: a spawn that moves meanwhile waits for all of
# it.
MOST_BYTES: Final = 16 * 1024
"""The most bytes of one round of updates, far below the 65,535 that a section's length can say."""
SKIPPED: Final = frozenset((0, OWN_INDEX, 255))
"""Indexes that no other ghost gets: none, the viewer's own, and the mark of a two-byte index."""
_ABSENT: Final = b"\0"
# A crowded zone encodes hundreds of thousands of indexes a second; a table costs less than a call.
_MARKS: Final = tuple(map(oversized, range(1024)))
"""Encoded indexes, made once; larger indexes are rare and encoded each time."""
_NOTHING: Final[AbstractSet[int]] = frozenset()
_UNMARKED: Final[Mapping[int, int]] = MappingProxyType({})


_Entry = tuple[int, bytes, bytes]
"""A viewer's index of a spawn, and the entries of its info part and its place; one may be empty."""


class ObservedSpawn:
    """One spawn in an interest set: its index, and the state that the viewer was sent last.

    There is one for each pair of viewer and spawn, so it has only these five attributes.
    """

    __slots__ = ("baseline", "index", "look", "sent", "target")

    def __init__(self, index: int, baseline: GhostBaseline) -> None:
        self.index = index
        self.baseline = baseline
        self.sent = baseline.now
        self.target = NO_SPAWN
        """The target that the viewer was sent."""
        self.look: Look | None = None
        """The arrow and attitude of its own that the viewer was sent."""


class InterestSet:
    """The spawns that one viewer is shown, by spawn id, and those with due updates."""

    __slots__ = (
        "_by_spawn", "_has_wrapped", "_next", "_targets", "due", "look_at", "marks", "renamed",
        "resolved", "sought",
    )  # fmt: skip

    def __init__(self, look_at: Callable[[Stance], Look] | None = None) -> None:
        """`look_at` returns how the viewer sees a stance; None: neutrally."""
        self.look_at = look_at
        self.marks: Mapping[int, int] = _UNMARKED
        """The marks of quests over spawns, by number; replaced and never changed."""
        self.sought: Callable[[Spawn], bool] | None = None
        """Returns whether a quest of the viewer wants a spawn dead; None: it wants none."""
        self._by_spawn: dict[int, ObservedSpawn] = {}
        self.due: AbstractSet[int] = _NOTHING
        """The spawns that may have an update, by id; replaced and never changed."""
        self._next = OWN_INDEX + 1
        self._has_wrapped = False
        self._targets: dict[int, int] | None = None
        """For each spawn that has a target, that target, in the set or not."""
        self.renamed: list[bytes] = []
        """Payloads of UpdateTitle that `take_updates` has found due."""
        self.resolved: Callable[[int, Spawn | None], Spawn | None] | None = None
        """Called with each index that the client names and its spawn; returns the spawn."""

    def __len__(self) -> int:
        return len(self._by_spawn)

    def __iter__(self) -> Iterator[Spawn]:
        """Iterate over a snapshot of all spawns in the set."""
        return iter([observed.baseline.spawn for observed in self._by_spawn.values()])

    def __contains__(self, spawn: Spawn) -> bool:
        return spawn.id in self._by_spawn

    def index_of(self, spawn: Spawn) -> int | None:
        """Return the viewer's index of a spawn, None if the spawn is not in the set."""
        found = self._by_spawn.get(spawn.id)
        return found.index if found is not None else None

    def spawn_at(self, index: int) -> Spawn | None:
        """Return the spawn with an index, None if there is none."""
        # A player's click asks for this, which is rare. An index table would cost memory for every
        # pair of viewer and spawn, and time for every ghost.
        found = None
        for observed in self._by_spawn.values():
            if observed.index == index:
                found = observed.baseline.spawn
                break
        return found if self.resolved is None else self.resolved(index, found)

    def show(self, baseline: GhostBaseline, time_stamp: int) -> bytes:
        """Add a spawn; return the payload that creates its ghost. The viewer's own gets index 1.

        Raises `LimitExceeded` if every index is taken.
        """
        baseline.refresh()
        # Not before `refresh`: `ObservedSpawn` notes `baseline.now` as the state that the client is
        # about to have.
        observed = ObservedSpawn(OWN_INDEX if baseline.own else self._free_index(), baseline)
        self._by_spawn[baseline.spawn.id] = observed
        self._target_changed(baseline.spawn.id)
        if baseline.now.target:
            observed.target = self._target_for(observed, baseline.now.target)
        observed.look = self._look_for(baseline)
        return baseline.create(observed.index, time_stamp, observed.target, observed.look)

    def _look_for(self, baseline: GhostBaseline) -> Look | None:
        stance = baseline.now.stance
        look = None if stance is None or self.look_at is None else self.look_at(stance)
        spawn = baseline.spawn
        mark = self.marks.get(spawn.id, 0) if self.marks else 0
        is_sought = self.sought is not None and self.sought(spawn)
        if mark or is_sought:
            own = Look(OWN_ARROW, 0) if look is None else look
            return own._replace(mark=mark, is_sought=is_sought)
        return look

    def _target_for(self, observed: ObservedSpawn, target_id: int) -> int:
        """Return what this viewer is sent for a target: -index-1, `NO_SPAWN` if it is not shown."""
        if not target_id:
            if self._targets:
                self._targets.pop(observed.baseline.spawn.id, None)
            return NO_SPAWN
        if self._targets is None:
            self._targets = {}
        self._targets[observed.baseline.spawn.id] = target_id
        found = self._by_spawn.get(target_id)
        return NO_SPAWN if found is None else NO_SPAWN - found.index

    def _target_changed(self, spawn_id: int) -> None:
        """Note the spawns whose target has got an index, or has lost it."""
        targets = self._targets
        # This runs for each ghost that comes or goes, and few of them are anybody's target.
        if targets and spawn_id in targets.values():
            self.changed({one for one, target in targets.items() if target == spawn_id})

    def hide(self, spawn: Spawn) -> int | None:
        """Remove a spawn; return its index, which destroys the ghost, or None if it was absent."""
        observed = self._by_spawn.pop(spawn.id, None)
        if observed is None:
            return None
        # A spawn that is gone has no update. `due` may be shared with other viewers, so it is
        # replaced and never changed in place.
        if spawn.id in self.due:
            self.due = self.due - {spawn.id}
        if self._targets:
            self._targets.pop(spawn.id, None)
        self._target_changed(spawn.id)
        return observed.index

    def changed(self, spawn_ids: AbstractSet[int]) -> None:
        """Note the spawns that have changed; ignore those that are not in the set."""
        # One intersection instead of a loop: it runs for each viewer in each tick, and most spawns
        # that have changed are not in the set.
        seen = self._by_spawn.keys() & spawn_ids
        # Most viewers have no backlog; then the intersection serves without another set.
        self.due = seen | self.due if self.due else seen

    def all_changed(self) -> None:
        """Note that every spawn may have changed."""
        # A client gets no updates until it is ready, so what changed since its ghosts were created
        # is compared again. Spawns without a change cost nothing more than that.
        self.due = set(self._by_spawn)

    @property
    def is_due(self) -> bool:
        """Whether any spawn may have an update."""
        return bool(self.due)

    def take_updates(self, now_ms: int, capacity: int, center: Position) -> list[bytes]:
        """Return the due payloads of OP_EqUpdateGhostCmd that fit into about `capacity` bytes.

        If they do not all fit, the nearest spawns come first. A spawn whose visibility part changed
        has a payload of its own, as EQ2Emulator sends it; all others share one.
        """
        capacity = min(capacity, MOST_BYTES)
        # One stamp for the whole round: it is the time of the zone, not that of each spawn.
        stamp = now_ms.to_bytes(4, "little")
        payloads: list[bytes] = []
        shared: list[_Entry] = []
        late: set[int] = set()
        marks: tuple[bytes, bytes] | None = None
        for observed in self._nearest_first(capacity, center):
            baseline = observed.baseline
            sent, now = observed.sent, baseline.now
            # Identity is enough: all viewers share the state objects of one `GhostBaseline`.
            if sent is now and not now.target and self._look_for(baseline) == observed.look:
                continue
            # Entries that are left over stay due. Their state advances meanwhile, and a later round
            # sends one delta over all skipped states.
            if capacity <= 0:
                late.add(baseline.spawn.id)
                continue
            step = baseline.step if sent is baseline.before else baseline.step_from(sent)
            observed.sent = now  # true only if the caller sends it: see the module's docstring
            # Counted before the session compresses and splits it. The exact size does not matter:
            # the next question to the link has it.
            capacity -= step.size + _MARK_SIZE
            if marks is None:
                marks = baseline.form.entry_marks(stamp)
            index = observed.index
            mark = _MARKS[index] if index < len(_MARKS) else oversized(index)
            info, view = step.info, step.visibility
            # In a crowd nearly all entries are steps: only what is the viewer's own costs a call.
            if (
                now.target or now.stance is not None or now.names != sent.names or self.marks
                or observed.target != NO_SPAWN or observed.look is not None
                or (self.sought is not None and not baseline.is_player)
            ):  # fmt: skip
                info = self._info_change(observed, sent, info)
                view = self._view_change(observed, sent, view)
            info = mark + info if info else b""
            position = step.position
            if position:
                position = mark + marks[not baseline.is_player] + position
            if view:
                payloads.append(_payload(stamp, [info], [position], [mark + view]))
            elif info or position:
                shared.append((index, info, position))
        self.due = late or _NOTHING
        if shared:
            payloads.append(_shared_payload(stamp, shared))
        return payloads

    def _info_change(self, observed: ObservedSpawn, sent: GhostState, shared: bytes) -> bytes:
        """Return the change of an info part: the shared one, or this viewer's if it has a target.

        Changed names are noted beside it, for versions that have them outside of the info part.
        """
        now = observed.baseline.now
        if now.names != sent.names:
            self.renamed.append(observed.index.to_bytes(INDEX_SIZE, "little") + now.names)
        if not now.target and observed.target == NO_SPAWN:
            return shared
        before, baseline = observed.target, observed.baseline
        target = observed.target = self._target_for(observed, now.target)
        return baseline.info_delta(sent, before, target)

    def _view_change(self, observed: ObservedSpawn, sent: GhostState, shared: bytes) -> bytes:
        """Return the change of a visibility part: the shared one, or this viewer's."""
        old, look = observed.look, self._look_for(observed.baseline)
        if old is look is None:
            return shared
        observed.look = look
        return observed.baseline.look_delta(sent, old, look)

    def _nearest_first(self, capacity: int, center: Position) -> Iterable[ObservedSpawn]:
        by_spawn = self._by_spawn
        found = [by_spawn[spawn_id] for spawn_id in self.due]
        # Sorting is needed only if something will be left out; usually everything fits.
        if capacity < len(found) * _TYPICAL_ENTRY:
            found.sort(key=lambda observed: center.distance_to(observed.baseline.spawn.position))
        return found

    def _free_index(self) -> int:
        # Indexes count upward to the end of their range before any is used again: an update that
        # is still in flight must not change the ghost that gets the index next.
        if self._next > LAST_INDEX:
            # Before the first wrap no index can be taken twice, so the set of taken ones, which is
            # expensive, is not made.
            self._has_wrapped = True
        taken: AbstractSet[int] = _NOTHING
        if self._has_wrapped:
            taken = {observed.index for observed in self._by_spawn.values()}
        for _ in range(LAST_INDEX):
            index = self._next if self._next <= LAST_INDEX else OWN_INDEX + 1
            self._next = index + 1
            if index not in SKIPPED and index not in taken:
                return index
        raise LimitExceeded("every index of a viewer is taken")


_MARK_SIZE: Final = 1
"""The length of most encoded indexes, in bytes."""
_TYPICAL_ENTRY: Final = 24
"""The usual length of an entry in bytes; it decides whether entries are sorted by distance."""


def _shared_payload(stamp: bytes, entries: list[_Entry]) -> bytes:
    # Entries must rise by index (docs/protocol/world/movement.md#updates).
    entries.sort()
    infos, positions = [info for _, info, _ in entries], [position for _, _, position in entries]
    return _payload(stamp, infos, positions, [])


def _payload(
    stamp: bytes, infos: list[bytes], positions: list[bytes], visibilities: list[bytes]
) -> bytes:
    return b"".join((stamp, _section(infos), _section(positions), _section(visibilities)))


def _section(entries: list[bytes]) -> bytes:
    data = b"".join(entries)
    return oversized(len(data)) + data if data else _ABSENT


CREATE: Final = {
    SpawnKind.SIGN: CREATE_SIGN,
    SpawnKind.WIDGET: CREATE_WIDGET,
}
_DELETE: Final = b"\1"


class ViewerLink(Protocol):
    """The part of a client's connection that a viewer uses."""

    def command(self, name: str, payload: bytes, *, may_wait: bool = False) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name.

        One that `may_wait` leaves with the next message, a moment later at most.
        """

    def send_bytes(self, name: str, payload: bytes = b"") -> bool:
        """Send a message by its opcode's name; return False if the client has no such message."""

    def capacity(self) -> int:
        """Return how many bytes may usefully be sent now; 0 or less if the link is full."""


@dataclass(slots=True, eq=False)
class Viewer:
    """A player's client that is shown a zone."""

    spawn: Spawn
    """The player's own spawn."""
    form: GhostForm
    link: ViewerLink
    baselines: BaselineCache
    interest: InterestSet = field(init=False)
    is_ready: bool = False
    """Whether the client takes updates: it has reported that its avatar is ready."""
    standings: Mapping[int, int] = field(default_factory=dict)
    """What factions think of the player, by number; call `look_again` when they change."""
    awaited: tuple[Spawn, Callable[[], object]] | None = None
    """A spawn that is to be shown soon, and what is called once its ghost is sent."""
    player_shown: Callable[[Spawn], object] | None = None
    """Called when the ghost of a player was sent."""
    _level: int = 0
    """The player's level by which it judged the arrows of others."""

    def __post_init__(self) -> None:
        spawn, standings = self.spawn, self.standings
        # Without the viewer: a circle would keep all ghosts, and a zone's spawns by them, until
        # the search for garbage.
        self.interest = InterestSet(
            lambda stance: look_at(stance, spawn.level, standings, spawn.id)
        )
        self._level = self.spawn.level

    def look_again(self) -> None:
        """Compare the arrows and attitudes of all ghosts again; changed ones are due then."""
        self._level = self.spawn.level
        self.interest.all_changed()

    @property
    def has_new_level(self) -> bool:
        """Whether the player's level has changed since it judged the arrows of others."""
        return self._level != self.spawn.level

    @property
    def is_crowded(self) -> bool:
        """Whether new ghosts must wait for the link. A client that is still loading gets all."""
        # A client that still loads gets no updates, so ghosts compete with nothing on its link.
        return self.is_ready and self.link.capacity() <= 0

    def show(self, spawn: Spawn, now_ms: int) -> None:
        """Add a spawn to the interest set and send the command that creates its ghost."""
        self.send_ghost(spawn, self.observe(spawn, now_ms))

    def observe(self, spawn: Spawn, now_ms: int) -> bytes:
        """Add a spawn to the interest set; return the payload that creates its ghost.

        Raises if the spawn cannot be encoded; the spawn is then not in the set.
        """
        try:
            # The player's own ghost has a baseline of its own: it ignores movement, which the
            # client predicts itself.
            baseline = self.baselines.get(spawn, self.form, own=spawn is self.spawn)
            return self.interest.show(baseline, now_ms)
        except Exception:
            # The index is lost, but both sides agree: the client never saw a ghost with it.
            self.interest.hide(spawn)
            raise

    def send_ghost(self, spawn: Spawn, payload: bytes) -> None:
        """Send the command that creates a ghost."""
        self.link.command(CREATE.get(spawn.kind, CREATE_GHOST), payload)
        if self.awaited is not None and self.awaited[0] is spawn:
            (_, shown), self.awaited = self.awaited, None
            shown()
        if spawn.kind is SpawnKind.PLAYER and self.player_shown is not None:
            self.player_shown(spawn)

    def hide(self, spawn: Spawn) -> None:
        """Destroy a ghost; send nothing if the spawn is not in the interest set."""
        index = self.interest.hide(spawn)
        if index is not None:
            self.link.command(DESTROY_GHOST, oversized(index) + _DELETE)

    def flush(self, now_ms: int) -> None:
        """Send due updates as far as the link has capacity; the rest waits."""
        interest, link = self.interest, self.link
        # The loop must end with a question that the link answers with 0: only after that answer
        # does the session report new capacity (`emu.session.Session.capacity`).
        while interest.due and (capacity := link.capacity()) > 0:
            for payload in interest.take_updates(now_ms, capacity, self.spawn.position):
                link.command(UPDATE_GHOST, payload)
            for payload in interest.renamed:
                link.send_bytes(TITLE_CHANGED, payload)
            interest.renamed.clear()
