"""Answers that rules tell by values of labels: the same as those worked out row by row, whatever happens to the cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.trail import NO_ROWS
from kubeclassic.core.engine import Engine
from kubeclassic.core.failures import Reason
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.incremental.byvalue import judged, kept, moved_rows, scored
from kubeclassic.core.incremental.tracked import TrackedPriority
from kubeclassic.core.incremental.verify import verifying
from tests.support.build import engine, node, obj, pod
from tests.support.examples import examples

ZONE, HOST = "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname"
NODES = 40
GROUPS = ("a", "b")
SERVICES = [
    obj({"kind": "Service", "metadata": {"name": group, "namespace": "default"}, "spec": {"selector": {"app": group}}}) for group in GROUPS
]
REASONS = ((Reason("first"),), (Reason("second"),))


def made_node(number: int, zone: int) -> Node:
    """Node *number* in one of three zones, or with *zone* 3 in none; there is room for few pods on it."""
    labels = {HOST: f"n{number}"} | ({ZONE: f"z{zone}"} if zone < 3 else {})
    return node(f"n{number}", cpu="1", labels=labels)


def cluster(seed: int) -> Engine:
    """Forty nodes, some of them perhaps without a zone, and a service for each group."""
    nodes = [made_node(number, number * (seed + 1) % (4 if seed % 2 else 3)) for number in range(NODES)]
    return engine(*nodes, *SERVICES, gates={"EvenPodsSpread": True})


def term(group: str, key: str) -> dict[str, Any]:
    """A term about the pods of *group*."""
    return {"labelSelector": {"matchLabels": {"app": group}}, "topologyKey": key}


def spread(group: str, key: str, when: str) -> dict[str, Any]:
    """A constraint over the pods of *group*."""
    return {"maxSkew": 2, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"app": group}}}


def spec(kind: int, group: str) -> dict[str, Any]:
    """Eight kinds of rules over zones and hosts."""
    required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    forms: list[dict[str, Any]] = [
        {},
        {"affinity": {"podAffinity": {required: [term(group, ZONE)]}}},
        {"affinity": {"podAntiAffinity": {required: [term(group, HOST)]}}},
        {"affinity": {"podAffinity": {preferred: [{"weight": 7, "podAffinityTerm": term(group, ZONE)}]}}},
        {"affinity": {"podAntiAffinity": {preferred: [{"weight": 3, "podAffinityTerm": term(group, HOST)}]}}},
        {"topologySpreadConstraints": [spread(group, ZONE, "DoNotSchedule"), spread(group, HOST, "ScheduleAnyway")]},
        {"topologySpreadConstraints": [spread(group, ZONE, "ScheduleAnyway")]},
        {"affinity": {"podAntiAffinity": {required: [term("a", ZONE)], preferred: [{"weight": 2, "podAffinityTerm": term("b", ZONE)}]}}},
    ]
    return forms[kind % len(forms)]


def made_pod(number: int, kind: int) -> Pod:
    """A pod of one kind and group."""
    group = GROUPS[kind // 8 % 2]
    return pod(f"p{number}", labels={"app": group}, requests={"cpu": "300m", "memory": "64Mi"}, **spec(kind, group))


STEPS = st.lists(st.tuples(st.sampled_from(("pod",) * 8 + ("delete", "node")), st.integers(0, 255)), min_size=6, max_size=40)


class TestDecisions:
    @examples(1, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 7), kinds=st.lists(st.integers(0, 15), min_size=1, max_size=3), steps=STEPS)
    def test_what_is_kept_is_what_would_be_worked_out(self, seed: int, kinds: list[int], steps: list[tuple[str, int]]) -> None:
        """Pods of few kinds come in turn, some leave, nodes change their zones: each scoreboard is that of rules asked about all rows."""
        made, bound = cluster(seed), []
        with verifying():
            for number, (verb, value) in enumerate(steps):
                if verb == "pod":
                    incoming = made_pod(number, kinds[value % len(kinds)])
                    decision = made.schedule(incoming, details=False)
                    if decision.host is not None:
                        bound.append(incoming.bound_to(decision.host))
                        EventFeed(made).put(bound[-1])
                elif verb == "node":
                    EventFeed(made).put(made_node(value % NODES, value % 4))
                elif bound:
                    EventFeed(made).delete(bound.pop(value % len(bound)))

    @pytest.mark.parametrize("kind", [1, 3])
    def test_few_values_are_reduced_instead_of_rows(self, kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Affinity over three zones among forty nodes takes that way, so that the test above has it."""
        taken: list[str] = []
        by_value = TrackedPriority._reduce_by_value

        def noting(self: TrackedPriority, *arguments: Any) -> Any:
            taken.append(self.priority.name)
            return by_value(self, *arguments)

        monkeypatch.setattr(TrackedPriority, "_reduce_by_value", noting)
        made = cluster(0)
        for number in range(20):
            incoming = made_pod(number, kind)
            decision = made.schedule(incoming, details=False)
            EventFeed(made).put(incoming.bound_to(decision.host or ""))
        assert set(taken) == {"InterPodAffinityPriority"}


ARRAYS = st.lists(st.integers(0, 2), min_size=5, max_size=5)


class TestValues:
    @given(before=ARRAYS, now=ARRAYS, hosts=st.lists(st.integers(0, NODES - 1), max_size=3))
    def test_rows_of_moved_values(self, before: list[int], now: list[int], hosts: list[int]) -> None:
        """They are the rows whose scores may differ, and no rows are told where these are many."""
        table = cluster(1).begin(made_pod(0, 0)).table
        column = table.labels[HOST]
        one, other = np.zeros((2, len(column.values)), np.int64)
        other[[column.codes[row] for row in hosts]] = 1
        zones = np.array(before), np.array(now)
        rows = moved_rows([(ZONE, zones[0]), (HOST, one)], [(ZONE, zones[1]), (HOST, other)], table)
        codes = table.labels[ZONE].codes[:NODES]
        wanted = np.flatnonzero((zones[0][codes] != zones[1][codes]) | np.isin(np.arange(NODES), hosts)).tolist()
        assert rows.tolist() == wanted if rows is not None else len(wanted) * 4 > NODES - 3

    def test_other_labels_or_reasons_mean_all_rows(self) -> None:
        """What is about other values cannot be compared."""
        table, some = cluster(0).begin(made_pod(0, 0)).table, np.zeros(5, np.bool_)
        assert moved_rows([(ZONE, some, REASONS[0])], [(HOST, some, REASONS[0])], table) is None
        assert moved_rows([(ZONE, some, REASONS[0])], [(ZONE, some, REASONS[1])], table) is None
        assert moved_rows([(ZONE, some)], [], table) is None

    def test_a_tuple_may_follow_an_array(self) -> None:
        """Few values are told as a tuple, more as an array: what changes its form is compared value by value."""
        table = cluster(0).begin(made_pod(0, 0)).table
        size = int(Batch.everywhere(table).label(ZONE).codes.max()) + 1
        array = np.zeros(size, np.int64)
        assert moved_rows([(ZONE, array)], [(ZONE, (0,) * size)], table) is NO_ROWS
        assert moved_rows([(ZONE, (0,) * size)], [(ZONE, array)], table) is NO_ROWS

    @given(zones=ARRAYS, others=ARRAYS)
    def test_rows_get_what_their_values_say(self, zones: list[int], others: list[int]) -> None:
        """Scores are added up; of two refusals the first one counts."""
        nodes = Batch(cluster(1).begin(made_pod(0, 0)).table)
        codes = nodes.label(ZONE).codes.tolist()
        sums = scored([(ZONE, np.array(zones)), (ZONE, np.array(others))], nodes)
        assert sums.tolist() == [zones[code] + others[code] for code in codes]
        refusals = [(ZONE, np.array(numbers) > 1, reasons) for numbers, reasons in zip((zones, others), REASONS, strict=True)]
        found = judged(refusals, nodes)
        wanted = [REASONS[0] if zones[code] > 1 else REASONS[1] if others[code] > 1 else () for code in codes]
        assert [found.reasons(row) if found else () for row in range(NODES)] == wanted

    def test_what_is_kept_stays(self) -> None:
        """Counters go on counting in their own arrays."""
        counts = np.zeros(3, np.int64)
        [(_, values)] = kept([(ZONE, counts)])
        counts[1] = 5
        assert values.tolist() == [0, 0, 0]
