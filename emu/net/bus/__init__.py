"""The transports of the bus of several processes: PostgreSQL and NATS.

Each driver is an extra, and imported only by the module of its broker when the configuration names
that broker.
"""
