"""`emu client`: the verbs of a client that logs in and plays."""
