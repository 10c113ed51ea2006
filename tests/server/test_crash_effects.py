"""kill -9 of the whole server while spells last, and while players lie dead.

What was seen early enough lasts afterwards, with the time that was left; power is as of the last
save; the dead are dead, and their shards lie there, which give their debt back once
(../shared/spec/eq2-spells.md 6, "kept over zoning and logout"). EMU_CRASH_ROUNDS is the number of
kills (1), EMU_CRASH_SEED makes another choice of moments, EMU_CRASH_FIGHTERS is the number of
casters (2).
"""

import os
import random
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore
from emu.client.world.events import PossessionsChanged, RevivalOffered, WorldEvent
from emu.errors import CommandError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.world.combat.shards import RECOVER
from tests.support.patience import patience
from tests.support.running.clients import stop_drained
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    sleep,
    until,
)
from tests.support.world.zone_files import write_zones

ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "1"))
SEED = int(os.environ.get("EMU_CRASH_SEED", "1"))
CASTERS = int(os.environ.get("EMU_CRASH_FIGHTERS", "2"))
SAVED, LATE = 0.2, 1.0
"""Seconds from a change to its save, and how much longer it may take on a busy machine."""
SHOWN = 1.0
"""Seconds until a client sees what has begun."""
SECONDS = {901: 30.0, 902: 600.0, 903: 600.0}
"""Spells of the casters, and how long they last."""
CLOCK, CLOCK_SECONDS = 904, 1000.0
"""A spell whose end gives the time of the server."""
GIANT = "a giant"
DEAD = "Fallen"
SAVE_SECONDS = 1.0
DEBT, BACK = 500, 450
"""Thousandths of a percent of a level that a death costs, and that its shard gives back."""
FIRST, MORE = 4.0, 2.0
"""Seconds of a round: these, and by chance up to so many more."""
QUIET = 4.0
"""Seconds before a kill without a cast."""
SETTINGS = {
    "login.auto_create_accounts": True, "world.save_seconds": SAVE_SECONDS,
    "world.vitality_gain": 0.0, "world.debt_recovery": 0.0,
}  # fmt: skip
ZONE = f"""
[zone]
id = 325
name = "IsleRefuge1"
file = "tutorial_island02"
description = "Isle of Refuge"
safe = [0.0, 0.0, 0.0, 0.0]
replaces = true
revive = [{{ name = "Dock" }}]

[[spawn]]
kind = "npc"
name = "{GIANT}"
place = [1.0, 0.0, 1.0]
model = 211
level = 90
attackable = true
"""
SPELL = """
[[spell]]
id = {id}
name = "Spell {id}"
target = 0
is_friendly = true
script = "plain:{acts}"
[[spell.tier]]
power = {power}
duration1 = {tenths}
recast = 0.5
values = {values}
[[starting_spell]]
spell = {id}
class = 255
race = 255
"""


def spells(folder: Path) -> Path:
    """Write a bonus that is short, a bonus that is long, a ward, and the clock."""
    made = [
        SPELL.format(
            id=number, acts=acts, values=values, tenths=int(seconds * 10),
            power=int(number != CLOCK),
        )
        for number, acts, values, seconds in (
            (901, "bonus", [3, 5], SECONDS[901]), (902, "bonus", [1, 7], SECONDS[902]),
            (903, "ward", [40], SECONDS[903]), (CLOCK, "bonus", [4, 1], CLOCK_SECONDS),
        )
    ]  # fmt: skip
    path = folder / "spells.toml"
    path.write_text("".join(made), encoding="utf-8")
    return path


@dataclass
class Player:
    """A player, what it does, and what its client has seen."""

    name: str
    choice: random.Random
    client: ClientWorldConnection | None = None
    ends: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """When a client saw that a spell began, and when that one ends."""
    powers: list[tuple[float, int]] = field(default_factory=list)
    """When a client saw its power, and how much."""
    died: float | None = None
    shown: dict[int, int] = field(default_factory=dict)
    is_playing: bool = False
    came: float = 0.0

    @property
    def core(self) -> WorldClientCore:
        assert self.client is not None
        return self.client.core

    async def come(self, server: ServerProcess) -> None:
        self.shown, self.powers, self.died, self.is_playing = {}, [], None, False
        credentials = Credentials(self.name.lower(), "secret")
        entrance = Entrance(credentials, self.name, create=True, reads_possessions=True)
        self.client = await enter_world(reactor, HOST, server.login_port, entrance)
        self.client.on_event = self.take
        self.came = reactor.seconds()
        self._look()

    def take(self, event: WorldEvent) -> None:
        if isinstance(event, RevivalOffered):
            self.died = reactor.seconds()
        elif isinstance(event, PossessionsChanged):
            self._look()

    def held(self, since: float) -> set[int]:
        """Return how much power it had, from a time on."""
        before = [power for when, power in self.powers if when <= since]
        return {power for when, power in self.powers if when > since}.union(before[-1:])

    def effects(self) -> dict[int, int]:
        """Return when the spells on it end, in milliseconds of the server's clock."""
        assert self.core.possessions is not None
        found = self.core.possessions.sheet.get("spell_effects", ())
        return {
            one["spell_id"]: one["expire_timestamp"] for one in found
            if one["spell_id"] in SECONDS or one["spell_id"] == CLOCK
        }  # fmt: skip

    def _look(self) -> None:
        if self.core.possessions is None:
            return
        now, effects = reactor.seconds(), self.effects()
        for number, end in effects.items():
            if self.is_playing and self.shown.get(number) != end and number in SECONDS:
                self.ends.setdefault(number, []).append((now, now + SECONDS[number]))
        self.shown = effects
        power = self.core.possessions.sheet.get("current_power")
        if power is not None:
            self.powers.append((now, int(power)))

    def order(self, line: str) -> None:
        assert self.client is not None
        self.client.act(partial(self._order, line))

    @staticmethod
    def _order(line: str, core: WorldClientCore) -> None:
        try:
            core.command(line)
        except CommandError:
            return  # it is just not in a zone

    def plays(self) -> None:
        """Cast something."""
        self.order(f"useability {self.choice.choice(sorted(SECONDS))}")

    def strikes(self) -> None:
        """Strike what kills it."""
        seen = self.core.surroundings
        found = next((one for one in seen or () if seen.name(one) == GIANT), None)
        if found is not None:
            assert self.client is not None
            self.client.act(lambda core: core.target(found))
            self.order("autoattack 1")

    def uses(self, name: str) -> None:
        """Use the shard of a name, which refuses the dead."""
        seen = self.core.surroundings
        found = next((one for one in seen or () if seen.name(one) == name), None)
        if found is not None:
            assert self.client is not None
            self.client.act(lambda core: core.use(found, RECOVER))

    async def seconds_left(self) -> tuple[float, dict[int, float]]:
        """Return the time, and how long each of its spells lasts from then on."""
        self.order(f"useability {CLOCK}")
        await until(lambda: CLOCK in self.effects(), f"the clock of {self.name}", 20.0)
        now, found = reactor.seconds(), self.effects()
        self.order(f"cancel_effect {CLOCK}")
        await until(lambda: CLOCK not in self.effects(), "the end of the clock", 20.0)
        zero = found.pop(CLOCK) / 1000 - CLOCK_SECONDS
        return now, {number: end / 1000 - zero for number, end in found.items()}


def expected(player: Player, number: int, killed: float) -> tuple[list[float], bool]:
    """Return the ends that a spell may have, and whether it must be there."""
    of = player.ends.get(number, [])
    sure = [one for one in of if one[0] < killed - SAVED - LATE]
    return [end for _, end in of[max(0, len(sure) - 1) :]], bool(sure)


async def check(player: Player, killed: float) -> int:
    """Hold what a player has after a kill to what its client had seen; return how many lasted."""
    now, left = await player.seconds_left()
    slack = SHOWN + LATE * patience(1.0) / 2
    for number in SECONDS:
        ends, is_sure = expected(player, number, killed)
        if is_sure and min(ends) - killed > SAVE_SECONDS + slack:
            assert number in left, f"{player.name} has lost {number}"
    for number, seconds in left.items():
        # While the server is away, time goes on for an interval of saves at most.
        had = seconds + now - player.came
        wanted = [end - killed for end in expected(player, number, killed)[0]]
        assert any(-SAVE_SECONDS - slack <= had - one <= slack for one in wanted), (
            f"{player.name}, {number}: {had} s when it came, {wanted} s when the server was killed"
        )
    player.ends = {number: [(0.0, now + seconds)] for number, seconds in left.items()}
    return len(left)


def debts(database: Path) -> tuple[int, list[int]]:
    """Return the stored debt of the dead, and what its shards have cost."""
    # One statement, so that no change is stored between the two.
    found = rows(
        database,
        "SELECT experience_debt, shards.debt FROM world_characters LEFT JOIN world_spirit_shards"
        " AS shards ON shards.character_id = world_characters.id WHERE name = ? ORDER BY place",
        DEAD,
    )
    return found[0][0], [cost for _, cost in found if cost is not None]


async def check_dead(dead: Player, database: Path, deaths: int) -> None:
    """See the window and the shard of a player who was dead, and let it live."""
    await until(lambda: dead.died is not None, "the window of the dead", 20.0)
    seen = dead.core.surroundings
    assert seen is not None
    shard = f"{DEAD}'s spirit shard"
    await until(lambda: any(seen.name(one) == shard for one in seen), "the shard", 20.0)
    # Each death before the last one was paid for with its shard: debt and shard changed together.
    left = deaths - 1
    assert debts(database) == (left * (DEBT - BACK) + DEBT, [DEBT])
    dead.order("revive")
    end = reactor.seconds() + patience(20.0)
    while (now := debts(database)) != (deaths * (DEBT - BACK), []):
        assert now == (left * (DEBT - BACK) + DEBT, [DEBT]), "one changes with the other"
        assert reactor.seconds() < end, "waited in vain for the debt"
        dead.uses(shard)
        await sleep(0.2)
    dead.died = None


async def play(casters: list[Player], dead: Player, seconds: float) -> None:
    """Let some cast, until the time is over and the other one is dead for long enough."""
    end = reactor.seconds() + seconds
    for one in casters:
        one.is_playing = True
    while reactor.seconds() < end or dead.died is None:
        assert reactor.seconds() < end + patience(60.0)
        for one in casters:
            one.plays()
        if dead.died is None:
            dead.strikes()
        await sleep(0.3)
    # Nothing asks for a save meanwhile, and the spells go on.
    await sleep(QUIET)


@pytest.mark.slow
async def test_spells_and_deaths_come_back_after_a_kill(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    zones = write_zones(tmp_path / "zones", isle=ZONE)
    settings = SETTINGS | {"world.zones": zones, "world.spells": spells(tmp_path)}
    letters = "abcdefghijklmnopqrstuvwxyz"
    casters = [Player(f"Caster{letters[one]}", choice) for one in range(CASTERS)]
    dead = Player(DEAD, choice)
    killed, lasted = 0.0, 0
    for number in range(ROUNDS + 1):
        async with server_process(tmp_path, settings) as server:
            await server.line(r"world Norrath \(1\) registered")
            powers = [one.held(killed - SAVE_SECONDS - SAVED - LATE) for one in casters]
            for one in (*casters, dead):
                await one.come(server)
            if number:
                for one, held in zip(casters, powers, strict=True):
                    assert one.powers[0][1] in held, (one.name, one.powers[0], held)
                    lasted += await check(one, killed)
                await check_dead(dead, tmp_path / "emu.sqlite", number)
            if number < ROUNDS:
                await play(casters, dead, FIRST + choice.uniform(0.0, MORE))
            server.kill()
            killed = reactor.seconds()
            for one in (*casters, dead):
                assert one.client is not None
                await stop_drained(one.client)
    assert lasted >= ROUNDS
