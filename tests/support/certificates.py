"""Certificates for servers of tests on 127.0.0.1; each is its own authority."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class OwnCertificate(NamedTuple):
    """PEM files: the certificate, and its private key."""

    certificate: Path
    key: Path


def make_certificate(folder: Path) -> OwnCertificate:
    """Make a certificate for 127.0.0.1 that has signed itself."""
    files = OwnCertificate(folder / "server.pem", folder / "server.key")
    key = ec.generate_private_key(ec.SECP256R1())
    number, now = x509.random_serial_number(), datetime.now(UTC)
    # A name of its own: two authorities of one name would differ by their signatures only.
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"emu {number:x}"[:64])])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )  # fmt: skip
    files.key.chmod(0o600)
    return files
