"""Declares the keys of TOML tables, reads tables, and reports every fault of a table at once.

A key is a field of an attrs class, with its `Rule`. cattrs makes one function per class. It goes on
after a fault and collects all of them, with the field or the index where each occurred.
"""

from __future__ import annotations

import re
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
from emu.schema.lines import TomlSource
from emu.schema.values import (
    Boolean,
    DecimalNumber,
    EnumMember,
    ItemsForm,
    OrNone,
    PlaceholderText,
    Reader,
    TextBytes,
    TextLine,
    UnknownPlaceholder,
    WholeNumber,
    Words,
    unknown_key,
)

_RULE: Final = "emu.schema"


@attrs.frozen(kw_only=True)
class Rule:
    """Everything that is known about one key besides its type and default."""

    about: str = ""
    """What it does, in one or two sentences for people."""
    unit: str = ""
    limits: tuple[float, float] | None = None
    """Smallest and largest number; for text the length in characters."""
    most: int | None = None
    """The largest number of items of a list."""
    choices: tuple[str, ...] = ()
    placeholders: tuple[str, ...] | None = None
    """The names that a text may have in braces; None if braces have no meaning in it."""
    among: str = ""
    """The kind of thing that the value names (``zone``); the reader of a single file cannot check
    it."""
    form: Reader | None = None
    """Reads the value (of a list: each item) where type and limits do not say enough."""
    key: str = ""
    """The key in the file, when it is not the attribute's name."""
    live: bool = False
    """A reload applies a new value; otherwise the next start does."""
    secret: bool = False
    unquoted: bool = False
    """Errors do not quote the value: it may have a password in it."""
    """Never shown, neither in errors nor by ``emu config show``."""


def field(default: Any = attrs.NOTHING, about: str = "", **rule: Any) -> Any:
    """Declare a key; without a default it must be present. `rule`: attributes of `Rule`.

    An `attrs.Factory` as default makes a new value for each table.
    """
    return attrs.field(default=default, metadata={_RULE: Rule(about=about, **rule)})


def rule_of(attribute: attrs.Attribute[Any]) -> Rule:
    """Return the rule of an attribute; an empty one when it was declared without `field`."""
    return attribute.metadata.get(_RULE) or Rule()


T = TypeVar("T")
Made = TypeVar("Made")

LARGEST_NUMBER: Final = 0xFFFFFFFF
LONGEST_TEXT: Final = 4000
"""Limits of a field of a file that states none; texts in bytes."""
MOST_FAULTS: Final = 10
"""Faults of one file in its error, which is a single line."""
_PLACE: Final = re.compile(r"(?P<file>.+?)(?:, line \d+)?: ")
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

    def read_table(self, kind: type[T], table: object) -> T:
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
            # A text cannot be absent, so an empty text stands for none.
            return OrNone(item) if self._from_text else item
        # A class with a form of its own is written as one value and not as a table.
        if origin is tuple and attrs.has(arguments[0]) and arguments[0] not in self._forms:
            return self._tables(arguments[0], rule)
        if origin in (tuple, frozenset):
            item = rule.form or self._reader(arguments[0], rule)
            items = ItemsForm(item, rule.most, self._from_text)
            return items if origin is tuple else lambda value: frozenset(items(value))
        return rule.form or self._plain(kind, rule)

    def _tables(self, kind: type, rule: Rule) -> Reader:
        """Return the reader of a list of tables, which reports the faults of all of them."""
        # The rows pass unchanged; only their number is checked here.
        whole = ItemsForm(lambda row: row, rule.most)

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
        # Annotations are texts until they are resolved.
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
            # Unknown keys join the faults of the values, so that one error reports all of them.
            except ClassValidationError as error:
                raise ClassValidationError(
                    error.message, [*error.exceptions, *unknown], kind
                ) from None
            if unknown:
                raise ClassValidationError("unknown keys", unknown, kind)
            return made

        return read

    def _value_hook(self, attribute: attrs.Attribute[Any]) -> Callable[[Any, Any], Any]:
        reader, rule = self.reader(attribute), rule_of(attribute)
        is_secret = rule.secret or rule.unquoted

        def read(value: Any, _: Any) -> Any:
            try:
                return reader(value)
            except (BaseValidationError, UnknownPlaceholder):
                raise  # faults inside a table, or of a few letters of a text; they name the value
            except ValueError as error:
                # Errors are printed and logged, so they never quote a secret.
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
    text: Reader = TextBytes(LONGEST_TEXT)
    if rule.limits is not None:
        text = TextLine(int(rule.limits[0]), int(rule.limits[1]))
    return text if rule.placeholders is None else PlaceholderText(text, rule.placeholders)


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
            # cattrs names the attribute; the operator knows the key of the file.
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
    # cattrs raises this for a missing key without a default.
    elif isinstance(error, KeyError):
        yield TableFault(path, "is missing")
    else:
        yield TableFault(path, str(error))


CONTENT: Final = TableReader()
"""Reads the files of zones and knowledge, and the tables in `data/`."""


def read_table(kind: type[T], table: object, place: object, *keys: str | int) -> T:
    """Return a table as an object.

    Raises `FileFormatError` with all faults. `place` is the file: a `TomlSource`, if faults are to
    have their lines; `keys` lead to the table in it.
    """
    try:
        return CONTENT.read_table(kind, table)
    except TableFaults as error:
        problems = [
            problem(place, (*keys, *fault.path), f"{_prefix(keys)}{fault}")
            for fault in error.faults
        ]
        raise faulty(problems) from None


def read_rows(
    kind: type[T],
    rows: object,
    place: object,
    what: str,
    make: Callable[[T], Made],
) -> list[Made]:
    """Return a list of tables as objects: what `make` returns for each row of a class.

    `place` is as in `read_table`. Raises `FileFormatError` with the faults of all rows; a
    `ValueError` of `make` is one, too.
    """
    if not isinstance(rows, list):
        raise FileFormatError(f"{place}: {what}: must be a list of tables, written as [[{what}]]")
    made: list[Made] = []
    problems: list[str] = []
    for index, row in enumerate(rows):
        title = f"{what} {index + 1}{_named(row)}"
        try:
            made.append(make(CONTENT.read_table(kind, row)))
        except TableFaults as error:
            problems += [
                problem(place, (what, index, *fault.path), f"{title}: {fault}")
                for fault in error.faults
            ]
        except ValueError as error:
            problems.append(problem(place, (what, index), f"{title}: {error}"))
    if problems:
        raise faulty(problems)
    return made


def problem(place: object, keys: Sequence[str | int], text: str) -> str:
    """Return the line about a fault: its file, with the line if `place` knows it, and its text.

    `keys` lead to the value in the file.
    """
    where = place.at(keys) if isinstance(place, TomlSource) else place
    return f"{where}: {text}"


def faulty(problems: Sequence[str]) -> FileFormatError:
    """Return the error for the faults of one or more files; it names each file once."""
    shown, before = [], ""
    for one in problems[: MOST_FAULTS + 1]:
        found = _PLACE.match(one)
        file = found["file"] if found is not None else ""
        shown.append(one.removeprefix(file).lstrip(",: ") if file == before else one)
        before = file or before
    return FileFormatError(one_line([*shown, *problems[len(shown) :]]), problems=problems)


def _prefix(keys: Sequence[str | int]) -> str:
    return f"{TableFault(tuple(keys), '').where}: " if keys else ""


def _named(row: object) -> str:
    """Return the name of a row in parentheses, empty when it has none: for errors."""
    name = row.get("name", "") if isinstance(row, dict) else ""
    return f" ({str(name)[:LONGEST_NAME]})" if name else ""
