"""The Twisted side of `emu.admin`: listeners for operators and their tools."""
