"""Plugins of your own: ``kubeclassic simulate examples/cluster --release 1.27 --rules examples.plugins:PLUGINS``."""

from collections.abc import Hashable
from typing import Any

from kubeclassic import Pod
from kubeclassic.plugins import Plugin, each_node
from kubeclassic.rules import Batch, Failures, Reads, Reason, Template

ZONE = "failure-domain.beta.kubernetes.io/zone"
AT_WORK = {"north-1b"}
ZONE_AT_WORK = Reason("node(s) were in a zone that is worked on", resolvable=False)


class ZoneAtWork(Plugin):
    """Turn down nodes in a zone that is worked on: looks once at each zone, and answers for all nodes at once."""

    name = "ZoneAtWork"
    filter_reads = Reads.NODE

    def filter_key(self, pod: Template) -> Hashable:
        """The answer is the same for all pods."""
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        """Every node at once."""
        return Failures.where(ZONE_AT_WORK, nodes.label(ZONE).where(lambda zone: zone in AT_WORK))


class FewerPods(Plugin):
    """Prefer nodes with fewer pods: called node by node, which is easy but slow."""

    name = "FewerPods"

    @each_node
    def score(self, pod: Pod, node: Any, cycle: Any) -> int:
        """One node, 0 to 100."""
        return max(0, 100 - 10 * len(node.pods))


PLUGINS = [ZoneAtWork, FewerPods]
