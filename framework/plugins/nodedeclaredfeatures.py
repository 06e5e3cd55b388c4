"""NodeDeclaredFeatures: does the node declare the features that the pod needs?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ...api.objects import Pod, PodSpec
from ..hints import declared_features_change
from ..plugin import (
    SKIP,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Plugin,
    Reads,
    Status,
    Template,
    reason,
)

GATE = "NodeDeclaredFeatures"


class NodeDeclaredFeatures(Plugin):
    """Reject nodes that do not declare a feature the pod needs, in ``status.declaredFeatures``.

    Upstream: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go.
    """

    name = "NodeDeclaredFeatures"
    filter_reads = Reads.NODE
    pre_filter_by_class = True
    without_pre_filter = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'

    def concerns(self, pod: Template) -> bool:
        return self.handle.gates.get(GATE, False) and bool(self.needs(pod.spec))

    def filter_key(self, pod: Template) -> Hashable:
        return self.needs(pod.spec)

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        return None if self.concerns(pod) else SKIP

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """The failures; only in the first release the reason names the missing features."""
        needed = self.needs(pod.spec)
        declared = [
            () if (node := nodes.node(i)) is None else node.status.declared_features for i in range(nodes.n)
        ]
        missing_by_node = [tuple(name for name in needed if name not in features) for features in declared]
        distinct = [(), *filter(None, dict.fromkeys(missing_by_node))]
        text = self.cells.lacking_features_text
        reasons = [
            (reason(text.format(features=", ".join(missing)), resolvable=False),) for missing in distinct[1:]
        ]
        return Failures.coded(
            np.array([distinct.index(missing) for missing in missing_by_node], np.int64), reasons
        )

    def needs(self, spec: PodSpec) -> tuple[str, ...]:
        """The features that a pod needs."""
        containers = (*spec.containers, *spec.init_containers)
        restarts = any(container.restart_policy_rules and container.restarts_all for container in containers)
        shares = self.cells.host_users_are_a_feature and spec.host_network and spec.host_users is False
        return (
            *(["RestartAllContainersOnContainerExits"] if restarts else ()),
            *(["UserNamespacesHostNetworkSupport"] if shares else ()),
        )

    def events_to_register(self) -> Events:
        if not self.handle.enabled(GATE):
            return ()
        return (
            ClusterEvent(
                "Node", Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE, hint=declared_features_change
            ),
            ClusterEvent("Pod", Action.UPDATE, hint=self._needs_change),
        )

    def _needs_change(self, pod: Pod, old: Any, new: Any) -> bool:
        return bool(pod.uid == new.uid) and self.needs(old.spec) != self.needs(new.spec)
