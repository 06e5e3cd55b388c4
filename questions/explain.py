"""``kubeclassic.explain``: why does a pod go there, or nowhere?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..api.objects import Pod
from ..api.reading.notices import NoticeGroup
from ..api.view import Share, View, shortened, table_of
from ..core.decision.decision import Decision
from ..exceptions import wrong_type
from ..simulation.explain import Explanation, NodeReport
from ..simulation.explain.ask import ask
from ..simulation.explain.explanation import ExplanationDocument
from ..simulation.explain.subject import find_subject
from ..simulation.input import GivenCluster, GivenScheduler, check_order, parts_of, scenario_of, spec_of, warnings_of
from ..simulation.simulate import Simulation
from .result import Result, Row


@attrs.frozen(eq=False, repr=False)
class ExplainResult(Result):
    """A decision, and every node's part in it."""

    explanation: Explanation
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def decision(self) -> Decision:
        """The decision on the pod."""
        return self.explanation.decision

    @property
    def host(self) -> str | None:
        """The node that the pod gets; None if it gets none."""
        return self.decision.host

    @property
    def nodes(self) -> tuple[NodeReport, ...]:
        """Each node's part: first those that fit, by total."""
        return self.explanation.nodes

    @property
    def ok(self) -> bool:
        """Whether the pod gets a node, or with *node* that one fits."""
        return self.explanation.is_yes

    @property
    def document(self) -> ExplanationDocument:
        return self.explanation.document(self.told_warnings())

    def view(self) -> View:
        fit = sum(node.fits for node in self.nodes)
        return View(
            title=type(self).__name__,
            verdict=self.decision.verdict(),
            facts={
                "pod": self.decision.pod.key,
                "host": self.host,
                "error": None if self.decision.error is None else shortened(self.decision.error),
            },
            shares=[Share("fit", fit, "good"), Share("do not fit", len(self.nodes) - fit, "bad")] if self.nodes else [],
            tables=[table_of("nodes", [_row(node) for node in self.nodes], ("node", "fits", "total", "reasons", "missing"))],
        )



def explain(
    cluster: GivenCluster, pod: str | Pod | Mapping[str, Any], scheduler: GivenScheduler = None, *, pods: GivenCluster = (),
    order: str = "input", node: str | None = None, alone: bool = False, defaults: bool = True, edits: str | Iterable[str] = (),
) -> ExplainResult:  # fmt: skip
    """Show for every node of *cluster* why it rejects *pod*, or how it scores; and which resources are short, by how much.

    The pods that :func:`~kubeclassic.simulate` tries before it are scheduled first, so that both say the same.

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param pod: ``namespace/name``, a name, a workload such as ``deploy/web``, or a pod or manifest that is not in the cluster. A pod that
        has a node is decided as if it had none.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param node: look closely at this node: each rule in order, room, scores.
    :param alone: explain on the cluster as it is, without the pods that come before.
    :param defaults: False: take objects as they are, without the API server's defaults.
    :param edits: changes before anything runs, such as ``"pod web/* requests.cpu=500m"``: what ``--set`` takes.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    if not isinstance(pod, str | Pod | Mapping):
        raise wrong_type("pod", pod, "a name, a Pod or its manifest")
    spec = spec_of(scheduler, cluster)
    more = pods if isinstance(pod, str) else (*parts_of("pods", pods), pod)
    scenario = scenario_of(
        cluster,
        more,
        scheduler_names=spec.scheduler_names,
        defaults=defaults,
        edits=edits,
        priorities=spec.keeps_priorities,
    )
    subject = find_subject(scenario, name_of(pod))
    simulation = Simulation(scenario, spec.engine(scenario.config_maps), check_order(order))
    found = ask(simulation, subject, spec.scheduler_names, node=node, alone=alone)
    return ExplainResult(found, warnings_of(scenario, scheduler, simulation.engine))


def name_of(pod: str | Pod | Mapping[str, Any]) -> str:
    """The name of a pod that is given by name, as an object or as a manifest."""
    if isinstance(pod, str | Pod):
        return pod if isinstance(pod, str) else pod.key
    metadata = pod.get("metadata") or {}
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


def _row(node: NodeReport) -> Row:
    missing = ", ".join(f"{short.resource} {short.missing}" for short in node.shortages)
    scores = {name: score.total for name, score in node.scores.items()}
    return {"node": node.name, "fits": node.fits, "total": node.total, "reasons": ", ".join(node.reasons), "missing": missing, **scores}
