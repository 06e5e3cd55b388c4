"""Preemption over arrays: where only sums matter it finds what the walk through overlays finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.cycle import Cycle
from kubeclassic.core.decision.plan import Victims
from kubeclassic.core.engine import Engine
from kubeclassic.core.preemption.dryrun import dry_run, is_plain
from kubeclassic.core.preemption.select import is_protected, pick_one_node, select_victims
from tests.support.build import engine, node, obj, pod
from tests.support.examples import examples

REQUESTS: list[dict[str, str]] = [{"cpu": "1"}, {"cpu": "3", "memory": "2Gi"}, {}]
STARTS = ("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "2026-01-02T00:00:00Z", None, "2026-01-01T01:00:00+01:00")


@st.composite
def residents(draw: st.DrawFn) -> list[Pod]:
    """Pods of several priorities, sizes and start times on three nodes."""
    made = []
    for number in range(draw(st.integers(0, 14))):
        made.append(
            pod(
                f"e{number}",
                on=f"n{draw(st.integers(0, 2))}",
                requests=draw(st.sampled_from([{}, {"cpu": "500m"}, {"cpu": "1", "memory": "1Gi"}, {"memory": "3Gi"}])),
                labels=draw(st.sampled_from([{}, {"app": "a"}, {"app": "b"}])),
                priority=draw(st.integers(0, 3)),
                status={"startTime": draw(st.sampled_from(STARTS))},
            )
        )
    return made


def budget(app: str, allowed: int) -> KubeObject:
    """A disruption budget for the pods of an app."""
    spec = {"selector": {"matchLabels": {"app": app}}}
    status = {"disruptionsAllowed": allowed}
    made: KubeObject = obj({"kind": "PodDisruptionBudget", "metadata": {"name": app}, "spec": spec, "status": status})
    return made


def begun(made: Engine, incoming: Pod) -> Cycle:
    """A cycle for *incoming*."""
    return made.begin(incoming)


def both_ways(made: Engine, incoming: Pod) -> tuple[dict[str, Victims], dict[str, Victims], str | None, str | None]:
    """The candidates by overlays and by arrays, and which one each way would choose."""
    cycle = begun(made, incoming)
    rows = np.array([made.table.row_of[f"n{i}"] for i in range(3)], np.intp)
    assert is_plain(cycle, made.nominations)
    assert cycle.answers is not None
    by_start = cycle.release.preemption.by_start_time
    slow = select_victims(cycle, made.nominations, rows)
    trial = dry_run(cycle, made.nominations, rows, made.flow.layout, lambda template: is_protected(template.pod, cycle))
    fast = {name: Victims([e.pod for e in trial.victims_of(i)[0]], trial.victims_of(i)[1]) for i, name in enumerate(trial.names)}
    return slow, fast, pick_one_node(slow, by_start) if slow else None, trial.names[trial.pick(by_start)] if trial.names else None


def told(candidates: dict[str, Victims]) -> dict[str, tuple[list[str], int]]:
    """Candidates as plain data."""
    return {name: ([p.key for p in victims.pods], victims.violations) for name, victims in candidates.items()}


class TestDryRun:
    @examples(1.5)
    @given(residents(), st.integers(1, 3), st.sampled_from(REQUESTS), st.sampled_from(["1.13", "1.16"]))
    def test_arrays_find_what_overlays_find(
        self, there: list[Pod], priority: int, requests: dict[str, str], release: str
    ) -> None:
        """The same candidates, victims in the same order, the same violations and the same choice."""
        nodes = [node(f"n{i}", cpu="3", memory="4Gi", pods="6") for i in range(3)]
        made = engine(*nodes, *there, budget("a", 0), budget("b", 1), release=release)
        slow, fast, slow_choice, fast_choice = both_ways(made, pod("p", requests=requests, priority=priority))
        assert told(fast) == told(slow)
        assert fast_choice == slow_choice

    def test_a_nominated_pod_takes_its_room(self) -> None:
        """Room that a pod of higher priority waits for is not counted as free."""
        made = engine(*[node(f"n{i}", cpu="2") for i in range(3)], pod("e", on="n0", requests={"cpu": "2"}))
        waiting = pod("w", requests={"cpu": "2"}, priority=9, status={"nominatedNodeName": "n0"})
        made.nominations.add(waiting, "n0")
        slow, fast, _, _ = both_ways(made, pod("p", requests={"cpu": "1"}, priority=5))
        assert told(fast) == told(slow)
        assert "n0" not in fast

    def test_ports_and_terms_go_the_long_way(self) -> None:
        """A pod that asks for a host port, or that other pods' anti-affinity is about, cannot be judged by sums."""
        ports = [{"name": "c", "image": "i", "ports": [{"hostPort": 80, "containerPort": 80}]}]
        term = {"labelSelector": {"matchLabels": {"app": "p"}}, "topologyKey": "kubernetes.io/hostname"}
        shy = pod("shy", on="n0", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
        made = engine(node("n0", labels={"kubernetes.io/hostname": "n0"}), shy)
        assert not is_plain(begun(made, pod("p", containers=ports)), Nominations(True))
        assert not is_plain(begun(made, pod("p", labels={"app": "p"})), Nominations(True))
        assert is_plain(begun(made, pod("p", labels={"app": "q"})), Nominations(True))
