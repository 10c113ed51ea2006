"""`Housing`: the houses of one world's players.

A house is a copy of its zone that belongs to it for ever. Its number is that of the house above
`FIRST_HOUSE`, so it is found again after a restart. Upkeep that is due is taken from the deposit
when somebody asks for the house.

Source: docs/guides/houses.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from emu.content.homes import EVIL, GOOD, HomeTables, HouseKind
from emu.content.standing import Standing
from emu.errors import StoreError
from emu.houses import FIRST_HOUSE, AccessLevel, Deal, Dealt, House, HouseBooks, Price
from emu.ledger import Owner, OwnerKind, Reason
from emu.processes.house_store import HouseStore
from emu.times import Moment, Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player, refuses_dead
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Destination, Spawn
from emu.world.events import Doer, Entered, Order, Used
from emu.world.housing import windows
from emu.world.housing.entrances import Entrances, Offers
from emu.world.housing.payments import Bill, Payments
from emu.world.items.texts import YELLOW
from emu.world.ledger.ledger import Ledger
from emu.world.speech.spoken import play_sound
from emu.world.world import World
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

ACCESS, VISIT = "access", "visit"
MOST_VISITED: Final = 100
"""Rows of the list of those who can be visited."""
PAID_SOUND, FAILED_SOUND = "coin_cha_ching", "buy_failed"
CANNOT_BUY: Final = {
    Deal.TOO_FEW_COINS: "You do not have enough money to purchase the house.",
    Deal.TOO_FEW_STATUS: "You do not have enough money to purchase the house.",
    Deal.OWNED: "You own this house already.",
    Deal.TOO_MANY: "You already own 25 houses and may not own another.",
}
CANNOT_PAY: Final = {
    Deal.TOO_FEW_COINS: "You do not have enough money  or status to pay for upkeep.",
    Deal.TOO_FEW_STATUS: "You do not have enough money  or status to pay for upkeep.",
    Deal.TOO_FAR_AHEAD: "You cannot pay more than 3 months of upkeep.",
}
NOT_NOW: Final = "This cannot be done now; try again."
NO_ACCESS: Final = "You do not have permission to enter this house."
UNPAID: Final = "You must pay the upkeep of your house before you can enter it."
UNPAID_OF: Final = "The upkeep of this house is not paid."
NOT_YOURS: Final = "This is not your home!"


@dataclass(frozen=True, slots=True, kw_only=True)
class HousePorts:
    """What houses need of other components."""

    send: Callable[[Player, Destination, Monotonic], bool]
    """Sends a player to a place that it loads anew."""
    enter_copy: Callable[[Player, int, int], object]
    """Lets a player enter the copy of a zone with a number when it goes there next."""
    way_out: Callable[[Player], Destination]
    """Returns where a player goes whose house leads nowhere any more."""
    guild_level: Callable[[Player], int]
    """Returns the level of a player's guild; 0 without one."""


def house_of(zone: Zone) -> int:
    """Return the number of the house whose copy a zone is; 0 if it is none."""
    return max(0, zone.instance - FIRST_HOUSE)


class Housing:
    """The houses of one world's players."""

    def __init__(
        self, world: World, store: HouseStore, ledger: Ledger, tables: HomeTables,
        ports: HousePorts,
    ) -> None:  # fmt: skip
        self.tables = tables
        """The houses of the content file."""
        self.entrances = Entrances(world)
        self.store = store
        self._world = world
        self._payments = Payments(world, ledger)
        self._ports = ports
        world.events.subscribe(Used, self._used, Order.OWNER)
        world.events.subscribe(Entered, self._entered)

    def reload(self, tables: HomeTables) -> None:
        """Replace the houses of the content file."""
        self.tables = tables

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note a spawn that has appeared, if it is a door."""
        self.entrances.appeared(zone, spawn, standing)

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that has left its zone."""
        self.entrances.vanished(zone, spawn)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self.entrances.ended(zone)

    # -- doors ----------------------------------------------------------------------------------

    def _used(self, event: Used) -> None:
        command, player = event.verb.command.casefold(), event.player
        if event.done_by or command not in (ACCESS, VISIT):
            return
        home = self.tables.homes.get(self.entrances.home_of(event.target))
        inside = house_of(player.zone)
        if command == ACCESS and inside:
            event.done_by.add(Doer.WAY)
            self.begin(player, self._show_inside(player, inside, event.target))
        elif home is not None:
            event.done_by.add(Doer.WAY)
            work = self._access if command == ACCESS else self._visit
            self.begin(player, work(player, home, event.target))

    def begin(self, player: Player, work: Awaitable[object]) -> None:
        """Begin an act of a player; if it cannot be stored, the player reads that."""
        self._world.start(self._try(player, work))

    async def _try(self, player: Player, work: Awaitable[object]) -> None:
        try:
            await work
        except StoreError as error:
            self._world.refused(player, f"house: {error}")
            send_text(player.client, NOT_NOW, ERROR_COLOR)

    async def _access(self, player: Player, home: HouseKind, door: Spawn) -> None:
        """Show a player its house, or what the house costs."""
        shown = self.entrances.open(player, door)
        owned = await self.store.owned(player.id)
        house = next((one for one in owned if one.home == home.id), None)
        if not self.entrances.is_shown(player, shown):
            return
        if house is None:
            shown.home = home
            text = windows.requirement(home, asks_alignment=self.tables.asks_alignment)
            may_buy = self._fits(player, home)
            windows.send_purchase(player, home, text, may_buy=may_buy)
            return
        house = await self._settled(house, home)
        if not player.client.dialect.world_rules.older_windows:
            await self._list_visits(player, home, shown)
        await self._show(player, shown, house, AccessLevel.OWNER)

    async def _visit(self, player: Player, home: HouseKind, door: Spawn) -> None:
        """Show a player who owns a house."""
        shown = self.entrances.open(player, door)
        self._send_owned(player, await self.store.owned(player.id))
        await self._list_visits(player, home, shown)

    async def _list_visits(self, player: Player, home: HouseKind, shown: Offers) -> None:
        moment = self._world.clock.moment()
        found = await self.store.of_home(home.id, player.id, MOST_VISITED)
        houses = [(house, level) for house, level in found if level > AccessLevel.NONE]
        shown.houses |= {house.id: house.id for house, _ in houses}
        if self.entrances.is_shown(player, shown):
            windows.send_visits(player, home, houses, moment)

    async def _show_inside(self, player: Player, house_id: int, door: Spawn | None) -> None:
        """Show the window of the house in which a player is."""
        shown = self.entrances.open(player, door)
        found = await self.find(player, house_id)
        if found is not None:
            await self._show(player, shown, *found)

    async def _show(self, player: Player, shown: Offers, house: House, level: AccessLevel) -> None:
        """Show a player the window of a house; clients need the list of its houses first."""
        home = self.tables.homes.get(house.home)
        if home is None:
            return
        books = await self.store.books(house.id) if level >= AccessLevel.TRUSTEE else HouseBooks()
        self._send_owned(player, await self.store.owned(player.id))
        if not self.entrances.is_shown(player, shown):
            return
        door = player.index_of(shown.door) if shown.door is not None else None
        number = door or 0
        is_older = player.client.dialect.world_rules.older_windows
        shown.houses[number if is_older else house.id] = house.id
        windows.send_house(
            player, house, home, books, number=number, level=level,
            moment=self._world.clock.moment(), is_inside=house_of(player.zone) == house.id,
        )  # fmt: skip

    def _send_owned(self, player: Player, houses: Sequence[House]) -> None:
        rows = []
        for house in houses:
            home = self.tables.homes.get(house.home)
            zone = self._world.zones.table.get(home.zone_id) if home is not None else None
            if home is not None:
                rows.append((house, home, zone.name if zone is not None else ""))
        windows.send_owned(player, rows)

    # -- buying and paying ----------------------------------------------------------------------

    def _fits(self, player: Player, home: HouseKind) -> bool:
        """Return whether a player is what the buyer of a house has to be."""
        if home.guild_level and self._ports.guild_level(player) < home.guild_level:
            return False
        if not self.tables.asks_alignment or home.alignment not in (GOOD, EVIL):
            return True
        is_good = int(player.spawn.sheet.get("alignment", FieldKind.SIGNED) or 0) == 1
        return is_good is (home.alignment == GOOD)

    async def buy(self, player: Player, number: int) -> None:
        """Let a player buy the house that it was shown. Raises `StoreError`."""
        shown = self.entrances.shown(player)
        home = shown.home if shown is not None else None
        if shown is None or home is None or home.id != number:
            return
        if not self._fits(player, home):
            text = windows.requirement(home, asks_alignment=self.tables.asks_alignment)
            self._refuse(player, text)
            return
        seller = Owner(OwnerKind.HOUSING, home.id)
        bill = Bill(Reason.HOUSE_BOUGHT, seller, home.id, home.cost, home.cost.status)
        dealt = await self._payments.pay(player, bill, self.store.buy)
        if dealt.deal is not Deal.DONE or dealt.house is None:
            self._refuse(player, CANNOT_BUY.get(dealt.deal, NOT_NOW))
            return
        play_sound([player], PAID_SOUND)
        shown.home = None
        await self._show(player, shown, dealt.house, AccessLevel.OWNER)

    async def pay_upkeep(self, player: Player, number: int) -> None:
        """Let a player pay the upkeep of a week. Raises `StoreError`."""
        shown, house, home, level = await self._named(player, number)
        if shown is None or house is None or home is None:
            return
        if level < AccessLevel.VISITOR:
            self._refuse(player, NOT_YOURS)
            return
        lacks = max(0, home.upkeep.status - house.status)
        seller = Owner(OwnerKind.HOUSING, home.id)
        bill = Bill(Reason.UPKEEP, seller, house.id, home.upkeep, lacks)
        dealt = await self._payments.pay(player, bill, self.store.pay)
        await self._paid(player, shown, dealt, level)

    async def deposit(self, player: Player, number: int, coins: int, status: int) -> None:
        """Let a player put coins and status points into a deposit. Raises `StoreError`."""
        shown, house, _home, level = await self._named(player, number)
        if shown is None or house is None or coins < 0 or status < 0 or not (coins or status):
            return
        taker = Owner(OwnerKind.HOUSE, house.id)
        bill = Bill(Reason.HOUSE_DEPOSIT, taker, house.id, Price(coins, status), status)
        dealt = await self._payments.pay(player, bill, self.store.deposit)
        await self._paid(player, shown, dealt, level)

    async def _paid(self, player: Player, shown: Offers, dealt: Dealt, level: AccessLevel) -> None:
        if dealt.deal is not Deal.DONE or dealt.house is None:
            self._refuse(player, CANNOT_PAY.get(dealt.deal, NOT_NOW))
            return
        play_sound([player], PAID_SOUND)
        await self._show(player, shown, dealt.house, level)

    def _refuse(self, player: Player, text: str) -> None:
        send_text(player.client, text, YELLOW)
        play_sound([player], FAILED_SOUND)

    # -- in and out -----------------------------------------------------------------------------

    async def find(self, player: Player, house_id: int) -> tuple[House, AccessLevel] | None:
        """Return a house, and what a player may do there. Raises `StoreError`.

        Upkeep that is due was taken from the deposit.
        """
        found = await self.store.find(house_id, player.id)
        home = self.tables.homes.get(found[0].home) if found is not None else None
        if found is None or home is None:
            return None
        return await self._settled(found[0], home), found[1]

    async def _settled(self, house: House, home: HouseKind) -> House:
        moment = self._world.clock.moment()
        if house.is_paid(moment):
            return house
        return await self.store.settle(house.id, home.upkeep, moment) or house

    async def _named(
        self, player: Player, number: int
    ) -> tuple[Offers | None, House | None, HouseKind | None, AccessLevel]:
        """Return the house that a client means by a number of a window."""
        shown = self.entrances.shown(player)
        house_id = shown.houses.get(number, 0) if shown is not None else 0
        found = await self.find(player, house_id) if house_id else None
        if shown is None or found is None:
            return None, None, None, AccessLevel.NONE
        house, level = found
        return shown, house, self.tables.homes.get(house.home), level

    async def enter(self, player: Player, number: int) -> None:
        """Send a player into the house that a window has shown. Raises `StoreError`."""
        _, house, home, level = await self._named(player, number)
        if house is None or home is None:
            return
        refusal = self._refusal(player, house, level)
        if refusal is not None:
            send_text(player.client, refusal, YELLOW)
        # The window may have been open before the player died.
        elif refuses_dead(player):
            return
        elif player.state in IN_ZONE and house_of(player.zone) != house.id:
            self._ports.enter_copy(player, home.zone_id, FIRST_HOUSE + house.id)
            self._ports.send(player, Destination(home.zone_id), self._world.clock.now())

    def _refusal(self, player: Player, house: House, level: AccessLevel) -> str | None:
        """Return why a player may not be in a house; None if it may. Game masters always may."""
        if player.rank >= self._world.rules.game_master:
            return None
        if level is AccessLevel.NONE:
            return NO_ACCESS
        moment: Moment = self._world.clock.moment()
        if not house.is_paid(moment):
            return UNPAID if level is AccessLevel.OWNER else UNPAID_OF
        return None

    async def leave(self, player: Player) -> None:
        """Send a player out of the house in which it is. Raises `StoreError`."""
        house_id = house_of(player.zone)
        if not house_id:
            return
        found = await self.store.find(house_id, player.id)
        home = self.tables.homes.get(found[0].home) if found is not None else None
        if player.state in IN_ZONE and house_of(player.zone) == house_id:
            self._ports.send(player, self._way_out(player, home), self._world.clock.now())

    def _way_out(self, player: Player, home: HouseKind | None) -> Destination:
        if home is None or self._world.zones.table.get(home.exit_zone) is None:
            return self._ports.way_out(player)
        *place, heading = home.exit
        at = Position(place[0], place[1], place[2], heading)
        return Destination(home.exit_zone, at if any(place) else None)

    def _entered(self, event: Entered) -> None:
        if house_of(event.player.zone):
            self.begin(event.player, self._check(event.player))

    async def _check(self, player: Player) -> None:
        """Send a player away that has come to a house in which it may not be any more."""
        house_id = house_of(player.zone)
        found = await self.find(player, house_id)
        refusal = NO_ACCESS if found is None else self._refusal(player, *found)
        if refusal is not None and house_of(player.zone) == house_id:
            send_text(player.client, refusal, YELLOW)
            await self.leave(player)

    # -- the window's other acts ----------------------------------------------------------------

    async def show(self, player: Player, number: int | None) -> None:
        """Show a house again: that of a window, or that in which the player is."""
        inside = house_of(player.zone)
        if number is None and inside:
            await self._show_inside(player, inside, None)
        elif number is not None:
            shown, house, _, level = await self._named(player, number)
            if shown is not None and house is not None:
                await self._show(player, shown, house, level)

    async def set_public(self, player: Player, number: int, level: AccessLevel) -> None:
        """Set what everybody may do in a player's house. Raises `StoreError`."""
        shown, house, _, own = await self._named(player, number)
        if shown is not None and house is not None and self._owns(player, own):
            await self.store.set_public(house.id, level)
            await self.show(player, number)

    async def set_access(self, player: Player, number: int, name: str, level: AccessLevel) -> None:
        """Set what a character may do in a player's house. Raises `StoreError`."""
        shown, house, _, own = await self._named(player, number)
        if shown is None or house is None or not self._owns(player, own):
            return
        guest = await self._world.saves.characters.find_named(name)
        if guest is None or guest.id == house.owner_id:
            send_text(player.client, f"There is no other character {name}.", YELLOW)
        elif await self.store.set_access(house.id, guest.id, level):
            windows.send_guest(player, guest.id, guest.name, level)
        else:
            send_text(player.client, "This house has too many guests.", YELLOW)

    async def remove_access(self, player: Player, number: int, char_id: int) -> None:
        """Take the own access level of a character away. Raises `StoreError`."""
        shown, house, _, own = await self._named(player, number)
        if shown is None or house is None or not self._owns(player, own):
            return
        if await self.store.remove_access(house.id, char_id):
            windows.send_guest(player, char_id, "", None)

    def _owns(self, player: Player, level: AccessLevel) -> bool:
        if level is not AccessLevel.OWNER:
            send_text(player.client, NOT_YOURS, ERROR_COLOR)
        return level is AccessLevel.OWNER
