"""Debian's chromium for tests and benchmarks, without background activity."""

from __future__ import annotations

import shutil
from typing import Final

from playwright.sync_api import Browser, Playwright

PROGRAMS: Final = ("chromium-headless-shell", "chromium")
"""The same browser without its own windows, and with them, which take half of its CPU time."""
ARGUMENTS: Final = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def installed() -> str | None:
    """Return the path of the first of the programs that is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def launched(driver: Playwright, program: str) -> Browser:
    """Start the chromium at a path; raises playwright's error where it does not run.

    Without chromium's sandbox, which needs what containers do not give: only for pages of ours.
    """
    return driver.chromium.launch(
        executable_path=program, args=list(ARGUMENTS), chromium_sandbox=False
    )
