"""Raw scores that are counted while few rows change: the counts are those of a look at all rows, and so is what is made of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubeclassic.api.objects import KubeObject, Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.reduction import Proportional, ScoresOfNodes, Stretched, Tabled
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.incremental.scored import MOST_SCORES, FeasibleSet, Scored, ScoreHistogram, ScoresOfDomains
from kubeclassic.simulation.conform import engine_for
from tests.support.build import engine, node, obj, pod
from tests.support.examples import examples

HOST, ZONE, REGION = "kubernetes.io/hostname", "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
TOPOLOGY = "topology.kubernetes.io/zone"
ROWS = 9
ROW = st.integers(0, ROWS - 1)
CHANGES = st.lists(st.tuples(ROW, st.integers(0, 3)), max_size=4)
STEPS = st.lists(
    st.tuples(CHANGES, st.lists(ROW, max_size=3, unique=True), st.sampled_from(("few",) * 6 + ("all", "others"))), min_size=4, max_size=20
)
GATES = {"1.16": {"EvenPodsSpread": True}, "1.27": {}, "1.34": {}}
SERVICES = [obj({"kind": "Service", "metadata": {"name": app, "namespace": "default"}, "spec": {"selector": {"app": app}}}) for app in "ab"]


def made_node(number: int, zone: int) -> Node:
    """A node with a host name and, but for number 0, a zone."""
    zones = {ZONE: f"z{zone}", REGION: "r", TOPOLOGY: f"z{zone}"} if zone else {}
    return node(f"n{number}", labels={HOST: f"n{number}", **zones})


def table_of(nodes: list[Node]) -> NodeTable:
    """The table of these *nodes*."""
    return engine(*nodes).begin(pod("p")).table


def known_of(found: Any) -> tuple[int, int, int, dict[int, int]]:
    """All that reduce steps ask."""
    return found.number, found.highest, found.lowest, dict(found.by_code)


class TestHistogram:
    @pytest.mark.parametrize("by_zone", [False, True])
    @given(steps=STEPS)
    def test_counts_are_those_of_all_rows(self, by_zone: bool, steps: list[tuple[list[tuple[int, int]], list[int], str]]) -> None:
        """Scores change and rows fit or no longer do; what is counted step by step is what a look at all rows finds."""
        table = table_of([made_node(number, number % 4) for number in range(ROWS)])
        column = table.zone if by_zone else None
        counted, raw, fits = ScoreHistogram(column), np.zeros(ROWS, np.int64), np.ones(ROWS, np.bool_)
        feasible = FeasibleSet(table, fits, np.arange(ROWS), ROWS)
        for changes, flips, kind in steps:
            for row, score in changes:
                raw[row] = score
            for row in flips:
                fits[row] = not fits[row]
            feasible.flip(flips, int(fits.sum()))
            if kind == "others":
                feasible = FeasibleSet(table, fits, np.arange(ROWS), int(fits.sum()))
            assert counted.follow(raw, None if kind == "all" else [row for row, _ in changes], feasible)
            rows = fits.nonzero()[0]
            assert known_of(counted) == known_of(ScoresOfNodes(raw[rows], Batch(table, rows), column))

    def test_many_scores_are_not_counted(self) -> None:
        """With many different scores the counts are no shorter than the rows."""
        rows = MOST_SCORES + 1
        table = table_of([made_node(number, 1) for number in range(rows)])
        counted, feasible = ScoreHistogram(None), FeasibleSet(table, np.ones(rows, np.bool_), np.arange(rows), rows)
        assert not any(counted.follow(np.arange(rows), [0], feasible) for _ in range(2))


class TestDomains:
    @given(found=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=6))
    def test_they_say_what_nodes_say(self, found: list[tuple[int, int]]) -> None:
        """Scores by the values of a label, with the number of nodes that have each, are those of the nodes."""
        raw = [score for score, number in found for _ in range(number)]
        nodes = Batch(table_of([made_node(0, 1)]), np.zeros(len(raw), np.intp))
        known = ScoresOfDomains([score for score, _ in found], [number for _, number in found])
        assert known_of(known) == known_of(ScoresOfNodes(np.array(raw, np.int64), nodes))
        assert dict(known.by_code) == dict(Counter(raw))


class TestReduceSteps:
    @pytest.mark.parametrize(
        ("version", "names"),
        [("1.16", {"SelectorSpreadPriority", "EvenPodsSpreadPriority"}), ("1.27", {"PodTopologySpread"}), ("1.34", {"PodTopologySpread"})],
    )
    @examples(0.3, suppress_health_check=list(HealthCheck))
    @given(zones=st.integers(1, 4), soft=st.sets(st.sampled_from((ZONE, TOPOLOGY)), max_size=1),
           kinds=st.lists(st.integers(0, 1), min_size=1, max_size=3))  # fmt: skip
    def test_scales_say_what_rows_say(self, version: str, names: set[str], zones: int, soft: set[str], kinds: list[int]) -> None:
        """By the scale of counted scores come, for all nodes and for one, the scores that come of a look at all that fit."""
        taken: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Scored, "_reduce", comparing(taken))
            objects: list[KubeObject] = [*[made_node(number, number % zones + 1) for number in range(24)], *SERVICES]
            made = engine_for(version, {"percentageOfNodesToScore": 100, "featureGates": GATES[version]})
            for item in objects:
                EventFeed(made).put(item)
            for number in range(36):
                incoming = a_pod(number, "ab"[kinds[number % len(kinds)]], soft | {HOST})
                host = made.schedule(incoming, details=False).host
                EventFeed(made).put(incoming.bound_to(host or ""))
        assert taken >= names


def a_pod(number: int, group: str, soft: set[str]) -> Pod:
    """A pod that prefers domains with few of its *group*."""
    constraints = [
        {"maxSkew": 2, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": group}}}
        for key in sorted(soft)
    ]
    return pod(f"p{number}", labels={"app": group}, requests={"cpu": "300m"}, topologySpreadConstraints=constraints)


def comparing(taken: set[str]) -> Any:
    """As ``_reduce``, compared with a look at all nodes that fit; the names of the priorities that had a scale go into *taken*."""
    whole = Scored._reduce

    def compared(self: Scored, cycle: Any, feasible: Any, reduce: Any, rows: Any) -> Any:
        found, raw, scale = whole(self, cycle, feasible, reduce, rows), self.answer.answer, self.summary
        if not isinstance(scale, (Stretched, Proportional, Tabled)):
            return found
        taken.add(self.answer.rule.name)
        nodes, mine = feasible.nodes, feasible.of(raw)
        column = None if reduce.column is None else reduce.column(cycle.template, cycle)
        wanted = reduce(cycle.template, mine, nodes, cycle).tolist()
        assert scale.of(mine, None if column is None else nodes.codes_of(column)).tolist() == wanted
        for row, score in zip(nodes.indexes.tolist(), wanted, strict=True):
            assert scale.each([int(raw[row])], None if column is None else [int(column.codes[row])]) == [score]
        return found

    return compared
