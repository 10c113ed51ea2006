import gc
from pathlib import Path

import pytest

from emu import tap
from emu.net.server import EmuService


def options(*arguments: str) -> tap.Options:
    made = tap.Options()
    made.parseOptions(list(arguments))
    return made


def test_options_and_overrides_reach_the_service(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text('[world]\nname = "From file"\n[database]\nurl = "sqlite:e.sqlite"\n')
    service = tap.makeService(
        options("--config", str(file), "--set", "login.listen=127.0.0.1:0", "-s", "log.level=warn")
    )
    assert isinstance(service, EmuService)
    assert service.config.world.name == "From file"
    assert service.config.login.listen.port == 0
    assert service.config.database.path == tmp_path / "e.sqlite"
    assert (tmp_path / "e.sqlite").exists()


def test_without_options_the_working_folder_counts(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("emu.toml").write_text('[database]\nurl = "sqlite:here.sqlite"\n')
    tap.makeService(options())
    assert (tmp_path / "here.sqlite").exists()


def test_every_problem_of_the_configuration_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        tap.makeService(options("--set", "login.listen=x", "--set", "world.name=a"))
    lines = str(caught.value.code).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("emu: ") for line in lines)


def test_a_database_that_cannot_be_used_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "not.sqlite"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(SystemExit) as caught:
        tap.makeService(options("--set", f"database.url=sqlite:{path}"))
    assert str(path) in str(caught.value.code)
    assert path.read_bytes().startswith(b"this is no database")


def test_help_tells_of_both_options() -> None:
    text = str(tap.Options())
    assert "--config" in text
    assert "--set" in text


def test_the_collector_leaves_alone_what_is_loaded() -> None:
    before = gc.get_threshold()
    try:
        tap.spare_the_collector()
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold() == tap.COLLECTOR_THRESHOLDS
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
