"""How many examples hypothesis draws where a property wants more, or fewer, than usual."""

from __future__ import annotations

from hypothesis import settings


def tries(count: int) -> settings:
    """Try so many examples, and no more than the profile `quick` has when that is in use."""
    if settings.get_current_profile_name() == "quick":
        count = min(count, settings.get_profile("quick").max_examples)
    return settings(max_examples=count)
