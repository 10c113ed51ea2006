"""Shared by the world's commands: their context, their declarations, and checks of the caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar, Unpack

from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import OWNER, Answer, Traits, account_authority, check_authority
from emu.correspondence import PetitionKind
from emu.errors import CommandError, StoreError
from emu.mailbox import PendingAnswer
from emu.model import Present, SavedKind, may_see
from emu.times import UNKNOWN
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination, Spawn
from emu.world.combat.combat import Combat
from emu.world.entry.account_changes import AccountChanges
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.leaving import Departures
from emu.world.items.acts import ItemActs
from emu.world.items.items import Items
from emu.world.items.trading import Trading
from emu.world.ledger.ledger import Ledger
from emu.world.minds.errors import ScriptErrors
from emu.world.population.edits import GameEdits
from emu.world.population.population import ZonePopulation
from emu.world.population.saving import ZoneFiles
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import MUTED, Chat
from emu.world.social.mail import Mail
from emu.world.social.memberships import Memberships
from emu.world.spells.spells import Spells
from emu.world.world import World
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

NAME: Final = Argument("name", help="the player", among="player")
TEXT: Final = Argument("text", ArgumentKind.TEXT, "what to say")


class SpawnBehaviors(Protocol):
    """Starts behaviors of spawns; `emu.world.behaviors.Behaviors` does."""

    def start_behavior(
        self, name: str, options: Mapping[str, Any], zone: Zone, spawn: Spawn | None
    ) -> bool:
        """Start a behavior for a spawn; return whether it runs."""

    def of(self, spawn: Spawn) -> tuple[str, Mapping[str, Any]]:
        """Return the name and the options of a spawn's behavior; "" and none without one."""

    def forget_spawn(self, spawn: Spawn) -> None:
        """End the behavior of a spawn."""

    def names(self) -> list[str]:
        """Return the names of all behaviors."""


@dataclass(slots=True, kw_only=True)
class CommandContext:
    """The components that the world's commands use."""

    world: World
    chat: Chat
    admission: WorldAdmissionRules
    departures: Departures
    account_changes: AccountChanges
    sheets: CharacterSheets
    roll: Callable[[int], int]
    """Returns a random number from 0 to one below the argument; players cannot predict it."""
    behaviors: SpawnBehaviors
    population: ZonePopulation
    zone_files: ZoneFiles
    memberships: Memberships
    mail: Mail
    report: Callable[[Player, PetitionKind, str], Awaitable[int]]
    """Stores what a player reports to the operators; returns its number."""
    ledger: Ledger = field(kw_only=True)
    items: Items
    item_acts: ItemActs
    trading: Trading
    script_errors: ScriptErrors
    combat: Combat
    spells: Spells
    has_mind: Callable[[Zone, Spawn], bool]
    """Whether a spawn hears what is said to it."""
    way_back: Callable[[Player], Destination]
    """Returns where a player goes that is lost in its zone."""
    show_way: Callable[[Player, Position], object]
    """Shows a player the glowing path to a place."""
    grounds: Grounds
    answer: Callable[[], PendingAnswer]
    """Makes an object that a coroutine can wait for."""
    edits: GameEdits | None = None
    """None without a content file."""


PlayersWork = Callable[[CommandContext, Player, Call], Answer]
C = TypeVar("C")
W = TypeVar("W", bound=Callable[..., Answer])


class PlayerCommandSet(CommandSet[C]):
    """Declarations of commands, including those for players only."""

    def for_players(
        self, name: str, help_text: str, *arguments: Argument, **traits: Unpack[Traits]
    ) -> Callable[[W], W]:
        """Declare a command that only players in the world may use."""

        def declare(work: W) -> W:
            async def run(context: C, call: Call) -> Reply | str | None:
                return await work(context, call.caller.player, call)

            self.command(name, help_text, *arguments, **(traits | {"outside": False}))(run)
            return work

        return declare


class WorldCommandSet(PlayerCommandSet[CommandContext]):
    """Declarations of the commands of several components."""


def player_named(context: CommandContext, name: str, call: Call) -> Player:
    """Return a player of this process by name, if the caller may see it. Raises `CommandError`."""
    found = context.world.players.named(name)
    # A hidden player is answered like an absent one, unless the caller is that player.
    if found is not None and (
        found is call.caller.player or may_see(call.caller.rank, found.spawn)
    ):
        return found
    there = player_elsewhere(context, name)
    if there is not None and may_see(call.caller.rank, there):
        raise CommandError(f"{there.name} is in the process {there.process}; use the command there")
    raise CommandError(f"there is no player {name} in the world")


def player_elsewhere(context: CommandContext, name: str) -> Present | None:
    """Return a player of another process by name, None if there is none."""
    found = context.world.processes.presence.named(name)
    return found if found is not None and found.process != context.world.processes.name else None


async def check_rank(
    context: CommandContext, call: Call, account_id: int, name: str, *, harmless: bool = False
) -> None:
    """Raise `CommandError` unless the caller may act on the account of a character.

    The account's rank is the highest of its characters'. `harmless` actions are allowed on the
    caller's own account. Raises `StoreError`.
    """
    # The owner of the machine has no account to compare with, and must not need the database.
    if call.caller.rank >= OWNER:
        return
    # The stored rank and not that of the player in the world: another program may have changed it.
    rows = await context.world.saves.characters.of_account(account_id)
    rank = account_authority(row.admin_status for row in rows)
    own = call.caller.account_id == account_id
    check_authority(call.caller.rank, rank, name, own=own, harmless=harmless)


NOT_STORED: Final = "The database does not answer: the server stores this as soon as it can."
"""Follows an answer whose change is not stored yet."""


async def confirmed(
    context: CommandContext, player: Player, kind: SavedKind, *lines: str
) -> Reply | None:
    """Store a change of a player, then return these lines as the answer to it.

    Every command whose answer confirms a change of a character calls this before it sends anything.
    Return None if the player is not in the world any more: it has been saved as it left, and the
    change, which came later, belongs to nobody. If the change cannot be stored now, the answer says
    so.
    """
    # Its character may even be in the world again, with another `Player`.
    if context.world.players.get(player.id) is not player:
        return None
    try:
        await context.world.saves.confirm(player, kind)
    except StoreError:
        return Reply((*lines, NOT_STORED))
    return Reply(lines)


async def check_voice(context: CommandContext, call: Call) -> None:
    """Raise `CommandError` if the caller's account is muted, `StoreError` if that is unknown.

    Every command that shows a text of the caller to other players must call this.
    """
    account_id, world = call.caller.account_id, context.world
    if not account_id:
        return
    # A player in the world has its mute in memory; the store is asked only for callers from
    # outside.
    known = [one.limits.muted_until for one in context.account_changes.of_account(account_id)]
    if not known:
        rows = await world.saves.characters.of_account(account_id)
        until = max([row.muted_until for row in rows], default=UNKNOWN)
        known = [world.players.pending_mutes.get(account_id, until)]
    if world.clock.moment() < max(known):
        raise CommandError(MUTED)
