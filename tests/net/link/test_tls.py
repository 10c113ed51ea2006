from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from emu.errors import FileFormatError
from emu.net.link.tls import certificate_fingerprint, make_certificate, server_options

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_certificate_is_made_with_its_key_and_lasts_ten_years() -> None:
    pem = make_certificate("login", NOW)
    certificate = x509.load_pem_x509_certificate(pem)
    assert pem.startswith(b"-----BEGIN PRIVATE KEY-----")
    assert certificate.not_valid_before_utc < NOW
    assert certificate.not_valid_after_utc == NOW + timedelta(days=3650)
    assert server_options(pem).getContext() is not None


def test_every_certificate_has_its_own_fingerprint() -> None:
    first, second = (certificate_fingerprint(make_certificate("x", NOW)) for _ in range(2))
    assert first != second
    assert len(bytes.fromhex(first)) == 32


@pytest.mark.parametrize("pem", [b"", b"nonsense", make_certificate("x", NOW)[:200]])
def test_a_file_without_key_or_certificate_is_one_clear_error(pem: bytes) -> None:
    with pytest.raises(FileFormatError, match="certificate file"):
        server_options(pem)
    with pytest.raises(FileFormatError, match="certificate file"):
        certificate_fingerprint(pem)
