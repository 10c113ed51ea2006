"""The wheel holds all the server needs: built, installed into an empty venv, started, stopped."""

import ast
import os
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.patience import within
from tools.compiled import modules, required
from tools.compiled_copy import names

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the source distribution, unpacked where nothing else of the project is."""
    out = tmp_path_factory.mktemp("sdist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(out)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(out / "unpacked", filter="data")
    (folder,) = (out / "unpacked").iterdir()
    return folder


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory) -> Path:
    """The folder of programs of an empty venv into which pip has installed the wheel."""
    venv = tmp_path_factory.mktemp("venv") / "v"
    # The pip of the tests installs into it: an own one takes longer than all the rest.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install",
         "--quiet", "--no-compile", "--disable-pip-version-check", str(wheel)],
        check=True,
    )  # fmt: skip
    return venv / "bin"


def environment(home: Path) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return clean | {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


def test_the_wheel_carries_data_opcodes_and_the_plugin(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "twisted/plugins/emu_plugin.py" in names
    assert any(re.match(r"emu/_data/opcodes/.*\.csv", name) for name in names)
    assert any(re.match(r"emu/_data/structs/.*\.xml", name) for name in names)
    assert any(re.match(r"emu/_data/sql/", name) for name in names)
    assert not any(name.startswith(("tests/", "tools/")) for name in names)
    assert not any(name.endswith("dropin.cache") for name in names)


def test_the_source_distribution_has_every_file_of_the_tree(unpacked: Path) -> None:
    """All that checks read is there; a new file beside README.md has to be named in pyproject."""
    tree = {name for name in names(ROOT) if (ROOT / name).is_file()}
    packed = set(names(unpacked))
    assert tree - packed == set()
    assert packed - tree == set()


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "ruff", "check", "--quiet", "."],
        ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
        ["-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--assert=plain",
         "tests/test_mirror.py", "tests/test_citations.py", "tests/test_changelog.py",
         "tests/test_variables.py"],
    ],
    ids=["ruff", "layers", "tests"],
)  # fmt: skip
def test_the_checks_pass_in_the_unpacked_source_distribution(
    unpacked: Path, words: list[str]
) -> None:
    """Those that read files by name; all files are the same, and the other checks only repeat."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, *words], cwd=unpacked,
        env=clean | {"PYTHONPATH": str(unpacked), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_compiling_brings_every_library_that_the_compiled_modules_import() -> None:
    imported = set()
    for name in modules(ROOT):
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    libraries = imported - sys.stdlib_module_names - {"emu"}
    brought = {re.split(r"[^\w-]", need)[0] for need in required(ROOT)}
    assert libraries <= brought


@pytest.mark.parametrize("program", ["twist", "twistd"])
def test_the_plugin_is_found(installed: Path, program: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(installed / program), "emu", "--help"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "--config" in done.stdout, done.stderr
    assert "--set" in done.stdout


def test_the_plugin_is_found_in_an_editable_install_too(tmp_path: Path) -> None:
    """The tests' own environment is one: `make` installs the checkout with ``--editable``."""
    done = subprocess.run(
        [sys.executable, "-m", "twisted", "emu", "--help"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "--config" in done.stdout, done.stderr


def test_the_emu_command_is_installed(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(installed / "emu"), "opcodes", "show", "OP_LoginRequestMsg", "--version", "546"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "OP_LoginRequestMsg" in done.stdout


def test_the_installed_server_starts_from_any_folder_and_stops(
    installed: Path, tmp_path: Path
) -> None:
    command = [
        str(installed / "twistd"), "-n", "--pidfile=", "emu",
        "--set", "login.listen=127.0.0.1:0", "--set", "world.listen=127.0.0.1:0",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "ready" in line:
            break
    with within(10):
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=20)
        text = "".join(lines) + rest
        # After an orderly stop twistd ends itself with the signal it was sent.
        assert process.returncode == -signal.SIGTERM, text
        assert "server: stopped" in text, text
    assert re.search(r"login: .*127\.0\.0\.1:\d+", text), text
    assert re.search(r"world: .*127\.0\.0\.1:\d+", text), text
    assert (tmp_path / "state" / "eq2emu" / "emu.sqlite").exists()
