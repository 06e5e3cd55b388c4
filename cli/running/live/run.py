"""What ``kubeclassic run`` does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import attrs
import click

from ....core.decision.decision import Decision
from ....exceptions import KubeclassicError
from ....framework.releases import find_any_release
from ....live.client.access import Access
from ....live.client.http import HttpTransport
from ....live.client.transport import Transport
from ....live.scheduler.flags import RunSettings
from ...console.output import note, warn, writing
from ...engines.setup import Setup
from .following import STATUS, end_at_signals
from .runsettings import access_of, config_maps_of, settings_of, written_config

Tell = Callable[[Decision], None]
SHOWN_NODES = 3
LOST = 1
"""The exit status of a leader that lost its lease."""


class MissingExtraError(KubeclassicError):
    """A library is not there."""


@attrs.frozen(kw_only=True)
class RunOptions:
    """What the command line asks for."""

    setup: Setup
    settings: RunSettings
    access: Access
    is_dry: bool = False
    explains: bool = False
    tell: Tell | None = None


def run_scheduler(
    kubeconfig: Path | None, context: str | None, setup: Setup, flags: Mapping[str, str],
    *, dry_run: bool, explain: bool, form: str,
) -> int:  # fmt: skip
    """Schedule until a signal; the exit status."""
    setup, settings = settings_of(setup, flags, kubeconfig, is_dry=dry_run)
    for text in settings.notes:
        note(text)
    if settings.write_config_to:
        _write_config(setup, settings)
        return 0
    tell = _teller(form, explain) if dry_run or explain else None
    access = access_of(settings, context)
    return asyncio.run(_scheduled(RunOptions(setup=setup, settings=settings, access=access, is_dry=dry_run, explains=explain, tell=tell)))


def _write_config(setup: Setup, settings: RunSettings) -> None:
    release = find_any_release(setup.version)
    with writing(settings.write_config_to) as stream:
        stream.write(written_config(settings, release.default_percentage))
    note(f"wrote the configuration to {settings.write_config_to}")


async def _scheduled(asked: RunOptions) -> int:
    async with HttpTransport(asked.access) as link:
        end, ended_by = end_at_signals()
        status = await scheduled(asked, link, end)
        return status or STATUS[ended_by[0] if ended_by else None]


async def scheduled(asked: RunOptions, link: Transport, end: asyncio.Event) -> int:
    """Schedule over *link* until *end* is set; the exit status."""
    try:
        from ....live.process.process import LeaderLostError, Process
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"run needs {error.name}: pip install 'kubeclassic[live]'") from None
    spec = asked.setup.spec
    engine = spec.engine(await config_maps_of(spec, link))
    process = Process(
        settings=asked.settings, engine=engine, link=link, host=urlsplit(asked.access.server).netloc,
        scheduler_name=min(spec.scheduler_names), details=asked.explains, is_dry=asked.is_dry, say=note, warn=warn,
    )  # fmt: skip
    if asked.tell is not None:
        process.on_decision = asked.tell
    try:
        await process.run(end)
    except LeaderLostError as error:
        warn(f"leaderelection lost: {error}")
        return LOST
    return 0


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
