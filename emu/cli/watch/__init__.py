"""`emu status` and `emu top`: the state of the running server, once and live."""
