"""`emu doctor`: what is wrong with a server, or will be, and how to mend it.

Each room looks at one subject. What is measured on the machine is handed to small functions that
judge it, so that every verdict can be tried without breaking the machine.
"""
