"""The list of all functions for scripts."""

import importlib
import pkgutil

from emu.scripts.signatures import FunctionTable, merged
from emu.world.scripts import functions
from emu.world.scripts.functions.every import EVERY


def test_the_functions_of_every_module_are_listed_once() -> None:
    modules = [
        importlib.import_module(f"{functions.__name__}.{found.name}")
        for found in pkgutil.iter_modules(functions.__path__)
    ]
    tables = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, FunctionTable)
    }
    assert {id(table) for table in EVERY} == set(tables)
    assert len(merged(EVERY)) == sum(len(table.functions) for table in EVERY)
