"""The commands in the help texts and the README, and a folder in which they can run."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path

import click

from emu.cli.main import root
from emu.cluster.ports import NodeAbout, NodeState
from emu.guilds import LEADER, Guild, GuildMember
from emu.model import BUILT_IN_ACCOUNT
from emu.net.world.recordings import write_recording
from emu.opcodes.files import as_sql
from emu.opcodes.text import shipped_rows
from emu.processes.ports import ContentEdit
from emu.store import Store
from emu.times import UNKNOWN
from emu.world.recording.recording import Header, Recording
from emu.worlds import RegisteredWorld
from tests.support.content.dumps import meadow, write_dumps
from tests.support.database.stores import character, world_character
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, mysqldump
from tests.support.ground.map_folders import write_maps
from tests.support.running.command_line import CHEAP
from tests.support.sessions.conversations import login_by_number, pcap, whole_session
from tests.support.world.world_dumps import ZONES

_ROOT = Path(__file__).parents[3]
README = (_ROOT / "README.md").read_text(encoding="utf-8")
INSTALLING = (_ROOT / "docs" / "guides" / "installing.md").read_text(encoding="utf-8")
TOOLS = (_ROOT / "docs" / "guides" / "tools.md").read_text(encoding="utf-8")
PLAYERS = {table: rows for table, rows in ANTONIA.items() if table != "zones"}
STRUCTS = (
    '<EQ2Emulator><Struct Name="{name}" ClientVersion="1"><Data ElementName="a" Type="int8"/>'
    "</Struct></EQ2Emulator>\n"
)

SET = "opcodes set OP_KeymapLoadMsg 400 --version 546"
BEFORE = {
    "account add alice": ["account remove alice"],
    "account address unban": ["account address ban 192.0.2.0/24"],
    "character free-name": ["character delete Aldana"],
    "character restore": ["character delete Aldana"],
    "restore": ["backup emu-copy.db"],
    "opcodes undo": [SET],
    "opcodes redo": [SET, "opcodes undo"],
    "world add Antonia": ["world remove Antonia"],
    "world fingerprint": ["world certificate --out link.pem"],
}
"""Beginning of an example: what must have happened before, apart from what `prepare` makes."""


ON_A_SERVER = (
    "emu client", "emu admin", "emu ggmp", "emu query", "emu rcon", "emu status",
    "emu top", "emu world console", "emu content errors", "emu start", "emu stop", "emu run",
    "emu logs", "emu zone record",
)  # fmt: skip
"""Beginnings of examples that want a server that runs."""


def recording_of_nothing() -> Recording:
    """Return a recording in which nothing happens."""
    header = Header(
        12, 0, "antonica", 0.0, 0.0, 0.0, "", 0, "", 0, 1, is_private=False, reason="bug 5"
    )
    return Recording(header, None, [])


def code_lines() -> list[str]:
    """Return the indented lines of README and of the pages that continue it."""
    lines = f"{README}\n{INSTALLING}".splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


def examples() -> list[str]:
    """Return the examples in the help of all commands, and the commands in the README."""
    found = [
        line.removeprefix(".venv/bin/")
        for line in code_lines()
        if line.removeprefix(".venv/bin/").startswith("emu ")
    ]

    def walk(group: click.Group) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            text = f"{command.help or ''}\n{command.epilog or ''}"
            found.extend(re.findall(r"\b(emu (?:-|[a-z]).*)", "".join(text.split("Example")[1:])))
            if isinstance(command, click.Group):
                walk(command)

    assert isinstance(root, click.Group)
    walk(root)
    return sorted({line.partition("  #")[0].strip() for line in found})


def words_of(line: str) -> list[str]:
    """Return what of an example is for `emu`: without its name, and without pipes and the like."""
    words = shlex.split(line, comments=True)[1:]
    ends = [words.index(stop) for stop in ("|", ">", "<", "&&", ";") if stop in words]
    return words[: min(ends, default=len(words))]


def before(line: str) -> list[list[str]]:
    """Return the words of what must be run before an example."""
    command = line.removeprefix("emu ")
    return [
        words.split()
        for beginning, needed in BEFORE.items()
        if command.startswith(beginning)
        for words in needed
    ]


def prepare(folder: Path) -> list[list[str]]:
    """Make the files that examples speak of; returns the words of what is to be run at first."""
    (folder / "emu.toml").write_text(
        '[database]\nurl = "sqlite:emu.sqlite"\n[trace]\nfile = "trace.pcapng"\n'
        f'[login]\nlisten = "127.0.0.1:0"\n{CHEAP}[world]\nlisten = "127.0.0.1:0"\n'
        'scripts = "scripts"\n'
    )
    guard = folder / "scripts" / "SpawnScripts" / "Commonlands" / "guard.lua"
    guard.parent.mkdir(parents=True)
    guard.write_text('function hailed(NPC, Spawn)\n    Say(NPC, "Halt!", Spawn)\nend\n')
    write_recording(folder / "recordings", recording_of_nothing())
    capture = pcap(whole_session([(True, 1, login_by_number(546))]).datagrams)
    for name in ("session.pcapng", "trace.pcapng"):
        (folder / name).write_bytes(capture)
    (folder / "session.pcap.gz").write_bytes(gzip.compress(capture))
    dump = "".join(as_sql(shipped_rows())).encode()
    for name in ("opcodes", "login", "world"):
        (folder / f"{name}.sql.gz").write_bytes(gzip.compress(dump, 1))
    (folder / "eq2login.sql.gz").write_bytes(gzip.compress(mysqldump(LOGIN).encode()))
    (folder / "eq2world.sql.gz").write_bytes(gzip.compress((ZONES + mysqldump(PLAYERS)).encode()))
    for name in ("Common", "World"):
        (folder / f"{name}Structs.xml").write_text(STRUCTS.format(name=name))
    with Store.create(folder / "emu.sqlite") as store:
        store.login.accounts.add("dave", "", UNKNOWN)
        store.login.worlds.add(RegisteredWorld(0, "Norrath", BUILT_IN_ACCOUNT, ""))
        own = store.world.characters.create(world_character(name="Aldana"))
        store.login.characters.add(character(name="Aldana", char_id=own.id))
        store.world.content_edits.save_edits(
            [ContentEdit("placement", 3504, "x", "2.0", "1.0", "Aldana", UNKNOWN)]
        )
        leader = GuildMember(char_id=own.id, rank=LEADER)
        store.world.guilds.create(Guild(name="The Wolves", members={own.id: leader}))
        nodes = store.world.nodes
        for name in ("east", "north", "west"):
            nodes.take_term(name, NodeAbout("192.0.2.1", 9001, "", 100))
        nodes.set_state("north", NodeState.STOPPED)
        # They stay alive however long the other examples take.
        with store.database.transaction() as connection:
            connection.execute("UPDATE nodes SET seen = seen + 1000000")
    tables = meadow()
    tables["zones"].append({"id": 12, "name": "Antonica", "file": "antonica"})
    tables["spawn"].append({"id": 120001, "name": "a gnoll"})
    tables["spawn_objects"] = [{"spawn_id": 120001}]
    write_dumps(folder / "worldtables_with_data", tables)
    (folder / "eq2emu-maps").mkdir()
    write_maps(folder / "eq2emu-maps", "antonica")
    # Twice: `emu content back` returns to the file of the import before.
    words = ["content", "import", "worldtables_with_data", "--maps", "eq2emu-maps"]
    imports = [words] * 2
    return [
        *imports,
        ["account", "add", "alice", "--password", "secret"],
        ["world", "add", "Antonia", "--account", "antonia", "--password", "secret"],
    ]
