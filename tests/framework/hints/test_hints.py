"""Hints may say no only where the pod would still be rejected: random small clusters, one event, and the pod tried once more."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.engine import Engine
from kubeclassic.core.queue.clock import Clock
from kubeclassic.framework.queue.eventhandlers import FrameworkEvents
from kubeclassic.framework.queue.queue import FrameworkQueue
from kubeclassic.simulation.engines import engine_for
from tests.support.build import node, pod
from tests.support.examples import examples

WITH_HINTS = {"1.28": True, "1.29": True, "1.30": True, "1.31": True, "1.32": False, "1.33": False, "1.34": False}
"""Release -> whether the gate has to be set."""
HARD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "a"}}}
TERM = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "zone"}
WANTS: dict[str, dict[str, Any]] = {
    "NodeAffinity": {"nodeSelector": {"disk": "fast"}},
    "NodeName": {},
    "TaintToleration": {},
    "NodeUnschedulable": {},
    "NodeResourcesFit": {"requests": {"cpu": "2"}},
    "NodePorts": {"ports": 80},
    "InterPodAffinity, affinity": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}},
    "InterPodAffinity, anti-affinity": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}},
    "PodTopologySpread": {"labels": {"app": "a"}, "topologySpreadConstraints": [HARD]},
}
"""What a pod wants of one plugin alone."""
NAMES = st.sampled_from(("n0", "n1", "n2"))
LABELS = st.sampled_from(({}, {"app": "a"}, {"app": "b"}))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """A node, perhaps in a zone, with a fast disk, tainted, cordoned or small."""
    found = {"zone": draw(st.sampled_from(("x", "y", ""))), "disk": draw(st.sampled_from(("fast", "")))}
    labels = {key: value for key, value in found.items() if value}
    taints = draw(st.sampled_from(([], [], [{"key": "t", "effect": "NoSchedule"}], [{"key": "t", "effect": "NoExecute"}])))
    cordoned = draw(st.sampled_from((False, False, True)))
    return node(name, labels=labels, taints=taints, unschedulable=cordoned, cpu=draw(st.sampled_from("124")))


@st.composite
def guests(draw: st.DrawFn, name: str) -> Pod:
    """A pod on a node."""
    ports = [{"containerPort": 1, "hostPort": 80}] if draw(st.booleans()) else []
    return made(name, on=draw(NAMES), labels=draw(LABELS), requests={"cpu": draw(st.sampled_from("12"))}, ports=ports)


def made(name: str, *, ports: Any = (), requests: Any = None, **spec: Any) -> Pod:
    """A pod with host ports."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests or {}}, "ports": list(ports)}]
    return pod(name, containers=containers, **spec, metadata={"uid": f"uid-{name}"})


@attrs.define(eq=False)
class Bench:
    """A scheduler with its queue, and a pod that was tried once."""

    release: str
    engine: Engine = attrs.field(init=False)
    queue: FrameworkQueue = attrs.field(init=False)
    router: FrameworkEvents = attrs.field(init=False)
    clock: Clock = attrs.field(factory=Clock)

    def __attrs_post_init__(self) -> None:
        gates = {"featureGates": {"SchedulerQueueingHints": True}} if WITH_HINTS[self.release] else {}
        self.engine = engine_for(self.release, gates)
        queue = self.engine.flow.queue(self.clock)
        assert isinstance(queue, FrameworkQueue)
        router = self.engine.flow.router(queue, "default-scheduler")
        assert isinstance(router, FrameworkEvents)
        self.queue, self.router = queue, router

    def is_refused(self, pending: Pod) -> bool:
        """Try *pending* for the first time; True if it is parked."""
        self.router.put(pending)
        item = self.queue.pop()
        assert item is not None
        decision = self.engine.schedule(pending)
        if decision.host is not None:
            return False
        item.plugins = self.engine.flow.blame(pending)
        self.queue.add_unschedulable(item, self.queue.cycle)
        return self.is_parked(pending)

    def is_parked(self, pending: Pod) -> bool:
        """Whether no event has moved *pending*."""
        return any(one.key == pending.key for one in self.queue.contents().unschedulable)

    def fits(self, pending: Pod) -> bool:
        """Whether *pending* would get a node now."""
        return self.engine.schedule(pending).host is not None


EVENTS = ("put node", "delete node", "put pod", "delete pod")


@pytest.mark.parametrize("plugin", WANTS)
@examples(0.4)
@given(data=st.data(), release=st.sampled_from(sorted(WITH_HINTS)))
def test_who_stays_parked_fits_nowhere(plugin: str, data: st.DataObject, release: str) -> None:
    """After any event a pod that is still parked would be rejected once more."""
    bench, wants = Bench(release), dict(WANTS[plugin])
    ports = [{"containerPort": 1, "hostPort": wants.pop("ports")}] if "ports" in wants else []
    for name in data.draw(st.sets(NAMES)):
        bench.router.put(data.draw(nodes(name)))
    there = {name: data.draw(guests(name)) for name in data.draw(st.sets(st.sampled_from(("g0", "g1", "g2"))))}
    for guest in there.values():
        bench.router.put(guest)
    pending = made("p", ports=ports, **wants)
    assume(bench.is_refused(pending))
    _happen(bench, data, there)
    assert not bench.is_parked(pending) or not bench.fits(pending)


def _happen(bench: Bench, data: st.DataObject, there: dict[str, Pod]) -> None:
    # Upstream: up to 1.31 the queue is not told of a node that goes, so a pod waits though its domain is gone.
    untold = set() if bench.engine.algorithm.release.queueing.node_delete else {"delete node"}
    event = data.draw(st.sampled_from([event for event in EVENTS if event not in (untold if there else {*untold, "delete pod"})]))
    if event == "put node":
        bench.router.put(data.draw(nodes(data.draw(NAMES))))
    elif event == "delete node":
        bench.router.delete(node(data.draw(NAMES)))
    elif event == "delete pod":
        bench.router.delete(there[data.draw(st.sampled_from(sorted(there)))])
    else:
        name = data.draw(st.sampled_from(("g0", "g1", "g2")))
        old, new = there.get(name), data.draw(guests(name))
        assume(old is None or old.spec.node_name == new.spec.node_name)
        bench.router.put(new)
