"""Reads tables into classes of fields, and reports every fault of a table at once.

cattrs makes one function per class. It goes on after a fault and collects all of them, with the
field or the index where each occurred.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

import attrs
from cattrs import Converter, override
from cattrs.errors import BaseValidationError, ClassValidationError, IterableValidationError
from cattrs.gen import make_dict_structure_fn

from emu.errors import FileFormatError
from emu.files import quoted
from emu.schema.fields import Rule, rule_of
from emu.schema.values import (
    Boolean,
    DecimalNumber,
    EnumMember,
    Items,
    OrNone,
    Reader,
    TextBytes,
    TextLine,
    WholeNumber,
    Words,
)

T = TypeVar("T")
Made = TypeVar("Made")

LARGEST_NUMBER: Final = 0xFFFFFFFF
LONGEST_TEXT: Final = 4000
"""Limits of a field of a file that states none; texts in bytes."""
MOST_FAULTS: Final = 10
"""Faults of one file in its error, which is a single line."""
LONGEST_NAME: Final = 60
"""Characters of a row's name in an error."""


class TableFault(NamedTuple):
    """One fault: the keys and indexes that lead to it, and what is wrong and would be right."""

    path: tuple[str | int, ...]
    text: str

    @property
    def where(self) -> str:
        """The path as people write it: ``verbs[0].name``."""
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path]
        return "".join(parts).removeprefix(".")

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.path else self.text


class TableFaults(ValueError):
    """A table that does not fit its class; `faults` holds every fault."""

    def __init__(self, faults: Sequence[TableFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(one_line([str(fault) for fault in faults]))


class _UnknownKey(ValueError):
    """A key that the class does not have."""

    def __init__(self, key: str, known: Collection[str]) -> None:
        self.key = key
        super().__init__(unknown_key(key, known))


def unknown_key(key: str, known: Collection[str], what: str = "key") -> str:
    """Return the text for a key that does not exist: with the nearest one, else all of them."""
    close = difflib.get_close_matches(key, known, n=1)
    return f"unknown {what}" + (
        f"; did you mean {close[0]}?" if close else f" (known: {', '.join(known)})"
    )


def one_line(faults: Sequence[str]) -> str:
    """Return the first faults as one line, with the number of the others."""
    left = len(faults) - MOST_FAULTS
    return "; ".join(faults[:MOST_FAULTS]) + (f"; and {left} more faults" if left > 0 else "")


class TableReader:
    """One way to read tables.

    `from_text`: values may also be the text of a ``--set``. `forms`: readers of further types.
    """

    def __init__(
        self, *, from_text: bool = False, forms: Mapping[type, Reader] | None = None
    ) -> None:
        self._from_text = from_text
        self._forms = dict(forms or {})
        self._converter = Converter()
        self._converter.register_structure_hook_factory(attrs.has, self._hook)

    def read(self, kind: type[T], table: object) -> T:
        """Return a table as an object of a class of fields. Raises `TableFaults`."""
        try:
            return self._converter.structure(table, kind)
        except (BaseValidationError, ValueError) as error:
            raise TableFaults(list(_faults(error, ()))) from None

    def reader(self, attribute: attrs.Attribute[Any]) -> Reader:
        """Return what reads the value of a field, by the field's type and rule."""
        return self._reader(attribute.type, rule_of(attribute))

    def _reader(self, kind: Any, rule: Rule) -> Reader:
        # The order matters: a form may read a type that the later lines would take apart.
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is UnionType:
            if rule.form is not None:  # it reads the whole value, and knows what means None
                return rule.form
            (inner,) = [one for one in arguments if one is not NoneType]
            item = self._reader(inner, rule)
            return OrNone(item) if self._from_text else item
        if origin is tuple and attrs.has(arguments[0]) and arguments[0] not in self._forms:
            return self._tables(arguments[0], rule)
        if origin in (tuple, frozenset):
            item = rule.form or self._reader(arguments[0], rule)
            items = Items(item, rule.most, self._from_text)
            return items if origin is tuple else lambda value: frozenset(items(value))
        return rule.form or self._plain(kind, rule)

    def _tables(self, kind: type, rule: Rule) -> Reader:
        """Return the reader of a list of tables, which reports the faults of all of them."""
        whole = Items(lambda row: row, rule.most)

        def read(value: Any) -> Any:
            return self._converter.structure(whole(value), tuple[kind, ...])  # type: ignore[valid-type]

        return read

    def _plain(self, kind: Any, rule: Rule) -> Reader:
        if kind in self._forms:
            return self._forms[kind]
        if attrs.has(kind):
            return lambda value: self._converter.structure(value, kind)
        if rule.choices:
            return Words(rule.choices)
        found = _PLAIN.get(kind)
        if found is not None:
            return found(rule, self._from_text)
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return EnumMember(kind)
        raise TypeError(f"no reader for {kind}")

    def _hook(self, kind: type[Any]) -> Callable[[Any, Any], Any]:
        """Return the function that makes an object of a class from a table."""
        attrs.resolve_types(kind)
        attributes = [one for one in attrs.fields(kind) if one.init]
        keys = {one.name: rule_of(one).key or one.name for one in attributes}
        hooks: dict[str, Any] = {
            one.name: override(rename=keys[one.name], struct_hook=self._value_hook(one))
            for one in attributes
        }
        structure = make_dict_structure_fn(kind, self._converter, **hooks)
        known = list(keys.values())

        def read(value: Any, _: Any) -> Any:
            if not isinstance(value, Mapping):
                raise ValueError("must be a table")  # noqa: TRY004  # joins the other faults
            # Not cattrs' own check of extra keys: that one knows no order, and no near matches.
            unknown = [_UnknownKey(key, known) for key in value if key not in known]
            try:
                made = structure(value, kind)
            except ClassValidationError as error:
                raise ClassValidationError(
                    error.message, [*error.exceptions, *unknown], kind
                ) from None
            if unknown:
                raise ClassValidationError("unknown keys", unknown, kind)
            return made

        return read

    def _value_hook(self, attribute: attrs.Attribute[Any]) -> Callable[[Any, Any], Any]:
        reader, is_secret = self.reader(attribute), rule_of(attribute).secret

        def read(value: Any, _: Any) -> Any:
            try:
                return reader(value)
            except BaseValidationError:
                raise  # faults inside a table, each with its own value
            except ValueError as error:
                raise ValueError(
                    f"{error}{'' if is_secret else f', not {quoted(value)}'}"
                ) from None

        return read


def _whole(rule: Rule, from_text: bool) -> Reader:
    low, high = rule.limits or (0, LARGEST_NUMBER)
    return WholeNumber(int(low), int(high), from_text)


def _decimal(rule: Rule, from_text: bool) -> Reader:
    return DecimalNumber(*rule.limits, from_text=from_text) if rule.limits else DecimalNumber()


def _text(rule: Rule, _: bool) -> Reader:
    if rule.limits is None:
        return TextBytes(LONGEST_TEXT)
    return TextLine(int(rule.limits[0]), int(rule.limits[1]))


_PLAIN: Final[Mapping[Any, Callable[[Rule, bool], Reader]]] = {
    bool: lambda _, from_text: Boolean(from_text),
    int: _whole,
    float: _decimal,
    str: _text,
}


def _faults(error: BaseException, path: tuple[str | int, ...]) -> Iterator[TableFault]:
    """Yield each single fault of an error, which may be a tree of them."""
    if isinstance(error, ClassValidationError):
        found, others = error.group_exceptions()
        keys = attrs.fields_dict(error.cl)
        for inner, note in found:
            yield from _faults(inner, (*path, rule_of(keys[note.name]).key or note.name))
        for other in others:
            yield from _faults(other, path)
    elif isinstance(error, IterableValidationError):
        items, others = error.group_exceptions()
        for inner, at in items:
            yield from _faults(inner, (*path, at.index))
        for other in others:
            yield from _faults(other, path)
    elif isinstance(error, _UnknownKey):
        yield TableFault((*path, error.key), str(error))
    elif isinstance(error, KeyError):
        yield TableFault(path, "is missing")
    else:
        yield TableFault(path, str(error))


CONTENT: Final = TableReader()
"""Reads the files of zones and knowledge, and the tables in `data/`."""


def read_table(kind: type[T], table: object, place: object) -> T:
    """Return a table as an object. Raises `FileFormatError` with all faults; `place` leads it."""
    try:
        return CONTENT.read(kind, table)
    except TableFaults as error:
        raise FileFormatError(f"{place}: {error}") from None


def read_rows(
    kind: type[T],
    rows: object,
    place: object,
    what: str,
    make: Callable[[T], Made],
) -> list[Made]:
    """Return a list of tables as objects: what `make` returns for each row of a class.

    Raises `FileFormatError` with the faults of all rows; a `ValueError` of `make` is one, too.
    """
    if not isinstance(rows, list):
        raise FileFormatError(f"{place}: {what}: must be a list of tables, written as [[{what}]]")
    made: list[Made] = []
    faults: list[str] = []
    for number, row in enumerate(rows, 1):
        try:
            made.append(make(CONTENT.read(kind, row)))
        except TableFaults as error:
            faults += [f"{what} {number}{_named(row)}: {fault}" for fault in error.faults]
        except ValueError as error:
            faults.append(f"{what} {number}{_named(row)}: {error}")
    if faults:
        raise FileFormatError(f"{place}: {one_line(faults)}")
    return made


def _named(row: object) -> str:
    """Return the name of a row in parentheses, empty when it has none: for errors."""
    name = row.get("name", "") if isinstance(row, dict) else ""
    return f" ({str(name)[:LONGEST_NAME]})" if name else ""
