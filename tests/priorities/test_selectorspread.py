"""SelectorSpreadPriority, its older name, and the spreading of a service over a label: by example and against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
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
    def test_fewer_peers_are_better(self) -> None:
        """A node scores by how many fewer peers it has than the fullest node."""
        objects = [node("a"), node("b"), node("c"), SERVICE, peer("1", "a"), peer("2", "a"), peer("3", "b")]
        assert scored(selector_spread, NEWCOMER, *objects) == {"a": 0, "b": 5, "c": 10}

    def test_without_owners_all_score_10(self) -> None:
        """A pod that nothing selects is as well everywhere."""
        assert scored(selector_spread, NEWCOMER, node("a"), node("b"), peer("1", "a")) == {"a": 10, "b": 10}

    def test_terminating_and_foreign_pods_do_not_count(self) -> None:
        """Pods that are being deleted or live in another namespace do not count."""
        leaving = peer("1", "a", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
        objects = [node("a"), node("b"), SERVICE, leaving, peer("2", "a", namespace="far")]
        assert scored(selector_spread, NEWCOMER, *objects) == {"a": 10, "b": 10}

    def test_zones_weigh_two_thirds(self) -> None:
        """Where a node has a zone two thirds of its score are the zone's."""
        nodes = [node(name, labels={ZONE: zone}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]
        assert scored(selector_spread, NEWCOMER, *nodes, node("d"), SERVICE, peer("1", "a")) == {"a": 0, "b": 3, "c": 10, "d": 10}

    def test_nodes_without_a_zone_are_no_zone(self) -> None:
        """The peers on nodes without a zone do not make the other zones look empty."""
        objects = [node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "y"}), node("c"), SERVICE, peer("1", "a")]
        found = scored(selector_spread, NEWCOMER, *objects, *(peer(f"c{i}", "c") for i in range(3)))
        assert found == {"a": 2, "b": 10, "c": 0}

    def test_many_nodes_score_as_few(self) -> None:
        """However many nodes there are, each scores by its own count and its own zone."""
        zones = {"a": "x", "b": "x", "c": "y", "d": ""}
        nodes = [node(f"{name}{i}", labels={ZONE: zone} if zone else {}) for name, zone in zones.items() for i in range(9)]
        found = scored(selector_spread, NEWCOMER, *nodes, SERVICE, peer("1", "a0"), peer("2", "a0"), peer("3", "d0"))
        assert found["a0"] == 0
        assert [found[name] for name in ("a1", "b1", "c1", "d0", "d1")] == [3, 3, 10, 5, 10]

    def test_an_invalid_pair_counts_every_pod(self) -> None:
        """A service whose selector has an invalid pair counts every pod of the namespace."""
        odd = owner("Service", "s", {"app": "no good"})
        new = pod("new", labels={"app": "no good"})
        assert scored(selector_spread, new, node("a"), node("b"), odd, pod("1", on="a")) == {"a": 0, "b": 10}

    @pytest.mark.parametrize(("release", "counted"), [(OLD, 2), (NEW, 1)])
    def test_one_selector_or_all(self, release: str, counted: int) -> None:
        """Up to 1.13 a pod counts that one selector takes in, from 1.14 on all have to."""
        new = pod("new", labels={"app": "a", "tier": "t"})
        both = [owner("Service", "s", {"app": "a"}), owner("Service", "t", {"tier": "t"})]
        objects = [node("n"), *both, peer("1", "n"), peer("2", "n", labels={"app": "a", "tier": "t"})]
        assert scored(selector_spread, new, *objects, reduced=False, release=release) == {"n": counted}

    def test_the_older_name_reads_controllers_too(self) -> None:
        """ServiceSpreadingPriority counts by controllers as well, for all its name."""
        objects = [node("a"), node("b"), owner("ReplicationController", "r", {"app": "a"}), peer("1", "a")]
        assert scored(service_spreading, NEWCOMER, *objects) == {"a": 0, "b": 10}


class TestServiceAntiAffinity:
    RULE = service_anti_affinity("RackSpread", "rack")

    def test_fewer_peers_by_value_are_better(self) -> None:
        """A value of the label scores by its share of the service's pods."""
        nodes = [node(name, labels={"rack": rack}) for name, rack in (("a", "1"), ("b", "1"), ("c", "2"))]
        objects = [*nodes, SERVICE, peer("1", "a"), peer("2", "c"), peer("3", "c")]
        assert scored(self.RULE, NEWCOMER, *objects) == {"a": 6, "b": 6, "c": 3}

    def test_without_the_label_a_node_scores_0(self) -> None:
        """Nodes without the label score 0, but their pods count in the total."""
        objects = [node("a", labels={"rack": "1"}), node("bare"), SERVICE, peer("1", "a"), peer("2", "bare")]
        assert scored(self.RULE, NEWCOMER, *objects) == {"a": 5, "bare": 0}

    def test_without_peers_all_labelled_nodes_score_10(self) -> None:
        """Where the service has no pods, or the pod no service, every node with the label scores 10."""
        objects = [node("a", labels={"rack": "1"}), node("bare"), peer("1", "a")]
        assert scored(self.RULE, NEWCOMER, *objects) == {"a": 10, "bare": 0}

    def test_the_first_service_alone_counts(self) -> None:
        """Of several services the first by name counts."""
        narrow = owner("Service", "z", {"app": "b"})
        objects = [node("a", labels={"rack": "1"}), node("b", labels={"rack": "2"}), owner("Service", "a", {}), narrow, pod("1", on="a")]
        assert scored(self.RULE, pod("new", labels={"app": "b"}), *objects) == {"a": 0, "b": 10}


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
