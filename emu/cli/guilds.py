"""`emu guild`: the guilds of the built-in world."""

from __future__ import annotations

import click

from emu.cli.common import VerbGroup, acting, change_store, read_store
from emu.cli.tables import Row, format_option, print_record, print_rows, show_moment
from emu.errors import CommandError
from emu.guilds import Guild, GuildChange
from emu.store import Store
from emu.world.social.guilds import usable_name

COLUMNS = ("name", "members", "formed", "id")


@click.group(cls=VerbGroup)
def guild() -> None:
    """Manage the guilds of the world: list, show, rename, delete.

    A running world applies a change at once. GUILD is a name, or an id from the list.

    Example: emu guild list
    """


@guild.command("list")
@format_option
def list_guilds(style: str) -> None:
    """List guilds, sorted by name.

    Example: emu guild list --format json
    """
    with read_store() as store:
        found = store.world.guilds.every()
    rows = [
        {"id": one.id, "name": one.name, "members": one.members, "formed": show_moment(one.formed)}
        for one in found
    ]
    print_rows(rows, style, COLUMNS, least=("formed",))


@guild.command()
@click.argument("guild")
@format_option
def show(guild: str, style: str) -> None:
    """Show one guild with its members.

    Example: emu guild show "The Wolves"
    """
    with read_store() as store:
        found = _find(store, guild)
    members: list[Row] = [
        {"name": one.name, "rank": found.ranks[one.rank].name, "joined": show_moment(one.joined)}
        for one in found.members.values()
    ]
    record: Row = {
        "id": found.id,
        "name": found.name,
        "motd": found.motd,
        "formed": show_moment(found.formed),
    }
    names = ", ".join(f"{one['name']} ({one['rank']})" for one in members)
    print_record({**record, "members": names}, style, structured={"members": members})


@guild.command()
@click.argument("guild")
@click.argument("name")
def rename(guild: str, name: str) -> None:
    """Rename a guild.

    Example: emu guild rename "The Wolves" "The Bears"
    """
    name = usable_name(name)
    with change_store() as store:
        found = _find(store, guild)
        result = f"guild {found.name!r} is called {name!r}"
        with acting(store, f"guild {found.name}", result, before=found.name, after=name):
            store.world.guilds.save_change(found.id, found.revision, GuildChange(name=name))


@guild.command()
@click.argument("guild")
def delete(guild: str) -> None:
    """Delete a guild for good. Its members stay, without a guild.

    Example: emu guild delete "The Wolves"
    """
    with change_store() as store:
        found = _find(store, guild)
        with acting(store, f"guild {found.name}", f"guild {found.name!r} is deleted"):
            store.world.guilds.delete(found.id)


def _find(store: Store, wanted: str) -> Guild:
    """Return the guild of a name or id. Raises `CommandError`."""
    guilds, wanted = store.world.guilds, wanted.strip()
    # A name has only letters, so a number is always an id.
    guild_id = int(wanted[:15]) if wanted.isascii() and wanted.isdecimal() else guilds.named(wanted)
    found = guilds.find(guild_id)
    if found is None:
        raise CommandError(f"there is no guild {wanted!r}; emu guild list shows them")
    return found
