"""``kubeclassic serve``: a scheduler that other schedulers ask, as their extender."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..exceptions import KubeclassicError
from ..live.process.logs import Log
from .console.output import needing_extra, note
from .declaring.commands import command
from .declaring.flags import (
    CONTEXT_HELP,
    FILE,
    LOG,
    ClusterChoice,
    access_options,
    options_of,
    scheduler_options,
)

if TYPE_CHECKING:
    from .declaring.setup import Setup


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
def serve(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, verbose: bool, **values: Any) -> None:
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
    server = {name: values.pop(name) for name in ("kubeconfig", "context")}
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

    log = Log(note, form=values.pop("log_form"))
    bounds = {name: values.pop(name) for name in ("hosts", "mebibytes", "requests")}
    listening = Listening(**values)
    limits = listening.limits(**bounds)
    access = access_to(*server.values()) if live else None
    setup = setup.lasting()
    if access is None:
        inputs = opened(paths, ClusterChoice(defaults=not no_defaults), setup)
        tell_notices(inputs.scenario.warnings, verbose)
        engine = inputs.spec.engine(inputs.scenario.config_maps)
        cluster = ServedCluster.of(inputs.scenario, engine, not no_defaults)
    else:
        setup = asyncio.run(release_of_server(setup, access, log))
        cluster = ServedCluster(setup.spec.engine(), not no_defaults)
    cluster.tell(log, verbose)
    sys.exit(run_server(serve_cluster(cluster, listening, limits, access, log)))
