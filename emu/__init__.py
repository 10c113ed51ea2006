"""EverQuest II login and world server, and the libraries it is made of.

Start at `emu.session` (the UDP session layer), `emu.structs` (packet layouts), `emu.opcodes`
(opcode tables per client version) or `emu.client` (a scripted client).
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
