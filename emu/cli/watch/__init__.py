"""`emu status` and `emu top`: how the running server does, at a glance and live."""
