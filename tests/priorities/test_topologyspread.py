"""EvenPodsSpreadPriority: soft spread constraints, by example and against a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.rule import PriorityError
from kubeclassic.priorities.topologyspread import even_pods_spread
from tests.reference.topologyspread import scores
from tests.support.build import engine, node, pod, scored
from tests.support.examples import examples

GATES = {"EvenPodsSpread": True}
INVALID = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}


def constraint(key: str = "zone", selector: Any = None, when: str = "ScheduleAnyway") -> dict[str, Any]:
    """A spread constraint over pods with ``app: a``, if no other *selector* is given."""
    wanted = {"matchLabels": {"app": "a"}} if selector is None else selector
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": wanted}


def incoming(*constraints: dict[str, Any], **more: Any) -> Pod:
    """The pod that is to be scheduled."""
    return pod("new", labels={"app": "a"}, topologySpreadConstraints=list(constraints), **more)


A, B, BARE = node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), node("bare")


class TestEvenPodsSpreadPriority:
    def test_without_soft_constraints_all_score_0(self) -> None:
        """A pod without soft constraints has no preference, and the score is 0."""
        assert scored(even_pods_spread, incoming(constraint(when="DoNotSchedule")), A, B, gates=GATES) == {"a": 0, "b": 0}

    def test_an_invalid_selector_that_meets_a_pod_is_an_error(self) -> None:
        """An invalid selector ends the cycle where a pod stands in a candidate's domain, and else goes unnoticed."""
        new = incoming(constraint(selector=INVALID))
        assert scored(even_pods_spread, new, A, B, pod("p", on="bare"), BARE, gates=GATES) == {"a": 10, "b": 10, "bare": 0}
        with pytest.raises(PriorityError, match=r'^"Near" is not a valid pod selector operator$'):
            scored(even_pods_spread, new, A, B, pod("p", on="a"), gates=GATES)

    def test_sums_wrap_at_32_bits(self) -> None:
        """The sum over the candidates is a 32-bit number: past 2147483647 it is negative."""
        cycle = engine(A, B, gates=GATES).begin(incoming(constraint()))
        raw = np.array([2**31 - 1, 1], np.int64)
        found = even_pods_spread.reduce(cycle.template, raw, Batch(cycle.table, np.array([0, 1])), cycle)
        total, spread = -(2**31), 2**31 - 1
        assert found.tolist() == [int(10.0 * (1 / spread)), int(10.0 * ((total - 1 + 2**32) / spread))]


LABELS = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("xyz"), "rack": st.sampled_from(["", "1"])})
NODES = st.lists(LABELS, min_size=1, max_size=6)
PODS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab"), st.sampled_from(["default", "far"])), max_size=12)
SELECTORS = st.sampled_from([{}, {"matchLabels": {"app": "a"}}, {"matchExpressions": [{"key": "app", "operator": "Exists"}]}])
CONSTRAINTS = st.lists(st.builds(constraint, st.sampled_from(["zone", "rack"]), SELECTORS), min_size=1, max_size=3)


@example([{"zone": "x"}], [], [constraint()], [0], None)
@given(NODES, PODS, CONSTRAINTS, st.lists(st.integers(0, 5), min_size=1, max_size=8), st.sampled_from([None, {"rack": "1"}]))
@examples(1.5)
def test_as_a_plain_loop_has_it(labels: Any, pods: Any, constraints: Any, feasible: Any, selector: Any) -> None:
    """The scores are those of a plain loop, for feasible lists in which a node may stand twice."""
    nodes = [node(f"n{i}", labels=found) for i, found in enumerate(labels)]
    bound = [pod(f"p{i}", on=f"n{at % len(nodes)}", labels={"app": app}, namespace=ns) for i, (at, app, ns) in enumerate(pods)]
    new = incoming(*constraints, nodeSelector=selector)
    cycle = engine(*nodes, *bound, gates=GATES).begin(new)
    wanted = [nodes[i % len(nodes)] for i in feasible]
    batch = Batch(cycle.table, np.array([cycle.table.row_of[n.name] for n in wanted], np.intp))
    raw = even_pods_spread.score(cycle.template, batch, cycle)
    found = even_pods_spread.reduce(cycle.template, raw, batch, cycle)
    placed = [(n, [p for p in bound if p.spec.node_name == n.name]) for n in nodes]
    assert found.tolist() == scores(new, placed, wanted)
