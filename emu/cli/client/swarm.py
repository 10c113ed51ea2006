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
from emu.client.swarm import BotHabits, SwarmFigures
from emu.config import Address
from emu.errors import CommandError
from emu.versions import CLIENT_2006


@click.command()
@click.argument("clients", type=click.IntRange(1, 20_000), metavar="N")
@address_argument
@click.option(
    "--for", "seconds", type=click.FloatRange(min=0, min_open=True), default=30.0,
    show_default=True, metavar="S", help="Seconds to play after all have entered.",
)  # fmt: skip
@click.option(
    "--user-prefix", default="swarm", show_default=True, metavar="TEXT",
    help="Accounts are TEXT00000, TEXT00001 and so on, all with the same password.",
)  # fmt: skip
@password_option
@click.option(
    "--version", "versions", type=click.IntRange(1, 0xFFFF), multiple=True, default=(CLIENT_2006,),
    show_default=True, help="Client version; several are assigned in turn.",
)  # fmt: skip
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
    help="Clients that enter per second.",
)  # fmt: skip
@click.option(
    "--watchers", type=click.IntRange(min=0), metavar="N",
    help="Clients that decode ghosts, to measure how fast they see others. Default: all.",
)  # fmt: skip
@click.option(
    "--radius", type=click.FloatRange(min=0), default=BotHabits().radius, show_default=True,
    help="How far each walks from where it entered, in world units.",
)  # fmt: skip
@click.option(
    "--fight", is_flag=True,
    help="Fight the creatures within --radius instead of walking at random.",
)  # fmt: skip
@click.option("--still", is_flag=True, help="Stand still and say nothing, to measure idle players.")
@timeout_option(STEP_TIMEOUT, "Seconds that each step of entering may take.")
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
    fight: bool,
    still: bool,
    timeout: float,
    style: str,
) -> None:
    """Let N clients log in, enter the world, walk, chat and leave, and print the measurements.

    Missing characters are created. Missing accounts are created only with
    login.auto_create_accounts = true on the server. From one address the server accepts as many
    clients as login.logins_per_address and network.sessions_per_address allow; against a server on
    loopback each client has its own address.

    logins run from the first datagram to standing in the zone; rtt is the session's round trip to
    the world; sight_ms is the time from a step to its arrival at another client. Exit status 1 if
    no client entered.

    Example: emu client swarm 20 127.0.0.1:9100 --for 5 --password long-enough --json
    """
    secret = given_password(password)
    tables = present_tables()

    async def body(reactor: Any) -> None:
        from emu.net.client.swarm import Swarm, SwarmPlan  # noqa: PLC0415  # imports the reactor

        plan = SwarmPlan(
            clients, address, seconds, user_prefix, secret, versions=versions, rate=rate,
            watchers=watchers, timeout=timeout,
            habits=habits(radius, still=still, fights=fight),
        )  # fmt: skip
        with Display(clients, seconds) as display:
            many = Swarm(reactor, plan, tables=tables, progress=display.show_figures)
            figures = await many.run()
        for reason, count in sorted(many.failures.items()):
            click.echo(f"{count} clients did not enter: {reason}", err=True)
        report = figures.report()
        if style == "json":
            click.echo(json.dumps(report))
        else:
            print_record(report, "table")
        if not figures.logins_ok:
            raise CommandError(
                f"{address}: no client entered; do the accounts {user_prefix}00000 and so on exist,"
                " or does the server create them (login.auto_create_accounts)?"
            )

    carry_out(body, style)


def habits(radius: float, *, still: bool, fights: bool = False) -> BotHabits:
    """Return the habits of bots; `still` makes them rest longer than any run."""
    if still:
        return BotHabits(radius=0.0, rest=1e9, talk=0.0)
    return BotHabits(radius=radius, fights=fights)


class Display(Progress):
    """The live display on standard error: clients in the world, and their measurements."""

    def __init__(self, clients: int, seconds: float) -> None:
        super().__init__(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[text]}"), console=Console(stderr=True),
            transient=True,
        )  # fmt: skip
        self._in = self.add_task("in the world", total=clients, text="")
        self._time = self.add_task("seconds", total=round(seconds), text="")

    def show_figures(self, figures: SwarmFigures, playing: int) -> None:
        """Update the display."""
        report = figures.report()
        failed = f"{figures.logins_failed} failed" if figures.logins_failed else ""
        self.update(self._in, completed=playing, text=failed)
        delay, rate = report["sight_ms_p50"], report["packets_per_s"]
        text = f"{rate:,} packets/s, delay {delay} ms" if figures.seconds else ""
        self.update(self._time, completed=round(figures.seconds), text=text)
