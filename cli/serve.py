"""``kubeclassic serve``: a scheduler that other schedulers ask, as their extender."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..exceptions import KubeclassicError
from ..live.process.logs import LogSettings
from .console.output import needing_extra
from .declaring.commands import INPUT, SECTIONS, CommonOption, command
from .declaring.flags import CONTEXT_HELP, FILE, ClusterChoice, Whole, scheduler_options
from .declaring.logs import log_of, log_option

if TYPE_CHECKING:
    from ..live.client.credentials import Access
    from ..live.process.logs import Log
    from ..live.server.served import ServedCluster
    from .declaring.setup import Setup

SECTIONS.update(dict.fromkeys(("--kubeconfig", "--context"), INPUT))


@command(short_help="Be the extender of another scheduler.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@scheduler_options
@click.option(
    "--kubeconfig",
    cls=CommonOption,
    type=FILE,
    help="Follow this API server instead; bindings are written there.",
)
@click.option("--context", metavar="NAME", help=CONTEXT_HELP)
@click.option("--no-defaults", is_flag=True, help="Do not apply the API server's defaults.")
@click.option(
    "--bind-address",
    "address",
    cls=CommonOption,
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on.",
)
@click.option(
    "--port",
    cls=CommonOption,
    type=Whole(0, 65535),
    metavar="N",
    default=8888,
    show_default=True,
    help="The port; 0: any free one.",
)
@click.option("--tls-cert-file", "certificate", type=FILE, help="Serve HTTPS with this certificate (PEM).")
@click.option("--tls-private-key-file", "key", type=FILE, help="Its private key.")
@click.option(
    "--client-ca-file", "client_ca", type=FILE, help="Require client certificates signed by one of these."
)
@click.option(
    "--token-file", "token", cls=CommonOption, type=FILE, help="Require this bearer token, except for probes."
)
@click.option("--insecure", is_flag=True, help="Answer every caller, without authentication.")
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Without --token-file and --client-ca-file: a host name to accept besides addresses and localhost.",
)
@click.option(
    "--max-body-mb",
    type=Whole(1, 4096),
    metavar="N",
    default=100,
    show_default=True,
    help="The largest request body, in MiB.",
)
@click.option(
    "--max-requests",
    type=Whole(1, 10000),
    metavar="N",
    default=64,
    show_default=True,
    help="The most concurrent requests.",
)
@log_option
@click.option("--verbose", "-v", is_flag=True, help="Log what runs to standard error.")
def serve(
    paths: tuple[Path, ...],
    setup: Setup,
    kubeconfig: Path | None,
    context: str | None,
    no_defaults: bool,
    address: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    client_ca: Path | None,
    token: Path | None,
    insecure: bool,
    hosts: tuple[str, ...],
    max_body_mb: int,
    max_requests: int,
    log_form: str,
    verbose: bool,
) -> None:
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
    live = "--kubeconfig" if kubeconfig is not None else "--context" if context is not None else ""
    if not live and not paths:
        raise KubeclassicError("expected PATHS, or --kubeconfig or --context, got neither")
    if live and paths:
        raise KubeclassicError(f"{live} cannot be combined with {paths[0]}")
    with needing_extra("serve", "serve"):
        from ..live.process.process import last_line
        from ..live.scheduler.following import STATUS
        from ..live.server.app import serve_cluster
        from ..live.server.limits import MEBIBYTE, ServerLimits
        from ..live.server.serving import Listening, read_token, run_server
    from ..framework.releases import is_auto
    from ..live.client.kubeconfig import access_to

    listening = Listening(
        address=address,
        port=port,
        certificate=certificate,
        key=key,
        client_ca=client_ca,
        has_token=token is not None,
        insecure=insecure,
    )
    listening.check()
    limits = ServerLimits(
        body_bytes=max_body_mb * MEBIBYTE,
        requests=max_requests,
        token=None if token is None else read_token(token),
        hosts=None if listening.shows_callers else frozenset(host.lower() for host in hosts),
    )
    access = access_to(kubeconfig, context) if live else None
    log = log_of(LogSettings(form=log_form))
    setup = setup.lasting()
    if access is not None and is_auto(setup.release):
        setup = asyncio.run(_settled(setup, access, log))
    cluster = _served(paths, setup, log, defaults=not no_defaults, verbose=verbose)
    by = run_server(serve_cluster(cluster, listening, limits, access, log))
    log.info(last_line(by))
    sys.exit(STATUS[by])


async def _settled(setup: Setup, access: Access, log: Log) -> Setup:
    from ..live.client.http import HttpTransport
    from .opening import settled_by_server

    async with HttpTransport(access) as transport:
        return await settled_by_server(setup, transport, log)


def _served(
    paths: tuple[Path, ...], setup: Setup, log: Log, *, defaults: bool, verbose: bool
) -> ServedCluster:
    """The cluster of the files; without any it has no objects yet."""
    from ..api.objects import Node, Pod
    from ..api.words import count_of
    from ..live.server.served import ServedCluster
    from .answering import tell_notices
    from .opening import opened

    if paths:
        found = opened(paths, ClusterChoice(defaults=defaults), setup)
        tell_notices(found.scenario.warnings, verbose)
        cluster = ServedCluster.of(found.scenario, found.spec.engine, defaults)
    else:
        cluster = ServedCluster(setup.spec.engine, defaults)
    engine = cluster.engine
    if extenders := engine.algorithm.extenders:
        log.warning(f"the configuration's own extenders are not called: {len(extenders)}")
    if verbose:
        log.info(
            f"release {engine.release.version}, {count_of(cluster.count(Node), 'node')}, {count_of(cluster.count(Pod), 'pod')}"
        )
        for line in engine.describe():
            log.info(line)
    return cluster
