"""`emu opcodes`: commands on opcode tables, and their full-screen editor."""
