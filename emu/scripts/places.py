"""The place of a script's error: file and line, read from Lua's stack as it is raised.

A script chooses the text of its errors. So the text is never searched for a place: it is cut first,
and a place in front of it counts only if a running function stands there.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from emu.errors import ScriptError

SANDBOX: Final = "sandbox.lua"
"""The chunk of the library of scripts, as Lua names it in errors."""
LONGEST_ERROR: Final = 1000
"""Characters of the text of an error."""
MOST_FRAMES: Final = 24
"""Functions of the stack that are looked at; scripts can call each other more deeply."""
LONGEST_CHUNK: Final = 59
"""Characters of a chunk's name in front of an error; Lua cuts a longer one (``LUA_IDSIZE``)."""
NO_TEXT: Final = "an error without a text"


class Frame(NamedTuple):
    """One function on Lua's stack."""

    source: str
    """The file, as it was named when it was compiled."""
    short: str
    """The same as Lua writes it in front of errors."""
    line: int


class CodePlaces:
    """Finds the place of the error that ends a call."""

    def __init__(self) -> None:
        self.getinfo: Any = None
        """Lua's own function; None once the runtime has ended."""
        self._frames: list[Frame] = []

    def noted(self, error: Any = None, *_more: Any) -> Any:
        """Note the stack of an error that is raised now; return the error as it is.

        Lua calls this before it leaves the functions that have failed.
        """
        try:
            self._frames = self._stack()
        except Exception:  # noqa: BLE001  # no memory is left, or no stack; the error itself counts
            self._frames = []
        if isinstance(error, BaseException):
            return error
        # A table or a function as an error would be shown with an address of the memory.
        has_text = isinstance(error, (str, int, float)) and not isinstance(error, bool)
        return str(error)[: 2 * LONGEST_ERROR] if has_text else ""

    def explained(self, path: str, text: str) -> ScriptError:
        """Return the error of a script for the text of the last error that was noted."""
        frames, self._frames = self._frames, []
        place = next((one for one in frames if one.source != SANDBOX), None)
        for one in frames:
            front = f"{one.short}:{one.line}: "
            if text.startswith(front):
                text = text[len(front) :]
                if one.source != SANDBOX:
                    place = one
                else:
                    # The name of a variable of the library means nothing to the author.
                    text = text.partition(" (local '")[0].partition(" (upvalue '")[0]
                break
        where, line = (place.source, place.line) if place is not None else (path, 0)
        return ScriptError(where, line, text[:LONGEST_ERROR] or NO_TEXT)

    def _stack(self) -> list[Frame]:
        found = []
        # Level 0 is `getinfo`, level 1 this object's own function.
        for level in range(2, 2 + MOST_FRAMES):
            info = self.getinfo(level, "Sl")
            if info is None:
                break
            if info["what"] != "C":
                found.append(Frame(info["source"][1:], info["short_src"], info["currentline"]))
        return found


def compile_error(path: str, text: str) -> ScriptError:
    """Return the error of a file that does not compile, for the text of Lua's."""
    text = text[: 2 * LONGEST_ERROR]
    cut = len(path) > LONGEST_CHUNK
    front = f"...{path[-(LONGEST_CHUNK - 3) :]}:" if cut else f"{path}:"
    line = 0
    if text.startswith(front):
        number, _, rest = text[len(front) :].partition(": ")
        if number.isdecimal():
            line, text = int(number), rest
    return ScriptError(path, line, text[:LONGEST_ERROR] or NO_TEXT)
