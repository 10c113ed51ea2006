"""Which uses of commands the audit keeps, and how `audit` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from emu.admin.commands import audit
from emu.admin.commands.audit import SAME, Auditor
from emu.audit import AuditedAct, AuditQuestion, Change
from emu.commands import Use
from emu.times import Moment
from tests.support.admin.commanding import CommandBench

BAN = Use(
    "ann", "rcon 192.0.2.1", "account ban alice 7d gold", "account alice is banned\nmore", True,
    "account ban", "account alice", Change("enabled", "banned until tomorrow"), "gold",
)  # fmt: skip


@pytest.fixture
def kept() -> list[AuditedAct]:
    return []


@pytest.fixture
def auditor(kept: list[AuditedAct]) -> Auditor:
    return Auditor(kept.append)


def test_an_act_is_kept_with_all_that_is_known_of_it(
    auditor: Auditor, kept: list[AuditedAct]
) -> None:
    auditor.used(BAN, Moment(7.0))
    assert kept == [
        AuditedAct(
            Moment(7.0), "ann", "rcon 192.0.2.1", "account ban", "account alice", "enabled",
            "banned until tomorrow", "gold", "account alice is banned", True,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("use", [replace(BAN, subject=""), replace(BAN, origin="emu")])
def test_uses_that_change_nothing_and_those_that_are_stored_already_are_left_out(
    auditor: Auditor, kept: list[AuditedAct], use: Use
) -> None:
    auditor.used(use, Moment(7.0))
    assert kept == []


def test_a_refused_act_is_kept(auditor: Auditor, kept: list[AuditedAct]) -> None:
    auditor.used(replace(BAN, ok=False, result="needs rank 100"), Moment(7.0))
    assert [(one.ok, one.result) for one in kept] == [(False, "needs rank 100")]


def test_the_same_act_is_kept_once_in_a_minute(auditor: Auditor, kept: list[AuditedAct]) -> None:
    moved = Use("bot", "ggmp 192.0.2.1", "actor 5: move 1 2 3", "", True, "ggmp move", "actor 5")
    for moment in range(int(2 * SAME)):
        auditor.used(moved, Moment(float(moment)))
    auditor.used(replace(moved, subject="actor 6"), Moment(2 * SAME - 1))
    assert [one.subject for one in kept] == ["actor 5", "actor 5", "actor 6"]


class Stored:
    """An audit that has two acts."""

    def __init__(self, acts: Sequence[AuditedAct]) -> None:
        self.acts = acts
        self.asked: list[AuditQuestion] = []

    async def add_act(self, act: AuditedAct, oldest: Moment) -> None:
        raise NotImplementedError

    async def find(self, question: AuditQuestion) -> Sequence[AuditedAct]:
        self.asked.append(question)
        return self.acts


def test_the_command_lists_acts(auditor: Auditor, kept: list[AuditedAct]) -> None:
    auditor.used(BAN, Moment(7.0))
    store, bench = Stored(kept), CommandBench()
    bench.registry.extend(audit.COMMANDS.commands(store))
    reply = bench.run("audit account alice")
    assert store.asked[0].subject == "account alice"
    assert reply.text == (
        "1970-01-01T00:00:07Z ann (rcon 192.0.2.1): account ban, account alice (enabled ->"
        " banned until tomorrow), reason: gold: account alice is banned"
    )
    assert reply.data[0]["subject"] == "account alice"
    assert not bench.run("audit", rank=10).ok
    store.acts = []
    assert bench.run("audit").text == "the audit has no such act"
