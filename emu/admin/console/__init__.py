"""The local console's protocol: commands and replies as lines, for whoever holds the machine.

A line is a JSON object with a `line` and, if wanted, an `id` of any kind, or just the command
itself. A reply is a JSON object on one line: the request's `id`, `ok`, `lines` for people and
`data` for programs. Replies come in the order of the requests.
"""
