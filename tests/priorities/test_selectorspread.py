"""SelectorSpreadPriority, its older name, and the spreading of a service over a label: by example and against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.selectorspread import selector_spread, service_spreading
from kubeclassic.priorities.serviceantiaffinity import service_anti_affinity
from tests.reference import owners as plain
from tests.support.build import engine, node, obj, pod, scored
from tests.support.examples import examples

ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD, NEW = "1.13", "1.14"


def owner(kind: str, name: str, selector: Any, namespace: str = "default") -> Any:
    """A service or controller."""
    return obj({"kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}})


def peer(name: str, on: str, **more: Any) -> Any:
    """A bound pod of ``app: a``."""
    return pod(name, on=on, **{"labels": {"app": "a"}, **more})


NEWCOMER = pod("new", labels={"app": "a"})
SERVICE = owner("Service", "s", {"app": "a"})


class TestSelectorSpread:
    def test_terminating_and_foreign_pods_do_not_count(self) -> None:
        """Pods that are being deleted or live in another namespace do not count."""
        leaving = peer("1", "a", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
        objects = [node("a"), node("b"), SERVICE, leaving, peer("2", "a", namespace="far")]
        assert scored(selector_spread, NEWCOMER, *objects) == {"a": 10, "b": 10}

    def test_an_invalid_pair_counts_every_pod(self) -> None:
        """A service whose selector has an invalid pair counts every pod of the namespace."""
        odd = owner("Service", "s", {"app": "no good"})
        new = pod("new", labels={"app": "no good"})
        assert scored(selector_spread, new, node("a"), node("b"), odd, pod("1", on="a")) == {"a": 0, "b": 10}

    def test_the_older_name_reads_controllers_too(self) -> None:
        """ServiceSpreadingPriority counts by controllers as well, for all its name."""
        objects = [node("a"), node("b"), owner("ReplicationController", "r", {"app": "a"}), peer("1", "a")]
        assert scored(service_spreading, NEWCOMER, *objects) == {"a": 0, "b": 10}


# --- against plain loops --------------------------------------------------------------------------------------------

LABELS = st.fixed_dictionaries({}, optional={"app": st.sampled_from("ab"), "tier": st.sampled_from("tu")})
PLACE = st.fixed_dictionaries({}, optional={ZONE: st.sampled_from("xyz"), "rack": st.sampled_from(["", "1"])})
PLACES = st.lists(PLACE, min_size=1, max_size=6)
PODS = st.lists(st.tuples(st.integers(0, 5), LABELS, st.sampled_from(["default", "default", "far"])), max_size=12)
PAIRS = st.one_of(st.none(), LABELS)
SETS = st.one_of(st.none(), LABELS.map(lambda pairs: {"matchLabels": pairs}))
OWNERS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["Service", "ReplicationController"]), PAIRS),
        st.tuples(st.sampled_from(["ReplicaSet", "StatefulSet"]), SETS),
    ),
    max_size=5,
)


@example(
    [{"rack": "1"}, {}], [(0, {"app": "a"}, "default"), (1, {"app": "a"}, "default")],
    [("Service", {"app": "a"}), ("ReplicaSet", {"matchLabels": {"app": "a"}})], {"app": "a"}, NEW, [0, 1],
)  # fmt: skip
@example(
    [{}, {ZONE: "x"}, {ZONE: "y"}], [(at, {"app": "a"}, "default") for at in (0, 0, 0, 1)], [("Service", {"app": "a"})], {"app": "a"}, NEW,
    [0, 1, 2],
)  # fmt: skip
@given(PLACES, PODS, OWNERS, LABELS, st.sampled_from([OLD, NEW]), st.lists(st.integers(0, 5), min_size=1, max_size=40))
@examples(1.5)
def test_as_plain_loops_have_it(places: Any, pods: Any, kinds: Any, labels: Any, release: str, feasible: Any) -> None:
    """The scores are those of plain loops, for feasible lists in which a node may stand twice."""
    nodes = [node(f"n{i}", labels=found) for i, found in enumerate(places)]
    bound = [pod(f"p{i}", on=f"n{at % len(nodes)}", labels=found, namespace=ns) for i, (at, found, ns) in enumerate(pods)]
    owners = [owner(kind, f"o{i}", selector) for i, (kind, selector) in enumerate(kinds)]
    new = pod("new", labels=labels)
    cycle = engine(*nodes, *bound, *owners, release=release).begin(new)
    wanted = [nodes[i % len(nodes)] for i in feasible]
    batch = Batch(cycle.table, np.array([cycle.table.row_of[n.name] for n in wanted], np.intp))
    on = [[p for p in bound if p.spec.node_name == n.name] for n in wanted]

    tests = plain.selectors(new, owners)
    counts = [plain.count(new, tests, pods_there, release == OLD) for pods_there in on]
    assert _run(selector_spread, cycle, batch) == plain.spread_scores(counts, [n.labels.get(ZONE, "") for n in wanted])

    first = [plain.set_selector(s.selector) for s in plain.services(new, owners)[:1]]
    counts = [plain.count(new, first, pods_there, False) for pods_there in on]
    found = _run(service_anti_affinity("RackSpread", "rack"), cycle, batch)
    assert found == plain.anti_affinity_scores(counts, [n.labels.get("rack") for n in wanted])


def _run(rule: Any, cycle: Any, batch: Batch) -> list[int]:
    """The scores of *rule* after its reduce step."""
    found: list[int] = rule.reduce(cycle.template, rule.score(cycle.template, batch, cycle), batch, cycle).tolist()
    return found
