"""`emu client swarm`: many clients at once, with a live display and a report."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from emu.cli.client.common import address_argument, carry_out, timeout_option
from emu.cli.opcodes.common import present_tables
from emu.cli.options import given_password, password_option
from emu.cli.tables import line_format_option, print_record
from emu.client.flow import STEP_TIMEOUT
from emu.client.swarm import BotHabits, Figures
from emu.config import Address
from emu.errors import CommandError
from emu.versions import CLIENT_2006


@click.command()
@click.argument("clients", type=click.IntRange(1, 20_000), metavar="N")
@address_argument
@click.option(
    "--for", "seconds", type=click.FloatRange(min=0, min_open=True), default=30.0,
    show_default=True, metavar="S", help="Seconds to play after all have come in.",
)  # fmt: skip
@click.option(
    "--user-prefix", default="swarm", show_default=True, metavar="TEXT",
    help="Accounts are TEXT00000, TEXT00001 and so on, all with the same password.",
)  # fmt: skip
@password_option
@click.option(
    "--version", "versions", type=click.IntRange(1, 0xFFFF), multiple=True, default=(CLIENT_2006,),
    show_default=True, help="Client version; given more than once they are dealt out in turn.",
)  # fmt: skip
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
    help="Clients that come in within a second.",
)  # fmt: skip
@click.option(
    "--watchers", type=click.IntRange(min=0), metavar="N",
    help="How many read what they see, for measuring sight; default all. The rest cost less here.",
)  # fmt: skip
@click.option(
    "--radius", type=click.FloatRange(min=0), default=BotHabits().radius, show_default=True,
    help="How far from where it came in each walks, in world units.",
)  # fmt: skip
@click.option("--still", is_flag=True, help="Stand and say nothing: what idle players cost.")
@timeout_option(STEP_TIMEOUT, "Seconds that each step of coming in may take.")
@line_format_option
def swarm(
    *,
    clients: int,
    address: Address,
    seconds: float,
    user_prefix: str,
    password: str | None,
    versions: tuple[int, ...],
    rate: float,
    watchers: int | None,
    radius: float,
    still: bool,
    timeout: float,
    style: str,
) -> None:
    """Let N clients log in, enter the world, walk, chat and leave, and report what they measured.

    Characters are made where they are missing. Accounts have to be there, or the server makes them
    with login.auto_create_accounts = true; from one address it lets in as many as
    login.logins_per_address and network.sessions_per_address allow (against a server on loopback
    each client has an address of its own).

    logins run from the first datagram to standing in the zone; rtt is the session's round trip to
    the world; sight is from a client's step to another's being told of it. Exit status 1 when
    nobody came in.

    Example: emu client swarm 20 127.0.0.1:9100 --for 5 --password secret --json
    """
    secret = given_password(password)
    tables = present_tables()

    async def body(reactor: Any) -> None:
        from emu.net.client.swarm import Swarm, SwarmPlan  # noqa: PLC0415  # imports the reactor

        plan = SwarmPlan(
            clients, address, seconds, user_prefix, secret, versions=versions, rate=rate,
            watchers=watchers, timeout=timeout, habits=habits(radius, still=still),
        )  # fmt: skip
        with Display(clients, seconds) as display:
            many = Swarm(reactor, plan, tables=tables, progress=display.tell)
            figures = await many.run()
        for reason, count in sorted(many.failures.items()):
            click.echo(f"{count} did not come in: {reason}", err=True)
        told = figures.report()
        if style == "json":
            click.echo(json.dumps(told))
        else:
            print_record(told, "table")
        if not figures.logins_ok:
            raise CommandError(
                f"{address}: nobody came in; are the accounts {user_prefix}00000 and so on there,"
                " or does the server make them (login.auto_create_accounts)?"
            )

    carry_out(body, style)


def habits(radius: float, *, still: bool) -> BotHabits:
    """Return what bots do; those who are still rest for longer than any run."""
    return BotHabits(radius=0.0, rest=1e9, talk=0.0) if still else BotHabits(radius=radius)


class Display(Progress):
    """The live display, on standard error: who is in, and how it goes."""

    def __init__(self, clients: int, seconds: float) -> None:
        super().__init__(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[told]}"), console=Console(stderr=True),
            transient=True,
        )  # fmt: skip
        self._in = self.add_task("in the world", total=clients, told="")
        self._time = self.add_task("seconds", total=round(seconds), told="")

    def tell(self, figures: Figures, playing: int) -> None:
        """Show how it goes."""
        told = figures.report()
        failed = f"{figures.logins_failed} failed" if figures.logins_failed else ""
        self.update(self._in, completed=playing, told=failed)
        sight, rate = told["sight_ms_p50"], told["packets_per_s"]
        text = f"{rate:,} packets/s, sight {sight} ms" if figures.seconds else ""
        self.update(self._time, completed=round(figures.seconds), told=text)
