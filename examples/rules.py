"""Rules of your own: ``kubeclassic simulate examples/cluster --rules examples/rules.py:CATALOGUE``."""

from kubeclassic.rules import CATALOGUE as UPSTREAM
from kubeclassic.rules import Batch, Cycle, Failures, Reads, Reason, Template, predicate, priority

ZONE = "failure-domain.beta.kubernetes.io/zone"
AT_WORK = {"north-1b"}
ZONE_AT_WORK = Reason("node(s) were in a zone that is worked on", resolvable=False)


@predicate("ZoneAtWork", reads=Reads.NODE, key=lambda pod: None)
def zone_at_work(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes in a zone that is worked on: looks once at each zone, and answers for all nodes at once."""
    return Failures.where(ZONE_AT_WORK, nodes.label(ZONE).where(lambda zone: zone in AT_WORK))


@priority.each_node("FewerPods", reads=Reads.REQUESTS)
def fewer_pods(pod: Template, nodes: Batch, i: int, cycle: Cycle) -> int:
    """Prefer nodes with fewer pods: called node by node, which is easy but slow."""
    return max(0, 10 - int(nodes.pod_count[i]))


CATALOGUE = UPSTREAM.with_(zone_at_work).with_(fewer_pods, weight=2)
