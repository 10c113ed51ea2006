"""The schema layer: declares what a TOML table may hold, and reads tables by these declarations.

A class of fields (`field`) states for each key its type, default, limits, unit and help text.
`TableReader` reads a table into that class with attrs and cattrs, and reports every fault at once.
The settings, zone files, knowledge, and the tables in `data/world` use it.
"""

from emu.schema.lines import TomlSource, key_lines
from emu.schema.reading import (
    LARGEST_NUMBER,
    LONGEST_NAME,
    LONGEST_TEXT,
    Rule,
    TableFault,
    TableFaults,
    TableReader,
    faulty,
    field,
    problem,
    read_rows,
    read_table,
    rule_of,
)
from emu.schema.values import (
    Boolean,
    DecimalNumber,
    EnumMember,
    Form,
    ItemsForm,
    OrNone,
    PlaceholderText,
    Reader,
    TextBytes,
    TextLine,
    WholeNumber,
    Words,
    limits_of,
    unknown_key,
)

__all__ = [
    "LARGEST_NUMBER",
    "LONGEST_NAME",
    "LONGEST_TEXT",
    "Boolean",
    "DecimalNumber",
    "EnumMember",
    "Form",
    "ItemsForm",
    "OrNone",
    "PlaceholderText",
    "Reader",
    "Rule",
    "TableFault",
    "TableFaults",
    "TableReader",
    "TextBytes",
    "TextLine",
    "TomlSource",
    "WholeNumber",
    "Words",
    "faulty",
    "field",
    "key_lines",
    "limits_of",
    "problem",
    "read_rows",
    "read_table",
    "rule_of",
    "unknown_key",
]
