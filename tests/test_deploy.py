"""The files in tools/deploy: each is checked by the program that reads it, and the container's
steps run in a clean Debian root."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.support.foreign.programs import debian_program, lacking
from tests.support.running.forked import forked_words
from tools.ports import free_ports

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "tools" / "deploy"
CLUSTER = DEPLOY / "cluster"
PROGRAMS = Path(sys.executable).parent
PIP_FILES = ("/etc/pip.conf", "/opt/pypi", "/opt/pypi-more", "/opt/wheels")
"""Where this machine keeps its package index and pip's settings, if it has its own."""
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
CERTIFICATES = "/opt/certificates.pem"
"""This machine's certificates in the clean root: ca-certificates replaces its own bundle there."""


def run(*command: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True, text=True, check=False, timeout=timeout,
    )  # fmt: skip


# -- each file by its own program -----------------------------------------------------------------


def test_hadolint_accepts_the_dockerfile() -> None:
    done = run(PROGRAMS / "hadolint", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.compose-spec", "tools/deploy/compose.yaml"),
        ("vendor.compose-spec", "tools/deploy/cluster/compose.yaml"),
        ("vendor.github-workflows", ".github/workflows/checks.yml"),
        ("vendor.github-workflows", ".github/workflows/dependencies.yml"),
        ("vendor.github-workflows", ".github/workflows/release.yml"),
    ],
)
def test_a_yaml_file_fits_its_published_schema(schema: str, path: str) -> None:
    done = run(PROGRAMS / "check-jsonschema", "--builtin-schema", schema, ROOT / path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_compose_file_mounts_files_that_exist_and_publishes_the_page_on_loopback() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert not source.startswith(".") or (DEPLOY / source).is_file(), volume
        for port in service["ports"]:
            assert port.startswith("127.0.0.1:") or "9100" in port or "9001" in port
    assert {name for name, one in services.items() if "profiles" in one} == {
        "prometheus", "grafana",
    }  # fmt: skip


def test_the_compose_file_of_a_cluster_gives_each_node_what_it_needs() -> None:
    services = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    nodes = {name: one for name, one in services.items() if "build" in one}
    assert set(nodes) == {"login", "zone-a", "zone-b"}
    assert services["nats"]["profiles"] == ["nats"]
    state = {name: one["volumes"][-1] for name, one in nodes.items()}
    assert state == {name: f"{name}:/var/lib/eq2emu" for name in nodes}, "nothing is shared"
    for name, node in nodes.items():
        assert f"node.name={name}" in node["command"]
        assert (CLUSTER / node["volumes"][0].split(":")[0]).is_file()
        assert node["depends_on"] == {"database": {"condition": "service_healthy"}}
    published = [port for one in services.values() for port in one.get("ports", ())]
    assert len(published) == len(set(published)) == 4
    assert "ports" not in services["database"], "only the nodes reach it"
    drain = tomllib.loads((CLUSTER / "zone.toml").read_text())["node"]["drain_wait"]
    for name in ("zone-a", "zone-b"):
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > drain


@pytest.mark.parametrize("kind", ["login", "zone"])
def test_the_settings_of_nodes_are_good(kind: str, tmp_path: Path) -> None:
    environment = os.environ | {
        "EMU_DATABASE_URL": "postgresql://emu:hidden@192.0.2.10/emu",
        "XDG_STATE_HOME": str(tmp_path),
    }
    command = [*forked_words("emu"), "--config", CLUSTER / f"{kind}.toml", "config", "check"]
    done = subprocess.run(
        [str(word) for word in command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    # Nothing answers at the address of the example; all other settings are good.
    faults = [line for line in done.stderr.splitlines() if line.startswith("emu: ")]
    assert all("the database is away" in line for line in faults), done.stdout + done.stderr
    assert "hidden" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["emu-login@.service", "emu-zone@.service"])
def test_systemd_accepts_the_units_of_nodes(tmp_path: Path, name: str) -> None:
    analyze = debian_program("systemd-analyze", "systemd")
    text = (CLUSTER / name).read_text()
    kind = name.removeprefix("emu-").removesuffix("@.service")
    assert f"--config /etc/eq2emu/{kind}-%i.toml --set node.name={kind}-%i" in text
    for line in ("Type=notify", "NotifyAccess=main", "ExecReload=/bin/kill -HUP $MAINPID"):
        assert line in text.splitlines()
    runnable = text.replace("/opt/eq2emu/bin/twistd", "/bin/true").replace("User=eq2emu", "")
    unit = tmp_path / name.replace("@", "@a")
    unit.write_text(runnable)
    done = run(analyze, "verify", "--man=no", unit)
    ours = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_a_zone_s_unit_leaves_time_for_its_drain() -> None:
    text = (CLUSTER / "emu-zone@.service").read_text()
    drain = tomllib.loads((CLUSTER / "zone.toml").read_text())["node"]["drain_wait"]
    found = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert found is not None
    assert int(found[1]) >= drain + 15


def test_nginx_accepts_the_site(tmp_path: Path) -> None:
    nginx = debian_program("nginx", "nginx-light")
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    run(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=emu.example.org",
        "-days", "1", "-keyout", key, "-out", certificate,
    )  # fmt: skip
    site = (DEPLOY / "nginx.conf").read_text().replace("/etc/ssl/emu.example.org", str(tmp_path))
    whole = tmp_path / "whole.conf"
    whole.write_text(
        f"pid {tmp_path}/nginx.pid; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off;\n{site}\n}}\n"
    )
    done = run(nginx, "-t", "-q", "-c", whole, "-p", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_prometheus_accepts_its_file_with_the_shipped_alerts(tmp_path: Path) -> None:
    promtool = debian_program("promtool", "prometheus")
    shutil.copy(DEPLOY / "prometheus.yml", tmp_path)
    shutil.copy(ROOT / "data" / "monitoring" / "alerts.yml", tmp_path)
    done = run(promtool, "check", "config", tmp_path / "prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_settings_of_the_container_are_good() -> None:
    done = run(*forked_words("emu"), "--config", DEPLOY / "container.toml", "config", "check")
    assert done.returncode == 0, done.stdout + done.stderr


# -- the container's steps ------------------------------------------------------------------------


@dataclass
class Image:
    """One image of a Dockerfile: its root folder and what later steps of it inherit."""

    root: Path
    folder: str = "/"
    user: str = "0"
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, words: list[str]) -> list[str]:
        """Return a command line that runs words as the container would."""
        variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        variables |= {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        if (self.root / CERTIFICATES.lstrip("/")).exists():
            variables["PIP_CERT"] = CERTIFICATES
        variables |= self.environment
        return [
            "env", "-i", *(f"{key}={value}" for key, value in variables.items()),
            "chroot", f"--userspec={self.user}:{self.user}", str(self.root),
            "sh", "-c", f'cd {self.folder} && exec "$@"', "sh", *words,
        ]  # fmt: skip


def run_step(image: Image, rest: str, _images: dict[str, Image]) -> None:
    done = run(*image.command(["sh", "-c", rest]), timeout=300)
    assert done.returncode == 0, rest + done.stdout + done.stderr


def copy_step(image: Image, rest: str, images: dict[str, Image]) -> None:
    words = rest.split()
    source = ROOT
    if words[0].startswith("--from="):
        source = images[words.pop(0).removeprefix("--from=")].root
    target = Path("/", image.folder, words[-1])
    sources = [source / word.lstrip("/") for word in words[:-1]]
    copy(sources, image.root / target.relative_to("/"))


def folder_step(image: Image, rest: str, _images: dict[str, Image]) -> None:
    image.folder = rest
    (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)


def environment_step(image: Image, rest: str, _images: dict[str, Image]) -> None:
    path_now = image.environment.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    words = (word.replace("$PATH", path_now) for word in shlex.split(rest))
    image.environment |= dict(word.split("=", 1) for word in words)


def argument_step(image: Image, rest: str, _images: dict[str, Image]) -> None:
    name, _, default = rest.partition("=")
    image.environment[name] = default.strip('"')


def user_step(image: Image, rest: str, _images: dict[str, Image]) -> None:
    image.user = rest


STEPS: dict[str, Callable[[Image, str, dict[str, Image]], None]] = {
    "RUN": run_step,
    "COPY": copy_step,
    "WORKDIR": folder_step,
    "ENV": environment_step,
    "ARG": argument_step,
    "USER": user_step,
}


def steps(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile with their arguments, continued lines joined."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


def copy(sources: list[Path], target: Path) -> None:
    """Copy as COPY does: the contents of a folder, or files into a folder."""
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        elif len(sources) > 1 or target.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def build(path: Path, base: Path, folder: Path) -> tuple[Image, dict[str, list[str]]]:
    """Run the steps of a Dockerfile; return its last image and its commands."""
    images: dict[str, Image] = {}
    commands: dict[str, list[str]] = {}
    image = Image(base)
    for name, rest in steps(path):
        if name == "FROM":
            image = Image(folder / f"image{len(images)}")
            subprocess.run(["cp", "-a", str(base), str(image.root)], check=True)
            images[rest.split()[-1]] = image
        elif name in ("ENTRYPOINT", "HEALTHCHECK"):
            commands[name] = json.loads(rest[rest.index("[") :])
        elif name in STEPS:
            STEPS[name](image, rest, images)
        else:
            assert name in ("VOLUME", "EXPOSE", "STOPSIGNAL"), f"{name} is not known here"
    return image, commands


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """A minimal Debian, as the base image is, with what this machine's package index needs."""
    if not os.environ.get("EMU_CONTAINER"):
        pytest.skip("takes a minute; EMU_CONTAINER=1 runs it")
    if os.geteuid() != 0:
        lacking("only root may make a Debian root and change into it")
    mmdebstrap = debian_program("mmdebstrap", "mmdebstrap")
    root = tmp_path / "debian"
    done = run(
        mmdebstrap, "--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", "bookworm", root,
        "http://deb.debian.org/debian", timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in PIP_FILES:
        source, target = Path(name), root / name.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy(source, target)
    if BUNDLE.exists():
        shutil.copy(BUNDLE, root / CERTIFICATES.lstrip("/"))
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(name, root / name.lstrip("/"))
    return root


def test_the_container_serves_a_login(debian: Path, tmp_path: Path) -> None:
    image, commands = build(DEPLOY / "Dockerfile", debian, tmp_path)
    login, world, web = free_ports(3)
    options = (
        f"--set login.listen=127.0.0.1:{login} --set world.listen=127.0.0.1:{world}"
        f" --set web.listen=127.0.0.1:{web} --set login.auto_create_accounts=true"
    ).split()
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            image.command(commands["ENTRYPOINT"] + options), stdout=log, stderr=log
        )
        try:
            status = run(*image.command(commands["HEALTHCHECK"]))
            for _ in range(600):
                if status.returncode == 0 or server.poll() is not None:
                    break
                time.sleep(0.1)
                status = run(*image.command(commands["HEALTHCHECK"]))
            assert status.returncode == 0, (tmp_path / "log").read_text() + status.stderr
            player = run(
                *forked_words("emu"), "client", "login", f"127.0.0.1:{login}",
                "--user", "borvik", "--password", "long-enough",
            )  # fmt: skip
            assert player.returncode == 0, player.stdout + player.stderr
            assert (image.root / "var/lib/eq2emu/emu.sqlite").stat().st_uid == int(image.user)
        finally:
            server.terminate()
            assert server.wait(20) == -signal.SIGTERM, (tmp_path / "log").read_text()
