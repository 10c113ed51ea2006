"""How much somebody may have, and who counts as one somebody: the same for every endpoint.

`addresses` says whom an address stands for, `throttle` and `rate` are token buckets, for many keys
and for one peer. Knows no socket, no clock and no protocol.
"""
