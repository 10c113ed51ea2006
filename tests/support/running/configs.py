"""Configurations for tests that run a server: loopback, ports the system chooses, cheap hashes."""

from __future__ import annotations

from pathlib import Path

from emu.config import Config, parse


def small_config(folder: Path, *overrides: str) -> Config:
    """Return a configuration whose files lie in `folder` and whose passwords cost little."""
    return parse(
        {
            "database": {"url": f"sqlite:{folder / 'emu.sqlite'}"},
            "login": {
                "listen": "127.0.0.1:0", "password_memory_cost": 64, "password_iterations": 1,
                "password_min_length": 1,
            },
            "world": {"listen": "127.0.0.1:0"},
        },
        overrides,
    )  # fmt: skip
