"""A scheduler whose own client asks an extender server of its own configuration over HTTP decides as one that
asks nobody."""

from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import attrs
import pytest
from msgspec.structs import replace

from kubeclassic.algorithmprovider.extenders import ExtenderConfig
from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.run import Run
from kubeclassic.extenders.choice import make_extenders
from kubeclassic.extenders.overhttp import http_post
from kubeclassic.framework.releases import find_any_release
from kubeclassic.live.server.app import ExtenderApp, ServedCluster
from kubeclassic.simulation.conform import Family, build, engine_for, find_families, read_cases, read_items
from tests.apiserver import serving
from tests.conftest import ROOT

RELEASES = ("1.12", "1.16", "1.27", "1.36")
NAMES = (
    "mixed",
    "preemption",
    "taints",
    "interpodaffinity",
    "topologyspread",
    "selectorspread",
    "volumebinding",
)
FAMILIES = [
    family
    for family in find_families([Path(ROOT / "tests/conformance")])
    if family.name in NAMES and family.release in RELEASES
]
WAYS = [
    (family, names_only)
    for family in FAMILIES
    for names_only in (True, False)
    if names_only is (family.release in ("1.16", "1.36"))
]
WAYS += [(family, not names_only) for family, names_only in WAYS if family.name == "preemption"]
"""Every family of a release with the one form of requests, and preemption, whose request is another one, with
both."""
CASES = 1
PODS = 12


@attrs.define(eq=False)
class Served:
    """A server on a port of the loopback, in a thread, and the extender that asks it."""

    cluster: ServedCluster
    extender: object
    statuses: dict = attrs.field(factory=dict)
    """(verb, status) -> how many answers."""

    def follow(self, decision):
        """Bind the pod by the extender, or let the server see what the API server would tell: who left, and
        who is nominated."""
        cluster = self.cluster
        pod = decision.pod
        plan = decision.preemption
        if decision.host is not None:
            self.extender.bind(pod, decision.host)
            return
        for victim in () if plan is None or plan.node is None else plan.victims:
            cluster.delete(victim)
        for other in () if plan is None else plan.clear_nominations:
            cluster.put(nominated(other, ""))
        if plan is not None and plan.node is not None:
            cluster.put(nominated(pod, plan.node))
        elif decision.nominated == "" or (plan is not None and plan.drops_own):
            cluster.put(nominated(pod, ""))


@contextmanager
def joined_to(cluster, release, *, names_only):
    """A server of *cluster* on a free port."""
    app = ExtenderApp(cluster=cluster)
    statuses = {}
    with serving(app.gate) as url:
        config = ExtenderConfig(
            url,
            filter_verb="filter",
            prioritize_verb="prioritize",
            preempt_verb="preemption",
            bind_verb="bind",
            weight=2,
            timeout=60.0,
            node_cache_capable=names_only,
        )
        post = http_post(config)

        def noting(address, body, timeout):
            answer = post(address, body, timeout)
            key = address.rpartition("/")[2], answer.status
            statuses[key] = statuses.get(key, 0) + 1
            return answer

        (extender,) = make_extenders([config], find_any_release(release), lambda config: noting)
        yield Served(cluster, extender, statuses)
        post.close()
    app.worker.close()


def nominated(pod, name):
    """*pod*, waiting for a node."""
    return replace(pod, status=replace(pod.status, nominated_node_name=name))


def record_of(decision):
    """The plan of a preemption as plain data."""
    return None if decision.preemption is None else decision.preemption.record()


def objects_of(case):
    """The objects of a case's cluster."""
    items = (decode(form, strict=False, keeps_manifest=True) for form in case.get("objects", ()))
    return [item for item in items if item is not None]


def without_budgets(case):
    """The case as a client can play it. Upstream: up to 1.16 it drops how many budgets the victims of an
    extender's answer violate."""
    if find_any_release(case["version"]).extenders.keeps_violations:
        return case
    return {
        **case,
        "objects": [form for form in case.get("objects", ()) if form["kind"] != "PodDisruptionBudget"],
    }


def is_usable(case):
    """Whether a case is about decisions alone. Pods that have ended are no part of what a server knows."""
    if "extenders" in case or any("event" in item for item in case.get("pending", ())):
        return False
    return not any(isinstance(item, Pod) and item.is_terminal for item in objects_of(case))


def play(case, *, names_only):
    """Let a scheduler with the extender and one without decide on the pods of a case; answers which verbs
    were asked, with statuses."""
    pods = [item for _, item in read_items(case, keeps_manifests=True) if isinstance(item, Pod)][:PODS]
    cluster = ServedCluster(engine_for(case["version"], case.get("config") or {}), defaults=False)
    for item in (*objects_of(case), *pods):
        cluster.put(item)
    with joined_to(cluster, case["version"], names_only=names_only) as served:
        alone = Run(build(case, {}))
        joined = Run(build(case, {"extenders": [served.extender]}))
        for pod in pods:
            if name := (case.get("nominated") or {}).get(pod.key):
                alone.nominate(pod, name)
                joined.nominate(pod, name)
                cluster.put(nominated(pod, name))
        for pod in pods:
            served.follow(same(alone.cycle(pod), joined.cycle(pod)))
        for pod, other in zip(alone.take_retries(), joined.take_retries(), strict=True):
            served.follow(same(alone.cycle(pod, retry=True), joined.cycle(other, retry=True)))
    return set(served.statuses)


def same(wanted, found):
    """Hold the two to each other, and answer the second."""
    assert (found.host, found.error, found.failed, found.feasible) == (
        wanted.host,
        wanted.error,
        wanted.failed,
        wanted.feasible,
    )
    assert record_of(found) == record_of(wanted)
    return found


@pytest.mark.parametrize(
    "family, names_only",
    WAYS,
    ids=lambda one: f"{one.release}-{one.name}" if isinstance(one, Family) else None,
)
def test_the_same_decisions(family, names_only):
    """Hosts, reasons, messages and victims are the same, pod after pod, where all verbs go over a real
    connection."""
    asked = set()
    for case in islice((case for case in read_cases(family.cases) if is_usable(case)), CASES):
        asked |= play(without_budgets(case), names_only=names_only)
    assert {status for _, status in asked} == {200}
    assert {"filter", "bind"} <= {verb for verb, _ in asked}
    if family.name == "preemption":
        assert ("preemption", 200) in asked
