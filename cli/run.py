"""``kubeclassic run``: a live scheduler."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..live.process.logs import Log
from ..live.settings.flagtable import FLAGS
from .console.output import needing_extra, note
from .declaring.commands import command
from .declaring.flags import access_options, kube_scheduler_flags, options_of, scheduler_options

if TYPE_CHECKING:
    from ..core.decision.decision import Decision
    from ..framework.schedulerspec import SchedulerSpec
    from ..live.client.api import Transport
    from .declaring.setup import Setup


@command(short_help="Schedule the pods of a live cluster.", outputs=("--explain",))
@access_options("How to reach the API server; KUBECONFIG does not count.  [default: as a pod of the cluster]")
@scheduler_options
@kube_scheduler_flags
@options_of("""
--dry-run | switch | common | Decide and tell, but write nothing to the cluster, and elect no leader.
--explain | switch | common | Tell with each decision which nodes fit, how they score, and why the others do not.
-o form | text,json text | common | How decisions are told: lines.
""")
def run(
    kubeconfig: Path | None, setup: Setup, dry_run: bool, explain: bool, form: str, **flags: str | None
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
    from ..extenders.choice import asked_extenders
    from ..framework.options import options_of
    from ..framework.schedulerspec import SchedulerSpec
    from .answering import settled_by_server

    with needing_extra("run", "live"):
        from ..live.process.process import decision_line, scheduled
        from ..live.scheduler.flags import access_of, read_settings

    setup.refuse_early()
    if form == "json" and not (dry_run or explain):
        raise click.UsageError("-o json needs --dry-run or --explain: no decision is told without")
    flag_values = {
        name: value for name in FLAGS if (value := flags.get(f"flag_{name}".replace("-", "_"))) is not None
    }
    settings = read_settings(
        flag_values, setup.get("config") or setup.get("profile"), kubeconfig, is_dry=dry_run
    )
    access = access_of(settings, flags["context"])
    log = Log(note, settings.log_level, settings.log_form)

    def tell(decision: Decision) -> None:
        click.echo(
            json.dumps(decision.record(details=explain))
            if form == "json"
            else decision_line(decision, explain)
        )

    async def settled(link: Transport) -> SchedulerSpec:
        chosen = await settled_by_server(setup.lasting(), link, log)
        options = options_of(chosen.values, chosen.called)
        return SchedulerSpec.of(
            options,
            asked_extenders("call" if options.extenders is None else options.extenders),
            chosen.called,
        )

    callbacks = {"on_decision": tell} if dry_run or explain else {}
    sys.exit(
        asyncio.run(scheduled(settled, settings, access, log, details=explain, is_dry=dry_run, **callbacks))
    )
