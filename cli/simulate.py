"""``kubeclassic simulate``: schedule what waits."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..exceptions import UnknownNameError, did_you_mean
from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import Output, check_together, output_options
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from ..api.meaning.labels import Matcher
    from ..api.objects import Pod
    from ..questions.simulate import SimulationOptions, SimulationResult
    from ..simulation.input import Input
    from .declaring.setup import Setup
    from .opening import Console
    from .report.page.about import About

FORMS = ("table", "wide", "name", "json", "jsonl", "yaml", "csv", "html")
KEEPS = {"json": "document", "yaml": "document", "html": "page"}
"""Form -> what a result keeps for it, where that has another name."""
EXCLUDES = (
    ("-n", "--nodes", "nodes have no namespace"), ("--nodes", "-o jsonl", "its lines are decisions"),
    ("--sort-by", "-o jsonl", "its decisions come as they are"),
)  # fmt: skip


@command(short_help="Where do the waiting pods go?", outputs=["--nodes"])
@takes_paths()
@scheduler_options
@cluster_options
@click.option("--reschedule-evicted", is_flag=True, help="Owners replace evicted pods, and the new pods are tried after all others.")
@click.option(
    "--recheck", is_flag=True,
    help="List the running pods that their nodes would no longer take too, such as after --set; exit status 1 if there is any.",
)  # fmt: skip
@click.option(
    "--nodes", cls=CommonOption, is_flag=True,
    help="Show the nodes, before and after, instead of the pods; json, yaml: beside them.",
)  # fmt: skip
@click.option("--namespace", "-n", cls=CommonOption, metavar="NAME", help="Show only the pods of this namespace. All are scheduled.")
@click.option("--selector", "-l", metavar="SELECTOR", help="Show only pods (with --nodes: nodes) with these labels: app=web,tier!=db.")
@click.option("--sort-by", metavar="COLUMN", help="Sort by a column or field, such as node or .requests.cpu; -COLUMN: the greatest first.")
@click.option("--details", is_flag=True, help="json, jsonl, yaml, html: feasible nodes, reasons and scores of each decision too.")
@output_options(FORMS, "How to write the records.", what="the records", verbose="Say what runs and who is evicted, on standard error.")
def simulate(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, **asked: Any) -> None:
    """Schedule the pods without a node in PATHS, manifests or a dump of a cluster (`kubectl get ... -A -o json`), as kube-scheduler would.

    PATHS are YAML, JSON, JSON Lines, gzipped or not, directories and archives (tar, tar.gz, zip) of them, - for standard input. Nodes
    and pods with a node are the cluster. Pods without a node wait, and so do the pods that Deployments, StatefulSets, DaemonSets, Jobs and
    other workloads still lack. Records go to standard output; summary and warnings to standard error.

    A pod that makes room by evicting others is tried again after all other pods, for as long as it makes room. Evicted pods are gone;
    the controllers that own them (ReplicaSets, StatefulSets, Jobs and others) make new ones with --reschedule-evicted.

    Tables fit the terminal (or COLUMNS, if that is set): names are shortened in the middle. Into a pipe or a file nothing is cut. json,
    yaml and csv have exact amounts: millicores, bytes, pieces. `kubeclassic schema simulate` describes the fields.

    Exit status 0: all placed, 1: some unschedulable, or by --recheck some running pod refused, 2: bad input.

    All that scheduling of any release reads, from a live cluster; leave out, from the end, the kinds
    that yours does not know:

    \b
    kubectl get no,po,pv,pvc,sc,svc,rc,rs,sts,deploy,ds,jobs,cj,pdb,pc,ns,csinodes,csidrivers,csistoragecapacities -A -o json > cluster.json

    \b
    In a newer cluster add ,volumeattachments,deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices

    \b
    kubeclassic simulate cluster.json --pods new.yaml
    kubeclassic simulate cluster/ --release 1.13 -o wide --sort-by -cpu -n shop
    kubeclassic simulate cluster/ --nodes --sort-by "cpu free"
    kubeclassic simulate cluster/ -o json | jq -r '.pods[] | [.pod, .requests.cpu, .evictedBy] | @tsv'
    """
    given = {"--nodes": asked["nodes"], "-n": asked["namespace"] is not None, "--sort-by": asked["sort_by"] is not None}
    check_together({**given, "-o jsonl": output.form == "jsonl"}, (), EXCLUDES)
    sys.exit(_run(paths, setup, cluster, output, asked))


def _run(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, asked: Mapping[str, Any]) -> int:
    from ..api.garbage import settled
    from ..questions.simulate import SimulationOptions, ask
    from .answering import about_input, answer, page_of, write_report
    from .opening import Console, opened
    from .report.simulation import ListedRecords

    given, form = opened(paths, cluster, setup), output.form
    forms = {KEEPS.get(form, form), *(["page"] if output.makes_page else [])}
    options = SimulationOptions(
        **{name: asked[name] for name in ("reschedule_evicted", "recheck", "details", "nodes", "namespace")},
        matches=_matcher(asked["selector"] or ""), forms=forms,
    )  # fmt: skip
    # The resources of the nodes, without places for pods.
    from ..api.objects import Node

    nodes = (item for item in given.scenario.objects if isinstance(item, Node))
    listing = ListedRecords.of(
        form,
        asked["sort_by"],
        list(dict.fromkeys(name for node in nodes for name in node.status.allocatable if name != "pods")),
        nodes=options.nodes,
    )
    console = Console(output.verbose)

    def origin() -> About:
        return about_input(given, [*paths, *cluster.pods])

    with settled():
        if form == "jsonl":
            found = _stream(given, options, console, output.file)
            write_report(output.report, lambda: page_of(found.view(), origin()))
        else:
            found = listing.sorted(ask(given, options, console))
            answer(found, output, origin, unread=False, forms=listing.forms(found, headers=output.headers))
    _tell(found, given, asked, output.verbose)
    return 0 if found.ok else 1


def _matcher(selector: str) -> Matcher:
    from ..api.meaning.labels import SelectorError, parse_selector

    try:
        return parse_selector(selector)
    except SelectorError as error:
        raise UnknownNameError(f"-l: {error}") from None


def _stream(given: Input, options: SimulationOptions, console: Console, file: str | None) -> SimulationResult:
    """Simulate, and write each decision as it is taken; without progress where its lines are seen."""
    from ..api.record import plain
    from ..questions.simulate import SimulationRun
    from ..simulation.input import SILENT
    from .console.output import writing

    run = SimulationRun(given, options)
    run.begin(console)
    with writing(file) as stream:
        for decision in run.decisions(SILENT if stream.isatty() else console):
            stream.write(json.dumps(plain(decision.cycle(details=options.details))) + "\n")
    return run.result()


def _chooses_none(asked: Mapping[str, Any], tried: Sequence[Pod]) -> str:
    """Why the lists have none of the pods that were *tried*."""
    there = list(dict.fromkeys(pod.namespace for pod in tried))
    if asked["namespace"] in (None, *there):
        flags = [flag for flag, name in (("-n", "namespace"), ("-l", "selector")) if asked[name] is not None]
        return f"{' and '.join(flags)} choose{'s' * (len(flags) == 1)} none of those that were tried"
    near = did_you_mean(asked["namespace"], there)
    return f"-n: got {asked['namespace']}, but those that were tried are in {', '.join(there[:5])}{', ...' * (len(there) > 5)}{near}"


def _tell(found: SimulationResult, given: Input, asked: Mapping[str, Any], verbose: bool) -> None:
    """The outcome on standard error."""
    from .console.output import note, note_lines
    from .notices import tell_unread
    from .report.tables import view_lines, width_of

    if found.outcomes and not found.outcome.pods:
        note(f"no pod to show: {_chooses_none(asked, [one.pod for one in found.outcomes.values()])}")
    for one in found.evictions if verbose else ():
        again = f"; its owner made {one.replacement} in its place" if one.replacement else ""
        note(f"evicted {one.pod} from {one.node} to make room for {one.by}{again}")
    note_lines(view_lines(found.in_short(), "table", width_of(sys.stderr)))
    tell_unread(given.scenario.warnings)
