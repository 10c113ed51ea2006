"""The gate of a player's acts, and what is noted for the ledger."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred, ensureDeferred

from emu.errors import CommandError
from emu.items.inventory import Inventory
from emu.ledger import Owner, OwnerKind, Part, What
from emu.world.actors.holdings import MOST_WAITING, Gate, Holdings
from tests.support.coroutines import finish

ONE, NOTHING = Owner.character(1), Owner(OwnerKind.NOTHING)


def test_acts_pass_one_after_the_other() -> None:
    gate, order = Gate(Deferred), []

    async def act(name: str, wait: Deferred[None]) -> None:
        await gate.pass_through()
        order.append(name)
        await wait
        gate.leave()

    waits: list[Deferred[None]] = [Deferred() for _ in range(3)]
    for name, wait in zip("abc", waits, strict=True):
        ensureDeferred(act(name, wait))
    assert order == ["a"]
    waits[0].callback(None)
    assert order == ["a", "b"]
    waits[2].callback(None)
    waits[1].callback(None)
    assert order == ["a", "b", "c"]
    assert not gate.is_closed


def test_too_many_waiting_acts_are_refused() -> None:
    gate = Gate(Deferred)
    gate.is_closed = True
    for _ in range(MOST_WAITING):
        ensureDeferred(gate.pass_through())
    failed: list[object] = []
    ensureDeferred(gate.pass_through()).addErrback(lambda failure: failed.append(failure.type))
    assert failed == [CommandError]


def test_flows_are_added_up_for_the_ledger() -> None:
    holdings = Holdings(Inventory((), {}), Deferred)
    assert (holdings.has_unsaved, holdings.is_storing) == (False, False)
    for _ in range(3):
        holdings.flow(ONE, NOTHING, 910002, 2)
    assert holdings.has_unsaved
    assert holdings.take_parts() == [Part(ONE, NOTHING, 6, What.THINGS, 910002)]
    assert not holdings.has_unsaved


@pytest.mark.parametrize("count", [0])
def test_no_flow_is_no_part(count: int) -> None:
    holdings = Holdings(Inventory((), {}), Deferred)
    holdings.flow(ONE, NOTHING, 910002, count)
    assert holdings.take_parts() == []


def test_what_an_act_begins_belongs_to_it() -> None:
    """A script that runs in an act takes things; an exchange that it begins leaves by itself."""
    gate = Gate(Deferred)
    seen: list[bool] = []
    finish(gate.carry_out(lambda: seen.append(gate.is_closed)))
    assert (seen, gate.is_closed) == ([False], False)
    finish(gate.carry_out(lambda: finish(gate.pass_through())))
    assert gate.is_closed
    gate.leave()
    assert not gate.is_closed
