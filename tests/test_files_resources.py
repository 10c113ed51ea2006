from pathlib import Path

from emu import files


def test_in_a_checkout_the_top_folders_are_used() -> None:
    root = Path(__file__).parent.parent
    assert files.data_folder() == root / "data"
    assert files.opcodes_folder() == root / "opcodes"
    assert files.data_file("emu.toml").is_file()


def test_in_a_wheel_the_files_lie_in_the_package(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "_INSTALLED", tmp_path)
    assert files.data_folder() == tmp_path
    assert files.opcodes_folder() == tmp_path / "opcodes"
