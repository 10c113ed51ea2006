"""Writes predictions as a client does."""

from __future__ import annotations

from typing import Any

from emu.dialects import Dialect
from emu.structs.packed import DeltaBase, pack
from emu.versions import LAST_OLD_CLIENT


class PredictionWriter:
    """A client's side: it packs each position XORed with the one before."""

    def __init__(self, dialect: Dialect, content: str = "Player_Update") -> None:
        self.dialect = dialect
        self.layout = dialect.layout(content)
        self.base = DeltaBase(self.layout.empty_size())

    def write(self, x: float, y: float, z: float, **fields: Any) -> bytes:
        data = self.layout.encode({"x": x, "y": y, "z": z, "activity": 128} | fields)
        version = self.dialect.version
        packed = pack(self.base.encode(data), version)
        check = bytes(4) if version > LAST_OLD_CLIENT else b""
        return b"\0" + bytes(4) + check + packed
