"""Auditors: what must always hold, what holds after quiet, and what an empty server has left.

A new subject adds its auditors to `AUDITORS`; nothing else changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from emu.model import may_see
from emu.world.actors.spawn import SpawnKind
from tests.simulation import (
    auditors_of_crafts,
    auditors_of_fights,
    auditors_of_finds,
    auditors_of_houses,
    auditors_of_quests,
    auditors_of_spells,
    auditors_of_things,
    auditors_of_uses,
)
from tests.simulation.auditing import Auditor, Moment, worlds
from tests.simulation.content import RESPAWN

if TYPE_CHECKING:
    from tests.simulation.people import Person
    from tests.simulation.simulation import Simulation

NEAR = 200.0
"""Spawns at most so many units away must be seen."""
SAME_PLACE = 0.5
"""World units by which a place may differ from what a client shows of it."""
TABLES = (
    ("character", "world_characters"),
    ("letter", "world_mail"),
    ("bank", "world_banks"),
    ("house", "world_houses"),
)
"""The kinds of owners that have coins, and their tables."""
NO_OLDER_STATE = "no older state comes back"
KICKED_WITHIN = 90.0
"""Seconds after a ban in which a player must be gone, if the server of the ban lives."""


# -- at any moment --------------------------------------------------------------------------------


def _names(simulation: Simulation) -> Iterator[str]:
    """Names and numbers of characters are unique."""
    for name, count in simulation.rows(
        "SELECT name_key, count(*) FROM world_characters WHERE NOT deleted GROUP BY name_key"
        " HAVING count(*) > 1"
    ):
        yield f"{count} characters are called {name}"
    for number, count in simulation.rows(
        "SELECT char_id, count(*) FROM characters WHERE NOT deleted GROUP BY world_id, char_id"
        " HAVING count(*) > 1"
    ):
        yield f"the list has the character {number} {count} times"


def _sums(simulation: Simulation) -> Iterator[str]:
    """Each balance is the sum of its entries in the ledger, by statements of our own."""
    found: Counter[tuple[str, int]] = Counter()
    for giver, giver_id, taker, taker_id, amount in simulation.rows(
        "SELECT giver, giver_id, taker, taker_id, amount FROM world_ledger WHERE what = 'coins'"
        " AND reason <> ?", "not carried out",
    ):  # fmt: skip
        found[giver, giver_id] -= amount
        found[taker, taker_id] += amount
    for kind, table in TABLES:
        for number, coins in simulation.rows(f"SELECT id, coins FROM {table}"):
            if found[kind, number] != coins:
                yield f"{kind} {number} has {coins} copper, and entries of {found[kind, number]}"
            found.pop((kind, number), None)
    for (kind, number), left in sorted(found.items()):
        if kind in dict(TABLES) and left:
            yield f"{kind} {number} is gone, and has entries of {left}"
    total = sum(
        row[0] for row in simulation.rows(
            " UNION ALL ".join(f"SELECT coalesce(sum(coins), 0) FROM {name}" for _, name in TABLES)
        )
    )  # fmt: skip
    made = -sum(left for (kind, _), left in found.items() if kind not in dict(TABLES))
    if total != made:
        yield f"all have {total} copper, and {made} were made"


def _requests(simulation: Simulation) -> Iterator[str]:
    """No movement was carried out twice: a letter gives its coins and its thing once."""
    for letter, times in simulation.rows(
        "SELECT giver_id, count(DISTINCT request) FROM world_ledger WHERE giver = 'letter'"
        " AND amount > 0 AND reason = 'letter emptied'"
        " GROUP BY giver_id HAVING count(DISTINCT request) > 1"
    ):
        yield f"letter {letter} was emptied {times} times"
    moved: Counter[str] = Counter()
    for reason, giver, name, amount in simulation.rows(
        "SELECT reason, giver, own.name, amount FROM world_ledger JOIN world_characters AS own"
        " ON own.id = CASE giver WHEN 'character' THEN giver_id ELSE taker_id END"
        " WHERE what = 'coins' AND part = 0"
        " AND reason IN ('command', 'travel', 'shared with the group')"
    ):
        moved[_asked(reason, giver, name, amount)] += 1
    for about, times in sorted(moved.items()):
        asked = simulation.asked[about]
        if times > asked:
            yield f"{times} movements of {about}, and {asked} were asked for"


def _asked(reason: str, giver: str, name: str, amount: int) -> str:
    """Return what people ask for that has such a movement; see `Simulation.asked`."""
    match reason:
        case "command":
            return f"coins {'take' if giver == 'character' else 'give'} {name} {amount}c"
        case "travel":
            return f"travel {name}"
        case _:
            return f"split {name}"


def not_stored(simulation: Simulation, person: Person) -> Iterator[str]:
    """Yield what the server has confirmed to one person and has not stored."""
    found = {
        (kind, other)
        for kind, other in simulation.rows(
            "SELECT kind, world_relations.name FROM world_relations"
            " JOIN world_characters AS own ON own.id = character_id WHERE own.name = ?",
            person.name,
        )
    }
    yield from _relations_of(person, found)
    letters = {row[0] for row in simulation.rows("SELECT subject FROM world_mail")}
    yield from _letters_of(person, letters)


def _relations_of(person: Person, stored: set[tuple[int, str]]) -> Iterator[str]:
    for kind, about, value in person.confirmed.known():
        row = (0 if kind == "friend" else 2, about)
        if value != (row in stored):
            yield f"{person.name} was shown that {about} is {kind}: {value}; not stored"


def _letters_of(person: Person, stored: set[str]) -> Iterator[str]:
    for subject, is_sent in person.confirmed.letters.items():
        if is_sent and subject not in stored:
            yield f"the letter {subject} was sent, and is not stored"


def _confirmed(simulation: Simulation) -> Iterator[str]:
    """What the server has confirmed to a person is stored."""
    relations: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    for name, kind, other in simulation.rows(
        "SELECT own.name, kind, world_relations.name FROM world_relations"
        " JOIN world_characters AS own ON own.id = character_id"
    ):
        relations[name].add((kind, other))
    present = {row[0] for row in simulation.rows("SELECT name FROM world_characters")}
    listed = {row[0] for row in simulation.rows("SELECT name FROM characters")}
    letters = {row[0] for row in simulation.rows("SELECT subject FROM world_mail")}
    for person in simulation.people:
        confirmed = person.confirmed
        if confirmed.has_character and person.name not in present & listed:
            yield f"the character {person.name} is not stored"
        yield from _relations_of(person, relations[person.name])
        yield from _letters_of(person, letters)


def older_states(simulation: Simulation) -> Iterator[str]:
    """No older state replaces a newer one: the time that a character was played never falls."""
    for number, name, played in simulation.rows("SELECT id, name, played FROM world_characters"):
        most = simulation.most_played.get(number, 0)
        if played < most:
            yield f"{name} has played for {played} s, and had played for {most} s"
        simulation.most_played[number] = played


def _banned(simulation: Simulation) -> Iterator[str]:
    """Nobody who is banned plays for long."""
    now = simulation.timeline.now
    for server, world in worlds(simulation):
        if server.reactor is None or server.reactor.is_still or simulation.is_troubled:
            continue
        for person in simulation.people:
            since = person.banned_since
            if since is not None and now - since > KICKED_WITHIN:
                player = world.players.named(person.name)
                if player is not None and player.is_online:
                    yield f"{person.name} is banned for {now - since:.0f} s, and plays"


def _deaths(simulation: Simulation) -> Iterator[str]:
    """What was dead stays dead until its time."""
    now = simulation.timeline.now
    for server, world in worlds(simulation):
        for zone in world.zones:
            for spawn in zone:
                died = simulation.deaths.get(spawn.name)
                # The body of what was killed lies there for a while.
                if spawn.hp_percent > 0 and died is not None and 1.0 < now - died < RESPAWN - 5.0:
                    yield f"{spawn.name} died {now - died:.0f} s ago, and stands at {server.name}"


# -- after quiet ----------------------------------------------------------------------------------


def _one_place(simulation: Simulation) -> Iterator[str]:
    """Nobody is in two places, and no zone runs on two nodes."""
    where: defaultdict[int, list[str]] = defaultdict(list)
    zones: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for server, world in worlds(simulation):
        for player in world.players:
            where[player.id].append(server.name)
            zones[player.zone.definition.id, player.zone.instance].add(server.name)
    for number, names in sorted(where.items()):
        if len(names) > 1:
            yield f"character {number} is at {names}"
    for zone, nodes in sorted(zones.items()):
        if len(nodes) > 1:
            yield f"zone {zone} has players at {sorted(nodes)}"
    for person in simulation.people:
        standing = sum(program.stands for program in person.programs)
        if standing > 1:
            yield f"{standing} clients of {person.name} stand in a zone"


def _bodies(simulation: Simulation) -> Iterator[str]:
    """Each player has one body, and each body is a player's."""
    for server, world in worlds(simulation):
        bodies = Counter(
            spawn.name for zone in world.zones for spawn in zone
            if spawn.kind is SpawnKind.PLAYER
        )  # fmt: skip
        for name, count in sorted(bodies.items()):
            if count > 1:
                yield f"{name} has {count} bodies at {server.name}"
            if world.players.named(name) is None:
                yield f"{name} has a body at {server.name}, and is not there"


def _presence(simulation: Simulation) -> Iterator[str]:
    """All nodes have the same list of who is in the world, which is right."""
    right = {
        (player.id, player.name, server.name)
        for server, world in worlds(simulation) for player in world.players
    }  # fmt: skip
    for server, world in worlds(simulation):
        found = {(one.char_id, one.name, one.process or server.name)
                 for one in world.processes.presence}  # fmt: skip
        if len(simulation.servers) == 1:
            found = {(number, name, server.name) for number, name, _ in found}
        if found != right:
            yield f"{server.name} lists {sorted(found - right)}, lacks {sorted(right - found)}"


def _groups(simulation: Simulation) -> Iterator[str]:
    """All nodes have the same groups, of players who are in the world."""
    lists: dict[str, list[tuple[int, ...]]] = {}
    here: set[int] = set()
    for server, world in worlds(simulation):
        here |= {player.id for player in world.players}
        lists[server.name] = sorted(tuple(group.members) for group in world.groups.table)
    different = {tuple(found) for found in lists.values()}
    if len(different) > 1:
        yield f"the groups are {lists}"
    for name, groups in lists.items():
        members = [member for group in groups for member in group]
        if len(members) != len(set(members)):
            yield f"somebody is in two groups at {name}: {groups}"
        for group in groups:
            if len(group) < 2 or not set(group) <= here:
                yield f"the group {group} at {name} has members who are away, or one only"


def _guilds(simulation: Simulation) -> Iterator[str]:
    """Each guild has a leader, and each node has the guilds of its players as they are stored."""
    stored: defaultdict[int, dict[int, int]] = defaultdict(dict)
    of: dict[int, int] = {}
    for char_id, guild_id, place in simulation.rows(
        "SELECT character_id, guild_id, place FROM guild_members"
    ):
        stored[guild_id][char_id] = place
        of[char_id] = guild_id
    for (guild_id,) in simulation.rows("SELECT id FROM guilds"):
        if 0 not in stored[guild_id].values():
            yield f"guild {guild_id} has no leader: {stored[guild_id]}"
    for server, world in worlds(simulation):
        assert server.server is not None and server.server.world is not None  # noqa: PT018
        memberships = server.server.world.parts.memberships
        for player in world.players:
            guild = memberships.of(player.id)
            found = None if guild is None else guild.id
            if found != of.get(player.id):
                yield f"{player.name} is in guild {found} at {server.name}, not {of.get(player.id)}"
            elif guild is not None:
                members = {one.char_id: one.rank for one in guild.members.values()}
                if members != stored[guild.id]:
                    yield f"guild {guild.id} at {server.name}: {members}, not {stored[guild.id]}"


def _balances(simulation: Simulation) -> Iterator[str]:
    """Each player has the coins, friends and place on the list that are stored."""
    stored = {row[0]: row[1] for row in simulation.rows("SELECT id, coins FROM world_characters")}
    for server, world in worlds(simulation):
        for player in world.players:
            if player.character.coins != stored.get(player.id):
                yield (
                    f"{player.name} has {player.character.coins} copper at {server.name},"
                    f" not {stored.get(player.id)}"
                )


def _places(simulation: Simulation) -> Iterator[str]:
    """The place of each player was stored lately."""
    stored = {
        row[0]: row[1:]
        for row in simulation.rows("SELECT id, zone_id, x, y, z FROM world_characters")
    }
    for server, world in worlds(simulation):
        for player in world.players:
            at = player.position
            zone, x, _, z = stored.get(player.id, (0, 0.0, 0.0, 0.0))
            if zone != player.zone.zone_id or abs(x - at.x) + abs(z - at.z) > SAME_PLACE:
                yield f"{player.name} is at {at} of {server.name}; stored is {zone} {x} {z}"


def _views(simulation: Simulation) -> Iterator[str]:
    """Each client shows its zone as it is: who stands where."""
    for person in simulation.people:
        program = person.program
        if program is None or not program.stands or program.connection is None:
            continue
        core = program.connection.core
        found = [
            (server, player) for server, world in worlds(simulation)
            for player in [world.players.named(person.name)]
            if player is not None and player.is_online
        ]  # fmt: skip
        if not found:
            yield f"{person.name} stands in a zone, as its client has it, and nobody knows it"
            continue
        server, player = found[0]
        if core.surroundings is None or player.zone is None:
            continue
        yield from _view(person, core, player, server.name)


def _view(person: Person, core: Any, player: Any, node: str) -> Iterator[str]:
    own = player.spawn.position
    if abs(own.x - core.place.x) + abs(own.z - core.place.z) > 2 * SAME_PLACE:
        yield f"{person.name} stands at {own}, and its client has {core.place}"
    seen = {core.surroundings.name(index): index for index in core.surroundings}
    for spawn in player.zone:
        if spawn is player.spawn or not may_see(player.rank, spawn):
            continue
        at = spawn.position
        distance = ((at.x - own.x) ** 2 + (at.z - own.z) ** 2) ** 0.5
        index = seen.get(spawn.name)
        is_player = spawn.kind is SpawnKind.PLAYER
        if is_player and index is None and distance < NEAR:
            yield f"{person.name} at {node} does not see {spawn.name}, {distance:.0f} units away"
        if index is not None and is_player:
            place = core.surroundings.place(index)
            if abs(place.x - at.x) + abs(place.z - at.z) > SAME_PLACE:
                yield f"{person.name} sees {spawn.name} at {place}, and it is at {at}"
    names = {spawn.name for spawn in player.zone}
    for name in seen:
        if name and name not in names:
            yield f"{person.name} at {node} sees {name}, which is not in the zone"


def _in_service(simulation: Simulation) -> Iterator[str]:
    """All servers run, and people can play."""
    for server in simulation.servers:
        if not server.is_up:
            yield f"{server.name} does not run"
    standing = sum(
        1 for person in simulation.people if person.program is not None and person.program.stands
    )
    wanted = sum(1 for person in simulation.people if person.banned_since is None)
    if standing < (wanted + 1) // 2:
        yield f"{standing} of {wanted} people are in the world a minute after the last fault"


# -- after all have gone --------------------------------------------------------------------------


def _nobody(simulation: Simulation) -> Iterator[str]:
    """Nobody is in the world, for any of those who know."""
    for server, world in worlds(simulation):
        if len(world.players):
            yield f"{[player.name for player in world.players]} are at {server.name}"
        listed = [one.name for one in world.processes.presence]
        if listed:
            yield f"{server.name} lists {listed}"
        if [*world.groups.table]:
            yield f"{server.name} has groups {[group.members for group in world.groups.table]}"
        bodies = [
            spawn.name for zone in world.zones for spawn in zone if spawn.kind is SpawnKind.PLAYER
        ]
        if bodies:
            yield f"{bodies} have bodies at {server.name}"


def _memory(simulation: Simulation) -> Iterator[str]:
    """Sessions, timers, saves and calls are gone."""
    for server in simulation.servers:
        if not server.is_up or server.server is None or server.reactor is None:
            continue
        emu = server.server
        for endpoint in (emu.login, emu.world):
            if endpoint is not None and endpoint.dispatcher.session_count:
                yield f"{server.name} has {endpoint.dispatcher.session_count} sessions"
        # A beat of the node may be under way.
        if emu.storage.waiting > 2 or emu.storage.deferred > 2:
            yield f"{server.name} waits for {emu.storage.waiting} calls of the store"
        if emu.world is not None and len(emu.world.parts.world.saves.saver):
            yield f"{server.name} has states that are not saved"
        if emu.world is not None:
            bus = emu.world.parts.world.processes.bus
            topics = getattr(bus, "_local", bus)._hear
            channels = sorted(topic for topic in topics if topic.startswith("channel."))
            if channels:
                yield f"{server.name} listens to {len(channels)} channels without members"
        timers = simulation.timeline.waiting_of(server.reactor)
        if timers > 40:
            yield f"{server.name} has {timers} calls of the reactor"


def _faults(simulation: Simulation) -> Iterator[str]:
    """No call of a reactor has raised."""
    for server in simulation.servers:
        yield from server.faults


def _stopped(simulation: Simulation) -> Iterator[str]:
    """Every server has stopped in order."""
    for server in simulation.servers:
        if server.is_up:
            yield f"{server.name} did not stop"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("names are unique", Moment.ANY, _names),
    Auditor("sums of the ledger", Moment.ANY, _sums),
    Auditor("no movement is repeated", Moment.ANY, _requests),
    Auditor("what is confirmed is stored", Moment.ANY, _confirmed),
    Auditor(NO_OLDER_STATE, Moment.ANY, older_states),
    Auditor("nobody who is banned plays", Moment.ANY, _banned),
    Auditor("the dead stay dead", Moment.ANY, _deaths),
    *auditors_of_things.AUDITORS,
    *auditors_of_fights.AUDITORS,
    *auditors_of_crafts.AUDITORS,
    *auditors_of_quests.AUDITORS,
    *auditors_of_spells.AUDITORS,
    *auditors_of_finds.AUDITORS,
    *auditors_of_houses.AUDITORS,
    *auditors_of_uses.AUDITORS,
    Auditor("no call raises", Moment.EMPTY, _faults),
    Auditor("nobody is in two places", Moment.QUIET, _one_place),
    Auditor("each player has one body", Moment.QUIET, _bodies),
    Auditor("the list of players", Moment.QUIET, _presence),
    Auditor("groups", Moment.QUIET, _groups),
    Auditor("guilds", Moment.QUIET, _guilds),
    Auditor("balances", Moment.QUIET, _balances),
    Auditor("places are stored", Moment.QUIET, _places),
    Auditor("clients show their zones", Moment.QUIET, _views),
    Auditor("people can play", Moment.QUIET, _in_service),
    Auditor("nobody is left", Moment.EMPTY, _nobody),
    Auditor("memory and timers", Moment.EMPTY, _memory),
    Auditor("stops in order", Moment.STOPPED, _stopped),
)
