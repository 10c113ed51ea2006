"""The shells of `emu.admin`: ports for those who run the server, and what is told there."""
