"""Captured frames to UDP datagrams: link layer, IPv4, IPv6, fragments, UDP.

Frames that do not form a whole UDP datagram are counted under a fixed reason; nothing here raises
for bytes. Link type numbers are those of the tcpdump project's registry.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from emu.capture.formats.records import Datagram

NULL, ETHERNET, RAW, LOOP, LINUX_SLL, IPV4, IPV6, LINUX_SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
RAW_ALIASES = frozenset({RAW, 12, 14, IPV4, IPV6})
VLAN_TAGS = frozenset({0x8100, 0x88A8, 0x9100})
IP_ETHERTYPES = frozenset({0x0800, 0x86DD})
UDP, FRAGMENT, AUTHENTICATION = 17, 44, 51
IPV6_EXTENSIONS = frozenset({0, 43, 60, AUTHENTICATION, 135, 139, 140})

NOT_IP = "frames that are not IP"
MAX_VLAN_TAGS = 4
MAX_IPV6_EXTENSIONS = 16
MAX_FRAGMENTED = 64
"""Fragmented IP packets that are joined at one time; the oldest is dropped first."""
MAX_FRAGMENT_PIECES = 64
MAX_IP_PAYLOAD = 65535


class _LeftOut(Exception):
    """A frame gives no datagram; the text is the reason that counts it."""


class DatagramReader:
    """Converts captured frames of any supported link type to datagrams.

    `left_out` counts frames and packets that did not form a UDP datagram, by reason.
    """

    __slots__ = ("_fragments", "left_out")

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._fragments: dict[tuple[bytes, bytes, int], _Assembly] = {}

    def read_frame(self, t: float, link: int, frame: bytes) -> Datagram | None:
        """Return the UDP datagram in `frame`, or None if there is none yet.

        `link` is the link type of the capture. A fragment returns None until its packet is
        complete.
        """
        try:
            return self._read_ip(t, frame, _network_offset(link, frame))
        except _LeftOut as reason:
            self.left_out[str(reason)] += 1
            return None

    def fragments_waiting(self) -> int:
        """Return how many IP packets lack a fragment."""
        return len(self._fragments)

    def _read_ip(self, t: float, frame: bytes, at: int) -> Datagram | None:
        if at >= len(frame):
            raise _LeftOut("frames cut short")
        # The version in the first half byte decides, whatever the link layer says about the
        # packet.
        kind = frame[at] >> 4
        if kind == 4:
            return self._read_ipv4(t, frame, at)
        if kind == 6:
            return self._read_ipv6(t, frame, at)
        raise _LeftOut(NOT_IP)

    def _read_ipv4(self, t: float, frame: bytes, at: int) -> Datagram | None:
        header = (frame[at] & 15) * 4
        if header < 20 or at + header > len(frame):
            raise _LeftOut("IP headers cut short or garbled")
        if frame[at + 9] != UDP:
            raise _LeftOut("IP packets that are not UDP")
        # A network card with segmentation offload leaves a length of zero in captures.
        length = int.from_bytes(frame[at + 2 : at + 4], "big") or len(frame) - at
        if length < header:
            raise _LeftOut("IP headers cut short or garbled")
        if at + length > len(frame):
            raise _LeftOut("packets cut short by the capture")
        body = frame[at + header : at + length]
        source, destination = frame[at + 12 : at + 16], frame[at + 16 : at + 20]
        place = int.from_bytes(frame[at + 6 : at + 8], "big")
        # Fragment offset or the bit "more fragments": only then the packet is a piece of another.
        if place & 0x3FFF:
            identity = int.from_bytes(frame[at + 4 : at + 6], "big")
            whole = self._join(
                (source, destination, identity), (place & 0x1FFF) * 8, bool(place & 0x2000), body
            )
            if whole is None:
                return None
            body = whole
        return self._read_udp(t, source, destination, body)

    def _read_ipv6(self, t: float, frame: bytes, at: int) -> Datagram | None:
        if at + 40 > len(frame):
            raise _LeftOut("IP headers cut short or garbled")
        length = int.from_bytes(frame[at + 4 : at + 6], "big")
        end = at + 40 + length if length else len(frame)
        if end > len(frame):
            raise _LeftOut("packets cut short by the capture")
        source, destination = frame[at + 8 : at + 24], frame[at + 24 : at + 40]
        following, body = frame[at + 6], frame[at + 40 : end]
        for _ in range(MAX_IPV6_EXTENSIONS):
            if following == UDP:
                return self._read_udp(t, source, destination, body)
            if following == FRAGMENT and len(body) >= 8:
                place = int.from_bytes(body[2:4], "big")
                # Bit 32 separates the identities of IPv6 from those of IPv4, which have 16 bits.
                key = source, destination, int.from_bytes(body[4:8], "big") | 1 << 32
                following, body = body[0], body[8:]
                # An "atomic" fragment is the whole packet and needs no joining.
                if place & 0xFFF9:
                    whole = self._join(key, place & 0xFFF8, bool(place & 1), body)
                    if whole is None:
                        return None
                    body = whole
            elif following in IPV6_EXTENSIONS and len(body) >= 8:
                unit = 4 if following == AUTHENTICATION else 8
                # The length of an authentication header counts in units of four bytes, all others
                # in eight.
                skip = (body[1] + (2 if unit == 4 else 1)) * unit
                following, body = body[0], body[skip:]
            else:
                break
        raise _LeftOut("IP packets that are not UDP")

    def _join(
        self, key: tuple[bytes, bytes, int], offset: int, more: bool, body: bytes
    ) -> bytes | None:
        """Store one fragment; return the packet's payload if it is complete."""
        assembly = self._fragments.get(key)
        if assembly is None:
            if len(self._fragments) >= MAX_FRAGMENTED:
                # Dicts keep their insertion order, so the first key is the oldest packet.
                del self._fragments[next(iter(self._fragments))]
                self.left_out["fragmented packets never completed"] += 1
            assembly = self._fragments[key] = _Assembly({}, None)
        # Both limits stop forged fragments: a longer packet, or very many tiny pieces.
        if offset + len(body) > MAX_IP_PAYLOAD or len(assembly.pieces) >= MAX_FRAGMENT_PIECES:
            del self._fragments[key]
            raise _LeftOut("fragmented packets that are garbled")
        assembly.pieces[offset] = body
        if not more:
            assembly.length = offset + len(body)
        whole = assembly.join()
        if whole is not None:
            del self._fragments[key]
        return whole

    def _read_udp(
        self, t: float, source: bytes, destination: bytes, body: bytes
    ) -> Datagram | None:
        if len(body) < 8:
            raise _LeftOut("UDP headers cut short")
        length = int.from_bytes(body[4:6], "big") or len(body)
        if not 8 <= length <= len(body):
            raise _LeftOut("packets cut short by the capture")
        return Datagram(
            t,
            (_show_ip(source), int.from_bytes(body[:2], "big")),
            (_show_ip(destination), int.from_bytes(body[2:4], "big")),
            body[8:length],
        )


@dataclass(slots=True)
class _Assembly:
    """The fragments of one IP packet by offset, and its length once that is known."""

    pieces: dict[int, bytes]
    length: int | None

    def join(self) -> bytes | None:
        if self.length is None:
            return None
        whole = bytearray()
        for offset in sorted(self.pieces):
            # A gap: a fragment is still missing. Overlaps are allowed, the later offset wins.
            if offset > len(whole):
                return None
            whole[offset:] = self.pieces[offset]
        return bytes(whole) if len(whole) == self.length else None


@lru_cache(maxsize=4096)
def _show_ip(packed: bytes) -> str:
    if len(packed) == 4:
        return str(IPv4Address(packed))
    address = IPv6Address(packed)
    # One form on every Python, and one address for the IPv4 clients of a dual-stack server.
    return str(address.ipv4_mapped or address)


def _network_offset(link: int, frame: bytes) -> int:
    """Return the offset of the IP header. Raises `_LeftOut` if there is none."""
    if link in RAW_ALIASES:
        return 0
    if link in (NULL, LOOP):
        # The four bytes are the address family in the capturing host's byte order and numbering.
        # The IP version after them gives the same information without a guess.
        return 4
    if link == ETHERNET:
        kind = 12
        for _ in range(MAX_VLAN_TAGS):
            if int.from_bytes(frame[kind : kind + 2], "big") not in VLAN_TAGS:
                break
            kind += 4
        at = kind + 2
    elif link == LINUX_SLL:
        # The offsets of the protocol type and of the packet in Linux's own link headers.
        kind, at = 14, 16
    elif link == LINUX_SLL2:
        kind, at = 0, 20
    else:
        raise _LeftOut("frames of a link type that is not read")
    if int.from_bytes(frame[kind : kind + 2], "big") not in IP_ETHERTYPES:
        raise _LeftOut(NOT_IP)
    return at
