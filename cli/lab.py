"""``kubeclassic lab``: a page on which configurations are tried."""

from __future__ import annotations

import asyncio
import webbrowser
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from .console.output import needing_extra, note
from .declaring.commands import command
from .declaring.flags import ClusterChoice, cluster_options, options_of, scheduler_options, takes_paths

if TYPE_CHECKING:
    from .declaring.setup import Setup


@command(short_help="Try it: move weights and edit the cluster on a page, and see what changes.")
@takes_paths()
@scheduler_options
@cluster_options
@options_of("""
--port | 0..65535 | common | The port to listen on.  [default: (any free one)]
--no-open | switch | common | Do not open a browser; the address is on standard error.
--verbose -v | switch | | Log what runs to standard error.
""")
def lab(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, **values: Any) -> None:
    """Open a page on a cluster: choose release and rules, move weights, edit pods and nodes, and see what
    changes.

    PATHS and options are those of `simulate`, and so is every answer. The page compares it with the step
    before, the start, or a pinned configuration, says why a pod goes to one node and not another, and saves
    the Policy or profile, or commands for the same placement.

    The server listens on 127.0.0.1 only, and requires the token in its address. Steps are kept until it ends;
    pages can be closed and opened again. Ctrl-C ends it.

    Exit status 0: stopped, 2: bad input.

    \b
    kubeclassic lab examples/cluster
    kubeclassic lab cluster.json --release 1.16 --policy policy.json
    kubeclassic lab --kubeconfig ~/.kube/config --no-open --port 8080
    """
    with needing_extra("lab", "lab"):
        from ..live.server.labapp import LabApp
        from ..live.server.serving import run_server
    from ..framework.options import options_of as options_from
    from ..questions.lab.lab import Given, Lab
    from ..questions.lab.scenarios import LabState, scheduler_of
    from .answering import files_of, settled_for, tell

    setup.refuse_early()
    files = files_of(paths, attrs.evolve(cluster, edits=()), keeps_manifests=setup.may_call_extenders)
    settled = settled_for(setup, files.nodes)
    options = options_from(settled.values)
    spec = settled.spec
    rules = scheduler_of(options, spec, files.loaded)
    start = LabState(scheduler=rules, order=cluster.order, edits=tuple(cluster.edits))
    params = click.get_current_context().params
    live = [name for name in ("kubeconfig", "context") if params[name]]
    words = [word for name in live for word in (f"--{name}", str(params[name]))]
    words += [word for kind in params["allow_missing"] for word in ("--allow-missing", kind)]
    words += [word for place in options.rules for word in ("--rules", place)]
    words += ["--extenders", options.extenders] if isinstance(options.extenders, str) else []
    words += [cluster.flag_of(name) for name in ("cron_jobs", "defaults", "strict") if cluster.has(name)]
    # a live cluster is the first of the paths, and has its own words
    named = tuple(map(str, paths[1:] if live else paths))
    started_with = Given(named, tuple(map(str, cluster.read())), tuple(words))
    served = Lab(files, spec, start, started_with, cluster.cron_jobs)
    with served.input(start) as inputs:
        tell(attrs.evolve(inputs, strict=cluster.strict).checked().scenario, inputs.engine, values["verbose"])

    def ready(address: str) -> None:
        note(f"the lab is at {address}  (Ctrl-C ends it)")
        if not values["no_open"]:
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)

    run_server(LabApp(lab=served, files=page_file).serve(values["port"] or 0, ready))


def page_file(name: str) -> bytes | None:
    """A file of the lab's page: one of its own, or one that all pages have."""
    places = (files(__package__).joinpath("report", folder, "assets", name) for folder in ("lab", "page"))
    return next((place.read_bytes() for place in places if place.is_file()), None)
