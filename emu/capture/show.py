"""Messages as text for people and as JSON lines for programs.

Every function returns text. Control characters in data from peers are escaped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from emu.capture.formats.records import show_address
from emu.capture.messages import CapturedCommand, CapturedMessage
from emu.texts import counted, timestamp

_WIDTH = 16
_PRINTABLE = bytes(byte if 32 <= byte < 127 else ord(".") for byte in range(256))


def to_json(message: CapturedMessage) -> str:
    """Return one line of JSON.

    Its keys are time (UTC), t (the same in seconds), session_id, direction (``to server`` or ``to
    client``), from and to (each host and port), version, opcode, name, payload (hex), fields and
    undecoded (why there are none). An OP_ClientCmdMsg also has `commands`, each with opcode, name,
    payload, fields and undecoded. Unknown values are null; so are numbers that JSON cannot
    represent (not-a-number, infinity).
    """
    record: dict[str, Any] = {
        "time": show_time(message.t),
        "t": message.t,
        "session_id": message.session_id,
        "direction": "to server" if message.to_server else "to client",
        "from": dict(zip(("host", "port"), message.source, strict=True)),
        "to": dict(zip(("host", "port"), message.destination, strict=True)),
        "version": message.version,
        **_json_message(message),
    }
    if message.commands is not None:
        record["commands"] = [_json_message(command) for command in message.commands]
    return json.dumps(record, allow_nan=False)


def to_text(message: CapturedMessage) -> str:
    """Return a message as lines: a head with time, addresses, name and size, then its contents."""
    head = (
        f"{show_time(message.t)}  {show_address(message.source)} > "
        f"{show_address(message.destination)}  {_title(message)}"
    )
    if message.commands is None:
        return "\n".join((head, *_contents(message, "    ")))
    lines = [head]
    for command in message.commands:
        lines.append(f"    {_title(command)}")
        lines += _contents(command, "        ")
    if message.undecoded is not None:
        lines += _dump(message, "    ")
    return "\n".join(lines)


def show_time(t: float) -> str:
    """Return a capture's time as date and time in UTC, or as seconds if it is not a date."""
    try:
        return timestamp(t, 6)
    except ValueError:
        return f"{t:.6f}"


def hex_dump(data: bytes, indent: str = "") -> Iterator[str]:
    """Yield lines of offset, sixteen bytes and their letters."""
    for at in range(0, len(data), _WIDTH):
        piece = data[at : at + _WIDTH]
        digits = f"{piece[:8].hex(' '):<24}{piece[8:].hex(' ')}"
        letters = piece.translate(_PRINTABLE).decode("ascii")
        yield f"{indent}{at:06x}  {digits:<48} {letters}"


def _json_message(message: CapturedMessage | CapturedCommand) -> dict[str, Any]:
    return {
        "opcode": message.opcode,
        "name": message.name,
        "payload": message.payload.hex(),
        "fields": _finite(message.fields),
        "undecoded": message.undecoded,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return value


def _title(message: CapturedMessage | CapturedCommand) -> str:
    size = counted(len(message.payload), "byte")
    return f"{message.name or 'unknown'} ({message.opcode})  {size}"


def _contents(message: CapturedMessage | CapturedCommand, indent: str) -> Iterator[str]:
    if message.fields is None:
        yield from _dump(message, indent)
    else:
        yield from _show_fields(message.fields, indent)


def _dump(message: CapturedMessage | CapturedCommand, indent: str) -> Iterator[str]:
    """Yield the reason why a message was not decoded, and its bytes."""
    if message.undecoded is not None:
        yield f"{indent}not decoded: {message.undecoded}"
    yield from hex_dump(message.payload, indent)


def _show_fields(fields: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _show_fields(value, indent + "    ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value):
                yield f"{indent}{name}[{number}]:"
                yield from _show_fields(item, indent + "    ")
        else:
            yield f"{indent}{name}: {value!r}"
