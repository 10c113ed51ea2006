"""The Twisted shell: sockets, timers, threads and signals around the cores, and nothing else.

`server.EmuService` is the whole; `udp` serves sessions, `link_server` and `link_client` the
login-world link, `workers` and `storage` what takes time. Protocol rules do not belong here: what
a test can show without a reactor is in another package.
"""
