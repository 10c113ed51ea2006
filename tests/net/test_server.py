import io
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from twisted.application.service import Application
from twisted.internet import reactor
from twisted.internet.protocol import DatagramProtocol
from twisted.internet.task import deferLater
from twisted.logger import ILogObserver, LogLevel

from emu.config import Config
from emu.errors import FileFormatError, StoreError
from emu.link.settings import hash_link_password
from emu.net import logs
from emu.net.server import EmuService, check_files
from emu.store import Store
from emu.structs import shipped_catalog
from emu.structs.catalog import StructCatalog, read_shipped
from emu.worlds import RegisteredWorld
from tests.support.running.clients import connect
from tests.support.running.configs import small_config
from tests.support.running.names import know_no_invalid_names
from tests.support.running.whole_server import captured_log, until

pytestmark = pytest.mark.usefixtures("collect_garbage")


@pytest.mark.slow
async def test_a_whole_server_starts_serves_and_stops(tmp_path: Path) -> None:
    config = small_config(tmp_path, "login.auto_create_accounts=yes")
    check_files(config)
    service = EmuService(config, reactor)
    service.privilegedStartService()
    service.startService()
    port = service.server.login._port.getHost().port
    try:
        async with await connect(reactor, "127.0.0.1", port, "bob", "secret") as client:
            await client.login()
            worlds = await client.worlds()
            assert [world.name for world in worlds] in ([], ["Norrath"])
    finally:
        await service.stopService()
    with Store.open(config.database.path) as store:
        assert store.login.accounts.find("bob") is not None


@pytest.mark.slow
async def test_login_alone_and_world_alone(tmp_path: Path) -> None:
    login = EmuService(small_config(tmp_path, "world.enabled=no"), reactor)
    login.startService()
    assert login.server.world is None
    tcp = login.server.login.links._ports[0].getHost()
    with Store.open(login.config.database.path) as store:
        store.login.worlds.add(RegisteredWorld(0, "Far", "far", hash_link_password("pw")), 0.0)
    world = EmuService(
        small_config(
            tmp_path / "w", "login.enabled=no", f"world.login_servers=127.0.0.1:{tcp.port}",
            "world.account=far", "world.password=pw",
        ),
        reactor,
    )  # fmt: skip
    world.startService()
    assert world.server.login is None

    for _ in range(100):
        if login.server.login.directory.listed():
            break
        await deferLater(reactor, 0.02)
    assert [entry.name for entry in login.server.login.directory.listed()] == ["Far"]
    await world.stopService()
    await login.stopService()


def everything_in(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


# Twisted leaves the socket that could not be bound to the garbage collector.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_start_that_fails_changes_nothing(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    running = EmuService(config, reactor)
    running.startService()
    await running.stopService()
    before = everything_in(config.database.path)
    taken = reactor.listenUDP(0, DatagramProtocol(), interface="127.0.0.1")  # type: ignore[attr-defined]
    trace = tmp_path / "trace.pcapng"
    place = f"world.listen=127.0.0.1:{taken.getHost().port}"
    late = EmuService(small_config(tmp_path, place, f"trace.file={trace}"), reactor)
    with pytest.raises(SystemExit, match=r"world\.listen"):
        late.startService()
    assert everything_in(config.database.path) == before
    assert trace.read_bytes() == b""
    await late.stopService()
    await taken.stopListening()


@pytest.mark.slow
async def test_a_second_server_on_the_same_database_is_refused_with_one_line(
    tmp_path: Path,
) -> None:
    config = small_config(tmp_path)
    first = EmuService(config, reactor)
    first.startService()
    before = everything_in(config.database.path)
    reported: list[str] = []
    second = EmuService(config, reactor, started=lambda: reported.append("ready"))
    with pytest.raises(SystemExit) as caught:
        second.startService()
    assert str(caught.value.code).startswith(f"emu: {config.database.path}: another server")
    assert "\n" not in str(caught.value.code)
    assert reported == []
    with pytest.raises(StoreError, match="another server"):
        check_files(config)
    assert everything_in(config.database.path) == before
    await second.stopService()
    await first.stopService()
    check_files(config)


# Twisted leaves the socket that could not be bound to the garbage collector.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_taken_port_is_one_line_with_its_key(tmp_path: Path) -> None:
    taken = reactor.listenUDP(0, DatagramProtocol(), interface="127.0.0.1")  # type: ignore[attr-defined]
    number = taken.getHost().port
    for key in ("login.listen", "world.listen"):
        service = EmuService(small_config(tmp_path, f"{key}=127.0.0.1:{number}"), reactor)
        with pytest.raises(SystemExit) as caught:
            service.startService()
        text = str(caught.value.code)
        assert text.startswith(f"emu: {key}: cannot listen on UDP 127.0.0.1:{number}")
        assert "\n" not in text
        await service.stopService()
    await taken.stopListening()


@pytest.mark.slow
async def test_a_host_name_to_listen_on_is_resolved_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    know_no_invalid_names(monkeypatch)
    names = ("login.listen=localhost:0", "world.listen=localhost:0")
    service = EmuService(small_config(tmp_path, *names), reactor)
    service.startService()
    try:
        for part in (service.server.login, service.server.world._listener):
            assert part._port.getHost().host == "127.0.0.1"
    finally:
        await service.stopService()
    wrong = EmuService(small_config(tmp_path, "world.listen=no-such.invalid:1"), reactor)
    with pytest.raises(SystemExit) as caught:
        wrong.startService()
    assert "world.listen: the host name no-such.invalid cannot be resolved" in str(caught.value)
    await wrong.stopService()


def test_the_log_takes_our_form_in_a_twistd_application(tmp_path: Path, monkeypatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    application = Application("emu")
    service = EmuService(small_config(tmp_path), log_observer=logs.observer("json"))
    service.setServiceParent(application)
    observer = application.getComponent(ILogObserver)
    logs.logger("x").info("hello", log_time=0)

    observer({"log_time": 0.0, "log_level": LogLevel.error, "log_format": "hello",
              "log_namespace": "emu.x"})  # fmt: skip
    assert '"text": "hello"' in stream.getvalue()


@pytest.mark.parametrize("what", ["foreign", "folder", "unwritable"])
def test_a_database_that_cannot_be_used_is_refused_before_anything_starts(
    tmp_path: Path, what: str
) -> None:
    path = tmp_path / "emu.sqlite"
    if what == "foreign":
        path.write_bytes(b"not a database at all" * 200)
    elif what == "folder":
        path.mkdir()
    else:
        path = Path("/proc/emu.sqlite")
    with pytest.raises(StoreError, match="emu"):
        check_files(small_config(tmp_path, f"database.url=sqlite:{path}"))


@pytest.mark.slow
async def test_what_may_change_is_reread_and_what_is_wrong_changes_nothing(tmp_path: Path) -> None:
    sets = ["world.max_players=3"]

    def reread() -> Config:
        return small_config(tmp_path, *sets)

    service = EmuService(reread(), reactor, reread=reread)
    service.reload()  # not started yet
    service.startService()
    layout = shipped_catalog().layout("LS_LoginReplyMsg", 546)
    sets[:] = [
        "world.max_players=7",
        "world.locked=yes",
        "login.max_characters=9",
        "world.name=Other",
        "world.motd=Hail",
        "world.link_dead=5",
        "world.chat_length=9",
        "world.update_rate=20",
    ]
    with captured_log("text") as log:
        service.reload()
        await until(lambda: "changed: " in log.text, "settings")
    # Nobody has edited the structs, so nothing has to be made anew.
    assert await service.server._reread_structs() == "nothing was edited"
    assert shipped_catalog().layout("LS_LoginReplyMsg", 546) is layout
    assert "changed: login.max_characters, world.chat_length, world.link_dead" in log.text
    assert "at the next start only: world.name, world.update_rate" in log.text
    inside = service.server.world.parts.world
    assert (inside.rules.motd, inside.rules.link_dead) == ("Hail", 5)
    assert service.server.world.parts.chat.rules.longest == 9
    inside.rules = replace(inside.rules, motd="set by command")
    assert service.server.login.service.config.max_characters == 9
    assert service.server.world.parts.admission.rules.max_players == 7
    assert service.server.world.parts.admission.locked
    assert service.config.world.name == "Norrath"
    sets.append("world.max_players=8")
    service.reload()
    assert inside.rules.motd == "set by command"
    sets[:] = ["world.max_players=many"]
    with captured_log("text") as log:
        service.reload()
        await deferLater(reactor, 0.05)
    assert "the configuration is as before: world.max_players" in log.text
    assert service.server.world.parts.admission.rules.max_players == 8
    await service.stopService()
    service.reload()


@pytest.mark.slow
async def test_edited_structs_are_for_new_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = EmuService(small_config(tmp_path), reactor)
    service.startService()
    layout = shipped_catalog().layout("LS_LoginReplyMsg", 546)
    others = [one for one in read_shipped() if one.name != "WS_CharacterSheet"]
    with monkeypatch.context() as patched:
        patched.setattr("emu.net.server.read_shipped", lambda: StructCatalog(others))
        assert await service.server._reread_structs() == "new sessions use what was read"
    assert "WS_CharacterSheet" not in shipped_catalog().names()
    # As before, for all other tests.
    assert await service.server._reread_structs() == "new sessions use what was read"
    assert "WS_CharacterSheet" in shipped_catalog().names()
    assert shipped_catalog().layout("LS_LoginReplyMsg", 546) is not layout
    await service.stopService()


@pytest.mark.slow
async def test_structs_that_cannot_be_read_leave_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise FileFormatError("structs.xml, line 3: no such type")

    service = EmuService(small_config(tmp_path), reactor)
    service.startService()
    layout = shipped_catalog().layout("LS_LoginReplyMsg", 546)
    monkeypatch.setattr("emu.net.server.read_shipped", broken)
    with captured_log("text") as log:
        service.reload()
        await until(lambda: "the structs are as before: structs.xml, line 3" in log.text, "it")
    assert shipped_catalog().layout("LS_LoginReplyMsg", 546) is layout
    await service.stopService()


@pytest.mark.slow
async def test_the_files_that_settings_name_are_reread_as_well(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"radar query {'a' * 16}\n", encoding="utf-8")

    def reread() -> Config:
        return small_config(tmp_path, "ggmp.listen=127.0.0.1:0", f"ggmp.tokens_file={tokens}")

    service = EmuService(reread(), reactor, reread=reread)
    service.startService()
    rules = service.server.admin.ggmp.core.rules
    assert [grant.token for grant in rules.grants] == ["a" * 16]
    tokens.write_text(f"radar * {'b' * 16}\n", encoding="utf-8")
    service.reload()
    await until(lambda: service.server.admin.ggmp.core.rules is not rules, "other tokens")
    rules = service.server.admin.ggmp.core.rules
    assert [grant.token for grant in rules.grants] == ["b" * 16]
    tokens.write_text("radar", encoding="utf-8")
    with captured_log("text") as log:
        service.reload()
        await until(lambda: "the configuration is as before" in log.text, "the refusal")
    assert "ggmp.tokens_file" in log.text
    assert service.server.admin.ggmp.core.rules is rules
    await service.stopService()
