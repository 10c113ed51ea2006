"""Opcode rows as files: every format that is read or written."""
