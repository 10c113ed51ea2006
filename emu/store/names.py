"""How names are compared: without regard to case and to how accents are composed."""

from __future__ import annotations

import unicodedata


def name_key(name: str) -> str:
    """Return what two names have in common when they count as the same name."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)
