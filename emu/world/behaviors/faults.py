"""Faults in the classes of behaviors that show without running them.

A hook with a misspelled name would never be called, and a method with other parameters than the
server passes would fail at its first call.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Final

from emu.world.behaviors.hooks import Hook

PREFIX: Final = "on_"
NEARLY: Final = 0.75
"""How similar a method's name is to a hook's, without the prefix, if it is taken for that hook."""
MAKING: Final = "__init__"
HOOKS: Final = {hook.method: hook for hook in Hook}


def class_faults(behavior: type) -> Iterator[str]:
    """Yield a line for each fault in the methods that a class defines itself, with file and line.

    Only functions are judged: the parameters of other objects may be read by their own code.
    """
    for name, method in vars(behavior).items():
        if type(method) is not FunctionType:
            continue
        fault = _fault(name, method)
        if fault:
            yield f"{_place(method)}: {behavior.__name__}.{name} {fault}"


def making_fault(behavior: type) -> str:
    """Return a line for a class that cannot be made with ``(me, options)``; "" if it can be."""
    method = inspect.getattr_static(behavior, MAKING, None)
    # Every class has one: `object` passes its own on, which takes nothing.
    if method is object.__init__ and inspect.getattr_static(behavior, "__new__") is object.__new__:
        return f"{behavior.__name__} has no {MAKING}(self, me, options)"
    if type(method) is FunctionType and _fault(MAKING, method):
        return f"{behavior.__name__}.{MAKING} {_fault(MAKING, method)}"
    return ""


def place_of_method(behavior: type, name: str) -> str:
    """Return the file and line of a method, else of the class's first function; "" if unknown."""
    found = inspect.getattr_static(behavior, name, None)
    functions = [found, *vars(behavior).values()]
    return next((_place(one) for one in functions if type(one) is FunctionType), "")


def _fault(name: str, method: FunctionType) -> str:
    hook = HOOKS.get(name)
    if hook is None and name != MAKING:
        near = difflib.get_close_matches(
            name.removeprefix(PREFIX),
            [one.removeprefix(PREFIX) for one in HOOKS], n=1, cutoff=NEARLY,
        )  # fmt: skip
        if not (name.startswith(PREFIX) and near):
            return ""
        return f"is no hook, so it would never be called; did you mean {PREFIX}{near[0]}?"
    parameters = "me, options" if hook is None else hook.parameters
    wanted = ["self", *filter(None, parameters.split(", "))]
    try:
        inspect.signature(method).bind(*wanted)
    except TypeError:
        return f"has other parameters than the server passes; write {name}({', '.join(wanted)})"
    return ""


def _place(method: FunctionType) -> str:
    return f"{method.__code__.co_filename}, line {method.__code__.co_firstlineno}"
