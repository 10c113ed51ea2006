"""A server's trace: read back by our reader, and opened by Wireshark without complaint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.formats.records import EQ2_SECRETS, Datagram, Secrets
from emu.capture.keys import KeyRing
from emu.capture.trace import MAX_PAYLOAD, TraceWriter, ip_packet
from tests.support.examples import tries
from tests.support.files.captures import read_all
from tests.support.foreign.tshark import run_tshark

PORTS = st.integers(0, 65535)
IPV4 = st.tuples(st.ip_addresses(v=4).map(str), PORTS)
PLAIN = (("10.0.0.1", 40001), ("10.0.0.2", 9100))


@given(st.floats(0, 4e9), IPV4, IPV4, st.binary(max_size=600))
@tries(60)
def test_datagrams_come_back(t, source, destination, payload):
    writer = TraceWriter()
    (record,) = read_all(writer.header() + writer.datagram(t, source, destination, payload))
    assert isinstance(record, Datagram)
    assert (record.source, record.destination, record.payload) == (source, destination, payload)
    assert abs(record.t - t) < 2e-6


@pytest.mark.parametrize(
    ("source", "destination", "seen"),
    [
        (("2001:db8::1", 1), ("2001:db8::2", 2), ("2001:db8::1", "2001:db8::2")),
        (("2001:db8::1", 1), ("10.0.0.2", 2), ("2001:db8::1", "10.0.0.2")),
        (("fe80::1%eth0", 1), ("fe80::2", 2), ("fe80::1", "fe80::2")),
        (("not a number", 1), ("10.0.0.2", 2), ("0.0.0.0", "10.0.0.2")),
    ],
)
def test_addresses_of_all_kinds(source, destination, seen):
    writer = TraceWriter()
    (record,) = read_all(writer.header() + writer.datagram(1.0, source, destination, b"x"))
    assert (record.source[0], record.destination[0]) == seen


def test_keys_come_back_as_text_for_a_key_ring():
    writer = TraceWriter()
    key = writer.key(0x5352F60F, check_key=0x33624702, rc4_key=bytes(range(8)))
    (record,) = read_all(writer.header() + key)
    assert isinstance(record, Secrets)
    assert record.kind == EQ2_SECRETS
    ring = KeyRing()
    ring.add_text(record.data.decode())
    assert ring.check_key(0x5352F60F, PLAIN[0]) == 0x33624702
    assert ring.rc4_key(0x5352F60F, PLAIN[0]) == bytes(range(8))


def test_a_trace_may_be_appended_to():
    writer = TraceWriter()
    part = writer.header() + writer.datagram(1.0, *PLAIN, b"x")
    assert len(read_all(part + part)) == 2


def test_the_largest_payload_fits_and_one_byte_more_does_not():
    writer = TraceWriter()
    ends = (("::1", 1), ("::2", 2))
    (record,) = read_all(writer.header() + writer.datagram(1.0, *ends, bytes(MAX_PAYLOAD)))
    assert len(record.payload) == MAX_PAYLOAD
    with pytest.raises(ValueError, match="no UDP datagram"):
        writer.datagram(1.0, *ends, bytes(MAX_PAYLOAD + 1))


def test_checksums_are_right_by_the_rule_of_the_receiver():
    # RFC 1071: header (or pseudo header and datagram) sums to 0xFFFF with its checksum in place.
    def total(data):
        data += bytes(len(data) % 2)
        value = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
        while value >> 16:
            value = (value & 0xFFFF) + (value >> 16)
        return value

    for payload in (b"", b"x", b"hello", bytes(range(256))):
        packet = ip_packet(*PLAIN, payload)
        assert total(packet[:20]) == 0xFFFF
        udp = packet[20:]
        assert total(packet[12:20] + b"\0\x11" + len(udp).to_bytes(2, "big") + udp) == 0xFFFF


@pytest.mark.slow
def test_wireshark_opens_a_trace_and_finds_every_checksum_good(tmp_path):
    writer = TraceWriter()
    data = writer.header() + writer.key(1, check_key=2, rc4_key=bytes(8))
    for number in range(20):
        data += writer.datagram(1.0 + number, *PLAIN, bytes([number]) * number)
    data += writer.datagram(30.0, ("2001:db8::1", 1), ("10.0.0.2", 2), b"six")
    trace = tmp_path / "trace.pcapng"
    trace.write_bytes(data)
    out = run_tshark(
        "-r", str(trace), "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
        "-T", "fields", "-e", "udp.checksum.status", "-e", "ip.checksum.status",
    )  # fmt: skip
    assert out.split("\n") == ["1\t1"] * 20 + ["1\t", ""]
