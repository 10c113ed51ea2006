"""Reads PNGs of four colors. Source: PNG (Second Edition), W3C, 2003: chunks, rows and filters."""

from __future__ import annotations

import struct
import zlib


def chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a PNG by their kinds; their checks are compared."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        found[kind] = body
        at += 12 + size
    return found


def image_rows(data: bytes) -> list[str]:
    """Return the rows of a PNG with two bits for each cell, the top first, as digits."""
    found = chunks(data)
    columns, rows, *form = struct.unpack(">IIBBBBB", found[b"IHDR"])
    assert form == [2, 3, 0, 0, 0]
    packed = zlib.decompress(found[b"IDAT"])
    stride = 1 + -(-columns // 4)
    assert len(packed) == rows * stride
    lines = []
    for start in range(0, len(packed), stride):
        assert packed[start] == 0, "the row has no filter"
        row = packed[start + 1 : start + stride]
        bits = "".join(str(byte >> shift & 3) for byte in row for shift in (6, 4, 2, 0))
        lines.append(bits[:columns])
    return lines
