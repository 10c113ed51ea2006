"""Captures: read them, follow the sessions in them, write a server's own, and a dissector.

`for message in emu.capture.open("x.pcap"): message.name, message.fields, message.session` is the
way in. All but `files` is sans-IO: other files, and terminals, are the business of
`emu.cli.capture`. Rooms: `formats` (files to datagrams), `sessions` (datagrams to messages),
`keys`, `trace` (what a server writes), `dissector` (a Wireshark script).
"""

from emu.capture.files import Capture, open  # noqa: A004  # as the standard library's gzip.open
from emu.capture.messages import CapturedCommand, CapturedMessage, SessionEnds
from emu.capture.sessions.follow import CaptureFollower, Notice

__all__ = [
    "Capture",
    "CaptureFollower",
    "CapturedCommand",
    "CapturedMessage",
    "Notice",
    "SessionEnds",
    "open",
]
