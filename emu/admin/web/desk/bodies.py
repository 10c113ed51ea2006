"""What a request's body says: fields with texts, written as JSON or as a form sends them."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qsl

from emu.admin.web.desk.refusals import BAD_REQUEST, UNSUPPORTED, RequestRefused

FORM: Final = "application/x-www-form-urlencoded"
JSON: Final = "application/json"
MOST_FIELDS: Final = 16
LONGEST_NAME: Final = 32
LONGEST_VALUE: Final = 1000

Fields = dict[str, str]


def read_fields(content_type: str, body: bytes) -> Fields:
    """Return the fields of a body. Raises `RequestRefused`.

    In JSON it is one object; numbers are taken as they are written.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (FORM, JSON):
        raise RequestRefused(UNSUPPORTED, "unknown body", f"the body must be {JSON} or {FORM}")
    try:
        pairs = _of_form(body) if kind == FORM else _of_json(body)
    except (ValueError, RecursionError):
        raise RequestRefused(BAD_REQUEST, "bad body", "the body cannot be read") from None
    fields = dict(pairs)
    if len(fields) != len(pairs) or len(fields) > MOST_FIELDS or not all(map(_fits, pairs)):
        raise RequestRefused(BAD_REQUEST, "bad body", "the fields are too many or too long")
    return fields


def _of_form(body: bytes) -> list[tuple[str, str]]:
    return parse_qsl(
        body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict",
        max_num_fields=MOST_FIELDS,
    )  # fmt: skip


def _of_json(body: bytes) -> list[tuple[str, str]]:
    read = json.loads(body.decode("utf-8"), object_pairs_hook=_Pairs)
    if not isinstance(read, _Pairs):
        raise ValueError("not an object")  # noqa: TRY004  # read_fields takes it for what it is
    return [(name, _text(value)) for name, value in read]


class _Pairs(list[tuple[str, Any]]):
    """An object, with names that stand in it twice."""


def _text(value: Any) -> str:
    if isinstance(value, str):
        value.encode()  # half a character, which JSON can write, fits nowhere
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError("neither a text nor a whole number")


def _fits(pair: tuple[str, str]) -> bool:
    name, value = pair
    return 0 < len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE
