"""`emu world import-eq2emu`, which names its replacement."""

from tests.support.running.command_line import CommandLine


def test_the_replacement_is_named_with_the_same_files(emu: CommandLine) -> None:
    line = "zones are imported into a content file: emu content import"
    assert f"{line} world.sql spawns.sql" in emu.refused(
        "world", "import-eq2emu", "world.sql", "spawns.sql"
    )
    assert line in emu.refused("world", "import-eq2emu")
