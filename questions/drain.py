"""``kubeclassic.drain``: which nodes can go?"""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType

import attrs

from ..api.reading.notices import NoticeGroup
from ..api.record import plain
from ..api.view import Share, View, table_of
from ..exceptions import check_type
from ..simulation.drain.plan import DrainDocument, DrainMove, DrainPlan
from ..simulation.drain.question import DrainQuestion, matcher
from ..simulation.drain.rules import DrainFlags
from ..simulation.drain.steadystate import engines_like, settle
from ..simulation.input import GivenCluster, GivenScheduler, check_order, scenario_of, spec_of, warnings_of
from .result import Result


@attrs.frozen(eq=False, repr=False)
class DrainResult(Result):
    """Which nodes can go together, which cannot and why, and who moves where."""

    plan: DrainPlan
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all nodes that were named can go, or a search found any."""
        return self.plan.answer.ok

    @property
    def can(self) -> list[str]:
        """The nodes that can go, all of them together, in the order in which they are emptied."""
        return list(self.plan.answer.can)

    @property
    def cannot(self) -> dict[str, str]:
        """Node that cannot go -> why."""
        return dict(self.plan.answer.cannot)

    @property
    def moves(self) -> tuple[DrainMove, ...]:
        """Who moves, from where, and to which node."""
        return self.plan.answer.moves

    @property
    def at_most(self) -> int | None:
        """Of a search: how many nodes can go at most."""
        bound = self.plan.answer.bound
        return None if bound is None else bound.at_most

    @property
    def document(self) -> DrainDocument:
        return self.plan.document(self.told_warnings())

    def view(self) -> View:
        answer = self.plan.answer
        nodes = [{"node": name, "can": name in answer.can, "why": answer.cannot.get(name)} for name in self.plan.asked]
        moved = "1 pod moves" if len(self.moves) == 1 else f"{len(self.moves):,} pods move"
        return View(
            title=type(self).__name__,
            verdict=f"{len(self.can):,} of {len(self.plan.asked):,} nodes can go together; {moved}.",
            facts={
                "release": answer.release, "nodes": len(self.plan.asked), "can": len(self.can), "at most": self.at_most,
                "moves": len(self.moves), "rounds": answer.summary.rounds,
            },
            shares=[Share("can go", len(self.can), "good"), Share("cannot go", len(self.cannot), "bad")],
            tables=[
                table_of("nodes", nodes, ("node", "can", "why")),
                table_of("evictions", plain(answer.evictions), ("round", "pod", "node", "by", "replacement", "to")),
            ],
        )  # fmt: skip



def drain(
    cluster: GivenCluster, nodes: str | Iterable[str] = (), scheduler: GivenScheduler = None, *, auto: bool = False, keep: int = 0,
    zone: str | None = None, node_selector: str | None = None, ignore_daemonsets: bool = False, delete_emptydir_data: bool = False,
    force: bool = False, recreate_bare: bool = False, disable_eviction: bool = False, pod_selector: str | None = None,
    pods: GivenCluster = (), order: str = "input", defaults: bool = True,
) -> DrainResult:  # fmt: skip
    """Say which nodes of *cluster* can go: every pod on them is evicted as ``kubectl drain`` does it, and placed elsewhere.

    Pods that wait in *cluster* are scheduled first.

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param nodes: the names of the nodes, one or several; by default those that *zone* and *node_selector* choose.
    :param auto: look for as many nodes as possible, among those that *zone* and *node_selector* choose.
    :param keep: with *auto*: at least that many of these stay.
    :param zone: only nodes of this zone.
    :param node_selector: only nodes with these labels: ``pool=general,!gpu``.
    :param ignore_daemonsets: pass over the pods of DaemonSets; else they keep their node from going.
    :param delete_emptydir_data: evict pods with an emptyDir too.
    :param force: delete pods without a controller, which is not made again.
    :param recreate_bare: take it that somebody makes pods without a controller again.
    :param disable_eviction: delete pods without asking disruption budgets.
    :param pod_selector: evict only pods with these labels.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried that wait, or that are evicted together: ``input``, ``priority`` or ``queue``.
    :param defaults: False: take objects as they are, without the API server's defaults.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> drain([node], "a").can
    ['a']
    """
    check_type("keep", keep, int, "a whole number")
    for name, given in (("zone", zone), ("node_selector", node_selector), ("pod_selector", pod_selector)):
        check_type(name, given, (str, NoneType), "a text")
    spec = spec_of(scheduler, cluster)
    flags = DrainFlags(
        ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data, force=force, recreate_bare=recreate_bare,
        disable_eviction=disable_eviction, pod_selector=matcher("pod_selector", pod_selector),
    )  # fmt: skip
    question = DrainQuestion(nodes=_names(nodes), auto=auto, keep=keep, zone=zone, node_selector=node_selector)
    scenario = scenario_of(cluster, pods, scheduler_names=spec.scheduler_names, defaults=defaults, priorities=spec.keeps_priorities)
    question = question.checked(scenario.nodes)
    engine = spec.engine(scenario.config_maps)
    make_engine = engines_like(engine, spec, scenario)
    steady = settle(scenario, make_engine, spec.scheduler_names, check_order(order))
    return DrainResult(question.answer(steady, flags), warnings_of(scenario, scheduler, engine))


def _names(nodes: str | Iterable[str]) -> tuple[str, ...]:
    names = (nodes,) if isinstance(nodes, str) else tuple(nodes) if isinstance(nodes, Iterable) else (nodes,)
    for name in names:
        check_type("nodes", name, str, "the name of a node")
    return names
