import pytest

from emu.config import readers
from emu.config.readers import Address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:9100", Address("127.0.0.1", 9100)),
        ("[::]:0", Address("::", 0)),
        ("login.example.org:65535", Address("login.example.org", 65535)),
    ],
)
def test_addresses(text: str, expected: Address) -> None:
    assert readers.address(text) == expected
    assert readers.address(str(expected)) == expected


@pytest.mark.parametrize(
    "value",
    ["", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9100",
     "a b:1", "-a:1", "10.0.0.300:1", "10.0.0:1", "host:²", 9100, None, "x" * 300 + ":1"],
)  # fmt: skip
def test_what_is_no_address(value: object) -> None:
    with pytest.raises(ValueError, match="host:port"):
        readers.address(value)


def test_fingerprints_may_have_colons() -> None:
    assert readers.fingerprint(":".join(["AB"] * 32)) == "ab" * 32
    with pytest.raises(ValueError, match="64 hex"):
        readers.fingerprint("ab")


def test_a_fingerprint_may_be_left_out_where_that_is_said() -> None:
    assert readers.fingerprint_or_none("") == ""
    assert readers.fingerprint_or_none("AB" * 32) == "ab" * 32
    for wrong in ("ab", None):
        with pytest.raises(ValueError, match="64 hex"):
            readers.fingerprint_or_none(wrong)


def test_changes_of_color_are_places_values_and_sixteen_bits() -> None:
    assert readers.color_change("0:0x0a") == (0, 10, 0)
    assert readers.color_change("3:0x90:0xf800") == (3, 0x90, 0xF800)
    for wrong in ("", "3", "a:b", "0:256", "1:2:3:4", "0:1:65536", 5):
        with pytest.raises(ValueError, match="BYTE:VALUE"):
            readers.color_change(wrong)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://emu.example.org", "https://emu.example.org"),
        ("HTTPS://Emu.Example.org:443/", "https://emu.example.org"),
        ("https://192.0.2.7:8443", "https://192.0.2.7:8443"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
    ],
)
def test_origins_are_written_as_browsers_name_them(text: str, expected: str) -> None:
    assert readers.https_origin(text) == expected


@pytest.mark.parametrize(
    "value",
    ["", "http://emu.example.org", "https://", "https://a b", "https://a/page", "https://a:0",
     "https://a:65536", "https://a:b", "https://user@a", "https://a?b", "https://[zz]", 7, None],
)  # fmt: skip
def test_what_is_no_origin(value: object) -> None:
    with pytest.raises(ValueError, match="https://HOST"):
        readers.https_origin(value)


def test_ip_addresses_are_spelt_one_way() -> None:
    assert readers.ip_address("::ffff:192.0.2.7") == "192.0.2.7"
    assert readers.ip_address("2001:DB8:0::1") == "2001:db8::1"
    for wrong in ("proxy.example", "", None, 7, "192.0.2.0/24"):
        with pytest.raises(ValueError, match="IP address"):
            readers.ip_address(wrong)


@pytest.mark.parametrize("text", ["192.0.2.7", "192.0.2.0/24", "2001:db8::/32"])
def test_networks(text: str) -> None:
    assert readers.network(text).startswith(text)


@pytest.mark.parametrize("value", ["192.0.2.7/24", "emu.example.org", "", 7, "::/129"])
def test_what_is_no_network(value: object) -> None:
    with pytest.raises(ValueError, match=r"192\.0\.2\.0/24"):
        readers.network(value)
