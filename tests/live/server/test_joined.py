"""A scheduler that asks an extender server of its own configuration decides as one that asks nobody."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice

import attrs
import pytest
from msgspec.structs import replace

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.extender import FilterReply, PodsOn
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.core.run import Run
from kubeclassic.live.server.extenderserver import ExtenderService
from kubeclassic.live.server.served import ServedCluster
from kubeclassic.simulation.conform import Family, build, needs, read_cases, read_items
from tests.support.serverbuild import Json, as_body, first_and_last, of_case

NAMES = ("mixed", "preemption", "taints", "interpodaffinity", "topologyspread", "resources", "selectorspread", "profile")
FAMILIES = first_and_last(only=NAMES)
CASES, PODS = 2, 20


@attrs.define(eq=False)
class Asking:
    """An extender as the scheduler's engine knows one: it asks the server by its JSON, with nodes by name."""

    service: ExtenderService
    forms: Mapping[str, Json]
    """UID -> the JSON of a pod."""
    url: str = "http://extender.test"
    is_ignorable: bool = False
    supports_preemption: bool = True
    asked: int = 0

    def is_interested(self, pod: Pod) -> bool:
        """Always."""
        return True

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterReply:
        """The nodes that remain, and why others do not."""
        found = json.loads(self.service.filter(self._body(pod, NodeNames=[node.name for node in nodes])))
        assert not found["Error"]
        return FilterReply(found["NodeNames"], failed=found["FailedNodes"])

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        """The scores, with weight 3."""
        found = json.loads(self.service.prioritize(self._body(pod, NodeNames=[node.name for node in nodes])))
        return {entry["Host"]: 3 * entry["Score"] for entry in found}

    def process_preemption(self, pod: Pod, candidates: Mapping[str, Victims], pods_on: PodsOn) -> dict[str, Victims]:
        """The candidates with their victims."""
        asked = {name: {"Pods": [{"UID": victim.uid} for victim in victims.pods]} for name, victims in candidates.items()}
        found = json.loads(self.service.preempt(self._body(pod, NodeNameToMetaVictims=asked)))["NodeNameToMetaVictims"]
        pods = {victim.uid: victim for victims in candidates.values() for victim in victims.pods}
        return {
            name: Victims([pods[victim["UID"]] for victim in victims["Pods"]], victims["NumPDBViolations"])
            for name, victims in found.items()
        }

    def _body(self, pod: Pod, **fields: object) -> bytes:
        self.asked += 1
        status = {"nominatedNodeName": pod.status.nominated_node_name}
        form = self.forms[pod.uid]
        return as_body({"Pod": {**form, "status": {**form.get("status", {}), **status}}, **fields})


def follow(served: ServedCluster, decision: Decision) -> None:
    """Let the server's cluster have the effect of *decision*, as an API server would tell it."""
    run = served.run
    run.put(decision.pod)
    if decision.host is not None:
        run.put(decision.pod.bound_to(decision.host))
        return
    plan = decision.preemption
    for victim in () if plan is None or plan.node is None else plan.victims:
        run.feed.delete(victim)
    names = {} if plan is None else {pod.key: pod for pod in plan.clear_nominations}
    for pod in names.values():
        run.put(nominated(pod, ""))
    if plan is not None and plan.node is not None:
        run.put(nominated(decision.pod, plan.node))
    elif decision.nominated == "" or (plan is not None and plan.drops_own):
        run.put(nominated(decision.pod, ""))


def nominated(pod: Pod, name: str) -> Pod:
    """*pod*, waiting for a node."""
    return replace(pod, status=replace(pod.status, nominated_node_name=name))


def record_of(decision: Decision) -> Json | None:
    """The plan of a preemption as plain data."""
    return None if decision.preemption is None else decision.preemption.record()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.release}-{family.name}")
def test_the_same_decisions(family: Family) -> None:
    """Hosts, reasons, messages and victims are the same, pod after pod."""
    usable = (case for case in read_cases(family.cases) if not needs(case, None) & {"events"} and not case.get("nominated"))
    asked = 0
    for case in islice(usable, CASES):
        pods = [item for _, item in read_items(case) if isinstance(item, Pod)][:PODS]
        forms = {pod.uid: form for pod, form in zip(pods, case["pending"], strict=False)}
        served = of_case(case)
        asking = Asking(ExtenderService(served), forms)
        alone, joined = Run(build(case, {})), Run(build(case, {"extenders": [asking]}))
        for pod in pods:
            wanted, found = alone.cycle(pod), joined.cycle(pod)
            assert (found.host, found.error, found.failed, found.feasible) == (wanted.host, wanted.error, wanted.failed, wanted.feasible)
            assert record_of(found) == record_of(wanted)
            follow(served, found)
        asked += asking.asked
    assert asked
