"""What sessions cost: charged to accounts and addresses, and who has to wait for it.

The dispatcher measures how long it served a session, by the clock on the wall: to ask for the
processor's time costs a tenth of a datagram. Rules and budgets are those of `emu.limits.turns`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from emu.limits.addresses import address_key
from emu.limits.turns import TurnRules, WorkBudget
from emu.net.udp.session_port import LATE, SessionPort
from emu.net.udp.sockets import HostPort
from emu.times import Monotonic

MOST_BUDGETS: Final = 20_000
"""Accounts and addresses whose work is remembered when their sessions have ended."""
SECONDS_OF_DATAGRAM: Final = 5e-6
SECONDS_OF_BYTE: Final = 0.3e-6
"""What it takes to read a datagram and each of its bytes, at most: many short messages in one."""
SECONDS_OF_SESSION: Final = 300e-6
"""What it takes to make a session and its keys."""
FORGED: Final = "bad check"


class Accounting:
    """The budgets of one dispatcher.

    `clock` is what the dispatcher measures with.
    `late_sessions` counts how often a session had used up its share, `unread_datagrams` those that
    were dropped because to read them costs too much.
    """

    def __init__(
        self,
        rules: TurnRules,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.rules = rules
        self.clock = clock
        self.late_sessions = 0
        self.unread_datagrams = 0
        self.unread: dict[HostPort, Monotonic] = {}
        """Until when datagrams of an address are dropped; mostly empty."""
        self._address_rules = replace(rules, reserve=rules.address_reserve)
        self._budgets: dict[object, WorkBudget] = {}

    def is_unread(self, address: HostPort, now: Monotonic) -> bool:
        """Whether datagrams of an address are dropped now: to read them costs too much."""
        until = self.unread.get(address)
        if until is None:
            return False
        if now >= until:
            del self.unread[address]
            return False
        self.unread_datagrams += 1
        return True

    def charge_to(self, port: SessionPort, account: object, now: Monotonic) -> None:
        """Have the work for a session charged to an account from now on."""
        port.budget = self._budget(account, self.rules, now)

    def charge_to_address(self, port: SessionPort, now: Monotonic) -> bool:
        """Have the work for a new session charged to its address; True when it has to wait."""
        budget = self._budget(address_key(port.address[0]), self._address_rules, now)
        port.budget = budget
        port.spent += SECONDS_OF_SESSION
        return budget.spent(now) >= self._address_rules.reserve and self.charge(port, now)

    def _budget(self, account: object, rules: TurnRules, now: Monotonic) -> WorkBudget:
        found = self._budgets.get(account)
        if found is None:
            if len(self._budgets) >= MOST_BUDGETS:
                self._forget_some(now)
            found = self._budgets[account] = WorkBudget(rules, now)
        return found

    def _forget_some(self, now: Monotonic) -> None:
        """Forget the budgets that are full; else those that are oldest."""
        kept = {
            account: budget for account, budget in self._budgets.items() if budget.spent(now) > 0
        }
        while len(kept) > MOST_BUDGETS // 2:
            del kept[next(iter(kept))]
        self._budgets = kept

    def charge(self, port: SessionPort, now: Monotonic) -> bool:
        """Take what was done for a session off its budget; True when it has to wait now."""
        budget = port.budget
        if budget is None:
            return False
        budget.charge(port.spent + self._reading(port), now)
        port.spent = 0.0
        resumes_at = budget.resumes_at()
        if resumes_at is None:
            return False
        port.resumes_at = resumes_at
        if not port.holds & LATE:
            port.holds |= LATE
            self.late_sessions += 1
            return True
        reads_at = budget.reads_at()
        if reads_at is not None:  # it is not served, so that this is what its datagrams cost
            self.unread[port.address] = reads_at
        return True

    def forget(self, port: SessionPort, now: Monotonic) -> None:
        """Charge what is left of a session that is over."""
        if port.budget is not None:
            port.budget.charge(port.spent + self._reading(port), now)
            port.spent = 0.0
        if self.unread:
            self.unread.pop(port.address, None)

    def _reading(self, port: SessionPort) -> float:
        """Return about how many seconds it took to read a session's datagrams, since last asked.

        To measure each of them would cost too much. Those with a wrong check do not count: anybody
        can send them from the session's address.
        """
        session = port.session
        counts = session.counts()
        forged = session.drops.get(FORGED, 0)
        datagrams = counts.datagrams_received - forged
        seconds = datagrams * SECONDS_OF_DATAGRAM
        if datagrams:
            real = datagrams / counts.datagrams_received
            seconds += counts.bytes_received * real * SECONDS_OF_BYTE
        since, port.reading = max(0.0, seconds - port.reading), seconds
        return since
