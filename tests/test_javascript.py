"""The page's JavaScript passes ESLint and TypeScript, in the versions of npm's lock file."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from emu.files import data_file
from tests.support.foreign.npm import FOLDER, npm_modules
from tests.support.foreign.programs import lacking

pytestmark = pytest.mark.slow
DRIVER = Path(__file__).parent / "support" / "page" / "expired.js"
SCRIPTS = sorted(Path(str(data_file("web"))).glob("*.js"))


def eslint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the scripts of a folder."""
    config = ["--config", str(FOLDER / "eslint.config.js"), "--max-warnings", "0"]
    program = str(npm_modules() / ".bin" / "eslint")
    names = [path.name for path in folder.glob("*.js")]
    return subprocess.run(
        [program, *config, *names], cwd=folder, capture_output=True, text=True, check=False
    )


def types(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the types of the scripts of a folder, with the settings of `tsconfig.json`."""
    settings = (FOLDER / "tsconfig.json").read_text(encoding="utf-8")
    (folder / "tsconfig.json").write_text(settings, encoding="utf-8")
    program = str(npm_modules() / ".bin" / "tsc")
    return subprocess.run(
        [program, "--project", "."], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A copy of the page's scripts."""
    for path in SCRIPTS:
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.fixture
def wrong(scripts: Path) -> Path:
    """The same folder with one wrong script, whose faults must be found and be the only ones."""
    script = scripts / "wrong.js"
    script.write_text('import { clock } from "./texts.js";\nvar unused = clock("noon");\n')
    return scripts


def test_eslint_finds_no_fault_but_that_of_the_wrong_script(wrong: Path) -> None:
    done = eslint(wrong)
    assert "no-unused-vars" in done.stdout, done.stderr
    assert re.findall(r"^/.*/(.*\.js)$", done.stdout, re.MULTILINE) == ["wrong.js"], done.stdout


def test_typescript_finds_no_fault_but_that_of_the_wrong_script(wrong: Path) -> None:
    found = types(wrong).stdout
    assert re.findall(r"^(\S.*?): error (TS\d+)", found, re.MULTILINE) == [
        ("wrong.js(2,20)", "TS2345")
    ], found


def test_the_page_asks_to_sign_in_again_when_the_server_answers_401(scripts: Path) -> None:
    node = shutil.which("node")
    if node is None:
        lacking("node is not installed (Debian: apt-get install nodejs)")
    (scripts / "package.json").write_text('{"type": "module"}\n', encoding="utf-8")
    driver = Path(shutil.copy(DRIVER, scripts / "driver.js"))
    done = subprocess.run(
        [node, str(driver), str(scripts)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *steps, last = map(json.loads, done.stdout.splitlines())
    shown = {step["step"]: step for step in steps}
    signed_in = {name for name, step in shown.items() if not step["asksToSignIn"]}
    assert signed_in == {"signed in", "locked", "refused"}
    assert {name for name, step in shown.items() if step["locking"]} == signed_in
    assert {name for name, step in shown.items() if step["broadcast"]} == signed_in
    assert shown["refused"]["result"] == "not allowed"
    assert shown["expired"]["result"] == "sign in first"
    assert shown["locked"]["requests"] == [["api/admin/actions/lock", "token"]]
    assert shown["again"]["requests"] == [["api/admin/actions/lock", None]]
    assert last == {"changes": 3}
