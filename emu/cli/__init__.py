"""The `emu` command. Each noun (`emu account`, `emu world`) is a module or a package."""
