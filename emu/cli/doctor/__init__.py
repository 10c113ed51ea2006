"""`emu doctor`: checks a server for faults and prints how to fix them.

Each module checks one subject. Small functions judge the measured values, so that tests can try
every verdict without breaking the machine.
"""
