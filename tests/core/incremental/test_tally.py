"""Raw scores that are counted while few rows change: the counts are those of a look at all rows, and so is what is made of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubeclassic.api.objects import KubeObject, Node
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.incremental.tally import MOST_SCORES, STEADY, WIDEST, FeasibleSet, ScoreHistogram
from kubeclassic.core.incremental.tracked import TrackedPriority
from kubeclassic.simulation.engines import engine_for
from tests.core.incremental.test_byvalue import HOST, SERVICES, ZONE, made_node, spread
from tests.support.build import engine, pod
from tests.support.examples import examples

ROWS = 9
ROW = st.integers(0, ROWS - 1)
CHANGES = st.lists(st.tuples(ROW, st.integers(-3, 3)), max_size=4)
STEPS = st.lists(st.tuples(CHANGES, st.lists(ROW, max_size=3), st.sampled_from(("few",) * 6 + ("all", "others"))), min_size=4, max_size=20)
GATES = {"1.16": {"EvenPodsSpread": True}, "1.27": {}}
EVERY = np.arange(ROWS, dtype=np.intp)


def some_tally(by_zone: bool) -> ScoreHistogram:
    """One over nine nodes, of which some have no zone."""
    return ScoreHistogram(table_of([made_node(number, number % 4) for number in range(ROWS)]), by_zone)


def table_of(nodes: list[Node]) -> NodeTable:
    """The table of these *nodes*."""
    return engine(*nodes).begin(pod("p")).table


def naive(tally: ScoreHistogram, raw: np.ndarray, fits: np.ndarray) -> dict[int, int]:
    """The counts by a look at all rows."""
    zone = Batch.everywhere(tally.table).zone
    zones = len(zone.values)
    keys = [score * zones + code if tally.by_zone else score for score, code in zip(raw.tolist(), zone.codes.tolist(), strict=True)]
    return dict(Counter(key for key, fit in zip(keys, fits.tolist(), strict=True) if fit))


class TestTally:
    @given(by_zone=st.booleans(), steps=STEPS)
    def test_counts_are_those_of_all_rows(self, by_zone: bool, steps: list[tuple[list[tuple[int, int]], list[int], str]]) -> None:
        """Scores change and rows fit or no longer do; what is counted step by step is what a look at all rows finds."""
        tally, raw, fits = some_tally(by_zone), np.zeros(ROWS, np.int64), np.ones(ROWS, np.bool_)
        fitting = FeasibleSet(fits, True)
        for changes, refits, kind in steps:
            for row, score in changes:
                raw[row] = score
            for row in refits:
                fits[row] = not fits[row]
            fitting.refitted += refits
            fitting.fits_everywhere = bool(fits.all())
            if kind == "others":
                fitting = FeasibleSet(fits, bool(fits.all()))
            rows = np.array([row for row, _ in changes], np.intp)
            found = tally.counts(raw, None if kind == "all" else rows, fitting)
            assert found is None or found == naive(tally, raw, fits)
            assert found is None or kind != "all"

    @pytest.mark.parametrize("by_zone", [False, True])
    def test_they_are_counted_once_few_rows_change(self, by_zone: bool) -> None:
        """After some steps with few changes there are counts, until any row may have changed."""
        tally, raw, fitting = some_tally(by_zone), np.arange(ROWS), FeasibleSet(np.ones(ROWS, np.bool_), True)
        found = [tally.counts(raw, EVERY[:1], fitting) for _ in range(STEADY + 2)]
        assert [counts is None for counts in found] == [True] * STEADY + [False] * 2
        assert tally.counts(raw, None, fitting) is None
        assert tally.counts(raw, EVERY[:1], fitting) is None

    @pytest.mark.parametrize("by_zone", [False, True])
    @pytest.mark.parametrize("score", [-WIDEST - 1, WIDEST + 1])
    @pytest.mark.parametrize("at_once", [False, True])
    def test_scores_far_apart_are_not_counted(self, by_zone: bool, score: int, at_once: bool) -> None:
        """Where scores are far apart at first, they are left to a look at all rows; one that comes later is one more."""
        tally, raw, fitting = some_tally(by_zone), np.zeros(ROWS, np.int64), FeasibleSet(np.ones(ROWS, np.bool_), True)
        if at_once:
            raw[2] = score
        for _ in range(STEADY + 2):
            tally.counts(raw, EVERY[:1], fitting)
        raw[2] = score
        found = tally.counts(raw, EVERY[2:3], fitting)
        assert found == (None if at_once else naive(tally, raw, fitting.fits))

    @given(by_zone=st.booleans(), steps=st.lists(st.tuples(CHANGES, st.lists(ROW, max_size=2)), max_size=8))
    def test_few_rows_are_followed(self, by_zone: bool, steps: list[tuple[list[tuple[int, int]], list[int]]]) -> None:
        """While nothing but raw scores changes, rows are counted by themselves; after others fit they are not."""
        tally, raw, fits = some_tally(by_zone), np.zeros(ROWS, np.int64), np.ones(ROWS, np.bool_)
        fitting = FeasibleSet(fits, True)
        assert tally.moved(raw, [0], fitting) is None
        for _ in range(STEADY + 1):
            tally.counts(raw, EVERY[:1], fitting)
        for changes, refits in steps:
            for row, score in changes:
                raw[row] = score
            for row in refits:
                fits[row] = not fits[row]
            fitting.refitted += refits
            rows = [row for row, _ in changes]
            found = tally.moved(raw, rows, fitting)
            assert (found is None) is bool(refits)
            if found is None:
                found = tally.counts(raw, np.array(rows, np.intp), fitting)
            assert found == naive(tally, raw, fits)

    def test_many_scores_are_not_counted(self) -> None:
        """With many different scores the counts are no shorter than the rows."""
        nodes = [made_node(number, 0) for number in range(MOST_SCORES + 1)]
        tally, fits = ScoreHistogram(table_of(nodes), False), np.ones(len(nodes), np.bool_)
        assert [tally.counts(np.arange(len(nodes)), EVERY[:1], FeasibleSet(fits, True)) for _ in range(STEADY + 1)] == [None] * (STEADY + 1)


class TestReduceSteps:
    @pytest.mark.parametrize(
        ("version", "names"), [("1.16", {"SelectorSpreadPriority", "EvenPodsSpreadPriority"}), ("1.27", {"PodTopologySpread"})]
    )
    @examples(0.3, suppress_health_check=list(HealthCheck))
    @given(zones=st.integers(1, 4), hard=st.booleans(), kinds=st.lists(st.integers(0, 1), min_size=1, max_size=3))
    def test_counts_say_what_rows_say(self, version: str, names: set[str], zones: int, hard: bool, kinds: list[int]) -> None:
        """Of counted scores, for all nodes and for one, come the scores that come of a look at all that fit."""
        taken: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TrackedPriority, "_tallied", comparing(taken))
            objects: list[KubeObject] = [*[made_node(number, number % zones) for number in range(24)], *SERVICES]
            made = engine_for(version, {"percentageOfNodesToScore": 100, "featureGates": GATES[version]})
            for item in objects:
                EventFeed(made).put(item)
            for number in range(36):
                incoming = a_pod(number, "ab"[kinds[number % len(kinds)]], hard)
                host = made.schedule(incoming, details=False).host
                EventFeed(made).put(incoming.bound_to(host or ""))
        assert taken >= names


def a_pod(number: int, group: str, hard: bool) -> Any:
    """A pod that prefers hosts with few of its *group*, and perhaps must not crowd a zone."""
    constraints = [spread(group, HOST, "ScheduleAnyway"), *([spread(group, ZONE, "DoNotSchedule")] if hard else [])]
    return pod(f"p{number}", labels={"app": group}, requests={"cpu": "300m"}, topologySpreadConstraints=constraints)


def comparing(taken: set[str]) -> Any:
    """As ``_tallied``, compared with a look at all nodes that fit; the names of the priorities for which there was one go into *taken*."""
    tallied = TrackedPriority._tallied

    def compared(self: TrackedPriority, cycle: Any, feasible: Any, rows: Any, reduce: Any) -> Any:
        found, raw = tallied(self, cycle, feasible, rows, reduce), self.answer.answer
        if found is None:
            return None
        taken.add(self.priority.name)
        nodes, mine = feasible.nodes, feasible.of(raw)
        wanted = reduce(cycle.template, mine, nodes, cycle).tolist()
        assert reduce.apply(cycle.template, mine, found, nodes, cycle).tolist() == wanted
        for row, score in zip(nodes.indexes.tolist(), wanted, strict=True):
            one = None if reduce.at is None else reduce.at(int(raw[row]), int(cycle.table.zone.codes[row]), found)
            assert one in (None, score)
        return found

    return compared
