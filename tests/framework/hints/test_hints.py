"""Hints may say no only where the pod would still be rejected: random small clusters, one event, and the pod
tried once more."""

from functools import partial

import attrs
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from kubeclassic.core.pods.requests import exact_sums
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.framework import hints
from kubeclassic.framework.queue.handlers import FrameworkEvents
from kubeclassic.framework.queue.queue import FrameworkQueue
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod
from tests.support.examples import examples

WITH_HINTS = {f"1.{minor}": minor < 32 for minor in range(28, 37)}
"""Release -> whether the gate has to be set."""
HARD = yaml.safe_load("""
maxSkew: 1
topologyKey: zone
whenUnsatisfiable: DoNotSchedule
labelSelector:
  matchLabels: {app: a}
""")
TERM = yaml.safe_load("{labelSelector: {matchLabels: {app: a}}, topologyKey: zone}")
WANTS = {
    "NodeAffinity": {"nodeSelector": {"disk": "fast"}},
    "NodeName": {},
    "TaintToleration": {},
    "NodeUnschedulable": {},
    "NodeResourcesFit": {"requests": {"cpu": "2"}},
    "NodePorts": {"ports": 80},
    "InterPodAffinity, affinity": {
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}
    },
    "InterPodAffinity, anti-affinity": {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}
    },
    "PodTopologySpread": {"labels": {"app": "a"}, "topologySpreadConstraints": [HARD]},
}
"""The fields of pods, each of them for one plugin alone."""
NAMES = st.sampled_from(("n0", "n1", "n2"))
GUESTS = st.sampled_from(("g0", "g1", "g2"))
LABELS = st.sampled_from(({}, {"app": "a"}, {"app": "b"}))


ZONES = st.sampled_from(("x", "y", ""))
DISKS = st.sampled_from(("fast", ""))
TAINTS = st.sampled_from(
    ([], [], [{"key": "t", "effect": "NoSchedule"}], [{"key": "t", "effect": "NoExecute"}])
)
NODES = st.tuples(
    st.tuples(ZONES, DISKS), TAINTS, st.sampled_from((False, False, True)), st.sampled_from("124")
)
"""The changing properties of a node: its labels, its taints, whether it is cordoned, its cpu."""
PODS = st.tuples(LABELS, st.sampled_from("12"))
"""The changing properties of a pod on a node: its labels and its request of cpu."""
PLACES = st.tuples(NAMES, st.booleans())
"""The fixed properties of a pod on a node: its node and whether it has a host port."""


def node_of(name, traits):
    """The node of that name."""
    (zone, disk), taints, cordoned, cpu = traits
    labels = {key: value for key, value in {"zone": zone, "disk": disk}.items() if value}
    return node(name, labels=labels, taints=taints, unschedulable=cordoned, cpu=cpu)


def pod_of(name, place, traits):
    """The pod of that name."""
    ports = [{"containerPort": 1, "hostPort": 80}] if place[1] else []
    return made(name, on=place[0], labels=traits[0], requests={"cpu": traits[1]}, ports=ports)


def made(name, *, ports=(), requests=None, **spec):
    """A pod with host ports."""
    containers = [
        {"name": "c", "image": "i", "resources": {"requests": requests or {}}, "ports": list(ports)}
    ]
    return pod(name, containers=containers, **spec, uid=f"uid-{name}")


@attrs.define(eq=False)
class Bench:
    """A scheduler with its queue, and a pod that was tried once."""

    release: str
    engine: object = attrs.field(init=False)
    queue: FrameworkQueue = attrs.field(init=False)
    router: FrameworkEvents = attrs.field(init=False)
    clock: Clock = attrs.field(factory=Clock)

    def __attrs_post_init__(self):
        gates = {"featureGates": {"SchedulerQueueingHints": True}} if WITH_HINTS[self.release] else {}
        self.engine = engine_for(self.release, gates)
        queue = self.engine.flow.queue(self.clock)
        assert isinstance(queue, FrameworkQueue)
        router = self.engine.flow.router(queue, "default-scheduler")
        assert isinstance(router, FrameworkEvents)
        self.queue = queue
        self.router = router

    def is_refused(self, pending):
        """Try *pending* for the first time; True if it is parked."""
        self.router.put(pending)
        item = self.queue.pop()
        decision = self.engine.schedule(pending)
        if decision.host is not None:
            return False
        item.plugins = decision.plugins
        self.queue.add_unschedulable(item, self.queue.cycle)
        return self.is_parked(pending)

    def is_parked(self, pending):
        """Whether no event has moved *pending*."""
        return any(one.key == pending.key for one in self.queue.contents().unschedulable)

    def fits(self, pending):
        """Whether *pending* would get a node now."""
        return self.engine.schedule(pending).host is not None


@pytest.mark.parametrize("plugin", WANTS)
@examples(0.4)
@given(data=st.data(), release=st.sampled_from(sorted(WITH_HINTS)))
def test_who_stays_parked_fits_nowhere(plugin, data, release):
    """After any event a pod that is still parked would be rejected once more."""
    bench = Bench(release)
    wants = dict(WANTS[plugin])
    ports = [{"containerPort": 1, "hostPort": wants.pop("ports")}] if "ports" in wants else []
    there = {name: data.draw(NODES) for name in sorted(data.draw(st.sets(NAMES)))}
    guests = {name: data.draw(PODS) for name in sorted(data.draw(st.sets(GUESTS)))}
    places = {name: data.draw(PLACES) for name in ("g0", "g1", "g2")}
    for name, traits in there.items():
        bench.router.put(node_of(name, traits))
    for name, traits in guests.items():
        bench.router.put(pod_of(name, places[name], traits))
    pending = made("p", ports=ports, **wants)
    assume(bench.is_refused(pending))
    _happen(bench, data, there, guests, places, plugin)
    assert not bench.is_parked(pending) or not bench.fits(pending)


def _happen(bench, data, there, guests, places, plugin):
    cells = bench.engine.algorithm.release.queueing
    every = {"n0", "n1", "n2"}
    spreads = plugin == "PodTopologySpread"
    # The nodes that can help others, when they come or change: those with pods, and to PodTopologySpread each
    # that is there.
    felt = {places[name][0] for name in guests} | (set(there) if spreads else set())
    # Upstream: a node that changes helps nobody where the pod does not fit on that node itself, unless hints
    # decide.
    movers = sorted(every if cells.hints_replace_checks else every - felt)
    # Upstream: from 1.32 on a node that is deleted is an event, for PodTopologySpread alone. The others' pods
    # are deleted first.
    goers = sorted(every if spreads else every - felt) if cells.node_delete else []
    possible = {
        "put node": bool(movers),
        "delete node": bool(goers),
        "put pod": True,
        "delete pod": bool(guests),
    }
    event = data.draw(st.sampled_from([event for event, can in possible.items() if can]))
    if event == "put node":
        name = data.draw(st.sampled_from(movers))
        new = data.draw(NODES)
        old = there.get(name)
        if old is not None and not cells.each_node_change:
            # Upstream: up to 1.29 an update of a node is one event, though more than one thing changes.
            at = data.draw(st.integers(0, len(new) - 1))
            new = (*old[:at], new[at], *old[at + 1 :])
        if plugin.startswith("InterPodAffinity") and "InterPodAffinity" not in cells.comparing_hints:
            # Upstream: up to 1.32 the hint knows no node without the key of the term, on which anti-affinity
            # holds.
            (zone, disk), *rest = new
            new = ((zone or "x", disk), *rest)
        bench.router.put(node_of(name, new))
    elif event == "delete node":
        bench.router.delete(node(data.draw(st.sampled_from(goers))))
    elif event == "delete pod":
        name = data.draw(st.sampled_from(sorted(guests)))
        bench.router.delete(pod_of(name, places[name], guests[name]))
    else:
        name = data.draw(GUESTS)
        (labels, cpu) = data.draw(PODS)
        if name in guests and not cells.hints_for_pods:
            # Upstream: up to 1.30 changed labels of a pod on a node wake only pods with a term of required
            # affinity that matches.
            labels = guests[name][0]
        if name in guests and not bench.engine.gates.get("InPlacePodVerticalScaling"):
            # An API server refuses other requests of a pod then, and no plugin waits for them.
            cpu = guests[name][1]
        bench.router.put(pod_of(name, places[name], (labels, cpu)))


def test_room_of_what_is_asked_for_alone():
    """A pod that takes less of something leaves no room to a pod that asks for none of it."""
    smaller = [made("g", on="n0", requests={"cpu": number, "memory": "1Gi"}) for number in ("2", "1")]
    leaves = partial(hints.pod_leaves_room, counted=partial(exact_sums, gates={}), nominated=False)
    for cpu, wakes in (("0", False), ("1", True)):
        pending = made("p", requests={"cpu": cpu, "memory": "1Gi"})
        assert leaves(pending, *smaller, compares_own=False) is wakes


@pytest.mark.parametrize("left, compares", [("1", True), ("0", False)])
def test_own_requests_that_shrink(left, compares):
    """In 1.31 a pod is helped only where it still asks for some of what it asks less of."""
    before, after = (made("p", requests={"cpu": cpu, "memory": "1Gi"}) for cpu in ("2", left))
    leaves = partial(hints.pod_leaves_room, counted=partial(exact_sums, gates={}), nominated=False)
    assert leaves(after, before, after, compares_own=True) is compares
    assert leaves(after, before, after, compares_own=False)


def test_labels_that_matched_before():
    """Another label of a pod that matches a term of affinity already wakes nobody."""
    pending = made("p", **WANTS["InterPodAffinity, affinity"])
    matches, still, never = (
        made("g", on="n0", labels=labels) for labels in ({"app": "a"}, {"app": "a", "b": "b"}, {"app": "b"})
    )
    assert not hints.affine_pod_changes(pending, matches, still)
    assert hints.affine_pod_changes(pending, never, still)
