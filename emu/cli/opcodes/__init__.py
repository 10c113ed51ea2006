"""`emu opcodes`: the verbs on opcode tables, and their full-screen editor."""
