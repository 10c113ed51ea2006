"""What people do, by weight. A new subject adds its acts to `ACTS`; nothing else changes."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate

from emu.client.world import WorldClientCore
from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation import (
    acts_of_crafts,
    acts_of_fights,
    acts_of_finds,
    acts_of_houses,
    acts_of_quests,
    acts_of_spells,
    acts_of_things,
    acts_of_uses,
)
from tests.simulation.act import Act
from tests.simulation.content import BELL
from tests.simulation.people import ClientProgram, Person

DRAWS = 6
"""Draws from all acts, before the possible ones are looked for."""


class Acts:
    """The acts of a simulation."""

    def __init__(self, acts: tuple[Act, ...], names: tuple[str, ...] = ()) -> None:
        """`names` chooses some of the acts; without names all are possible."""
        self.acts = [act for act in acts if not names or act.name in names]
        self._sums = [*accumulate(act.weight for act in self.acts)]

    def choose(self, person: Person) -> Act | None:
        """Return an act that is possible, by weight and chance; None if none is."""
        # Most acts are possible for most people: one that is drawn from all acts and is not
        # possible is drawn again, which leaves each possible act the chance of its weight.
        for _ in range(DRAWS if self.acts else 0):
            drawn = bisect_right(self._sums, person.chance.random() * self._sums[-1])
            act = self.acts[min(drawn, len(self.acts) - 1)]
            if act.is_possible(person):
                return act
        possible = [act for act in self.acts if act.is_possible(person)]
        roll = person.chance.random() * sum(act.weight for act in possible)
        for act in possible:
            roll -= act.weight
            if roll < 0:
                return act
        return possible[-1] if possible else None


# -- in a zone ------------------------------------------------------------------------------------


async def _walk(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    here, chance = client.core.place, person.chance
    angle, way = math.tau * chance.random(), 5 + 25 * chance.random()
    client.walk_to(here.x + way * math.cos(angle), here.y, here.z + way * math.sin(angle))
    await client.arrival(timeout=20.0)


async def _say(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    channel = person.chance.choice(("say", "shout", "ooc"))
    client.command(f"{channel} I am {person.name}")


async def _private(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    other = person.other()
    if other is not None:
        client.command(f"tell {other.name} Hello")


async def _who(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.command("who all")


async def _sit(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.act(WorldClientCore.sit)
    await client.pause(2.0)
    client.act(WorldClientCore.stand)


async def _zone(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    zone = person.chance.choice(("antonica", "IsleRefuge1", "SouthFreeport"))
    client.command(f"zone {zone}")
    await client.pause(6.0)


async def _visit(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    other = person.other()
    if other is not None:
        client.command(f"{person.chance.choice(('goto', 'summon'))} {other.name}")
        await client.pause(4.0)


# -- company --------------------------------------------------------------------------------------


async def _friend(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    other = person.other()
    if other is None or not other.confirmed.has_character:
        return
    kind = person.chance.choice(("friend", "friend", "ignore"))
    word = person.chance.choice(("add", "add", "remove"))
    fact = "friend" if kind == "friend" else "ignored"
    client.command(f"{kind}_{word} {other.name}")
    person.confirmed.asks(fact, other.name)
    await client.pause(1.0)


async def _group(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    other = person.other()
    if other is not None:
        client.command(f"invite {other.name}")


async def _accept_group(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    person.group_offer = False
    client.command(person.chance.choice(("acceptinvite", "acceptinvite", "declineinvite")))


async def _change_group(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    other = person.other()
    word = person.chance.choice(("leavegroup", "gsay hi", "whogroup", "disband", "lead", "kick"))
    if word in ("lead", "kick"):
        if other is None:
            return
        word = f"{'makeleader' if word == 'lead' else 'kickfromgroup'} {other.name}"
    client.command(word)


async def _found(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    letters = "".join(person.chance.choice("abcdefghij") for _ in range(6))
    client.command(f"guild create The {letters.capitalize()}")


async def _guild_invite(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    other = person.other()
    if other is not None:
        client.command(f"guild invite {other.name}")


async def _accept_guild(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    person.guild_offer = False
    client.command("guild accept")


async def _change_guild(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    other = person.other()
    name = other.name if other is not None else person.name
    client.command(
        person.chance.choice(
            ("guild leave", f"guild promote {name}", f"guild demote {name}", f"guild kick {name}",
             "guild motd Well met", "guildsay Hail", "guild")
        )
    )  # fmt: skip


# -- coins ----------------------------------------------------------------------------------------


async def _give_coins(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    other = person.other() or person
    word = person.chance.choice(("give", "give", "take"))
    line = f"coins {word} {other.name} {person.chance.randint(1, 500)}c"
    person.simulation.asked[line] += 1
    client.command(line)


async def _write(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    other = person.other()
    if other is None:
        return
    person.letters += 1
    subject = f"{person.name} {person.letters}"
    client.command("start_mail")
    await client.pause(0.2)
    for _ in range(person.chance.randint(0, 2)):
        client.command(f"add_mail_copper {person.chance.randint(1, 9)}")
        await client.pause(0.2)
    things = acts_of_things.carried(person)
    if things and person.chance.random() < 0.5:
        place, thing = person.chance.choice(things)
        client.command(f"set_mail_item {place} {person.chance.randint(1, thing.count)}")
        await client.pause(0.2)
    client.command(f"mail send {other.name} {subject} / Hello")
    person.confirmed.letters[subject] = None
    person.confirmed.letter_on_way = subject
    await client.pause(2.0)
    client.command("cancel_mail")


async def _take(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    numbers = person.simulation.letters_to(person.name)
    if numbers:
        number = person.chance.choice(numbers)
        # Twice at once, as an impatient player does.
        for _ in range(person.chance.randint(1, 2)):
            client.command(f"mail take {number}")
        await client.pause(1.0)


async def _return_letter(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    numbers = person.simulation.letters_to(person.name)
    if numbers:
        client.command(f"mail return {person.chance.choice(numbers)}")


async def _split(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    person.simulation.asked[f"split {person.name}"] += 1
    client.command(f"split {person.chance.randint(1, 30)}")


# -- creatures and ways -------------------------------------------------------------------------


async def _hunt(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Remove a creature, as a game master does; it is dead for its time."""
    seen = client.core.surroundings
    if seen is None:
        return
    names = sorted((seen.name(index), index) for index in seen)
    creatures = [one for one in names if " wolf of " in one[0]]
    if not creatures:
        return
    name, index = person.chance.choice(creatures)
    client.act(lambda core: core.target(index))
    await client.pause(0.5)
    person.killing = name
    client.command("despawn")
    await client.pause(1.0)


async def _travel(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Go to the bell of the zone, and take its way, which has a price."""
    seen = client.core.surroundings
    bell = seen.find(BELL) if seen is not None else None
    if seen is None or bell is None:
        return
    there = seen.place(bell)
    client.walk_to(there.x, client.core.place.y, there.z + 2.0)
    await client.arrival(timeout=60.0)
    if client.core.surroundings is seen and bell in seen:
        client.act(lambda core: core.use(bell))
        await client.until(lambda: client.core.ways is not None, "the ways", timeout=3.0)
        ways = client.core.ways
        if ways is not None and ways.ways:
            person.simulation.asked[f"travel {person.name}"] += 1
            client.act(lambda core: core.travel(ways.ways[0].name))
            await client.pause(6.0)


async def _channel(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    name = person.chance.choice(("trade", "songs"))
    client.command(f"{person.chance.choice(('joinchannel', 'joinchannel', 'chatleave'))} {name}")


# -- leaving --------------------------------------------------------------------------------------


async def _camp(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.act(WorldClientCore.camp)
    await client.pause(6.0)


async def _quit(person: Person, program: ClientProgram, client: ClientWorldConnection) -> None:
    await client.leave()
    person.note("quits")
    person.plan_start(1 + 20 * person.chance.random())
    program.crash()


async def _crash(person: Person, program: ClientProgram, client: ClientWorldConnection) -> None:
    person.note("crashes")
    person.plan_start(1 + 40 * person.chance.random())
    program.crash()
    await client.pause(1.0)


async def _second(person: Person, _program: ClientProgram, _client: ClientWorldConnection) -> None:
    """Start a second client of the same character, on the same machine or on another one."""
    host = person.host if person.chance.random() < 0.5 else f"10.2.0.{person.number % 250 + 1}"
    person.note("starts a second client")
    person.start(host)


def _is_master(person: Person) -> bool:
    return person.is_master


ACTS = (
    Act("walk", 20, _walk),
    Act("say", 6, _say),
    Act("tell", 4, _private),
    Act("who", 1, _who),
    Act("sit", 1, _sit),
    Act("zone", 4, _zone, _is_master),
    Act("visit", 4, _visit, _is_master),
    Act("friend", 6, _friend),
    Act("group", 6, _group),
    Act("accept group", 20, _accept_group, lambda person: person.group_offer),
    Act("change group", 4, _change_group),
    Act("found a guild", 1, _found),
    Act("invite to a guild", 3, _guild_invite),
    Act("accept guild", 20, _accept_guild, lambda person: person.guild_offer),
    Act("change a guild", 3, _change_guild),
    Act("give coins", 5, _give_coins, _is_master),
    Act("write", 6, _write),
    Act("take coins of a letter", 6, _take),
    Act("return a letter", 1, _return_letter),
    Act("split", 2, _split),
    Act("hunt", 3, _hunt, _is_master),
    Act("travel", 5, _travel),
    Act("channel", 3, _channel),
    Act("camp", 2, _camp),
    Act("quit", 2, _quit),
    Act("crash", 2, _crash),
    Act("second session", 2, _second),
    *acts_of_things.ACTS,
    *acts_of_fights.ACTS,
    *acts_of_crafts.ACTS,
    *acts_of_quests.ACTS,
    *acts_of_spells.ACTS,
    *acts_of_finds.ACTS,
    *acts_of_houses.ACTS,
    *acts_of_uses.ACTS,
)
