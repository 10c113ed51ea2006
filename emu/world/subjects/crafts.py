"""Harvest, collections and crafting: their commands, messages and functions for scripts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.content.standing import Standing
from emu.errors import CommandError
from emu.rules.loot import Chance
from emu.scripts.signatures import FunctionTable
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player, refuses_dead
from emu.world.actors.spawn import Spawn
from emu.world.commands.context import PlayerCommandSet
from emu.world.crafting.books import RecipeBooks
from emu.world.crafting.collecting import Collecting
from emu.world.crafting.components import wanted_of
from emu.world.crafting.craft_windows import show_reward
from emu.world.crafting.creating import Creating
from emu.world.crafting.giving import ActChances, Crafts, SkillUse
from emu.world.crafting.harvesting import Harvesting
from emu.world.crafting.recipe_windows import bench_of
from emu.world.crafting.transmuting import TransmutePorts, Transmuting
from emu.world.items.items import Items
from emu.world.messages import WorldMessages
from emu.world.scripts.bodies import Body
from emu.world.subjects.subject import Subject
from emu.world.zones.zone import Zone

LONGEST_NUMBER: Final = 20
REACH: Final = 10.0
"""How far a collector may be whose verb has no distance of its own."""
COLLECTOR: Final = "hand_in_collections"
"""The command of a collector's verb."""
WORDS: Final = Argument(
    "words", ArgumentKind.TEXT, "what the client's window sends", optional=True, default=""
)


class Crafting(Subject):
    """The harvest, the collections and the crafting of one world."""

    def __init__(
        self,
        items: Items,
        crafts: Crafts,
        skills: SkillUse,
        *,
        roll: Callable[[int], int],
        seeded: Callable[[str], Chance],
        despawn: Callable[[Zone, Spawn], None],
        give_experience: Callable[[Player, int], object],
        give_trade: Callable[[Player, int], object],
        art: Callable[[int], int | None],
        transmuting: TransmutePorts,
    ) -> None:
        """`roll` returns a random number below its argument, and `seeded` numbers of a seed.

        `despawn` removes a spawn, which returns as its zone says. `give_experience` gives a player
        points, and says so; `give_trade` gives it points of tradeskill experience.
        `art` returns the icon of a spell that is an art of crafting. `transmuting` are the ports
        of transmuting.
        """
        self._chances = ActChances(roll, seeded)
        self.harvesting = Harvesting(items, crafts, skills, self._chances, despawn)
        self.collecting = Collecting(
            items, crafts,
            show_reward=lambda player, one: show_reward(player, one, items.kinds.get),
            give_experience=give_experience,
        )  # fmt: skip
        self.transmuting = Transmuting(items, crafts, skills, transmuting, roll)
        self.books = RecipeBooks(items, crafts)
        self.creating = Creating(
            items,
            crafts,
            self.books,
            skills=skills,
            chances=self._chances,
            gain=give_trade,
            art=art,
        )

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of the windows of crafting."""
        messages.add_handler("OP_RequestRecipeDetailsMsg", self._describe, IN_ZONE)
        messages.add_handler("OP_BeginItemCreationMsg", self._begin, IN_ZONE)
        messages.add_handler("OP_StopItemCreationMsg", self._stop, IN_ZONE)

    def _describe(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_RequestRecipeDetail").decode(body)
        self.books.describe(player, [row["recipe_id"] for row in fields["recipes_array"]])

    def _begin(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_BeginItemCreation").decode(body)
        self.creating.begin(player, wanted_of(fields))

    def _stop(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self.creating.stop(player)

    # What clients that enter are sent.

    def send_collections(self, player: Player) -> None:
        """Send a client its collections."""
        self.collecting.send(player)

    def send_recipes(self, player: Player) -> None:
        """Send a client its recipe book."""
        self.books.send(player)

    # The spawns of zones.

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note nothing: a node begins with its first harvest."""

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that was removed from its zone."""
        self.harvesting.vanished(spawn)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._chances.ended(zone)


# --- commands

COMMANDS = PlayerCommandSet[Crafting]()
quiet = partial(COMMANDS.for_players, is_quiet=True)


def _numbers(call: Call, count: int) -> list[int]:
    """Return the numbers that a window has sent; what is missing or no number is -1."""
    words = (call["words"] or "").split()[:count]
    found = [
        int(word) if word.isascii() and word.isdigit() and len(word) <= LONGEST_NUMBER else -1
        for word in words
    ]
    return [*found, *[-1] * (count - len(found))]


@quiet("collection_additem", "put a thing into a collection", WORDS, cost=Cost.CHANGE,
       example="collection_additem 9101 0")  # fmt: skip
async def _add(crafting: Crafting, player: Player, call: Call) -> None:
    number, place = _numbers(call, 2)
    crafting.collecting.add_thing(player, number, place)


@quiet("collection_filter_matchitem", "show which collections need a thing", WORDS,
       example="collection_filter_matchitem 0")  # fmt: skip
async def _match(crafting: Crafting, player: Player, call: Call) -> None:
    (number,) = _numbers(call, 1)
    crafting.collecting.match(player, number)


@quiet("collections", "list your collections", cost=Cost.LISTING)
async def _collections(crafting: Crafting, player: Player, _call: Call) -> Reply:
    collecting = crafting.collecting
    lines = []
    for one in collecting.begun(player):
        found = collecting.found(player, one.id)
        state = "can be handed in" if collecting.is_ready(player, one) else "not complete"
        if any(piece.is_attuned for piece in found.values()):
            state = "handed in"
        lines.append(f"{one.name}: {len(found)} of {len(one.pieces)} pieces, {state}")
    return Reply(tuple(lines) or ("You have no collections.",))


@quiet(COLLECTOR, "hand in a collection to a collector, your target", cost=Cost.CHANGE)
async def _hand_in(crafting: Crafting, player: Player, _call: Call) -> None:
    target = player.target
    verbs = () if target is None else (*target.verbs, *target.more_verbs)
    verb = next((one for one in verbs if one.command == COLLECTOR), None)
    if target is None or verb is None or player.index_of(target) is None:
        raise CommandError("your target is no collector")
    if player.position.distance_to(target.position) > (verb.distance or REACH):
        raise CommandError("you are too far away")
    if refuses_dead(player):
        return
    if not crafting.collecting.hand_in(player):
        raise CommandError("you have no collection of which all pieces are found")


@quiet("create", "open your recipe book at a device, your target")
async def _create(crafting: Crafting, player: Player, _call: Call) -> None:
    crafting.creating.open_device(player)


@quiet("createfromrecipe", "choose the components of a recipe; 0 is the last one", WORDS,
       example="createfromrecipe 0")  # fmt: skip
async def _from_recipe(crafting: Crafting, player: Player, call: Call) -> None:
    (number,) = _numbers(call, 1)
    crafting.creating.open(player, number)


@quiet("recipes", "list your recipes", cost=Cost.LISTING)
async def _recipes(crafting: Crafting, player: Player, _call: Call) -> Reply:
    lines = [
        f"{one.id} {one.name}, level {one.level}, {bench_of(one.recipe).name}"
        for one in crafting.books.of(player).values()
    ]
    return Reply(tuple(lines) or ("You know no recipes.",))


Crafting.COMMANDS = COMMANDS

# --- functions for scripts

FUNCTIONS: Final = FunctionTable()


def _player(body: Body | None) -> Player | None:
    return body.player if body is not None else None


@FUNCTIONS("CanHarvest", "P player, S node")
def can_harvest(crafting: Crafting, body: Body | None, node: Body | None) -> bool:
    """Return whether a player has the skill for a node; the player reads so if not."""
    player = _player(body)
    return (
        player is not None and node is not None
        and crafting.harvesting.may_harvest(player, node.spawn)
    )  # fmt: skip


@FUNCTIONS("Harvest", "P player, S node")
def harvest(crafting: Crafting, body: Body | None, node: Body | None) -> None:
    """Let a player harvest a node once, at once; a node that is used up goes."""
    player = _player(body)
    if player is not None and node is not None:
        crafting.harvesting.harvest(player, node.spawn)


@FUNCTIONS("HasCollectionsToHandIn", "P player")
def has_ready(crafting: Crafting, body: Body | None) -> bool:
    """Return whether a player has a collection of which all pieces are found."""
    player = _player(body)
    return player is not None and bool(crafting.collecting.ready(player))


@FUNCTIONS("HandInCollections", "P player")
def hand_in(crafting: Crafting, body: Body | None) -> None:
    """Show a player the reward of each collection that it can hand in, one after the other."""
    player = _player(body)
    if player is not None:
        crafting.collecting.hand_in(player)


@FUNCTIONS("HasRecipeBook", "P player, u book")
def has_book(crafting: Crafting, body: Body | None, item: int) -> bool:
    """Return whether a player has learned a recipe book, by the number of its item."""
    player = _player(body)
    return player is not None and crafting.books.has_book(player, item)


@FUNCTIONS("AddRecipeBookToPlayer", "P player, u book")
def add_book(crafting: Crafting, body: Body | None, item: int) -> bool:
    """Let a player learn a recipe book, by the number of its item; true if it is a new one."""
    player = _player(body)
    return player is not None and crafting.books.give(player, item)


@FUNCTIONS("RemoveRecipeFromPlayer", "P player, u recipe")
def remove_recipe(crafting: Crafting, body: Body | None, number: int) -> bool:
    """Let a player forget the books with a recipe, or a book by the number of its item."""
    player = _player(body)
    return player is not None and crafting.books.take_book(player, number)


@FUNCTIONS("StartTransmute", "P player")
def start_transmute(crafting: Crafting, body: Body | None) -> None:
    """Ask a player which thing to transmute."""
    player = _player(body)
    if player is not None:
        crafting.transmuting.start(player)


@FUNCTIONS("CompleteTransmute", "P player")
def complete_transmute(crafting: Crafting, body: Body | None) -> None:
    """Turn the thing that a player has chosen to transmute into materials."""
    player = _player(body)
    if player is not None:
        crafting.transmuting.complete(player)


Crafting.FUNCTIONS = FUNCTIONS
