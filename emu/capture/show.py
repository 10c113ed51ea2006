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
from emu.capture.select import session_label
from emu.capture.statistics import direction_name
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
    record = {**_json_head(message), **_json_message(message)}
    if message.commands is not None:
        record["commands"] = [_json_message(command) for command in message.commands]
    return json.dumps(record, allow_nan=False)


def to_brief_json(message: CapturedMessage) -> str:
    """Return one line of JSON as `to_json` does, with `bytes` in place of payload and fields.

    `bytes` is the number of bytes of the payload.
    """
    record = {**_json_head(message), **_json_size(message)}
    if message.commands is not None:
        record["commands"] = [_json_size(command) for command in message.commands]
    return json.dumps(record, allow_nan=False)


def to_brief(message: CapturedMessage) -> str:
    """Return a message as one line.

    Time, session id, direction, name, opcode and bytes of payload; then the names of the commands
    in it.
    """
    line = (
        f"{show_time(message.t)}  {session_label(message)}  {direction_name(message.to_server)}  "
        f"{_title(message)}"
    )
    if message.commands is None:
        return line
    names = ", ".join(one.name or f"unknown ({one.opcode})" for one in message.commands)
    return f"{line}: {names}"


def _json_head(message: CapturedMessage) -> dict[str, Any]:
    return {
        "time": show_time(message.t),
        "t": message.t,
        "session_id": message.session_id,
        "direction": direction_name(message.to_server),
        "from": dict(zip(("host", "port"), message.source, strict=True)),
        "to": dict(zip(("host", "port"), message.destination, strict=True)),
        "version": message.version,
    }


def _json_size(message: CapturedMessage | CapturedCommand) -> dict[str, Any]:
    return {"opcode": message.opcode, "name": message.name, "bytes": len(message.payload)}


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
    # `t` is the clock of the writer of the trace, which need not be a date.
    except ValueError:
        return f"{t:.6f}"


def hex_dump(data: bytes, indent: str = "") -> Iterator[str]:
    """Yield lines of offset, sixteen bytes and their letters."""
    for at in range(0, len(data), _WIDTH):
        piece = data[at : at + _WIDTH]
        digits = f"{piece[:8].hex(' '):<24}{piece[8:].hex(' ')}"
        letters = piece.translate(_PRINTABLE).decode("ascii")
        # Even width, so that the letters of a short last line stay in their column.
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
        # JSON has no not-a-number and no infinity.
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
