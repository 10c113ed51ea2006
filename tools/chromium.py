"""Debian's chromium for tests and benchmarks, without background activity."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Browser, Playwright

ARGUMENTS: Final = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launched(driver: Playwright, program: str) -> Browser:
    """Start the chromium at a path; raises playwright's error where it does not run.

    Without chromium's sandbox, which needs what containers do not give: only for pages of ours.
    """
    return driver.chromium.launch(
        executable_path=program, args=list(ARGUMENTS), chromium_sandbox=False
    )
