"""Commands on a running server: `emu admin`, `emu rcon` and `emu ggmp`, each with its socket."""
