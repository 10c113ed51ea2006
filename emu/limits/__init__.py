"""Limits that all endpoints share: bans, token buckets, connections, work per turn, repetitions.

None of these modules knows a socket, a clock or a protocol; time is an argument.
"""
