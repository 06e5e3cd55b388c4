"""The pods that DaemonSets run on a new node: from their manifests, else from the pods that they have already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.daemons import runs_on, target_node
from ...api.controlplane.manifests import each_once, identity_of
from ...api.controlplane.workloads import Known, expand
from ...api.objects import KubeObject, Pod, PodStatus
from ..scenario import Scenario
from .kinds import NodeKind

DAEMON_SET = "DaemonSet"


@attrs.define(eq=False)
class DaemonPods:
    """What the DaemonSets of a cluster run on nodes that come to it."""

    manifests: Sequence[Mapping[str, Any]]
    samples: Mapping[tuple[str, str], Sequence[Pod]]
    """Namespace and name of a DaemonSet without a manifest -> its pods."""
    known: Sequence[KubeObject]
    defaults: bool = True
    priorities: bool = True

    @classmethod
    def of(cls, scenario: Scenario, *, defaults: bool = True, priorities: bool = True) -> DaemonPods:
        """Those of *scenario*; *priorities*: whether gate PodPriority is on."""
        manifests, _ = each_once(scenario.daemon_sets)
        described = {identity_of(manifest)[1:] for manifest in manifests}
        everyone = (*scenario.objects, *scenario.pending, *scenario.set_aside)
        samples = _samples((item for item in everyone if isinstance(item, Pod)), described)
        return cls(manifests, samples, scenario.objects, defaults, priorities)

    def __call__(self, kind: NodeKind) -> tuple[Pod, ...]:
        """The pods on each node of *kind*, with the names of their DaemonSets."""
        return tuple(sorted((*self._described(kind), *self._sampled(kind)), key=lambda pod: pod.key))

    def _described(self, kind: NodeKind) -> Iterator[Pod]:
        (name,) = kind.names(1)
        node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
        for manifest in self.manifests:
            made = expand([manifest], Known(nodes=(node,)), strict=self.defaults).objects
            pods = [item for item in made if isinstance(item, Pod)]
            admitted = admit(pods, self.known, priorities=self.priorities).objects if self.defaults else tuple(pods)
            for pod in (item for item in admitted if isinstance(item, Pod)):
                yield replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2]))

    def _sampled(self, kind: NodeKind) -> Iterator[Pod]:
        for (_, name), pods in self.samples.items():
            where = {target_node(pod) for pod in pods}
            if kind.name in where if kind.is_copy else runs_on(_untied(pods[0]).spec, kind.node):
                metadata = replace(pods[0].metadata, name=name, uid="", resource_version="", creation_timestamp=None)
                yield replace(_untied(pods[0]), metadata=metadata, status=PodStatus())


def _samples(pods: Iterable[Pod], described: Collection[tuple[str, str]]) -> dict[tuple[str, str], list[Pod]]:
    found: dict[tuple[str, str], list[Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        identity = (pod.namespace, owner.name) if owner is not None and owner.kind == DAEMON_SET else None
        if identity is not None and identity not in described and not pod.is_terminal and not pod.is_terminating:
            found.setdefault(identity, []).append(pod)
    return found


def _untied(pod: Pod) -> Pod:
    """*pod* without its node, and without the affinity to it that its controller has put in place of any other."""
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = replace(affinity, node_affinity=replace(affinity.node_affinity, required=None))
    return replace(pod, spec=replace(pod.spec, node_name="", affinity=affinity))
