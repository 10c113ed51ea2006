"""`emu character`: the characters of all worlds, as the login server lists them."""

from __future__ import annotations

from collections.abc import Mapping

import click

from emu.cli.common import (
    VerbGroup,
    acting,
    change_store,
    load_config,
    read_store,
    together,
)
from emu.cli.items import print_things
from emu.cli.options import present
from emu.cli.quests import print_journal
from emu.cli.tables import (
    Row,
    format_option,
    print_record,
    print_rows,
    show_moment,
    show_rank,
)
from emu.commands.registry import rank_text, read_rank
from emu.errors import CommandError
from emu.ledger import LedgerEntry, Owner, OwnerKind
from emu.link.messages import MAX_NAME
from emu.model import Character, RosterEntry
from emu.store import Store
from emu.store.repository import name_key
from emu.texts import ban_end_text
from emu.times import UNKNOWN, Moment, lies_ahead
from emu.world.registration.creation import LEAST_LENGTH, MOST_LENGTH, NameRules

COLUMNS = (
    "name", "account", "world", "level", "state", "rank", "banned_until", "last_played", "created",
    "id",
)  # fmt: skip
LOG_COLUMNS = ("time", "change", "left", "what", "kind", "reason", "other", "request")
MOST_ENTRIES = 1_000_000


@click.group(cls=VerbGroup)
def character() -> None:
    """Manage the characters of all worlds: list, log, rank, rename, delete, restore.

    A character belongs to a world. Changes to a character of the built-in world apply to the world
    as well. For other worlds, only the login server's list changes; their operators must change
    their own databases. A running built-in world applies a change at once: a player gets the new
    name or rank, or leaves if its character was deleted.

    CHARACTER is a name, or an id from the list.

    Example: emu character list --account alice
    """


chosen = together(
    click.argument("character"),
    click.option("--world", help="The character's world, if several have the name."),
)
"""The arguments of `_find`."""


@character.command("list")
@click.option("--account", help="Only characters of this account.")
@click.option("--world", help="Only characters of this world.")
@click.option("--deleted", is_flag=True, help="Include deleted characters.")
@format_option
def list_characters(account: str | None, world: str | None, deleted: bool, style: str) -> None:
    """List characters, sorted by name.

    Example: emu character list --world Antonia --deleted
    """
    with read_store() as store:
        entries = store.roster.every()
    rows = [
        _row(entry, style)
        for entry in entries
        if (deleted or not entry.deleted)
        and _is(entry.account, account)
        and _is(entry.world, world)
    ]
    print_rows(rows, style, COLUMNS, least=("created", "last_played"))


@character.command()
@chosen
@format_option
def show(character: str, world: str | None, style: str) -> None:
    """Show one character with its equipment and appearance.

    In a cluster, "node" is the one that let the character in last, and so may save it.

    Example: emu character show Aldana
    """
    with read_store() as store:
        entry = _find(store, character, world)
        listed = None if entry.id is None else store.login.characters.get(entry.id)
    record = _row(entry, style) | {
        "account_id": entry.account_id,
        "char_id": entry.char_id,
        "race": entry.race,
        "class": entry.class_,
        "gender": entry.gender,
        "zone_id": entry.zone_id,
        "client_version": entry.client_version,
        "deleted_at": show_moment(entry.deleted_at),
        "node": entry.holder,
    }
    appearance = _appearance(listed) if listed is not None else {}
    row = {name: ", ".join(map(_piece_text, pieces)) for name, pieces in appearance.items()}
    print_record(record | row, style, structured=appearance)


@character.command()
@chosen
@click.argument("rank")
def rank(character: str, rank: str, world: str | None) -> None:
    """Change the rank of a character: player, guide, gamemaster, admin, or a number to 999.

    A guide (10) can mute, broadcast and lock. A gamemaster (100) can also kick, ban, summon and
    create spawns. An admin (200) can do everything. The command `help` in the game lists what a
    character can use.

    Example: emu character rank Aldana gamemaster
    """
    number = read_rank(rank)
    with change_store() as store:
        entry = _find(store, character, world, deleted=False)
        # The rank is in the world's own table; other worlds keep theirs in their own databases.
        if entry.own_id is None:
            raise CommandError(
                f"{entry.name!r} is a character of {entry.world}, another server; change the rank"
                " there"
            )
        with acting(
            store, f"character {entry.name}",
            f"character {entry.name!r} has the rank {rank_text(number)}",
            before=rank_text(entry.rank or 0), after=rank_text(number),
        ):  # fmt: skip
            store.world.characters.set_admin_status(entry.own_id, number)


@character.command()
@chosen
@click.argument("name")
def rename(character: str, name: str, world: str | None) -> None:
    """Rename a character.

    Example: emu character rename Aldana Aldara
    """
    with change_store() as store:
        entry = _find(store, character, world)
        _check_name(entry, name)
        result = f"character {entry.name!r} is called {name!r}"
        with acting(store, f"character {entry.name}", result, before=entry.name, after=name):
            store.roster.rename(entry, name)
        _print_elsewhere(entry)


@character.command()
@chosen
def delete(character: str, world: str | None) -> None:
    """Delete a character. You can restore it for some time.

    Example: emu character delete Aldana
    """
    with change_store() as store:
        entry = _find(store, character, world, deleted=False)
        with acting(store, f"character {entry.name}", f"character {entry.name!r} is deleted"):
            store.roster.delete(entry)
        _print_elsewhere(entry)


@character.command()
@chosen
def restore(character: str, world: str | None) -> None:
    """Restore a deleted character.

    Example: emu character restore Aldana
    """
    with change_store() as store:
        entry = _find(store, character, world, deleted=True)
        # The login server may still list a character that the world has removed.
        if entry.is_built_in and entry.own_id is None:
            raise CommandError(f"the world does not have {entry.name!r} any more")
        with acting(store, f"character {entry.name}", f"character {entry.name!r} is restored"):
            store.roster.restore(entry)
        _print_elsewhere(entry)


@character.command("free-name")
@chosen
def free_name(character: str, world: str | None) -> None:
    """Release the name of a deleted character for others. The character is then gone for good.

    Example: emu character free-name Aldana
    """
    with change_store() as store:
        entry = _find(store, character, world, deleted=True)
        if not entry.is_built_in:
            raise CommandError(f"the name {entry.name!r} is kept by its world, {entry.world}")
        with acting(store, f"character {entry.name}", f"the name {entry.name!r} is free"):
            store.roster.forget(entry)


@character.command("log")
@click.argument("character", required=False)
@click.option("--world", help="The character's world, if several have the name.")
@click.option(
    "--number", type=click.IntRange(min=1),
    help="A character's number in the log instead: also of one that was removed for good.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(1, MOST_ENTRIES), default=100, show_default=True,
    help="How many entries to list.",
)  # fmt: skip
@format_option
def log(
    character: str | None, world: str | None, number: int | None, limit: int, style: str
) -> None:
    """List the coins and things that a character gave and took, the newest first.

    Coins are in copper. "kind" is the number of a thing's kind, "change" what an entry changed,
    "left" the coins that the character had after the whole movement, and "other" the other owner: a
    character, a letter, a merchant, a game master. Entries with one "request" are one movement: all
    of them were carried out together. A running server need not be stopped.

    Example: emu character log Aldana --limit 20
    """
    with read_store() as store:
        owner = Owner.character(_number_in_log(store, character, world, number))
        entries = store.world.ledger.of_owner(owner, limit)
        names = _names(store)
    if number is not None and not entries:
        raise CommandError(f"the log has no entry of a character {number}")
    rows: list[Row] = [_log_row(entry, owner, names) for entry in entries]
    print_rows(rows, style, LOG_COLUMNS, least=("request",))


@character.command()
@click.argument("character")
@click.option("--world", help="Only a character of the world with this name.")
@format_option
def items(character: str, world: str | None, style: str) -> None:
    """List what a character has: worn, in bags, in the bank, and in the shared bank.

    What a player who is in the world has done in the last 0.2 s may be missing.

    Example: emu character items Aldana
    """
    with read_store() as store:
        entry = _find(store, character, world)
    if entry.own_id is None:
        raise CommandError(f"{entry.name!r} is a character of {entry.world}, another server")
    print_things(entry.own_id, entry.account_id, style)


@character.command()
@click.argument("character")
@click.option("--world", help="Only a character of the world with this name.")
@format_option
def quests(character: str, world: str | None, style: str) -> None:
    """List the quests of a character: open ones, and how often others were completed.

    Example: emu character quests Aldana
    """
    with read_store() as store:
        entry = _find(store, character, world)
        row = store.world.characters.find(entry.own_id) if entry.own_id is not None else None
    if row is None:
        raise CommandError(f"{entry.name!r} is a character of {entry.world}, another server")
    print_journal(row.quests, style)


def _number_in_log(store: Store, wanted: str | None, world: str | None, number: int | None) -> int:
    """Return the number of a character of the built-in world. Raises `CommandError`."""
    if (wanted is None) == (number is None):
        raise CommandError("name a character, or give its number with --number")
    if number is not None:
        return number
    entry = _find(store, wanted or "", world)
    if entry.own_id is None:
        raise CommandError(f"{entry.name!r} is a character of {entry.world}, another server")
    return entry.own_id


def _names(store: Store) -> dict[Owner, str]:
    """Return the names of owners: characters, deleted ones too, and accounts of game masters."""
    names = {Owner(OwnerKind.GAME_MASTER): "console"}
    for entry in store.roster.every():
        names[Owner(OwnerKind.GAME_MASTER, entry.account_id)] = f"game master {entry.account}"
        if entry.own_id is not None:
            names[Owner.character(entry.own_id)] = entry.name
    return names


def _log_row(entry: LedgerEntry, owner: Owner, names: Mapping[Owner, str]) -> Row:
    is_giver = (entry.giver, entry.giver_id) == owner
    kind, number = (entry.taker, entry.taker_id) if is_giver else (entry.giver, entry.giver_id)
    other = names.get(Owner(OwnerKind(kind), number), f"{kind} {number}" if number else kind)
    return {
        "time": show_moment(entry.moment),
        "change": entry.change(owner),
        "left": entry.left(owner),
        "what": entry.what,
        "kind": entry.number or None,
        "reason": entry.reason,
        "other": other,
        "request": entry.request,
    }


def _find(
    store: Store, wanted: str, world: str | None, *, deleted: bool | None = None
) -> RosterEntry:
    """Return the character of a name or id. Raises `CommandError` for none and for several.

    `deleted` selects deleted or existing characters; without it, an existing one comes first.
    """
    key = name_key(wanted.strip())
    entries = [
        entry
        for entry in store.roster.every()
        if key in (str(entry.id), name_key(entry.name)) and _is(entry.world, world)
    ]
    if not entries:
        raise CommandError(
            f"there is no character {wanted!r}; `emu character list --deleted` shows all"
        )
    if deleted is None:
        entries = [entry for entry in entries if not entry.deleted] or entries
    else:
        entries = [entry for entry in entries if entry.deleted is deleted]
    if not entries:
        raise CommandError(f"character {wanted!r} is {'not' if deleted else 'already'} deleted")
    if len(entries) > 1:
        shown = ", ".join(f"{entry.id} ({entry.world}, {_state(entry)})" for entry in entries)
        raise CommandError(f"several characters are called {wanted!r}; name one by its id: {shown}")
    return entries[0]


def _check_name(entry: RosterEntry, name: str) -> None:
    """Refuse a name that the character's world would refuse, as far as its rules are known."""
    if entry.is_built_in:
        if NameRules(blocked=load_config().world.name_filter).reason_against(name) is not None:
            raise CommandError(
                f"{name!r} cannot be a name: {LEAST_LENGTH} to {MOST_LENGTH} letters A to Z, and"
                " nothing that world.name_filter forbids"
            )
    elif not 0 < len(name.encode()) <= MAX_NAME or not name.isprintable() or name != name.strip():
        raise CommandError(f"a name must have 1 to {MAX_NAME} bytes, and all of it visible")
    elif not name.isascii():
        # Other letters could make it look like another character's name.
        raise CommandError(f"{name!r} cannot be a name: clients show letters A to Z only")


def _print_elsewhere(entry: RosterEntry) -> None:
    if not entry.is_built_in:
        click.echo(f"only the list was changed; {entry.world} has its own character", err=True)


def _is(name: str, wanted: str | None) -> bool:
    return wanted is None or name_key(name) == name_key(wanted.strip())


def _state(entry: RosterEntry) -> str:
    return "deleted" if entry.deleted else "alive"


def _ban_end(entry: RosterEntry) -> str | None:
    is_over = entry.banned_until is None or not lies_ahead(entry.banned_until, present())
    return None if is_over else ban_end_text(entry.banned_until)


def _played(moment: Moment) -> str | None:
    return None if moment == UNKNOWN else show_moment(moment)


def _row(entry: RosterEntry, style: str) -> dict[str, str | int | float | bool | None]:
    return {
        "id": entry.id,
        "name": entry.name,
        "account": entry.account,
        "world": entry.world,
        "level": entry.level,
        "state": _state(entry),
        "rank": show_rank(entry.rank, style),
        "banned_until": _ban_end(entry),
        "last_played": _played(entry.last_played),
        "created": show_moment(entry.created),
    }


def _appearance(listed: Character) -> dict[str, list[Row]]:
    """Return models, colors and equipment, each as a list of records."""
    return {
        "models": [{"field": name, "number": number} for name, number in listed.appearance.items()],
        "colors": [
            {"field": name, "red": color.red, "green": color.green, "blue": color.blue}
            for name, color in listed.colors.items()
        ],
        "equipment": [{"slot": item.slot, "model": item.model} for item in listed.equipment],
    }


def _piece_text(piece: Row) -> str:
    name, *values = piece.values()
    return f"{name} {'/'.join(map(str, values))}"
