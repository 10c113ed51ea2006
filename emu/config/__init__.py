"""The configuration: one TOML file, checked as a whole, every problem reported at once.

`Config` is what the rest of the program sees: frozen, complete, every value in its final type.
`load` reads a file and ``key=value`` overrides. This package knows names, types and limits of
settings; what a setting does is the business of whoever is given it. It stands above the services,
because their defaults are stated by them and shown here.
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
