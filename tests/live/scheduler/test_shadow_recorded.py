"""The shadow beside real kube-schedulers that preempt much: recordings of their writes, played again."""

from collections import Counter

import pytest
import yaml

from kubeclassic.live.scheduler.shadow.judging import ORDER_UNKNOWN
from tests.live.scheduler.shadowreplay import replayed, writes_of

pytestmark = pytest.mark.whole

RECORDED = (("1.15.5", "1.15", 464), ("1.28.7", "1.27", 499))
"""Version of the scheduler, release of the shadow beside it, and number of decisions that the recorded shadow
compared."""
STRATEGY = yaml.safe_load("{scoringStrategy: {type: MostAllocated, resources: [{name: cpu}]}}")
PACKING = {
    "profile": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": STRATEGY}]}],
    }
}
"""A configuration that packs nodes, where the recorded schedulers spread pods."""


def writes(shared, version):
    """The writes of the scheduler of this version."""
    return writes_of(shared / "recordings" / "live-3" / f"shadow-different-{version}.jsonl.gz")


@pytest.mark.parametrize("version, release, decisions", RECORDED)
@pytest.mark.parametrize("seed", range(2))
def test_heavy_preemption(shared, version, release, decisions, seed):
    """However a busy machine delays what the shadow sees, none of the decisions is called different, and few
    of unknown order."""
    told = replayed(writes(shared, version), release, seed)
    assert len(told) == decisions
    assert [one.line() for one in told if one.differs] == []
    assert sum(one.verdict == ORDER_UNKNOWN for one in told) <= decisions * 0.05
    assert all(one.cause is not None and one.cause.rule for one in told if one.verdict == ORDER_UNKNOWN)


def test_another_configuration(shared):
    """A shadow that packs nodes differs from a scheduler that spreads pods, on a third of all pods and more;
    each cause names its rule."""
    version, release, decisions = RECORDED[1]
    told = replayed(writes(shared, version), release, 0, PACKING)
    counts = Counter(one.verdict for one in told)
    assert counts["different"] > decisions / 3
    assert counts["different"] > 2 * counts[ORDER_UNKNOWN]
    assert all(one.cause is not None and one.cause.rule for one in told if one.differs)


def test_pods_on_other_nodes(shared):
    """Where single bindings of the recording go to other nodes, none of these pods is the same, and half of
    them are surely different."""
    version, release, _ = RECORDED[0]
    moved = {"s0037": "n007", "s0060": "n001", "s0111": "n011", "s0140": "n010"}
    changed = writes(shared, version)
    for one in changed:
        if one["sub"] == "binding" and one["pod"] in moved:
            one["target"] = moved[one["pod"]]
    told = replayed(changed, release, 0)
    found = [one.verdict for one in told if one.cluster and one.pod.removeprefix("default/") in moved]
    assert len(found) == len(moved)
    assert set(found) <= {"different", ORDER_UNKNOWN}
    assert found.count("different") >= len(moved) / 2
