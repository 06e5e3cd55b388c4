"""What ``kubeclassic shadow`` does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import click

from ....live.client.transport import Transport
from ....live.scheduler.dryrun import DryApi, NoEvents
from ....live.scheduler.shadow.judging import PodJudgement, ShadowAgreement
from ....live.scheduler.shadow.shadow import Shadow
from ...console.output import note
from ...engines.setup import Setup
from .following import FollowedCluster, cluster_of, connection, follow


def run_shadow(
    kubeconfig: Path | None, context: str | None, setup: Setup, *, seconds: float | None, shows_all: bool, form: str
) -> int:  # fmt: skip
    """Compare until a signal or for some seconds; the exit status."""
    cluster = cluster_of(kubeconfig, context, setup)
    tally = asyncio.run(_shadowed(cluster, seconds, _teller(form, shows_all)))
    if form == "json":
        click.echo(json.dumps({"summary": tally.record()}))
    else:
        note(tally.line())
    return 1 if tally.counts["different"] else 0


async def _shadowed(cluster: FollowedCluster, seconds: float | None, tell: Callable[[PodJudgement], None]) -> ShadowAgreement:
    async with connection(cluster) as transport:
        return await shadowed(cluster, transport, tell, seconds)


async def shadowed(
    cluster: FollowedCluster, transport: Transport, tell: Callable[[PodJudgement], None], seconds: float | None = None
) -> ShadowAgreement:
    """Compare over *transport* until a signal, or for some seconds."""
    shadow = Shadow(cluster.state(DryApi(), NoEvents()), tell)
    await follow(cluster, transport, shadow, shadow, seconds)
    return shadow.tally


def _teller(form: str, shows_all: bool) -> Callable[[PodJudgement], None]:
    def tell(judgement: PodJudgement) -> None:
        if shows_all or judgement.differs:
            click.echo(json.dumps(judgement.record()) if form == "json" else judgement.line())

    return tell
