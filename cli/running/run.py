"""What ``kubeclassic run`` does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import click

from ...core.decision.decision import Decision
from ...live.client.api import Api
from ...live.client.transport import Transport
from ...live.eventlog.recorder import Recorder
from ...live.informers.informers import retries_of
from ...live.scheduler.dryrun import DryApi, DryRun, NoEvents
from ...live.scheduler.events import connect_events
from ...live.scheduler.scheduler import LiveScheduler
from ...live.scheduler.writes.api import ClusterApi
from ...live.scheduler.writes.wireapi import WireApi
from ...live.settings.releases import LIVE_RELEASES
from ..output import warn
from ..setup import Setup
from .live import STATUS, Cluster, cluster_of, connection, follow

Tell = Callable[[Decision], None]
SHOWN_NODES = 3
LAST_EVENTS = 2.0
"""Seconds at the end for events that are not sent yet."""


def run_scheduler(
    kubeconfig: Path | None, context: str | None, setup: Setup, *, dry_run: bool, explain: bool, form: str
) -> int:  # fmt: skip
    """Schedule until a signal; the exit status."""
    cluster = cluster_of(kubeconfig, context, setup)
    tell = _teller(form, explain) if dry_run or explain else None
    return asyncio.run(_scheduled(cluster, dry_run, explain, tell))


async def _scheduled(cluster: Cluster, dry_run: bool, explain: bool, tell: Tell | None) -> int:
    async with connection(cluster) as transport:
        return STATUS[await scheduled(cluster, transport, dry_run=dry_run, explain=explain, tell=tell)]


async def scheduled(
    cluster: Cluster, transport: Transport, *, dry_run: bool, explain: bool, tell: Tell | None, seconds: float | None = None
) -> int | None:
    """Schedule over *transport* until a signal, or for some seconds; answers the signal."""
    release = cluster.engine.algorithm.release
    if dry_run:
        return await _followed(cluster, transport, DryApi(), NoEvents(), explain, tell, seconds)
    api = WireApi(Api(transport, retries_of(release.client)), release.version)
    events = await connect_events(transport, LIVE_RELEASES[release.version], say=warn)
    async with asyncio.TaskGroup() as group:
        sending = group.create_task(events.run())
        ended_by = await _followed(cluster, transport, api, events.recorder(cluster.scheduler_name), explain, tell, seconds)
        await events.drain(LAST_EVENTS)
        sending.cancel()
    return ended_by


async def _followed(
    cluster: Cluster, transport: Transport, api: ClusterApi, recorder: Recorder, explain: bool, tell: Tell | None, seconds: float | None
) -> int | None:  # fmt: skip
    scheduler = LiveScheduler(cluster.state(api, recorder), details=explain)
    if tell is not None:
        scheduler.on_decision = tell
    return await follow(cluster, transport, DryRun.of(scheduler, api), scheduler, seconds)


def _teller(form: str, explain: bool) -> Tell:
    def tell(decision: Decision) -> None:
        click.echo(json.dumps(decision.record(details=explain)) if form == "json" else decision_text(decision, explain))

    return tell


def decision_text(decision: Decision, explain: bool) -> str:
    """A decision in one line; with *explain* also which nodes fit, and why others do not."""
    if decision.host is None:
        line = f"{decision.pod.key}: no node: {decision.error}"
        plan = decision.preemption
        if plan is not None and plan.node is not None:
            line += f" It makes room on {plan.node}: {', '.join(victim.key for victim in plan.victims)}."
    else:
        line = f"{decision.pod.key}: {decision.host}"
    return line + (_explanation(decision) if explain else "")


def _explanation(decision: Decision) -> str:
    scores = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:SHOWN_NODES]
    fit = f"{len(decision.feasible)} nodes fit" if decision.feasible else ""
    best = ", ".join(f"{name} {score}" for name, score in scores)
    reasons = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in list(decision.failed.items())[:SHOWN_NODES])
    told = "; ".join(filter(None, (fit, best and f"best {best}", reasons and f"not {reasons}")))
    return f" ({told})" if told else ""
