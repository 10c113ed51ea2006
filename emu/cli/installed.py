"""The way this program was installed, for hints that fit: checkout, wheel or index."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any, Final
from urllib.parse import unquote, urlsplit

NAME: Final = "eq2emu"
"""The name of the distribution."""


def install_command(extra: str) -> str:
    """Return the command that installs the libraries of an extra beside this program.

    It names the libraries themselves: their index knows them, however this program was installed.
    """
    try:
        wanted = distribution(NAME).requires or []
    except PackageNotFoundError:
        wanted = []
    marker = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    libraries = [one.partition(";")[0].strip() for one in wanted if marker.search(one)]
    return shlex.join([*_pip(), "install", *libraries])


def upgrade_command() -> str:
    """Return the command that installs a newer version in the same way as this one."""
    try:
        origin = _origin(distribution(NAME))
    except PackageNotFoundError:
        origin = {}
    pip = shlex.join([*_pip(), "install"])
    # Only an installation from a folder has this key (PEP 610).
    if "dir_info" in origin:
        checkout = unquote(urlsplit(origin["url"]).path)
        editable = "--editable " if origin["dir_info"].get("editable") else ""
        return f"git -C {shlex.quote(checkout)} pull && {pip} {editable}{shlex.quote(checkout)}"
    if origin:
        # The origin is one wheel, so the operator must name the newer one.
        return f"{pip} --upgrade FILE.whl"
    return f"{pip} --upgrade {NAME}"


def _pip() -> list[str]:
    return [sys.executable, "-m", "pip"]


def _origin(installed: Distribution) -> dict[str, Any]:
    """Return where a distribution was installed from (PEP 610); empty for a package index."""
    text = installed.read_text("direct_url.json")
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) and "url" in found else {}
