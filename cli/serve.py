"""``kubeclassic serve``: a scheduler that other schedulers ask, as their extender."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .declaring.commands import INPUT, SECTIONS, command
from .declaring.options import scheduler_options
from .declaring.paramtypes import FILE, Whole
from .declaring.paths import CONTEXT_HELP

if TYPE_CHECKING:
    from .engines.setup import Setup

SECTIONS.update(dict.fromkeys(("--kubeconfig", "--context"), INPUT))


@command(short_help="Be the extender of another scheduler.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@scheduler_options
@click.option("--kubeconfig", type=FILE, help="Follow the API server that this kubeconfig names instead; bindings are written there.")
@click.option("--context", metavar="NAME", help=CONTEXT_HELP)
@click.option("--no-defaults", is_flag=True, help="Take objects as they are, without the API server's defaults.")
@click.option("--bind-address", "address", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=Whole(0, 65535), metavar="N", default=8888, show_default=True, help="The port; 0: any free one.")
@click.option("--tls-cert-file", "certificate", type=FILE, help="Serve HTTPS with this certificate (PEM).")
@click.option("--tls-private-key-file", "key", type=FILE, help="The key of that certificate.")
@click.option("--client-ca-file", "client_ca", type=FILE, help="Answer only clients with a certificate that one of these signed.")
@click.option("--token-file", "token", type=FILE, help="Answer only requests with this bearer token; probes need none.")
@click.option("--insecure", is_flag=True, help="Answer every caller that can reach the address, without TLS and without a token.")
@click.option("--max-body-mb", type=Whole(1, 4096), metavar="N", default=100, show_default=True, help="The largest body, in MiB.")
@click.option("--max-requests", type=Whole(1, 10000), metavar="N", default=64, show_default=True, help="Requests at a time.")
@click.option(
    "--timeout", type=Whole(1, 3600), metavar="SECONDS", default=30, show_default=True,
    help="How long a body may take to arrive, and an answer to be found.",
)  # fmt: skip
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def serve(
    paths: tuple[Path, ...], setup: Setup, kubeconfig: Path | None, context: str | None, no_defaults: bool, address: str, port: int,
    certificate: Path | None, key: Path | None, client_ca: Path | None, token: Path | None, insecure: bool,
    max_body_mb: int, max_requests: int, timeout: int, verbose: bool,
) -> None:  # fmt: skip
    """Answer the calls of a scheduler about the cluster in PATHS, or that of an API server.

    POST /filter, /prioritize, /preemption and /bind are the verbs of an extender. The scheduler may send nodes as objects, which then
    count as they are, or their names (nodeCacheCapable). Scores are 0 to 10: the lowest total becomes 0, the highest 10, others in
    proportion, rounded down. GET /explain?pod=NAMESPACE/NAME says why a pod that waits would go where; /healthz, /livez, /readyz,
    /metrics and /configz are about the server.

    When it is ready it says `listening on URL` on standard error. SIGTERM ends it once the running requests are answered.

    Exit status 0: it was told to end, 2: bad input, 130: Ctrl-C.

    \b
    kubeclassic serve examples/cluster --release 1.16 --port 8888
    curl --json '{"Pod": {"metadata": {"name": "a"}}, "NodeNames": ["gpu-b1"]}' http://127.0.0.1:8888/prioritize
    curl 'http://127.0.0.1:8888/explain?pod=shop/orders-1'
    """
    from .running.live.serve import run
    from .running.live.serveoptions import ServeOptions

    asked = ServeOptions(
        paths=paths, kubeconfig=kubeconfig, context=context, defaults=not no_defaults, address=address, port=port,
        certificate=certificate, key=key, client_ca=client_ca, token=token, insecure=insecure,
        max_body_mb=max_body_mb, max_requests=max_requests, timeout=timeout, verbose=verbose,
    )  # fmt: skip
    sys.exit(run(setup, asked))
