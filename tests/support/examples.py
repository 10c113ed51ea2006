"""How many examples hypothesis draws where a property wants more, or fewer, than usual."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

USUAL: Final = "emu"
"""The profile of `make test`, in which a property that names a number tries that many."""


def tries(count: int) -> settings:
    """Try so many examples in the profile of `make test`.

    The profile `quick` tries at most as many as other properties there. The profile `nightly`
    tries more, in the same ratio as other properties.
    """
    usual = settings.get_profile(USUAL).max_examples
    current = settings().max_examples
    scaled = min(count, current) if current < usual else count * current // usual
    return settings(max_examples=scaled)
