"""Commands about a live cluster: ``kubeclassic run``, ``shadow`` and ``serve``."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..exceptions import KubeclassicError, visible
from ..live.process.logs import Log
from ..live.settings.flagtable import FLAGS
from .console.output import needing_extra, note
from .declaring.commands import command
from .declaring.flags import (
    CONTEXT_HELP,
    DEFAULT_ACCESS,
    FILE,
    LOG,
    ClusterChoice,
    access_options,
    kube_scheduler_flags,
    options_of,
    scheduler_options,
)

if TYPE_CHECKING:
    from ..core.decision.decision import Decision
    from ..framework.schedulerspec import SchedulerSpec
    from ..live.client.api import Transport
    from ..live.scheduler.shadow.judging import PodJudgement, ShadowAgreement
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
    given = {
        name: value for name in FLAGS if (value := flags.get(f"flag_{name}".replace("-", "_"))) is not None
    }
    settings = read_settings(given, setup.get("config") or setup.get("profile"), kubeconfig, is_dry=dry_run)
    access = access_of(settings, flags["context"])
    log = Log(note, settings.log_level, settings.log_form)

    def tell(decision: Decision) -> None:
        click.echo(
            json.dumps(decision.record(details=explain))
            if form == "json"
            else decision_line(decision, explain)
        )

    async def settled(link: Transport) -> SchedulerSpec:
        options = options_of((await settled_by_server(setup.lasting(), link, log)).values)
        return SchedulerSpec.of(
            options, asked_extenders("call" if options.extenders is None else options.extenders)
        )

    told = {"on_decision": tell} if dry_run or explain else {}
    sys.exit(asyncio.run(scheduled(settled, settings, access, log, details=explain, is_dry=dry_run, **told)))


# --- our decisions beside those of the cluster's own scheduler ----------------------------------------------


@command(short_help="Where would another scheduler put the pods of a live cluster?", outputs=("--all",))
@access_options(f"How to reach the API server.  [default: {DEFAULT_ACCESS}]")
@scheduler_options
@options_of(f"""
--for seconds | SECONDS | common | Stop after this time.  [default: at Ctrl-C or SIGTERM]
{LOG}
--all shows_all | switch | common | Report every pod, not only differences.
-o form | text,json text | common | The format of each line.
""")
def shadow(setup: Setup, shows_all: bool, form: str, **given: Any) -> None:
    """Watch the cluster's own scheduler, decide on each pod it binds, in the same state, and report where the
    two differ, and why.

    Nothing is written to the cluster, and the other scheduler's decisions take effect. `equally good` is
    another node with the same score, so only the tie-break differs. `order unknown` is no difference either:
    in another possible order of events, both agree. A summary follows at the end.

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

    def tell(judgement: PodJudgement) -> None:
        if shows_all or judgement.differs:
            click.echo(json.dumps(plain(judgement)) if form == "json" else visible(judgement.line()))

    async def shadowing() -> ShadowAgreement:
        log = Log(note, form=given["log_form"])
        async with HttpTransport(access_to(given["kubeconfig"], given["context"])) as transport:
            spec = (await settled_by_server(setup.lasting(), transport, log)).spec
            scheduler = min(spec.scheduler_names)
            return await shadowed(
                spec.engine(), scheduler, transport, tell, seconds=given["seconds"], log=log
            )

    tally = asyncio.run(shadowing())
    if form == "json":
        click.echo(json.dumps({"summary": tally.record()}))
    else:
        note(tally.line())
    sys.exit(1 if tally.counts["different"] else 0)


# --- a scheduler that other schedulers ask, as their extender -----------------------------------------------


@command(short_help="Be the extender of another scheduler.")
@click.argument("paths", nargs=-1, type=FILE)
@scheduler_options
@access_options("Follow this API server instead; bindings are written there.", CONTEXT_HELP)
@options_of(f"""
--no-defaults | switch | | Do not apply the API server's defaults.
--bind-address address | ADDRESS 127.0.0.1 | common | The address to listen on.
--port | 0..65535 8888 | common | The port; 0: any free one.
--tls-cert-file certificate | file | | Serve HTTPS with this certificate (PEM).
--tls-private-key-file key | file | | Its private key.
--client-ca-file client_ca | file | | Require client certificates signed by one of these.
--token-file token | file | common | Require this bearer token, except for probes.
--insecure | switch | | Answer every caller, without authentication.
--allowed-host hosts | NAME... | | Without --token-file and --client-ca-file: a host name to accept besides \
addresses and localhost.
--max-body-mb mebibytes | 1..4096 100 | | The largest request body, in MiB.
--max-requests requests | 1..10000 64 | | The most concurrent requests.
{LOG}
--verbose -v | switch | | Log what runs to standard error.
""")
def serve(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, verbose: bool, **given: Any) -> None:
    """Answer the extender calls of a scheduler, about the cluster in PATHS or of an API server.

    POST /filter, /prioritize, /preemption and /bind are the verbs of an extender. The scheduler may send
    nodes as objects, which are then taken as they are, or their names (nodeCacheCapable). Scores are 0 to 10:
    the lowest total becomes 0, the highest 10, others in proportion, rounded down. GET /healthz, /livez,
    /readyz and /metrics describe the server. To know why a pod would go where, use `kubeclassic explain`.

    Callers from other machines need a client certificate, a token, or --insecure. Web pages of other sites
    are refused (403), and so are other host names (421).

    If the API server cannot be followed for ten seconds, answers say so (header x-seconds-behind) and /readyz
    fails. The log line `listening on URL` means it is ready. SIGTERM ends it after the running requests.

    Exit status 0: stopped, 2: bad input, 130: Ctrl-C.

    \b
    kubeclassic serve examples/cluster --release 1.16 --port 8888
    curl --json '{"Pod": {"metadata": {"name": "a"}}, "NodeNames": ["gpu-b1"]}' http://127.0.0.1:8888/prioritize
    """
    server = {name: given.pop(name) for name in ("kubeconfig", "context")}
    live = next((f"--{name}" for name, value in server.items() if value is not None), "")
    if not live and not paths:
        raise KubeclassicError("expected PATHS, or --kubeconfig or --context, got neither")
    if live and paths:
        raise KubeclassicError(f"{live} cannot be combined with {paths[0]}")
    with needing_extra("serve", "serve"):
        from ..live.server.app import ServedCluster, serve_cluster
        from ..live.server.serving import Listening, run_server
    from ..live.client.kubeconfig import access_to
    from .answering import opened, release_of_server, tell_notices

    log = Log(note, form=given.pop("log_form"))
    bounds = {name: given.pop(name) for name in ("hosts", "mebibytes", "requests")}
    listening = Listening(**given)
    limits = listening.limits(**bounds)
    access = access_to(*server.values()) if live else None
    setup = setup.lasting()
    if access is None:
        found = opened(paths, ClusterChoice(defaults=not no_defaults), setup)
        tell_notices(found.scenario.warnings, verbose)
        engine = found.spec.engine(found.scenario.config_maps)
        cluster = ServedCluster.of(found.scenario, engine, not no_defaults)
    else:
        setup = asyncio.run(release_of_server(setup, access, log))
        cluster = ServedCluster(setup.spec.engine(), not no_defaults)
    cluster.tell(log, verbose)
    sys.exit(run_server(serve_cluster(cluster, listening, limits, access, log)))
