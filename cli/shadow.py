"""``kubeclassic shadow``: our decisions beside those of the cluster's own scheduler."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from ..exceptions import visible
from ..live.process.logs import Log
from .console.output import note
from .declaring.commands import command
from .declaring.flags import DEFAULT_ACCESS, LOG, access_options, options_of, scheduler_options

if TYPE_CHECKING:
    from ..live.scheduler.shadow.judging import PodJudgement, ShadowAgreement
    from .declaring.setup import Setup


@command(short_help="Where would another scheduler put the pods of a live cluster?", outputs=("--all",))
@access_options(f"How to reach the API server.  [default: {DEFAULT_ACCESS}]")
@scheduler_options
@options_of(f"""
--for seconds | SECONDS | common | Stop after this time, such as 600 or 10m.  [default: at Ctrl-C or SIGTERM]
{LOG}
--all shows_all | switch | common | Report every pod, not only differences.
-o form | text,json text | common | The format of each line.
""")
def shadow(setup: Setup, shows_all: bool, form: str, **values: Any) -> None:
    """Watch the cluster's own scheduler, and report where ours decides otherwise, and why.

    We decide on each pod that it binds, in the same state. Nothing is written to the cluster, and the other
    scheduler's decisions take effect. `equally good` is another node with the same score, so only the
    tie-break differs. `order unknown` is no difference either: in another possible order of events, both
    agree. A summary follows at the end.

    Exit status 0: no decision differs, 1: some do, 2: bad input, or the cluster could not be read.

    \b
    kubeclassic shadow --kubeconfig ~/.kube/config --release 1.15
    kubeclassic shadow --kubeconfig ~/.kube/config --profile profile.yaml --for 600 -o json
    """
    from ..api.record import plain
    from ..live.client.http import HttpTransport
    from ..live.client.kubeconfig import access_to
    from ..live.scheduler.shadow.shadow import shadowed
    from .answering import settled_by_server

    setup.refuse_early()
    if values["seconds"] == 0:
        raise click.UsageError("--for: expected more than 0 seconds, got 0")

    def tell(judgement: PodJudgement) -> None:
        if shows_all or judgement.differs:
            click.echo(json.dumps(plain(judgement)) if form == "json" else visible(judgement.line()))

    async def shadowing() -> ShadowAgreement:
        log = Log(note, form=values["log_form"])
        async with HttpTransport(access_to(values["kubeconfig"], values["context"])) as transport:
            spec = (await settled_by_server(setup.lasting(), transport, log)).spec
            scheduler = min(spec.scheduler_names)
            return await shadowed(
                spec.engine(), scheduler, transport, tell, seconds=values["seconds"], log=log
            )

    tally = asyncio.run(shadowing())
    if form == "json":
        click.echo(json.dumps({"summary": tally.record()}))
    else:
        note(tally.line())
    sys.exit(1 if tally.counts["different"] else 0)
