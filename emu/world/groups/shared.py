"""Groups whose members are in several processes of one world.

One process orders all changes of groups and raids: the others ask it, and copy its rows
(`emu.processes.tables`). So each change is made once, on one state, and all processes have the same
groups. Texts to members are no changes; they go to the members' processes without it
(`emu.world.social.group_texts`).

The process that orders says so with a claim, and each other process says which claim it follows.
When the one that orders has ended or is lost, one of those that followed it, the first by name,
claims the groups as it has them. If two processes claim them, for instance because one stood still
for a while, the later claim counts everywhere, and the other process takes the groups of that one.

A member that is in no process is on its way to another node, has camped, or its process is lost: it
is removed if it is not back in time.

Source: docs/guides/cluster.md#groups.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from emu.errors import CommandError, Unanswered
from emu.mailbox import Spawn
from emu.model import Present
from emu.processes.ports import Bus, Note, Presence
from emu.processes.tables import SharedTable
from emu.times import Clock, Monotonic
from emu.world.deadlines import Timetable
from emu.world.groups.changes import AWAY, REPEAT, GroupAction, GroupChanges, GroupOutcome
from emu.world.groups.groups import MOST_MEMBERS, GroupChange, GroupRow, Groups

TABLE: Final = "groups"
"""The topics of the table begin with it."""
ORDERS: Final = "groups.orders"
"""Topic of questions to the process that orders; it ends with a dot and that process."""
HANDOVER: Final = "groups.handover"
"""Topic: the process that orders ends; `to` is the one that orders from now on."""
CLAIM: Final = 0
"""The key of the claim that a process follows among its rows; groups have higher ones."""
UNCLAIMED: Final = 6.0
"""Seconds without a process that orders, before another one claims the groups. Longer than three
beats of the bus: a process that stood still itself must hear the others first.
"""
LOST: Final = 6.0
"""Seconds before the members of a lost process are removed: it may only have been cut off."""
STEADY: Final = 10.0
"""Seconds after a new connection to the bus, in which nobody is removed."""
ACTIONS: Final = {action.value: action for action in GroupAction}
MALFORMED: Final = "malformed message about groups"
NOT_NOW: Final = "groups cannot be changed at the moment; try again in a few seconds"


class GroupsClaim(NamedTuple):
    """The right of a process to order; of two, the greater one counts."""

    epoch: int
    """One more than that of all claims that were known before."""
    earlier: float
    """The moment at which it was made, negated: the earlier one of two first claims counts."""
    process: str


NO_CLAIM: Final = GroupsClaim(0, 0.0, "")


class Unreadable:
    """A row of another process that is not one of a group."""


Row = GroupsClaim | GroupRow | Unreadable


def read_row(values: Any) -> Row:
    """Return the row of another process' values."""
    match values:
        case {
            "epoch": int() as epoch, "earlier": float() as earlier, "process": str() as process,
        } if math.isfinite(earlier):  # fmt: skip
            return GroupsClaim(epoch, earlier, process)
        case {
            "id": int() as number, "members": list() as members, "raid": int() as raid,
            "place": int() as place,
        } if (
            number > CLAIM and raid >= 0 and place >= 0
            and 0 < len(members) <= MOST_MEMBERS
            and all(type(member) is int and member > 0 for member in members)
            and len(set(members)) == len(members)
        ):  # fmt: skip
            return GroupRow(number, tuple(members), raid, place)
    return Unreadable()


class SharedGroups(GroupChanges):
    """`GroupChanges` over a `Bus`; `process` is the unique name of this process.

    `run` is a number that differs for each start of a process, `start` runs a coroutine, `count`
    counts something that had no effect, and `report` is called with each process that orders. Call
    `tick` every second, and `publish_digest` every `emu.processes.tables.DIGEST` seconds.
    """

    is_shared = True

    def __init__(
        self,
        table: Groups,
        presence: Presence,
        clock: Clock,
        timetable: Timetable,
        *,
        bus: Bus,
        process: str,
        run: int,
        start: Spawn,
        count: Callable[[str], None],
        report: Callable[[str], None],
    ) -> None:
        super().__init__(table, presence, clock, timetable)
        self._bus = bus
        self._process = process
        self._start = start
        self._count = count
        self._report = report
        self._claim = NO_CLAIM
        """The claim that this process follows, or has made; that of nobody at first."""
        self._unclaimed: Monotonic | None = None
        """Since when no process orders."""
        self._steady_at = clock.now()
        self._gone: dict[int, Monotonic] = {}
        """When to remove the members that are in no process; the process that orders does."""
        self._leaving: dict[int, Monotonic] = {}
        """Players of this process that have left the world, and when to ask again to remove them
        from their groups.
        """
        self._is_begun = False
        bus.answer(f"{ORDERS}.{process}", self._answer)
        bus.subscribe(HANDOVER, self._heard_handover)
        self._rows: SharedTable[Row] = SharedTable(
            bus, TABLE, process, run=run, read=self._read, changed=self._heard, spawn=start
        )
        self._is_begun = True
        # A bus within one process has brought the rows of the others already.
        for holder, row in list(self._rows.holders(CLAIM)):
            self._heard(holder, CLAIM, row)

    @property
    def orderer(self) -> str:
        """The process that orders the changes; "" while there is none."""
        process = self._claim.process
        # A lost process, and one that was started again, has no claim in the table.
        is_there = process == self._process or self._claims().get(process) == self._claim
        return process if is_there else ""

    def _claims(self) -> dict[str, GroupsClaim]:
        """Return the claims that the other processes follow, `NO_CLAIM` for those without one."""
        holders = self._rows.holders(CLAIM)
        claims = {process: row for process, row in holders if isinstance(row, GroupsClaim)}
        return dict.fromkeys(self._rows.processes, NO_CLAIM) | claims

    async def make(self, action: GroupAction, by: int, to: int = 0) -> GroupOutcome:
        """Have a change made for the player `by`; `to` is the other one. Raises `CommandError`."""
        orderer = self.orderer
        # Without the bus another process may order by now.
        if not orderer or not self._bus.is_connected:
            raise CommandError(NOT_NOW)
        if orderer == self._process:
            return self._order(action, by, to, self._process)
        note = {"do": action.value, "by": by, "to": to, "process": self._process}
        try:
            return self._read_outcome(await self._bus.request(f"{ORDERS}.{orderer}", note))
        except Unanswered:
            raise CommandError(NOT_NOW) from None

    def forget(self, char_id: int, name: str) -> None:  # noqa: ARG002  # the orderer has the name
        """Remove a player that has left the world, or is hidden, and its invitations."""
        if self.table.of(char_id) is not None and not self._plays_elsewhere(char_id, self._process):
            self._leaving[char_id] = Monotonic(self._clock.now() + REPEAT)
            self._start(self._ask_to_forget(char_id))

    def away(self, char_id: int) -> None:
        """Keep a member that camps in its group for `AWAY` seconds."""
        if self.table.of(char_id) is not None:
            found = self._presence.find(char_id)
            if found is not None:
                self._known[char_id] = found
            self._gone[char_id] = Monotonic(self._clock.now() + AWAY)

    def is_away(self, char_id: int) -> bool:
        """Return whether a member that has left the world is kept in its group."""
        return char_id in self._gone

    def purge(self, char_id: int) -> None:
        """Remove a player that could not be forgotten."""
        if self.table.of(char_id) is not None:
            self._leaving.setdefault(char_id, self._clock.now())

    def publish_digest(self) -> None:
        """Publish what the others need in order to notice what they have missed."""
        self._rows.tick()

    def tick(self) -> None:
        """Claim the groups if nobody orders, and remove who is gone."""
        now = self._clock.now()
        if not self._bus.is_connected:
            # Nobody is heard, so nobody can be missed.
            self._unclaimed, self._steady_at = None, Monotonic(now + STEADY)
            return
        self._watch_orderer(now)
        if self._is_orderer:
            self.table.expire(now)
            if now >= self._steady_at:
                self._remove_absent(now)
        self._forget_leaving()

    def stop(self) -> None:
        """Hand over to another process, if this one orders: it ends."""
        others = self._claims()
        if self._is_orderer and others:
            self._bus.publish(HANDOVER, {"process": self._process, "to": _successor(others)})
            self._claim = self._claim._replace(process="")

    @property
    def _is_orderer(self) -> bool:
        return self._claim.process == self._process

    # -- the process that orders ----------------------------------------------------------------

    def _watch_orderer(self, now: Monotonic) -> None:
        if self.orderer:
            self._unclaimed = None
            return
        if self._unclaimed is None:
            self._unclaimed = now
        # The same one in every process, once all know of the same processes. One that has just
        # begun follows nobody, and has no groups.
        is_next = self._process == _successor({**self._claims(), self._process: self._claim})
        if is_next and now - self._unclaimed >= UNCLAIMED:
            self._take_over()

    def _heard_handover(self, note: Note) -> None:
        is_ordering = note.get("process") == self._claim.process and not self._is_orderer
        if is_ordering and note.get("to") == self._process:
            self._take_over()

    def _take_over(self) -> None:
        """Order from now on, with the groups as they are here."""
        known = max((self._claim, *self._claims().values()))
        self._unclaimed = None
        self._claim = GroupsClaim(known.epoch + 1, -self._clock.moment(), self._process)
        self.table.settle()
        self._show()
        # Not published one by one, because they may be thousands: the others notice a gap, and ask
        # for them in pages.
        for group in self.table:
            self._rows.own.change(group.id, group.row._asdict())
        # Last: the others take all groups of this process when they get its claim.
        self._rows.put(CLAIM, self._claim._asdict())
        self._report(self._process)

    def _follow(self, claim: GroupsClaim) -> None:
        """Copy the groups of another process from now on."""
        for key in list(self._rows.own.rows):
            self._rows.own.change(key, None)
        self._claim = claim
        self._rows.put(CLAIM, claim._asdict())
        self._copy_all()
        self._report(claim.process)

    def _copy_all(self) -> None:
        rows = self._rows.rows(self._claim.process).values()
        self.table.replace([row for row in rows if isinstance(row, GroupRow)])
        self._show()

    # -- rows of other processes ----------------------------------------------------------------

    def _read(self, values: Any) -> Row:
        row = read_row(values)
        if isinstance(row, Unreadable):
            self._count(MALFORMED)
        return row

    def _heard(self, process: str, key: int, row: Row | None) -> None:
        """Apply a row that another process has changed."""
        if not self._is_begun:
            return
        if key == CLAIM:
            if isinstance(row, GroupsClaim) and row.process == process:
                self._heard_claim(row)
        elif process == self._claim.process:
            # The rows of a lost process stay: whoever takes over continues with them.
            if row is None and process not in self._rows.processes:
                return
            self.table.apply(key, row if isinstance(row, GroupRow) and row.id == key else None)
            self._show()

    def _heard_claim(self, claim: GroupsClaim) -> None:
        if claim == self._claim:
            # Its process was lost, and has come back.
            self._copy_all()
        elif claim > self._claim:
            self._follow(claim)

    def _show(self) -> None:
        """Report what has changed, and publish it if this process orders."""
        for change in self.table.take_changes():
            if self._is_orderer:
                self._publish(change)
            before = () if change.before is None else change.before.members
            after = () if change.after is None else change.after.members
            self._learn(before, after)
            if before != after:
                self.changed(before, after)

    def _publish(self, change: GroupChange) -> None:
        if change.after is None:
            self._rows.drop(change.id)
        else:
            self._put(change.after)

    def _put(self, row: GroupRow) -> None:
        self._rows.put(row.id, row._asdict())

    # -- questions ------------------------------------------------------------------------------

    async def _answer(self, note: Note) -> Note:
        match note:
            case {
                "do": str() as do,
                "by": int() as by,
                "to": int() as to,
                "process": str() as process,
            } if do in ACTIONS:
                outcome = self._order(ACTIONS[do], by, to, process)
            case _:
                self._count(MALFORMED)
                raise CommandError(NOT_NOW)
        return {
            "members": json.dumps(outcome.members), "who": outcome.who, "is_raid": outcome.is_raid
        }  # fmt: skip

    def _order(self, action: GroupAction, by: int, to: int, process: str) -> GroupOutcome:
        """Make a change that a player of a process asks for. Raises `CommandError`."""
        # The asker may not have heard of the present claim yet.
        if not self._is_orderer:
            raise CommandError(NOT_NOW)
        if action is GroupAction.FORGET:
            if not self._plays_elsewhere(by, process):
                self._remove(by)
            return GroupOutcome()
        if action is GroupAction.ACCEPT:
            self._check_inviter(by)
        return self._make(action, by, to)

    def _read_outcome(self, answer: Note) -> GroupOutcome:
        try:
            members = tuple(map(int, json.loads(str(answer["members"]))))
            return GroupOutcome(members, int(answer["who"] or 0), bool(answer["is_raid"]))
        except (KeyError, TypeError, ValueError):
            self._count(MALFORMED)
            raise CommandError(NOT_NOW) from None

    def _check_inviter(self, guest: int) -> None:
        """Raise `CommandError` if the player that has invited another one has left, or is hidden.

        It may have been in no group, so that its leaving changed none.
        """
        inviter = self.table.inviter_of(guest)
        found = self._presence.find(inviter)
        is_gone = found is None or found.hidden
        if inviter and self.table.of(inviter) is None and is_gone:
            self.table.decline(guest)
            raise CommandError("nobody has invited you")

    # -- members --------------------------------------------------------------------------------

    def _seen(self, char_id: int, present: Present | None) -> None:
        """Note a change of a character, if it is a member."""
        group = self.table.of(char_id)
        if group is None:
            return
        if present is None:
            seconds = LOST if self._presence.is_lost(char_id) else AWAY
            self._gone[char_id] = Monotonic(self._clock.now() + seconds)
            return
        self._gone.pop(char_id, None)
        before = self._known.get(char_id)
        self._known[char_id] = present
        if before is None or _shown(before) != _shown(present):
            self.changed(group.members, group.members)

    def _learn(self, before: Sequence[int], after: Sequence[int]) -> None:
        """Note who the members of a group are, and forget who is in none any more."""
        for member in after:
            found = self._presence.find(member)
            if found is not None:
                self._known[member] = found
            else:
                due = Monotonic(self._clock.now() + AWAY)
                self._gone.setdefault(member, due)
        for member in set(before).difference(after):
            if self.table.of(member) is None:
                self._known.pop(member, None)
                self._gone.pop(member, None)

    def _plays_elsewhere(self, char_id: int, process: str) -> bool:
        """Return whether a process other than this one has a character in the world."""
        found = self._presence.find(char_id)
        return found is not None and found.process != process

    def _remove_absent(self, now: Monotonic) -> None:
        for member in [one for one, due in self._gone.items() if now >= due]:
            # The group may have ended with the one before.
            if self._gone.pop(member, None) is not None:
                self._remove(member)

    def _remove(self, char_id: int) -> None:
        """Remove a player and its invitations, and inform the other members."""
        known, before = self.present(char_id), self.table.of(char_id)
        outcome = self._make(GroupAction.FORGET, char_id, 0)
        if known is not None and before is not None:
            self.left(known.name, outcome.members)

    def _forget_leaving(self) -> None:
        """Ask to remove the players that have left this process, until they are in no group."""
        now = self._clock.now()
        for char_id in [one for one, due in self._leaving.items() if now >= due]:
            found = self._presence.find(char_id)
            if self.table.of(char_id) is None or (found is not None and not found.hidden):
                del self._leaving[char_id]
            else:
                self._leaving[char_id] = Monotonic(now + REPEAT)
                self._start(self._ask_to_forget(char_id))

    async def _ask_to_forget(self, char_id: int) -> None:
        try:
            await self.make(GroupAction.FORGET, char_id)
        except CommandError:
            # Asked again.
            return


def _successor(claims: Mapping[str, GroupsClaim]) -> str:
    """Return the process that orders next: the first by name of those with the last claim."""
    last = max(claims.values())
    return min(process for process, claim in claims.items() if claim == last)


def _shown(present: Present) -> tuple[object, ...]:
    """Return what the group window shows of a member."""
    return present.name, present.level, present.class_, present.race, present.zone_id
