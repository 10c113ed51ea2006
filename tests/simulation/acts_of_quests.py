"""Acts of quests: to take, to do, to give up and to hand in, and to take what they give."""

from __future__ import annotations

from emu.net.client.world_connection import ClientWorldConnection
from emu.quests.journal import Journal
from tests.simulation.act import Act, choose
from tests.simulation.acts_of_things import several
from tests.simulation.content_of_quests import GIFTS, HERALD
from tests.simulation.people import ClientProgram, Person


def _journal(person: Person) -> Journal | None:
    player = person.player()
    return None if player is None else player.journal


async def _talk(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Hail the herald, who offers a quest, or takes one that is done; answer the offer mostly."""
    index = await choose(client, HERALD)
    if index is None:
        return
    several(person, client, "hail")
    await client.pause(1.0)
    journal = _journal(person)
    offered = sorted(journal.offered) if journal is not None else []
    if offered and person.chance.random() < 0.9:
        word = person.chance.choice(("accept", "accept", "accept", "deny"))
        several(person, client, f"q_{word}_pending_quest {person.chance.choice(offered)}")
        await client.pause(0.5)
    if _has_reward(person):
        await _take_reward(person, _program, client)


async def _give_up(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    several(person, client, f"deletequest {person.chance.choice([*GIFTS])}")


async def _take_reward(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    """Choose a reward; a person chooses what is not offered now and then."""
    choices = [0, *(one for gift in GIFTS.values() for one in gift.choices)]
    several(person, client, f"accept_reward {person.chance.choice(choices)}")
    await client.pause(1.0)


async def _share(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.command(f"share_quest {person.chance.choice([*GIFTS])}")


async def _read(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.command("quests")


def _has_quest(person: Person) -> bool:
    journal = _journal(person)
    return journal is not None and bool(journal.open)


def _has_reward(person: Person) -> bool:
    journal = _journal(person)
    return journal is not None and bool(journal.pending)


ACTS = (
    Act("talk to the herald", 12, _talk),
    Act("give up a quest", 1, _give_up, _has_quest),
    Act("take a reward", 15, _take_reward, _has_reward),
    Act("share a quest", 1, _share, _has_quest),
    Act("read the journal", 1, _read, _has_quest),
)
