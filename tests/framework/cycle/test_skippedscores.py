"""Score plugins that skip pods: absent from the scores, while hosts, details and the quick path are as if
they had been asked."""

import random

import pytest
import yaml

from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

ALWAYS = {"ImageLocality", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "TaintToleration"}
SKIPPED = {
    "1.27": set(),
    "1.28": {"InterPodAffinity", "PodTopologySpread"},
    "1.29": {"InterPodAffinity", "PodTopologySpread"},
    "1.30": {"InterPodAffinity", "PodTopologySpread", "NodeAffinity", "VolumeBinding"},
    "1.34": {"InterPodAffinity", "PodTopologySpread", "NodeAffinity", "VolumeBinding"},
}
LIKED = yaml.safe_load("""
podAffinityTerm:
  topologyKey: zone
  labelSelector:
    matchLabels: {app: x}
weight: 10
""")
LIKES = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [LIKED]}}
SPREAD = yaml.safe_load("""
topologyKey: zone
maxSkew: 1
whenUnsatisfiable: ScheduleAnyway
labelSelector:
  matchLabels: {app: x}
""")


def cluster(release, at_once=False):
    made = engine_for(release, {"percentageOfNodesToScore": 100})
    feed = EventFeed(made)
    for number in range(6):
        feed.put(
            node(
                f"n{number}",
                cpu=str(2 + number % 3),
                labels={"zone": f"z{number % 2}", "kubernetes.io/hostname": f"n{number}"},
            )
        )
    made.transient_details = at_once
    return made


def scored(made, new):
    ranking = made.schedule(new).details.ranking
    return set(ranking.by_priority)


def plain(name, **more):
    return pod(name, requests={"cpu": "100m", "memory": "64Mi"}, app="x", **more)


@pytest.mark.parametrize("release", SKIPPED)
class TestWhoSkips:
    def test_a_pod_without_wishes(self, release):
        """Plugins to which it makes no difference are absent, as their release has it."""
        made = cluster(release)
        everybody = ALWAYS | SKIPPED["1.34"]
        assert scored(made, plain("a")) == everybody - SKIPPED[release]

    def test_pod_affinity_skips_until_a_pod_counts(self, release):
        """Liked pods count only where their node has the topology key."""
        made = cluster(release)
        EventFeed(made).put(node("bare"))
        is_asked = release == "1.27"
        liking = plain("a", affinity=LIKES)
        assert ("InterPodAffinity" in scored(made, liking)) is is_asked
        made.assume(plain("p"), "bare")
        assert ("InterPodAffinity" in scored(made, liking)) is is_asked
        made.assume(plain("q"), "n1")
        assert "InterPodAffinity" in scored(made, liking)

    def test_what_existing_pods_like_counts(self, release):
        """A preference of a pod that is there is asked about a pod without any."""
        made = cluster(release)
        made.assume(plain("p", affinity=LIKES), "n0")
        assert "InterPodAffinity" in scored(made, plain("a"))
        assert ("InterPodAffinity" in scored(made, pod("b"))) is (release == "1.27")

    def test_wishes_are_scored(self, release):
        """With constraints and preferences of its own a pod is scored by all that look at them."""
        likes = yaml.safe_load("{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}")
        affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [likes]}}
        found = scored(cluster(release), plain("a", affinity=affinity, topologySpreadConstraints=[SPREAD]))
        assert {"NodeAffinity", "PodTopologySpread"} <= found


@pytest.mark.parametrize("release", ["1.28", "1.34"])
class TestAllWaysAgree:
    def test_quick_read_off_and_long(self, release):
        """While pods that like others come and go, hosts are the same on the quick path, and details have the
        scores of whole cycles."""
        made = cluster(release)
        read = cluster(release, at_once=True)
        quick = cluster(release)
        draw = random.Random(7)
        shapes = ({}, {}, {"affinity": LIKES}, {"topologySpreadConstraints": [SPREAD]})
        with verifying():
            for number in range(60):
                new = plain(f"p{number}", **draw.choice(shapes))
                wanted = made.schedule(new)
                details = read.schedule(new).record(details=True)
                host = quick.schedule(new, details=False).host
                assert details == wanted.record(details=True)
                assert host is not None
                assert host == wanted.host
                for one in (made, read, quick):
                    one.assume(new, host)


# --- Numbers that an API server refuses -------------------------------------------------------------------


def terms(weight):
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z0"]}]}
    preferred = [{"weight": weight, "preference": term}]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


@pytest.mark.parametrize("release", ["1.17", "1.19", "1.27", "1.31", "1.36"])
@pytest.mark.parametrize(
    "unusual",
    [terms(-5), {"topologySpreadConstraints": [{**SPREAD, "maxSkew": -3}]}],
    ids=["weight", "maxSkew"],
)
def test_scores_out_of_range(release, unusual):
    """Negative weights and skews can put a score out of range, which ends the cycle, with details or not."""
    decisions = []
    for details in (False, True):
        made = cluster(release)
        for number in range(7):
            EventFeed(made).put(plain(f"p{number}", on=f"n{number and 1}"))
        for attempt in range(2):
            decision = made.schedule(plain(f"x{attempt}", **unusual), details=details)
        decisions.append((decision.host, decision.error))
    assert decisions[0] == decisions[1]
    assert "weight" not in str(unusual) or "invalid score -5" in decisions[0][1]
