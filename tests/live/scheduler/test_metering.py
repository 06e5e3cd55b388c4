"""What a process measures of cycles, bindings and its queue, by the names of its release."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.flow import SUCCESS, UNSCHEDULABLE, Phase
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.live.process.metering import Metering
from kubeclassic.live.scheduler.metrics import SchedulerMetrics
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.live.scheduler.worlds import Site, at
from tests.support.build import pod as a_pod

CLASSIC = ["1.12", "1.13", "1.14", "1.15", "1.16"]
PARTS = ("predicate_evaluation", "priority_evaluation", "preemption_evaluation", "binding")
Numbers = Mapping[str, float]


def counts(found: Numbers, name: str) -> dict[str, float]:
    """Labels -> the number of measurements of a histogram."""
    return {key.removeprefix(f"{name}_count"): value for key, value in found.items() if key.startswith(f"{name}_count")}


async def scheduled(site: Site) -> Numbers:
    """Metrics after four pods: two of one kind, one for which one node is feasible, one that fits nowhere and makes no room."""
    for number in range(3):
        site.add_node(f"node-{number}", cpu="2")
    replica = site.start(leader_elect="false")
    for number in range(2):
        site.add_pod(f"same-{number}", cpu="1")
    site.add_pod("picky", cpu="1", nodeSelector={"kubernetes.io/hostname": "node-2"})
    await asyncio.sleep(1.0)
    site.add_pod("big", cpu="8", priority=5)
    await asyncio.sleep(4.0)
    return replica.metrics()


@pytest.mark.parametrize("release", CLASSIC)
async def test_parts_with_predicates(release: str) -> None:
    """Predicates and priorities are measured for each pod that fits, preemption for the one that does not, bindings once a pod."""
    async with at(release) as site:
        found = await scheduled(site)
    unit = "" if release in ("1.12", "1.13") else "_seconds"
    named = {part: counts(found, f"scheduler_scheduling_algorithm_{part}{unit}")[""] for part in PARTS[:3]}
    tries = found["scheduler_total_preemption_attempts"]
    assert tries >= 1
    assert named == {"predicate_evaluation": 3, "priority_evaluation": 3, "preemption_evaluation": tries}
    summary = "scheduler_scheduling_latency_seconds" if release in ("1.12", "1.13") else "scheduler_scheduling_duration_seconds"
    by_operation = {part: counts(found, summary)[f'{{operation="{part}"}}'] for part in PARTS}
    assert by_operation == {"predicate_evaluation": 3, "priority_evaluation": 3, "preemption_evaluation": tries, "binding": 3}


async def test_points_with_profiles() -> None:
    """Each extension point of a cycle is measured with its status and profile, and so are those of bindings."""
    async with at("1.27") as site:
        found = await scheduled(site)
    by_point = counts(found, "scheduler_framework_extension_point_duration_seconds")
    label = '{{extension_point="{}",profile="default-scheduler",status="{}"}}'
    tries = by_point.get(label.format("Filter", "Unschedulable"), 0)
    assert tries >= 1
    number = {pair: by_point.get(label.format(*pair), 0) for pair in (
        ("Filter", "Success"), ("PostFilter", "Unschedulable"), ("Score", "Success"),
        ("Reserve", "Success"), ("Permit", "Success"), ("PreBind", "Success"), ("Bind", "Success"),
    )}  # fmt: skip
    assert number == {
        ("Filter", "Success"): 3, ("PostFilter", "Unschedulable"): tries, ("Score", "Success"): 3,
        ("Reserve", "Success"): 3, ("Permit", "Success"): 3, ("PreBind", "Success"): 3, ("Bind", "Success"): 3,
    }  # fmt: skip


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_one_feasible_node(release: str) -> None:
    """Where one node is feasible nothing is scored: the time of priorities is 0, and is not among the operations nor a point."""
    metrics = SchedulerMetrics(LIVE_RELEASES[release], with_process=False)
    metering, pod = Metering(metrics.feed, iter([0.0, 0.5, 0.7, 0.7]).__next__), a_pod("p")
    metering.began(QueuedPod(pod))
    metering.phase_ended(Phase.FILTER, SUCCESS)
    metering.decided(QueuedPod(pod), Decision(pod, "node-0"), 0.5)
    text = metrics.text()
    if release == "1.16":
        assert "scheduler_scheduling_algorithm_predicate_evaluation_seconds_sum 0.5" in text
        assert "scheduler_scheduling_algorithm_priority_evaluation_seconds_count 1" in text
    assert 'operation="priority_evaluation"' not in text
    assert 'extension_point="Score"' not in text


def test_a_pod_that_prefilter_refuses() -> None:
    """The point that refused it is measured, and no filter, as none was asked."""
    metrics = SchedulerMetrics(LIVE_RELEASES["1.27"], with_process=False)
    metering = Metering(metrics.feed, iter([0.0, 0.5, 0.7]).__next__)
    metering.began(QueuedPod(a_pod("p")))
    metering.phase_ended(Phase.PRE_FILTER, "UnschedulableAndUnresolvable")
    metering.phase_ended(Phase.FILTER, UNSCHEDULABLE)
    text = metrics.text()
    assert 'extension_point="PreFilter",profile="default-scheduler",status="UnschedulableAndUnresolvable"} 0.5' in text
    assert 'extension_point="Filter"' not in text


async def test_the_queue_with_profiles() -> None:
    """Pods that come into parts of the queue, by event; pods by plugin that rejected them; attempts and time until a pod is bound."""
    seen: list[Numbers] = []
    async with at("1.27") as site:
        site.add_node("node-0", cpu="2")
        site.add_pod("big", cpu="8")
        replica = site.start(leader_elect="false")
        await asyncio.sleep(3.0)
        seen.append(replica.metrics())
        site.add_node("node-1", cpu="9")
        await asyncio.sleep(3.0)
        seen.append(replica.metrics())
    assert site.hosts == {"big": "node-1"}
    incoming = "scheduler_queue_incoming_pods_total"
    moves = [("PodAdd", "active"), ("ScheduleAttemptFailure", "unschedulable"), ("NodeTaintChange", "active")]
    numbers = [[found.get(f'{incoming}{{event="{event}",queue="{queue}"}}', 0) for event, queue in moves] for found in seen]
    assert numbers == [[1, 1, 0], [1, 1, 1]]
    waiting = 'scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"}'
    assert [found[waiting] for found in seen] == [1, 0]
    attempts = [found.get("scheduler_pod_scheduling_attempts_count", 0) for found in seen]
    assert attempts == [0, 1]
    assert seen[1]["scheduler_pod_scheduling_attempts_sum"] >= 2
    durations = counts(seen[1], "scheduler_pod_scheduling_duration_seconds")
    assert sum(durations.values()) == 1
    (labels,) = durations
    assert seen[1][f"scheduler_pod_scheduling_duration_seconds_sum{labels}"] >= 3


async def test_preemption_in_the_background() -> None:
    """From 1.32 on deletions of victims beside the cycles are counted and measured."""
    async with at("1.34") as site:
        site.add_node("node-0", cpu="1")
        replica = site.start(leader_elect="false")
        site.add_pod("low", cpu="1")
        await asyncio.sleep(1.0)
        site.add_pod("high", cpu="1", priorityClassName="system-node-critical")
        await asyncio.sleep(4.0)
        found = replica.metrics()
    assert found['scheduler_preemption_goroutines_execution_total{result="success"}'] == 1
    assert found['scheduler_preemption_goroutines_duration_seconds_count{result="success"}'] == 1
