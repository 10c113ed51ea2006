from pathlib import Path

import click
from click.testing import CliRunner

from emu.cli.common import load_config
from emu.cli.main import Root


def test_the_working_folder_is_searched_when_no_file_is_named(monkeypatch, tmp_path: Path) -> None:
    @click.command()
    @click.pass_context
    def probe(ctx: click.Context) -> None:
        click.echo(load_config(ctx).world.name)

    monkeypatch.chdir(tmp_path)
    Path("emu.toml").write_text('[world]\nname = "Here"\n')
    assert CliRunner().invoke(probe, obj=Root()).output == "Here\n"
