"""The schema layer: declares what a TOML table may hold, and reads tables by these declarations.

A class of fields (`field`) states for each key its type, default, limits, unit and help text.
`Schema` reads a table into that class with attrs and cattrs, and reports every fault at once. The
settings, zone files, knowledge and the tables of numbers in `data/` use it.
"""

from emu.schema.fields import Rule, field, rule_of
from emu.schema.reading import (
    LARGEST_NUMBER,
    LONGEST_TEXT,
    Fault,
    Faults,
    Schema,
    read_rows,
    read_table,
    unknown_key,
)
from emu.schema.values import (
    Boolean,
    Decimal,
    Form,
    Items,
    Member,
    OrNone,
    Reader,
    Text,
    TextBytes,
    Whole,
    Words,
    limits_of,
)

__all__ = [
    "LARGEST_NUMBER",
    "LONGEST_TEXT",
    "Boolean",
    "Decimal",
    "Fault",
    "Faults",
    "Form",
    "Items",
    "Member",
    "OrNone",
    "Reader",
    "Rule",
    "Schema",
    "Text",
    "TextBytes",
    "Whole",
    "Words",
    "field",
    "limits_of",
    "read_rows",
    "read_table",
    "rule_of",
    "unknown_key",
]
