"""The schema layer: declares what a TOML table may hold, and reads tables by these declarations.

A class of fields (`field`) states for each key its type, default, limits, unit and help text.
`TableReader` reads a table into that class with attrs and cattrs, and reports every fault at once.
The settings, zone files, knowledge, and the tables in `data/world` use it.
"""

from emu.schema.fields import Rule, field, rule_of
from emu.schema.reading import (
    LARGEST_NUMBER,
    LONGEST_TEXT,
    TableFault,
    TableFaults,
    TableReader,
    read_rows,
    read_table,
    unknown_key,
)
from emu.schema.values import (
    Boolean,
    DecimalNumber,
    EnumMember,
    Form,
    Items,
    OrNone,
    Reader,
    TextBytes,
    TextLine,
    WholeNumber,
    Words,
    limits_of,
)

__all__ = [
    "LARGEST_NUMBER",
    "LONGEST_TEXT",
    "Boolean",
    "DecimalNumber",
    "EnumMember",
    "Form",
    "Items",
    "OrNone",
    "Reader",
    "Rule",
    "TableFault",
    "TableFaults",
    "TableReader",
    "TextBytes",
    "TextLine",
    "WholeNumber",
    "Words",
    "field",
    "limits_of",
    "read_rows",
    "read_table",
    "rule_of",
    "unknown_key",
]
