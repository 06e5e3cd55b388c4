"""``kubeclassic.what_if``: what would help a pod that finds no node, or not the one that is wanted?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..api.objects import Pod
from ..api.reading.notices import NoticeGroup
from ..api.record import plain
from ..api.view import View, table_of
from ..exceptions import wrong_type
from ..simulation.explain.subject import find_subject
from ..simulation.input import GivenCluster, GivenScheduler, check_order, parts_of, scenario_of, spec_of, warnings_of
from ..simulation.whatif.change import Suggestion
from ..simulation.whatif.whatif import ScheduledPod, WhatIf, WhatIfDocument
from ..simulation.whatif.whatif import what_if as found_out
from .explain import name_of
from .result import Result


@attrs.frozen(eq=False, repr=False)
class WhatIfResult(Result):
    """What would help a pod."""

    found: WhatIf
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The changes that help, those that disturb least first."""
        return self.found.suggestions

    @property
    def host(self) -> str | None:
        """The node that the pod gets without any change; None if it gets none."""
        return self.found.host

    @property
    def fits(self) -> bool:
        """Whether the pod gets a node, or the wanted one, without any change."""
        return self.found.fits

    @property
    def ok(self) -> bool:
        """Whether the pod fits, or something helps."""
        return self.found.is_yes

    @property
    def document(self) -> WhatIfDocument:
        return self.found.document(self.told_warnings())

    def view(self) -> View:
        rows = [{**plain(one), "patch": ", ".join(one.patch), "victims": ", ".join(one.victims)} for one in self.suggestions]
        count = len(self.suggestions)
        helps = f"{'1 change helps' if count == 1 else f'{count:,} changes help'}." if count else "No single change helps."
        pod = self.found.explanation.decision.pod.key
        columns = ("change", "patch", "host", "kind", "disturbs", "victims", "verified", "evictedBy")
        return View(
            title=type(self).__name__,
            verdict=f"The pod gets {self.host} without any change." if self.fits else helps,
            facts={"pod": pod, "host": self.host, "want": self.found.want, "suggestions": count},
            tables=[table_of("suggestions", rows, columns)],
        )



def what_if(
    cluster: GivenCluster, pod: str | Pod | Mapping[str, Any], scheduler: GivenScheduler = None, *, want: str | None = None,
    pods: GivenCluster = (), order: str = "input", alone: bool = False, every: bool = False, defaults: bool = True,
    edits: str | Iterable[str] = (),
) -> WhatIfResult:  # fmt: skip
    """Find the smallest single changes after which *pod* gets a node; each is tried, and those that disturb least come first.

    They are tried at the moment when it is the pod's turn: what :func:`~kubeclassic.simulate` tries before it is scheduled first.

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param pod: as for :func:`~kubeclassic.explain`.
    :param want: the node that the pod should get; without it any node will do.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param alone: ask on the cluster as it is, without the pods that come before.
    :param every: try every change and tell all that help, not three of a kind.
    :param defaults: False: take objects as they are, without the API server's defaults.
    :param edits: changes before anything runs, such as ``"pod web/* requests.cpu=500m"``: what ``--set`` takes.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> container = {"name": "web", "resources": {"requests": {"cpu": "6"}}}
    >>> found = what_if([node], {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}})
    >>> found.suggestions[0].patch, found.suggestions[0].host
    (('pod default/web requests.cpu=4',), 'a')
    """
    if not isinstance(pod, str | Pod | Mapping):
        raise wrong_type("pod", pod, "a name, a Pod or its manifest")
    if not isinstance(want, str | None):
        raise wrong_type("want", want, "the name of a node")
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
    asked = ScheduledPod(scenario, spec, subject.question(spec.scheduler_names), check_order(order), alone, want, every, defaults)
    warnings = warnings_of(scenario, scheduler, spec.engine(scenario.config_maps))
    return WhatIfResult(found_out(asked, subject.pod), warnings)
