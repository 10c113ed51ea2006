"""Commands, status, shutdown and listeners in a server that runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.commands import Caller, Reply
from emu.net.server import EmuService
from tests.support.running.configs import small_config
from tests.support.running.whole_server import captured_log, reactor, until
from tests.support.world.zone_files import write_zones, zone_text

pytestmark = pytest.mark.slow

ROOT = Caller("root", 1000, "console")


async def run(service: EmuService, line: str) -> Reply:
    return await service.server.admin.commands.run(ROOT, line, reactor.seconds())


async def test_status_accounts_characters_and_reload(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    service = EmuService(config, reactor, reread=lambda: small_config(tmp_path, "world.locked=yes"))
    service.startService()
    try:
        status = await run(service, "status")
        assert status.data["name"] == "Norrath"
        assert status.data["port"] == service.server.login.port  # type: ignore[union-attr]
        assert (await run(service, "account add alice s3cret")).ok
        assert (await run(service, "account show Alice")).data["name"] == "alice"
        assert (await run(service, "character list")).data == []
        reported = await run(service, "reload configuration")
        assert reported.text == "configuration: changed: world.locked"
        assert service.server.world.parts.admission.locked  # type: ignore[union-attr]
        everything = await run(service, "reload")
        assert everything.ok, everything.text
        assert set(everything.data) >= {"configuration", "structs", "opcodes", "behaviors"}
        commands = {command.name for command in service.server.admin.commands}  # type: ignore[union-attr]
        assert commands >= {"kick", "status", "help", "complete", "echo", "shutdown"}
    finally:
        await service.stopService()


async def test_a_reload_with_a_fault_shows_file_and_line_and_keeps_the_old_zones(
    tmp_path: Path,
) -> None:
    zones, behaviors = tmp_path / "zones", tmp_path / "behaviors"
    write_zones(zones, mine=zone_text(900, "Mine"))
    behaviors.mkdir()
    crier = behaviors / "crier.py"
    crier.write_text("class Crier:\n    def on_start(self): ...\n")
    config = small_config(tmp_path, f"world.zones={zones}", f"world.behaviors={behaviors}")
    service = EmuService(config, reactor)
    service.startService()
    try:
        world = service.server.world
        assert world is not None
        write_zones(zones, mine=zone_text(900, "Yours", 'behavior = "cryer"\npopulation = -1\n'))
        crier.write_text("class Crier:\n    def on_start(self) ...\n")
        reply = await run(service, "reload zones")
        assert not reply.ok
        assert reply.lines[0] == "zones: not reloaded, as before:"
        assert reply.lines[1].startswith(
            f"{zones / 'mine.toml'}, line 9: zone: population: must be"
        )
        write_zones(zones, mine=zone_text(900, "Yours", 'behavior = "cryer"\n'))
        reply = await run(service, "reload")
        assert not reply.ok
        fault = "zone: behavior: unknown behavior 'cryer'; did you mean crier?"
        assert f"{zones / 'mine.toml'}, line 8: {fault}" in reply.lines
        assert f"{crier}, line 2: expected ':'" in reply.lines
        assert [line for line in reply.lines if line.startswith("knowledge: ")], "the rest is read"
        assert world.parts.ports.atlas.named("Mine") is not None
        assert world.parts.behaviors.library.find("crier") is not None
        with captured_log("text") as log:
            await service.server.reload()
        assert f"the zones are as before: {zones / 'mine.toml'}, line 8: zone" in log.text
        write_zones(zones, mine=zone_text(900, "Yours", 'behavior = "crier"\n'))
        crier.write_text(
            "class Crier:\n    def __init__(self, me, options): ...\n    def on_start(self): ...\n"
        )
        reply = await run(service, "reload")
        assert reply.ok, reply.lines
        assert world.parts.ports.atlas.named("Yours") is not None
    finally:
        await service.stopService()


async def test_a_login_server_alone_has_commands_too(tmp_path: Path) -> None:
    service = EmuService(small_config(tmp_path, "world.enabled=no"), reactor)
    service.startService()
    try:
        assert (await run(service, "status")).ok
        assert (await run(service, "account list")).data == []
        assert (await run(service, "kick Bob")).text.startswith("there is no command kick")
    finally:
        await service.stopService()


@pytest.mark.slow
async def test_a_shutdown_is_announced_and_comes(tmp_path: Path) -> None:
    ended: list[Any] = []
    with captured_log("text") as log:
        service = EmuService(small_config(tmp_path), reactor, end=lambda: ended.append(1))
        service.startService()
        try:
            assert (await run(service, "shutdown 60")).ok
            assert "admin: The server stops in 1 minute." in log.text
            assert (await run(service, "cancel")).ok
            assert "admin: The shutdown is canceled." in log.text
            assert (await run(service, "shutdown 1")).ok
            await until(lambda: ended, "the end")
        finally:
            await service.stopService()


async def test_notes_of_other_processes_take_effect(tmp_path: Path) -> None:
    ended: list[Any] = []
    with captured_log("text") as log:
        service = EmuService(small_config(tmp_path), reactor, end=lambda: ended.append(1))
        service.startService()
        bus = service.server._bus.member.bus
        try:
            other = {"process": "west"}
            bus.publish("changed.reload", {**other, "what": "knowledge"})
            assert "admin: the process west has read knowledge again" in log.text
            bus.publish("changed.account", {**other, "account_id": 101, "reason": "banned"})
            bus.publish("changed.shutdown", {**other, "seconds": 60})
            assert "admin: The server stops in 1 minute." in log.text
            bus.publish("changed.cancel", other)
            assert "admin: The shutdown is canceled." in log.text
            bus.publish("changed.shutdown", {**other, "seconds": 0})
            await until(lambda: ended, "the end")
        finally:
            await service.stopService()


async def test_a_command_for_all_processes_is_published_once(tmp_path: Path) -> None:
    service = EmuService(small_config(tmp_path), reactor)
    service.startService()
    notes: list[Any] = []
    for topic in ("reload", "shutdown", "cancel"):
        service.server._bus.member.bus.subscribe(f"changed.{topic}", notes.append)
    try:
        assert (await run(service, "shutdown 60")).ok
        assert (await run(service, "shutdown 90 all")).text.startswith("all processes stop in 90")
        assert (await run(service, "cancel all")).ok
        assert (await run(service, "reload structs")).ok
        assert [{**note, "process": ""} for note in notes] == [
            {"seconds": 90, "process": ""}, {"process": ""}, {"what": "structs", "process": ""},
        ]  # fmt: skip
    finally:
        await service.stopService()


async def test_the_lock_and_the_message_of_the_day_outlive_a_restart(tmp_path: Path) -> None:
    service = EmuService(small_config(tmp_path), reactor)
    service.startService()
    assert (await run(service, "lock")).ok
    assert (await run(service, "setmotd Hail")).ok
    await service.stopService()
    again = EmuService(small_config(tmp_path), reactor)
    again.startService()
    try:
        world = again.server.world
        assert world is not None
        assert (world.parts.admission.locked, world.parts.world.rules.motd) == (True, "Hail")
        assert (await run(again, "unlock")).ok
        assert not world.parts.admission.locked
    finally:
        await again.stopService()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_database_too_deep_for_a_socket_is_served_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    with captured_log("text") as log:
        service = EmuService(small_config(deep), reactor)
        service.startService()
        assert "admin: emu admin cannot reach this server: " in log.text
        assert (await run(service, "status")).ok
        await service.stopService()
        named = EmuService(small_config(deep, f"console.path={deep}/console"), reactor)
        with pytest.raises(SystemExit, match=r"set console\.path"):
            named.startService()
        await named.stopService()


async def test_queries_and_tools_are_let_in_when_the_configuration_says_so(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("radar query 0123456789abcdef\n")
    config = small_config(
        tmp_path,
        "ssq.enabled=yes", "ssq.listen=127.0.0.1:0",
        f"ggmp.tokens_file={tokens}", "ggmp.listen=127.0.0.1:0",
    )  # fmt: skip
    service = EmuService(config, reactor)
    service.startService()
    try:
        admin = service.server.admin
        assert admin is not None
        assert admin.ggmp is not None
        assert admin.ssq.port
        assert admin.ggmp.port
        (answer,) = admin.ssq.core.answer(b"\0\0SP info", ("127.0.0.1", 9), reactor.seconds())
        assert b"Norrath" in answer
        admin.ssq.core.answer(b"\0\0AUTH wrong", ("127.0.0.1", 9), reactor.seconds())
        value = service.watch.measures.value
        assert value("authentications", "ssq", "refused") == 1
        assert value("authentications", "ggmp", "refused") == value("connections", "ggmp") == 0
    finally:
        await service.stopService()


async def test_datagrams_at_query_ports_are_measured(tmp_path: Path) -> None:
    service = EmuService(small_config(tmp_path, "a2s.listen=127.0.0.1:0"), reactor)
    service.startService()
    try:
        shell = service.server.admin.queries.shells["a2s"]  # type: ignore[union-attr]
        shell.datagramReceived(b"nonsense", ("192.0.2.7", 5))
        (found,) = [
            one for one in service.watch.measures.read_samples() if one.family.name == "queries"
        ]
        assert found.values == {("a2s", "silent"): 1}
    finally:
        await service.stopService()
