"""`emu world certificate` and `fingerprint`: TLS for the link between worlds and login server."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from emu.cli.common import load_config
from emu.cli.moments import present
from emu.errors import CommandError
from emu.net.link.tls import certificate_fingerprint, make_certificate
from emu.net.parameters import read_pem


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for key and certificate; it must not be there yet.",
)
@click.option("--name", default="emu login", show_default=True, help="Name in the certificate.")
def certificate(out: Path, name: str) -> None:
    """Make the certificate with which the login server offers worlds TLS; prints its fingerprint.

    On the login server, set [link] certificate to the file and [link] tls_listen to an address of
    its own, like 0.0.0.0:9101. On each world, name that address in [world] login_servers and the
    fingerprint in [world] login_tls_fingerprints. The file holds the private key: only its owner
    can read it, and worlds do not need it.

    Example: emu world certificate --out link.pem
    """
    if not 1 <= len(name) <= 64 or not name.isprintable():
        raise CommandError("the name in the certificate must have 1 to 64 visible characters")
    pem = make_certificate(name, datetime.fromtimestamp(present(), UTC))
    try:
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(pem)
    except FileExistsError:
        raise CommandError(f"{out} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise CommandError(f"{out}: cannot be written ({error.strerror})") from None
    click.echo(f"made {out}; its fingerprint is", err=True)
    click.echo(certificate_fingerprint(pem))


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
def fingerprint(file: Path | None) -> None:
    """Print the fingerprint that worlds need of a certificate: of FILE, or the configured one.

    Example: emu world fingerprint link.pem
    """
    path = file or load_config().link.certificate
    if path is None:
        raise CommandError("name a file, or set [link] certificate in the configuration")
    click.echo(certificate_fingerprint(read_pem(path)))
