"""The names of accounts, old and new ones.

EQ2Emulator copies names into a buffer of 32 bytes (docs/protocol/login.md#account), so longer names
are refused here and never cut. What new names may have follows the names and categories of
characters in Unicode's tables.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_NAME = 31
"""Longest account name, in bytes of UTF-8."""

# Unicode categories: control and format characters, surrogates, private use, unassigned, and line
# and paragraph separators. With them two names could be shown alike.
_REFUSED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def account_name(text: str) -> str:
    """Return a name without surrounding spaces, in Unicode's composed form (NFC).

    Raises `ValueError` with the fault when the name is empty, longer than `MAX_NAME` bytes, or has
    invisible characters.
    """
    # Two keyboards may type the same letter in two forms; both must be the same account.
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise ValueError("a name must not be empty")
    if not _REFUSED.isdisjoint(map(unicodedata.category, name)):
        raise ValueError("a name must not have characters that cannot be seen")
    if len(name.encode()) > MAX_NAME:
        raise ValueError(f"a name must not be longer than {MAX_NAME} bytes")
    return name


def new_account_name(text: str) -> str:
    """Return the name of a new account, in Unicode's compatibility form (NFKC).

    It has letters, digits and `PUNCTUATION`: shells read other characters as their own. Raises
    `ValueError` as `account_name` does, for other characters, and for letters, marks and digits of
    several scripts: a Cyrillic letter in a Latin name would make it look like another account's.
    Existing accounts keep their names.
    """
    name = account_name(unicodedata.normalize("NFKC", text))
    # Some scripts have marks as vowels.
    if any(one not in PUNCTUATION and unicodedata.category(one)[0] not in "LMN" for one in name):
        raise ValueError(f"a name may have letters, digits and {' '.join(PUNCTUATION)} only")
    # A mark for all scripts is one that no composed letter has, or it cannot be seen.
    if len(_scripts(name)) > 1 or not _scripts(name, "MN") <= _scripts(name):
        raise ValueError("a name must have letters of one script only")
    if any(_UNSEEN.search(unicodedata.name(one, "")) for one in name):
        raise ValueError("a name must not have characters that cannot be seen")
    if any(_is_second_form(one) for one in name):
        raise ValueError("a name must have the usual form of each letter")
    return name


PUNCTUATION: Final = "._-@"


def is_new_name(name: str) -> bool:
    """Return whether a new account may have exactly this name."""
    try:
        return new_account_name(name) == name
    except ValueError:
        return False


_JAPANESE: Final = frozenset(("CJK", "HIRAGANA", "KATAKANA"))
"""Scripts that one name may mix, by the first words of their letters' Unicode names."""
_UNSEEN: Final = re.compile("FILLER|VARIATION SELECTOR|VOWEL INHERENT")
"""Letters and marks of a script that show nothing, by their Unicode names."""
_LATIN: Final = re.compile(
    "LATIN (SMALL|CAPITAL) LETTER"
    " ([A-Z]|AE|OE|ENG|ETH|THORN|SHARP S|DOTLESS I|SCHWA|EZH|OPEN [EO])( WITH .+)?"
)
"""The Unicode names of the letters of languages; others are second forms, such as alpha for a."""


def _scripts(name: str, categories: str = "L") -> set[str]:
    """Return the scripts of a name's letters, or of its marks and digits that are not ASCII."""
    found = {
        _script_of(one)
        for one in name
        if unicodedata.category(one)[0] in categories and (categories == "L" or not one.isascii())
    }
    return {"JAPANESE"} if found and found <= _JAPANESE else found


def _script_of(one: str) -> str:
    """Return the first word of a character's Unicode name: that is its script."""
    name = unicodedata.name(one, "?").removeprefix("EXTENDED ")
    return re.split("[ -]", name, maxsplit=1)[0]


def _is_second_form(letter: str) -> bool:
    name = unicodedata.name(letter, "")
    return name.startswith("LATIN ") and not _LATIN.fullmatch(name)
