"""Imports of made-up players by `emu account import-eq2emu --world`."""

from pathlib import Path
from typing import Any

from emu.model import WorldCharacter
from emu.store import Store
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, mysqldump
from tests.support.running.command_line import CommandLine

IMPORT = ("account", "import-eq2emu")


class Dumps:
    """The dumps of a login database and of a world, in files."""

    def __init__(self, folder: Path) -> None:
        self.login = folder / "eq2ls.sql"
        self.world = folder / "eq2emu.sql"
        self.write()

    def write(self, login: Any = LOGIN, world: Any = ANTONIA, **options: bool) -> None:
        self.login.write_text(mysqldump(login, **options), encoding="utf-8")
        self.world.write_text(mysqldump(world, **options), encoding="utf-8")

    @property
    def words(self) -> tuple[str, ...]:
        return (*IMPORT, str(self.login), "--world", f"Antonia={self.world}")


def character(emu: CommandLine, name: str) -> WorldCharacter:
    with Store.open(emu.database) as store:
        found = store.world.characters.find_named(name)
    assert found is not None
    return found
