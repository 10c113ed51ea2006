"""Captures: reading them, following the sessions in them, writing a server's trace, a dissector.

Programs use `emu.capture.open`: ``for message in emu.capture.open("x.pcap")`` yields messages with
`name`, `fields` and `session`. Only `files` opens files; `emu.cli.capture` has the commands.
`formats` converts files to datagrams, `sessions` datagrams to messages. `keys` reads keys, and
`trace` writes a server's trace and the Wireshark dissector.
"""

from emu.capture.files import Capture, open  # noqa: A004  # as the standard library's gzip.open
from emu.capture.messages import CapturedCommand, CapturedMessage, SessionKey
from emu.capture.sessions.follow import CaptureFollower, Notice

__all__ = [
    "Capture",
    "CaptureFollower",
    "CapturedCommand",
    "CapturedMessage",
    "Notice",
    "SessionKey",
    "open",
]
