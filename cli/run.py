"""``kubeclassic run``: a live scheduler."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..exceptions import KubeclassicError, visible
from ..live.settings.flagtable import BOOL, FLAGS, REFUSED
from .console.output import needing_extra
from .declaring.commands import SECTIONS, CommonOption, command
from .declaring.flags import FILE, scheduler_options
from .declaring.logs import log_of

if TYPE_CHECKING:
    from ..core.decision.decision import Decision
    from ..live.client.api import Transport
    from ..live.client.credentials import Access
    from ..live.process.logs import Log
    from ..live.scheduler.flags import RunSettings
    from .declaring.setup import Setup

F = TypeVar("F", bound=Callable[..., Any])
ELECTION = "Leader election options"
SHOWN_NODES = 3
"""That many nodes, and as many reasons, does a decision in a line name."""
LOST = 1
"""The exit status of a leader that lost its lease."""
SECTIONS.update({f"--{name}": ELECTION for name in FLAGS if name.startswith("leader-elect")})


def _flags(function: F) -> F:
    """Give *function* the flags of the table as options that keep the text that was typed."""

    def refused(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            name = str(option.name).replace("_", "-")
            raise KubeclassicError(
                f"--{name}: got a flag of kube-scheduler that kubeclassic does not have; {REFUSED[name]}"
            )

    def plain(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
        return None if value is None else value.removeprefix("=")  # ``-v=4``, as Go's flags are written

    for name in REFUSED:
        function = click.option(
            f"--{name}", is_flag=False, flag_value="", hidden=True, expose_value=False, callback=refused
        )(function)
    for flag in reversed(tuple(FLAGS.values())):
        more = ("-v",) if flag.name == "v" else (f"--{flag.other_name}",) if flag.other_name else ()
        switch: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if flag.kind == BOOL else {}
        function = click.option(
            f"--{flag.name}",
            *more,
            f"flag_{flag.name}".replace("-", "_"),
            metavar=flag.kind,
            help=flag.help,
            callback=plain,
            **switch,
        )(function)
    return function


@command(short_help="Schedule the pods of a live cluster.", outputs=("--explain",))
@click.option(
    "--kubeconfig",
    cls=CommonOption,
    type=FILE,
    help="How to reach the API server; KUBECONFIG does not count.  [default: as a pod of the cluster]",
)
@click.option(
    "--context", metavar="NAME", help="The context of the kubeconfig.  [default: its current context]"
)
@scheduler_options
@_flags
@click.option(
    "--dry-run",
    cls=CommonOption,
    is_flag=True,
    help="Decide and tell, but write nothing to the cluster, and elect no leader.",
)
@click.option(
    "--explain",
    cls=CommonOption,
    is_flag=True,
    help="Tell with each decision which nodes fit, how they score, and why the others do not.",
)
@click.option(
    "-o",
    "form",
    cls=CommonOption,
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How decisions are told: lines.",
)
def run(
    kubeconfig: Path | None,
    context: str | None,
    setup: Setup,
    dry_run: bool,
    explain: bool,
    form: str,
    **flags: str | None,
) -> None:
    """Watch an API server, and schedule its pods as the release does: bind them, or say why they wait.

    It takes the configuration of kube-scheduler of the release, and flags of the same names, which count
    more. A leader is elected first, by the Lease kube-system/kube-scheduler: beside the cluster's own
    scheduler give it another one (--lock-object-name) or --leader-elect=false, and a name of its own
    (--scheduler-name); pods that ask for another schedulerName are left alone. /healthz, /livez, /readyz and
    /metrics answer on the loopback, over HTTP (--port) or with a certificate over HTTPS (--secure-port). With
    --dry-run decisions go to standard output; otherwise only what happens to the process and what fails is
    told, in log lines on standard error (--v, --logging-format). SIGTERM ends it when the pods that have a
    node are bound.

    Exit status 0: ended by SIGTERM, 1: the lease was lost, 2: bad input, 130: interrupted.

    \b
    kubeclassic run --kubeconfig ~/.kube/config --scheduler-name classic --lock-object-name classic --release 1.14
    kubeclassic run --kubeconfig ~/.kube/config --dry-run --explain -o json
    """
    from ..live.scheduler.flags import access_of, read_settings

    setup.refuse_early()
    given = {
        name: value for name in FLAGS if (value := flags.get(f"flag_{name}".replace("-", "_"))) is not None
    }
    settings = read_settings(given, setup.get("config") or setup.get("profile"), kubeconfig, is_dry=dry_run)

    def tell(decision: Decision) -> None:
        click.echo(
            json.dumps(decision.record(details=explain)) if form == "json" else _line(decision, explain)
        )

    told = {"on_decision": tell} if dry_run or explain else {}
    access = access_of(settings, context)
    log = log_of(settings.logs)
    sys.exit(
        asyncio.run(
            _scheduled(setup.lasting(), settings, access, log, details=explain, is_dry=dry_run, **told)
        )
    )


async def _scheduled(setup: Setup, settings: RunSettings, access: Access, log: Log, **more: Any) -> int:
    """Schedule until a signal; the exit status. The lease is renewed on a thread of its own, with the same
    credentials."""
    from ..extenders.choice import asked_extenders
    from ..framework.options import options_of
    from ..framework.schedulerspec import SchedulerSpec
    from ..live.client.credentials import plugin_of
    from ..live.client.http import HttpTransport
    from ..live.scheduler.following import STATUS, end_at_signals, unless
    from .opening import settled_by_server

    end, ended_by = end_at_signals()
    async with AsyncExitStack() as stack:
        plugin = plugin_of(access.credentials)
        opened = stack.enter_async_context(HttpTransport(access))
        link = await unless(end, opened, log, plugin and f"waiting for plugin {plugin}")
        with needing_extra("run", "live"):
            from ..live.process.process import LeaderLostError, Process, last_line
            from ..live.scheduler.election import LeaseThread
        lease = None if settings.election is None else LeaseThread(access)

        async def made(link: Transport) -> Process:
            options = options_of((await settled_by_server(setup, link, log)).values)
            spec = SchedulerSpec.of(
                options, asked_extenders("call" if options.extenders is None else options.extenders)
            )
            return await Process.of(spec, settings, access, link, log=log, lease_thread=lease, **more)

        process = None if link is None else await unless(end, made(link))
        lost = None
        try:
            if process is not None:
                await process.run(end)
        except LeaderLostError as error:
            lost = error
    if lost is not None:
        log.error(f"leaderelection lost: {lost}; exit status {LOST}")
        return LOST
    by = ended_by[0] if ended_by else None
    log.info(last_line(by, "" if process is None else process.ending))
    return STATUS[by]


def _line(decision: Decision, explain: bool) -> str:
    """A decision in one line; with *explain* also which nodes fit, and why others do not."""
    line = f"{decision.pod.key}: {decision.host}"
    plan = decision.preemption
    if decision.host is None:
        line = f"{decision.pod.key}: no node: {decision.error}"
        if plan is not None and plan.node is not None:
            line += f" It makes room on {plan.node}: {', '.join(victim.key for victim in plan.victims)}."
    told = []
    if decision.feasible and explain:
        told.append(f"{len(decision.feasible)} nodes fit")
    if decision.scores and explain:
        scores = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:SHOWN_NODES]
        told.append(f"best {', '.join(f'{name} {score}' for name, score in scores)}")
    if decision.failed and explain:
        reasons = [
            f"{name}: {', '.join(texts)}" for name, texts in list(decision.failed.items())[:SHOWN_NODES]
        ]
        told.append(f"not {'; '.join(reasons)}")
    return visible(f"{line} ({'; '.join(told)})" if told else line)
