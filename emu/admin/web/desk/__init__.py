"""Acting on the server from the page: who may come in, from where, and what can be done.

A request passes `gate` (where it comes from), `bodies` (what it says), `sign_ins` or `sessions`
(who it is) and `actions` (what is wanted); `desk` joins them to accounts and commands. What is
turned away is a `refusals.RequestRefused`. Knows no socket, no clock and no HTTP library.
"""
