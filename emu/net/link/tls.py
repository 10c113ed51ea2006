"""TLS for links between this project's processes: a self-signed certificate, pinned by fingerprint.

The link carries password hashes in clear text, and a hash is enough to register a world. No
certificate authority is involved: the world knows the SHA-256 fingerprint of the login server's
certificate and refuses any other.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from OpenSSL import SSL
from twisted.internet import ssl
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import ISSLTransport
from twisted.internet.protocol import Factory, Protocol
from twisted.protocols.tls import TLSMemoryBIOFactory

from emu.errors import FileFormatError

VALID_DAYS = 3650


def make_certificate(name: str, now: datetime) -> bytes:
    """Return a new private key and a self-signed certificate for it, both as PEM, key first.

    `now` must know its time zone. The file must be readable by the login server only.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        # The server starts without an operator who could type a passphrase; the file's permissions
        # protect it.
        serialization.NoEncryption(),
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)


def certificate_fingerprint(pem: bytes) -> str:
    """Return the SHA-256 fingerprint of a PEM certificate: 64 lower-case hex digits.

    Raises `FileFormatError` when `pem` has no certificate.
    """
    try:
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError:
        raise FileFormatError("no PEM certificate in the link's certificate file") from None
    return certificate.fingerprint(hashes.SHA256()).hex()


def server_options(pem: bytes) -> ssl.CertificateOptions:
    """Return the TLS options of a listener, from a PEM with key and certificate.

    Raises `FileFormatError` when either is missing.
    """
    try:
        key: Any = serialization.load_pem_private_key(pem, password=None)
        certificate: Any = x509.load_pem_x509_certificate(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise FileFormatError(
            "the link's certificate file needs a private key and a certificate, both as PEM"
        ) from None
    # cryptography's own objects: pyOpenSSL warns of its older ones, which Twisted would create.
    options = ssl.CertificateOptions(
        privateKey=key, certificate=certificate, raiseMinimumTo=ssl.TLSVersion.TLSv1_2
    )
    try:
        options.getContext()  # Fail now, not at the first connection.
    except SSL.Error as error:
        reason = "; ".join(str(one[-1]) for one in error.args[0]) or "no reason given"
        raise FileFormatError(
            f"the link's certificate file cannot be used ({reason}); its key and its certificate"
            " must belong together"
        ) from None
    return options


class _Factory(Factory):
    noisy = False

    def __init__(self, build: Callable[[], Protocol]) -> None:
        self._build = build

    def buildProtocol(self, addr: object) -> Protocol:  # noqa: ARG002
        return self._build()


def connect(
    reactor: Any,
    host: str,
    port: int,
    build: Callable[[], Protocol],
    *,
    timeout: float,
    with_tls: bool,
) -> Deferred[Any]:
    """Connect the protocol that `build` creates; with TLS it must check the fingerprint itself."""
    factory: Any = _Factory(build)
    if with_tls:
        # The fingerprint replaces the check by an authority; the caller compares it after the
        # handshake.
        options = ssl.CertificateOptions(verify=False, raiseMinimumTo=ssl.TLSVersion.TLSv1_2)
        factory = TLSMemoryBIOFactory(options, isClient=True, wrappedFactory=factory)
    return HostnameEndpoint(reactor, host, port, timeout=timeout).connect(factory)


def peer_has_fingerprint(transport: ISSLTransport, fingerprint: str) -> bool:
    """Return whether the peer's certificate has this fingerprint; call it after the handshake."""
    certificate: Any = transport.getPeerCertificate()
    if certificate is None:
        return False
    found: str = certificate.to_cryptography().fingerprint(hashes.SHA256()).hex()
    # Tools such as openssl print fingerprints with colons and capitals.
    return hmac.compare_digest(found, fingerprint.replace(":", "").lower())
