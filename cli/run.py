"""``kubeclassic run``: a live scheduler."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..exceptions import visible
from ..live.settings.flagtable import BOOL, FLAGS, SHARED, Flag
from .console.exitstatus import needing_extra
from .console.output import writing
from .declaring.commands import SECTIONS, CommonOption, command
from .declaring.logs import log_of
from .declaring.options import scheduler_options
from .declaring.paramtypes import FILE

if TYPE_CHECKING:
    from ..core.decision.decision import Decision
    from ..framework.options import GivenOptions
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
METAVARS = {"text": "TEXT", "bool": "BOOL", "whole": "N", "number": "N", "duration": "DURATION"}
SECTIONS.update({f"--{name}": ELECTION for name in FLAGS if name.startswith(("leader-elect", "lock-object"))})


def _plain(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The value of ``-v=4``, as Go's flags are written."""
    return None if value is None else value.removeprefix("=")


def _option(flag: Flag) -> Callable[[F], F]:
    """*flag* as an option that keeps the text that was typed; hidden if it has no effect."""
    short = ("-v",) if flag.name == "v" else ()
    switch: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if flag.kind == BOOL else {}
    return click.option(
        f"--{flag.name}", *short, f"flag_{flag.name}".replace("-", "_"), metavar=METAVARS[flag.kind], help=flag.help or flag.word,
        hidden=bool(flag.word), callback=_plain, **switch,
    )  # fmt: skip


def _flags(function: F) -> F:
    """Give *function* kube-scheduler's flags that it has not as other options."""
    for flag in reversed([flag for name, flag in FLAGS.items() if name not in (*SHARED, "kubeconfig")]):
        function = _option(flag)(function)
    return function


@command(short_help="Schedule the pods of a live cluster.", outputs=("--explain",))
@click.option(
    "--kubeconfig", cls=CommonOption, type=FILE,
    help="How to reach the API server; KUBECONFIG does not count.  [default: as a pod of the cluster]",
)  # fmt: skip
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.  [default: its current context]")
@scheduler_options
@_flags
@click.option("--dry-run", cls=CommonOption, is_flag=True, help="Decide and tell, but write nothing to the cluster, and elect no leader.")
@click.option(
    "--explain", cls=CommonOption, is_flag=True,
    help="Tell with each decision which nodes fit, how they score, and why the others do not.",
)  # fmt: skip
@click.option(
    "-o", "form", cls=CommonOption, type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How decisions are told: lines.",
)  # fmt: skip
def run(
    kubeconfig: Path | None, context: str | None, setup: Setup, dry_run: bool, explain: bool, form: str, **flags: str | None
) -> None:  # fmt: skip
    """Watch an API server, and schedule its pods as the release does: bind them, or say why they wait.

    It takes the flags and the configuration of kube-scheduler of the release. As there, a leader is elected first, by the lock
    kube-system/kube-scheduler: beside the cluster's own scheduler give it another lock (--lock-object-name) or --leader-elect=false, and
    a name of its own (--scheduler-name); pods that ask for another schedulerName are left alone. /healthz, /livez, /readyz, /metrics and
    /configz answer on the loopback: up to 1.22 over HTTP (--port), from 1.13 on over HTTPS (--secure-port). With --dry-run decisions go
    to standard output; otherwise only what happens to the process and what fails is told, in log lines on standard error (--v,
    --logging-format). SIGTERM ends it when the pods that have a node are bound.

    Exit status 0: ended by SIGTERM, 1: the lease was lost, 2: bad input, 130: interrupted.

    \b
    kubeclassic run --kubeconfig ~/.kube/config --scheduler-name classic --lock-object-name classic --release 1.14
    kubeclassic run --kubeconfig ~/.kube/config --dry-run --explain -o json
    """
    from ..framework.options import options_of
    from ..framework.releases import find_any_release
    from ..live.scheduler.runsettings import access_of, release_of_config, settings_of, written_config

    if setup.release is None and setup.get("config") is not None:
        setup = setup.with_(release=release_of_config(setup.get("config")))
    setup.spec  # noqa: B018  # its errors say more
    given = {name: value for name in FLAGS if (value := flags.get(f"flag_{name}".replace("-", "_"))) is not None}
    options, settings = settings_of(options_of(setup.values), given, kubeconfig, is_dry=dry_run)
    log = log_of(settings.logs)
    for text in settings.notes:
        log.info(text)
    if settings.write_config_to:
        with writing(settings.write_config_to) as stream:
            stream.write(written_config(settings, find_any_release(options.version).default_percentage, setup.spec.profiles))
        log.info(f"wrote the configuration to {settings.write_config_to}")
        return
    told = {"on_decision": _teller(form, explain)} if dry_run or explain else {}
    access = access_of(settings, context)
    sys.exit(asyncio.run(_scheduled(options, settings, access, log, details=explain, is_dry=dry_run, **told)))


async def _scheduled(options: GivenOptions, settings: RunSettings, access: Access, log: Log, **more: Any) -> int:
    """Schedule until a signal; the exit status. The lease is renewed on a thread of its own, with the same credentials."""
    from ..extenders.choice import asked_extenders
    from ..framework.schedulerspec import SchedulerSpec
    from ..live.client.http import HttpTransport
    from ..live.scheduler.following import STATUS, end_at_signals

    async with HttpTransport(access) as link:
        end, ended_by = end_at_signals()
        with needing_extra("run", "live"):
            from ..live.process.process import LeaderLostError, Process, last_line
            from ..live.scheduler.election import LeaseThread
        spec = SchedulerSpec.of(options, asked_extenders("call" if options.extenders is None else options.extenders))
        lease = None if settings.election is None else LeaseThread(access)
        process = await Process.of(spec, settings, access, link, log=log, lease_thread=lease, **more)
        try:
            await process.run(end)
        except LeaderLostError as error:
            log.error(f"leaderelection lost: {error}; exit status {LOST}")
            return LOST
    by = ended_by[0] if ended_by else None
    log.info(last_line(by, process.ending.words()))
    return STATUS[by]


def _teller(form: str, explain: bool) -> Callable[[Decision], None]:
    def tell(decision: Decision) -> None:
        click.echo(json.dumps(decision.record(details=explain)) if form == "json" else _line(decision, explain))

    return tell


def _line(decision: Decision, explain: bool) -> str:
    """A decision in one line; with *explain* also which nodes fit, and why others do not."""
    if decision.host is None:
        line = f"{decision.pod.key}: no node: {decision.error}"
        plan = decision.preemption
        if plan is not None and plan.node is not None:
            line += f" It makes room on {plan.node}: {', '.join(victim.key for victim in plan.victims)}."
    else:
        line = f"{decision.pod.key}: {decision.host}"
    return visible(line + (_explanation(decision) if explain else ""))


def _explanation(decision: Decision) -> str:
    scores = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:SHOWN_NODES]
    fit = f"{len(decision.feasible)} nodes fit" if decision.feasible else ""
    best = ", ".join(f"{name} {score}" for name, score in scores)
    reasons = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in list(decision.failed.items())[:SHOWN_NODES])
    told = "; ".join(filter(None, (fit, best and f"best {best}", reasons and f"not {reasons}")))
    return f" ({told})" if told else ""
