"""The record of one player for operators: place, connection, sheet, things, guild and friends.

A character that is not in this process is shown as it was stored last. The command `player show`
returns the record; the page of the player in `data/web/player.js` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from emu.appearance import class_name, race_name
from emu.commands import Argument, Call, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from emu.items.held import Thing, Where
from emu.items.kinds import ItemKind, Slot
from emu.ledger import Owner, OwnerKind
from emu.model import Present, WorldCharacter
from emu.processes.ports import ThingStore
from emu.session import SessionStatistics
from emu.times import UNKNOWN
from emu.world.actors.player import Player, Relation
from emu.world.actors.sheet import ATTRIBUTES
from emu.world.commands.context import PlayerCommandSet
from emu.world.items.items import Items
from emu.world.social.memberships import Memberships
from emu.world.subjects.subject import Subject
from emu.world.world import World

SEES_ADDRESSES: Final = MASTER
"""The rank from which on an operator is shown the IP address of a player."""
LISTS: Final = (Where.WORN, Where.APPEARANCE, Where.BAGS, Where.BANK, Where.SHARED, Where.OVERFLOW)
"""The lists of things that a record has, in their order."""
_SLOTS: Final = frozenset(Slot)
Record = dict[str, Any]


class PlayerRecords(Subject):
    """Makes the records of the players of one world."""

    def __init__(
        self, world: World, memberships: Memberships, items: Items, things: ThingStore
    ) -> None:
        self._world = world
        self._memberships = memberships
        self._items = items
        self._things = things

    async def record(self, name: str, rank: int) -> Record:
        """Return the record of a character as an operator of a rank may see it.

        Every operator sees hidden players. Raises `CommandError` and `StoreError`.
        """
        player = self._world.players.named(name)
        if player is not None:
            return await self._of_player(player, rank)
        row = await self._world.saves.characters.find_named(name)
        if row is None:
            raise CommandError(f"there is no character {name}")
        return await self._of_row(row)

    async def _of_player(self, player: Player, rank: int) -> Record:
        character, zone, at = player.character, player.zone, player.position
        clock = self._world.clock
        seconds = clock.now() - player.since
        relations = [(kind, one) for kind in Relation for one in player.relations.names(kind)]
        inventory = player.holdings.inventory
        things = [one for where in LISTS for one in inventory.in_list(where)]
        return {
            **self._plain(character),
            "played": player.played(clock.now()),
            "state": player.state.value + (", hidden" if player.spawn.hidden else ""),
            "online": player.is_online,
            "process": self._world.processes.name,
            "zone_id": zone.zone_id,
            "zone": zone.definition.description,
            "instance": zone.instance,
            "x": round(at.x, 2), "y": round(at.y, 2), "z": round(at.z, 2),
            "since": round(clock.moment() - seconds),
            "client_version": player.client.version,
            "address": player.client.address if rank >= SEES_ADDRESSES else "",
            "muted_until": _known(player.limits.muted_until),
            "connection": connection_row(player.client.link.statistics()),
            "ignored_messages": dict(player.client.drops.most_common(8)),
            "sheet": sheet_row(player),
            "guild": await self._guild(player.id),
            "friends": [one for kind, one in relations if kind is Relation.FRIEND],
            "ignored": [one for kind, one in relations if kind is Relation.IGNORED],
            "things": [thing_row(one, inventory.kind(one)) for one in things],
        }  # fmt: skip

    async def _of_row(self, row: WorldCharacter) -> Record:
        there = self._world.processes.presence.find(row.id)
        place, zone_id = row.place, there.zone_id if there is not None else row.zone_id
        relations = [(kind, one) for kind, one in row.relations]
        return {
            **self._plain(row),
            "state": _absent(there),
            "online": there is not None and not there.link_dead,
            "process": there.process if there is not None else "",
            "zone_id": zone_id,
            "zone": self._world.zones.definition(zone_id).description,
            "instance": None,
            **({"x": round(place[0], 2), "y": round(place[1], 2), "z": round(place[2], 2)}
               if place is not None else {}),
            "since": _known(row.last_played),
            "client_version": row.client_version,
            "address": "",
            "muted_until": _known(row.muted_until),
            "connection": None,
            "ignored_messages": {},
            "sheet": None,
            "guild": await self._guild(row.id),
            "friends": [one for kind, one in relations if kind == Relation.FRIEND],
            "ignored": [one for kind, one in relations if kind == Relation.IGNORED],
            "things": await self._stored_things(row),
        }  # fmt: skip

    def _plain(self, row: WorldCharacter) -> Record:
        """Return what is stored of a character in any case."""
        return {
            "name": row.name,
            "last_name": row.last_name,
            "id": row.id,
            "account_id": row.account_id,
            "rank": row.admin_status,
            "level": row.level,
            "race": race_name(row.race),
            "class": class_name(row.class_),
            "experience": row.experience,
            "experience_needed": row.experience_needed,
            "coins": row.coins,
            "status_points": row.status_points,
            "created": _known(row.created),
            "last_played": _known(row.last_played),
            "played": row.played,
        }

    async def _guild(self, char_id: int) -> Record | None:
        store = self._memberships.store
        guild = self._memberships.of(char_id)
        if guild is None:
            guild_id = await store.of_character(char_id)
            guild = await self._memberships.find(guild_id) if guild_id else None
        if guild is None or char_id not in guild.members:
            return None
        return {
            "id": guild.id, "name": guild.name, "rank": guild.rank_of(char_id).name,
            "members": len(guild.members),
        }  # fmt: skip

    async def _stored_things(self, row: WorldCharacter) -> list[Record]:
        owners = [Owner.character(row.id), Owner(OwnerKind.ACCOUNT, row.account_id)]
        found = [one for several in (await self._things.of(owners)).values() for one in several]
        kinds = await self._items.load_kinds(one.item_id for one in found)
        return stored_rows(found, kinds)


def stored_rows(things: Iterable[Thing], kinds: Mapping[int, ItemKind]) -> list[Record]:
    """Return the rows of stored things by list and place; one may have no known kind."""
    shown = sorted((one for one in things if one.place.where in LISTS), key=_place)
    return [thing_row(one, kinds.get(one.item_id)) for one in shown]


def _place(thing: Thing) -> tuple[int, int, int]:
    return LISTS.index(thing.place.where), thing.place.bag, thing.place.slot


def thing_row(thing: Thing, kind: ItemKind | None) -> Record:
    """Return a thing as a row; `kind` None: nothing describes it."""
    return {
        "number": thing.id,
        "item": thing.item_id,
        "name": kind.name if kind is not None else "",
        "where": thing.place.where.value,
        "bag": thing.place.bag,
        "slot": thing.place.slot,
        "place": _place_text(thing),
        "count": thing.count,
        "condition": thing.condition,
        "attuned": thing.is_attuned,
    }


def _place_text(thing: Thing) -> str:
    """Return the slot of what is worn by its name, any other place by its number from 1 on."""
    worn = thing.place.where in (Where.WORN, Where.APPEARANCE) and thing.place.slot in _SLOTS
    if worn:
        return Slot(thing.place.slot).name.lower().replace("_", " ")
    return str(thing.place.slot + 1)


def connection_row(counters: SessionStatistics) -> Record:
    """Return the state of a connection: delays in ms, loss as a share of what was sent."""
    trip, sent = counters.smoothed_round_trip, max(1, counters.datagrams_sent)
    return {
        "delay": None if trip is None else round(1000 * trip),
        "timeout": round(1000 * counters.retransmission_timeout),
        "loss": round(min(1.0, counters.retransmissions / sent), 4),
        "resent": counters.retransmissions,
        "dropped": counters.drops,
        "queue": counters.queued_bytes,
        "in_flight": counters.packets_in_flight,
        "held": counters.packets_held,
        "datagrams_in": counters.datagrams_received,
        "datagrams_out": counters.datagrams_sent,
        "bytes_in": counters.bytes_received,
        "bytes_out": counters.bytes_sent,
    }


def sheet_row(player: Player) -> Record:
    """Return the pools and attributes of a player in the world."""
    sheet = player.spawn.sheet
    return {
        "health": sheet.health.current, "health_most": sheet.health.most,
        "power": sheet.power.current, "power_most": sheet.power.most,
        "attributes": {name: sheet.attribute(name) for name in ATTRIBUTES},
    }  # fmt: skip


def _absent(there: Present | None) -> str:
    if there is None:
        return "not in the world"
    return "link-dead" if there.link_dead else f"in the process {there.process}"


def _known(moment: float) -> float | None:
    """Return a moment, None for an unknown one."""
    return None if moment == UNKNOWN else round(moment)


COMMANDS = PlayerCommandSet[PlayerRecords]()


@COMMANDS.command(
    "player show", "show all that is known of a character",
    Argument("name", help="the character", among="player"),
    rank=GUIDE, is_quiet=True, example="player show Borvik",
)  # fmt: skip
async def _show(records: PlayerRecords, call: Call) -> Reply:
    found = await records.record(call["name"], call.caller.rank)
    return Reply(tuple(lines_of(found)), found)


def lines_of(record: Record) -> list[str]:
    """Return a record as lines for people."""
    place = ", ".join(f"{record[axis]:g}" for axis in "xyz" if axis in record)
    address = f" at {record['address']}" if record["address"] else ""
    who = f"{record['name']}: level {record['level']} {record['race']} {record['class']}"
    lines = [
        f"{who}, rank {record['rank']}, account {record['account_id']}",
        f"{record['state']}, {record['zone']} {place}".rstrip(),
        f"client version {record['client_version']}{address}",
    ]
    if (line := record["connection"]) is not None:
        lines.append(
            f"delay {line['delay']} ms, loss {100 * line['loss']:.1f} %, queue {line['queue']} B"
        )
    if record["guild"] is not None:
        lines.append(f"guild {record['guild']['name']}, {record['guild']['rank']}")
    lines.append(f"coins {record['coins']}, things {len(record['things'])}")
    return lines


PlayerRecords.COMMANDS = COMMANDS
