"""`twistd emu` and `twist emu`: the options, and the service that runs everything.

Knows the command line and nothing else: reading the configuration is `emu.config`, joining the
parts is `emu.net.server`. Whatever cannot work is said here in one line a problem, before anything
is started, and ends the program with exit status 1.
"""

from __future__ import annotations

import gc
from pathlib import Path

from twisted.application.service import IService
from twisted.python import usage

from emu.config import default_path, load
from emu.errors import ConfigError, EmuError
from emu.net.server import EmuService, check_files

COLLECTOR_THRESHOLDS = (10_000, 20, 20)
"""New objects before a collection, and collections before one of the next older generation."""


class Options(usage.Options):
    """Options behind `twistd emu`."""

    synopsis = "[--config FILE] [--set table.key=value ...]"
    longdesc = (
        "EverQuest II login and world server. Without --config, ./emu.toml is read when it "
        "exists; every setting has a default. See all of them with: emu config show"
    )

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.config_file: Path | None = None
        self.overrides: list[str] = []

    def opt_config(self, name: str) -> None:
        """Read this configuration file (TOML)."""
        self.config_file = Path(name)

    def opt_set(self, override: str) -> None:
        """Set one key, as in --set login.listen=0.0.0.0:9100; wins over the file; repeatable."""
        self.overrides.append(override)

    opt_c = opt_config
    opt_s = opt_set


def makeService(options: Options) -> IService:  # noqa: N802  # the name twistd looks for
    """Return the service that runs login, world and everything beside them.

    Raises `SystemExit` with one line for each problem when the configuration or a file it names
    cannot be used.
    """
    path = options.config_file if options.config_file is not None else default_path()
    try:
        config = load(path.absolute() if path else None, options.overrides)
        check_files(config)
    except ConfigError as error:
        raise SystemExit("\n".join(f"emu: {problem}" for problem in error.problems)) from None
    except EmuError as error:
        raise SystemExit(f"emu: {error}") from None
    service: IService = EmuService(config)
    spare_the_collector()
    return service


def spare_the_collector() -> None:
    """Have Python look for garbage less often, and never again among what is loaded now.

    Every client that comes is a few dozen objects that stay; with the defaults a crowd at the door
    means a walk through all of them for every dozen clients.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
