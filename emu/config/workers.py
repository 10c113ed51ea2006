"""The configuration of one worker of several that serve the login port together."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from emu.config.administration import GgmpPolicy
from emu.config.model import Config
from emu.config.readers import Address
from emu.config.setting import with_settings

LONGEST_NAME: Final = 31
"""Characters of a node's name."""


def of_worker(config: Config, index: int, machine: str) -> Config:
    """Return the configuration of a worker; `machine` is the default name of a node.

    The first worker also has everything that only one process may have: the listeners of operators,
    the links of worlds, and the removal of deleted characters. Each worker has its own console and
    capture file, whose names get its number, and its own page with metrics, on ``web.listen`` with
    a port that is greater by its number. Each is a node of the cluster with a name of its own.
    """
    if index == 0:
        return config
    trace, page = config.trace.file, config.web.listen
    if page is not None and page.port:
        page = Address(page.host, page.port + index)
    return with_settings(
        config,
        {
            "database": {
                "keep_deleted": 0.0,
                "node_file": _numbered(config.database.node_file, index),
            },
            "node": {"name": _node_name(config.node.name or machine, index)},
            "login": {"registration": False},
            "link": {"certificate": None, "tls_listen": None},
            "console": {"path": _numbered(config.console_path, index)},
            "rcon": {"password": "", "password_file": None, "users_file": None},
            "ogp": {"listen": None, "masters": ()},
            "a2s": {"listen": None},
            "ssq": {"enabled": False},
            "ggmp": {"policy": GgmpPolicy.TOKEN, "tokens_file": None, "clients_file": None},
            "web": {"listen": page, "admin": False},
            "webhook": {"url": "", "url_file": None},
            "trace": {"file": None if trace is None else _numbered(trace, index)},
        },
    )


def _node_name(name: str, index: int) -> str:
    suffix = f"_{index}"
    return name[: LONGEST_NAME - len(suffix)] + suffix


def _numbered(path: Path, index: int) -> Path:
    return path.with_name(f"{path.stem}-{index}{path.suffix}")
