"""The configuration: one TOML file, checked as a whole, every problem reported at once.

`Config` is what the rest of the program sees: frozen, complete, every value in its final type.
`load` reads a file and ``key=value`` overrides. This package knows names, types and limits of
settings; what a setting does is the business of whoever is given it.
"""

from emu.config.administration import ConsoleConfig, RconConfig
from emu.config.load import default_path, load, parse
from emu.config.model import (
    Config,
    DatabaseConfig,
    LinkConfig,
    LogConfig,
    LoginConfig,
    NetworkConfig,
    TraceConfig,
    WorldConfig,
)
from emu.config.readers import Address
from emu.config.rules import doubts
from emu.config.secrets import exposed

__all__ = [
    "Address",
    "Config",
    "ConsoleConfig",
    "DatabaseConfig",
    "LinkConfig",
    "LogConfig",
    "LoginConfig",
    "NetworkConfig",
    "RconConfig",
    "TraceConfig",
    "WorldConfig",
    "default_path",
    "doubts",
    "exposed",
    "load",
    "parse",
]
