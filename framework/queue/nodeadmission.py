"""Could a pod fit on a node that came or changed, going by what the kubelet itself would check?

Upstream: preCheckForNode and AdmissionCheck in pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

import attrs

from ...api.meaning.labels import node_selector_matches, pairs_match
from ...api.meaning.tolerations import tolerates
from ...api.objects import Node, Pod
from ...core.cluster.cache import NodeInfo
from ...core.engine import Engine
from ...core.pods.requests import NATIVE, PODS, of_node
from ...core.pods.template import Port, Template, Templates
from ...core.release import Requests


@attrs.define(eq=False, repr=False)
class NodeAdmission:
    """One node as the cache has it; call it with a pod."""

    node: Node
    templates: Templates
    used_ports: frozenset[Port]
    free: Requests
    """Allocatable less what its pods request; ``pods``: how many more it takes."""
    _known: dict[Template, bool] = attrs.field(factory=dict)

    @classmethod
    def of(cls, engine: Engine, name: str) -> NodeAdmission | None:
        """The check for the node called *name*."""
        info = engine.cache.infos.get(name)
        if info is None or info.node is None:
            return None
        return cls(info.node, engine.templates, frozenset(info.used_ports), _free(info, info.node))

    def __call__(self, pod: Pod) -> bool:
        template = self.templates.of(pod)
        if template not in self._known:
            self._known[template] = self._admits(template)
        return self._known[template]

    def _admits(self, pod: Template) -> bool:
        return self._has_room(pod) and self._selected(pod) and self._ports_free(pod) and self._tolerated(pod)

    def _has_room(self, pod: Template) -> bool:
        if self.free.get(PODS, 0) < 1:
            return False
        requests = pod.requests
        if not any(requests.get(name, 0) for name in NATIVE) and not set(requests) - set(NATIVE):
            return True
        checked = [name for name in NATIVE if not self.templates.release.framework.fit_checks_requested or requests.get(name, 0) > 0]
        fits = all(requests.get(name, 0) <= self.free.get(name, 0) for name in checked)
        scalars = ((name, number) for name, number in requests.items() if name not in NATIVE and number)
        return fits and all(number <= self.free.get(name, 0) for name, number in scalars)

    def _selected(self, pod: Template) -> bool:
        affinity = pod.affinity.node_affinity
        required = None if affinity is None else affinity.required
        if not pairs_match(pod.node_selector, self.node.labels):
            return False
        if required is not None and not node_selector_matches(required, self.node.labels, self.node.name):
            return False
        return pod.spec.node_name in ("", self.node.name)

    def _ports_free(self, pod: Template) -> bool:
        return not any(_conflict(wanted, used) for wanted in pod.ports for used in self.used_ports)

    def _tolerated(self, pod: Template) -> bool:
        # Upstream: NoExecute is not looked at here.
        taints = (taint for taint in self.node.spec.taints if taint.effect == "NoSchedule")
        return all(tolerates(pod.spec.tolerations, taint) for taint in taints)


def _free(info: NodeInfo, node: Node) -> Requests:
    found = dict(of_node(node.status.allocatable))
    found[PODS] = found.get(PODS, 0) - len(info.pods)
    for entry in info.pods:
        for name, number in entry.template.footprint.items():
            found[name] = found.get(name, 0) - number
    return found


def _conflict(one: Port, other: Port) -> bool:
    everywhere = "0.0.0.0"
    return one[1:] == other[1:] and (one[0] == other[0] or everywhere in (one[0], other[0]))
