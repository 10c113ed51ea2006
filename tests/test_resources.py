from pathlib import Path

from emu import resources


def test_in_a_checkout_the_top_folders_are_used() -> None:
    root = Path(__file__).parent.parent
    assert resources.data_folder() == root / "data"
    assert resources.opcodes_folder() == root / "opcodes"
    assert resources.data_file("emu.toml").is_file()


def test_in_a_wheel_the_files_lie_in_the_package(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "_INSTALLED", tmp_path)
    assert resources.data_folder() == tmp_path
    assert resources.opcodes_folder() == tmp_path / "opcodes"
