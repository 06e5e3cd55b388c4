"""The options of ``simulate``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from ..options import ClusterOptions, MorePods, OptionsError, Question, given_scheduler, option

if TYPE_CHECKING:
    from ...api.meaning.labels import Matcher
    from ...api.objects import Pod
    from ...simulation.input import GivenScheduler


@attrs.frozen(repr=False, slots=False)
class SimulationOptions(ClusterOptions, MorePods):
    """Schedule the pending pods of a cluster (manifests, or a dump: `kubectl get ... -A -o json`), as
    kube-scheduler would.

    PATHS are YAML, JSON or JSON Lines, gzipped or not, folders and archives (tar, tar.gz, zip) of them, or -
    for standard input. Nodes, and pods that have a node, are the cluster. Other pods are pending, and so are
    the pods that Deployments, StatefulSets, DaemonSets, Jobs and other workloads still have to create.
    Records go to standard output; summary and warnings to standard error.

    A pod that makes room by evicting others is tried again after all other pods, as long as it makes room.
    Evicted pods are gone; with --reschedule-evicted their controllers replace them.

    Tables fit the terminal (or COLUMNS): long names are shortened in the middle. In pipes and files nothing
    is cut. json, yaml and csv have exact amounts: millicores, bytes, pieces. `kubeclassic schema simulate`
    describes the fields.

    Exit status 0: all placed, 1: some unschedulable, or with --recheck some running pod rejected, 2: bad
    input.

    To dump everything that scheduling reads, in any release (remove kinds your cluster does not have, from
    the end):

    \b
    kubectl get no,po,pv,pvc,sc,svc,rc,rs,sts,deploy,ds,jobs,cj,pdb,pc,limits,quota,ns,runtimeclasses,csinodes,csidrivers,csistoragecapacities -A -o json > cluster.json

    \b
    In a newer cluster add ,volumeattachments,deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices

    \b
    kubeclassic simulate cluster.json --pods new.yaml
    kubeclassic simulate cluster/ --release 1.13 -o wide --sort-by -cpu -n shop
    kubeclassic simulate cluster/ --nodes --sort-by "cpu free"
    kubeclassic simulate cluster/ -o json | jq -r '.pods[] | [.pod, .requests.cpu, .evictedBy] | @tsv'
    """  # noqa: E501

    EXCLUDES = (("namespace", "nodes", "nodes have no namespace"),)

    scheduler: GivenScheduler = given_scheduler()
    reschedule_evicted: bool = option(False, "Controllers replace evicted pods; the new pods are tried last.")
    recheck: bool = option(
        False,
        "Also list running pods that their nodes would reject now, for example after --set; exit status 1 if there are any.",
    )
    nodes: bool = option(
        False, "Show the nodes, before and after, instead of the pods; json, yaml: in addition.", common=True
    )
    namespace: str | None = option(
        None,
        "Show only pods of this namespace. All are scheduled.",
        flags=("-n", "--namespace"),
        common=True,
        metavar="NAME",
    )
    selector: str | None = option(
        None,
        "Show only pods (with --nodes: nodes) with these labels: app=web,tier!=db.",
        flags=("-l", "--selector"),
        metavar="SELECTOR",
    )
    sort_by: str | None = option(
        None, "Sort by a column, such as node or cpu; -COLUMN: descending.", metavar="COLUMN", python=None
    )
    details: bool = option(
        False, "json, jsonl, yaml, html: include feasible nodes, reasons and scores of each decision."
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name, reason in (
            ("nodes", "its lines are decisions"),
            ("sort_by", "its decisions come as they are"),
        ):
            if self.makes("jsonl") and self.has(name):
                raise OptionsError(f"{self.called(name)} cannot be combined with -o jsonl: {reason}")

    @cached_property
    def matches(self) -> Matcher:
        """The test of labels that *selector* is."""
        return self.matcher("selector")

    @property
    def chooses(self) -> bool:
        """Whether lists have some pods alone."""
        return self.namespace is not None or (bool(self.selector) and not self.nodes)

    def shows(self, pod: Pod) -> bool:
        """Whether lists have *pod*."""
        return self.namespace in (None, pod.namespace) and (
            self.nodes or not self.selector or self.matches(pod.labels)
        )


QUESTION = Question(
    options=SimulationOptions,
    ask="simulate:simulate",
    prints=True,
    outputs=["--nodes"],
    what="the records",
    forms="table,wide,name,json,jsonl,yaml,csv,html",
    verbose="Log what runs and who is evicted to standard error.",
)
