"""The configuration: one TOML file, checked as a whole, with every problem reported at once.

`Config` is what the rest of the program sees: frozen, complete, every value in its final type.
`load` reads a file and ``key=value`` overrides. This package states names, types, limits and texts
of the settings. It is above the services in the layers because they state the defaults.
"""

from emu.config.administration import RconConfig
from emu.config.load import default_path, load, parse
from emu.config.model import Config, DatabaseConfig, LogConfig
from emu.config.readers import Address
from emu.config.rules import doubts
from emu.config.secrets import exposed

__all__ = [
    "Address",
    "Config",
    "DatabaseConfig",
    "LogConfig",
    "RconConfig",
    "default_path",
    "doubts",
    "exposed",
    "load",
    "parse",
]
