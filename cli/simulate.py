"""``kubeclassic simulate``: schedule what waits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from .declaring.commands import command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import TextType
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .engines.setup import Setup

FORMS = ("table", "wide", "name", "json", "jsonl", "yaml", "csv", "html")
CUSTOM = "custom-columns="


class OutputForm(TextType):
    """One of :data:`FORMS`, or ``custom-columns=NAME:FIELD,...``."""

    name = "form"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What the help shows: all forms."""
        return f"[{'|'.join(FORMS)}|{CUSTOM}...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """*value* itself, if it is a form."""
        if value not in FORMS and not str(value).startswith(CUSTOM):
            self.fail(f"got {value!r}, wanted one of {', '.join(FORMS)}, {CUSTOM}NAME:FIELD", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The forms that begin so."""
        return [CompletionItem(form) for form in (*FORMS, CUSTOM) if form.startswith(incomplete)]


@command(short_help="Where do the waiting pods go?", outputs=["--nodes"])
@takes_paths
@scheduler_options
@cluster_options
@click.option("--reschedule-evicted", is_flag=True, help="Owners replace evicted pods, and the new pods are tried after all others.")
@click.option("-o", "form", type=OutputForm(), default="table", show_default=True, help="How to write the records.")
@click.option("--nodes", is_flag=True, help="Show the nodes, before and after, instead of the pods; json, yaml: beside them.")
@click.option("--namespace", "-n", metavar="NAME", help="Show only the pods of this namespace. All are scheduled.")
@click.option("--selector", "-l", metavar="SELECTOR", help="Show only pods (with --nodes: nodes) with these labels: app=web,tier!=db.")
@click.option("--sort-by", metavar="COLUMN", help="Sort by a column or field, such as node or .requests.cpu; -COLUMN: the greatest first.")
@click.option("--no-headers", is_flag=True, help="Leave out the headers of tables and CSV.")
@click.option("--details", is_flag=True, help="json, jsonl, yaml, html: feasible nodes, reasons and scores of each cycle too.")
@click.option("--output", metavar="FILE", help="Write the records there, whole or not at all, instead of to standard output.")
@takes_report
@click.option("--verbose", "-v", is_flag=True, help="Say what runs and who is evicted, on standard error.")
def simulate(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, **shown: Any) -> None:
    """Schedule the pods without a node in PATHS, as kube-scheduler would.

    PATHS are manifests or dumps of a cluster: YAML, JSON, JSON Lines, gzipped or not, directories of them, - for standard input. Nodes
    and pods with a node are the cluster. Pods without a node wait, and so do the pods that Deployments, StatefulSets, DaemonSets, Jobs and
    other workloads still lack. Records go to standard output; summary and warnings to standard error.

    A pod that makes room by evicting others is tried once more after all other pods. Evicted pods are gone; with --reschedule-evicted
    their ReplicaSets, StatefulSets, Jobs and other controllers make new ones. Pods without a controller do not come back.

    Tables fit the terminal (or COLUMNS, if that is set): names are shortened in the middle. Into a pipe or a file nothing is cut. json,
    yaml and csv have exact amounts: millicores, bytes, pieces. `kubeclassic schema simulate` describes the fields.

    Exit status 0: all placed, 1: some unschedulable, 2: bad input.

    All that scheduling of any release reads, from a live cluster; leave out, from the end, the kinds
    that yours does not know:

    \b
    kubectl get no,po,pv,pvc,sc,svc,rc,rs,sts,deploy,ds,jobs,cj,pdb,pc,ns,csinodes,csidrivers,csistoragecapacities -A -o json > cluster.json

    \b
    In a newer cluster add ,volumeattachments,deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices

    \b
    kubeclassic simulate cluster.json --release auto --pods new.yaml
    kubeclassic simulate cluster/ --release 1.13 -o wide --sort-by -cpu -n shop
    kubeclassic simulate cluster/ --nodes --sort-by "cpu free"
    kubeclassic simulate cluster/ --report simulation.html
    kubeclassic simulate cluster/ -o custom-columns=POD:.pod,CPU:.requests.cpu,BY:.evictedBy
    """
    from .running.simulate import Shown, run

    sys.exit(run(paths, setup, cluster, Shown(**shown)))
