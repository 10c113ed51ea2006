"""`emu world certificate` and `fingerprint`: what operators type and what they see."""

import stat
from pathlib import Path

from emu.net.link.tls import certificate_fingerprint, server_options
from tests.support.running.command_line import CommandLine


def test_a_certificate_is_made_for_its_owner_and_its_fingerprint_printed(
    emu: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "link.pem"
    printed = emu.good("world", "certificate", "--out", str(file)).stdout.strip()
    assert printed == certificate_fingerprint(file.read_bytes())
    assert server_options(file.read_bytes()).getContext() is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert emu.good("world", "fingerprint", str(file)).stdout.strip() == printed


def test_the_configured_certificate_is_shown_without_a_file(
    emu: CommandLine, tmp_path: Path
) -> None:
    assert "set [link] certificate" in emu.refused("world", "fingerprint")
    file = tmp_path / "link.pem"
    printed = emu.good("world", "certificate", "--out", str(file)).stdout
    with emu.config.open("a") as stream:
        stream.write('[link]\ncertificate = "link.pem"\ntls_listen = "127.0.0.1:0"\n')
    assert emu.good("world", "fingerprint").stdout == printed


def test_a_file_that_is_there_is_never_overwritten(emu: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "link.pem"
    file.write_text("precious")
    assert "exists already" in emu.refused("world", "certificate", "--out", str(file))
    assert file.read_text() == "precious"


def test_what_cannot_be_done_is_one_line(emu: CommandLine, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no" / "link.pem")
    assert "cannot be written" in emu.refused("world", "certificate", "--out", nowhere)
    assert "cannot be read" in emu.refused("world", "fingerprint", nowhere)
    words = ("world", "certificate", "--out", str(tmp_path / "x.pem"), "--name")
    assert "1 to 64 visible" in emu.refused(*words, "")
    (tmp_path / "none.pem").write_text("nothing")
    assert "no PEM certificate" in emu.refused("world", "fingerprint", str(tmp_path / "none.pem"))
