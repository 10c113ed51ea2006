"""Where the files that ship with the package are: `data/` and `opcodes/`.

In a wheel they lie in `emu/_data/`; in a checkout or an editable install they are the top folders
of the project. This module only finds paths; reading belongs to whoever needs the file.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent


def data_folder() -> Path:
    """Return the folder with SQL schemas, packet structs and the example configuration."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT / "data"


def opcodes_folder() -> Path:
    """Return the folder with the opcode tables as text, one CSV file per version range."""
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / "opcodes"


def data_file(*parts: str) -> Path:
    """Return the path of one shipped data file, for instance ``data_file("sql", "store.sql")``."""
    return data_folder().joinpath(*parts)
