"""The configuration of one worker of several that serve the login port together."""

from __future__ import annotations

from pathlib import Path

from emu.config.administration import GgmpPolicy
from emu.config.model import Config
from emu.config.readers import Address
from emu.config.setting import with_settings


def of_worker(config: Config, index: int) -> Config:
    """Return the configuration of a worker.

    The first worker also has everything that only one process may have: the listeners of operators,
    the links of worlds, and the removal of deleted characters. Each worker has its own console and
    capture file, whose names get its number, and its own page with metrics, on ``web.listen`` with
    a port that is greater by its number.
    """
    if index == 0:
        return config
    trace, page = config.trace.file, config.web.listen
    if page is not None and page.port:
        page = Address(page.host, page.port + index)
    return with_settings(
        config,
        {
            "database": {"keep_deleted": 0.0},
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


def _numbered(path: Path, index: int) -> Path:
    return path.with_name(f"{path.stem}-{index}{path.suffix}")
