"""The metrics of cycles, bindings, the queue and requests, as prometheus-client writes them."""

import asyncio
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubeclassic.live.client.api import MeasuredRequest, Request
from kubeclassic.live.process.metering import CLASSIC, NEWER, SHARED, Feed, SchedulerMetrics
from tests.live.scheduler.worlds import at, numbers
from tests.support.recordings import recorded

SERVER = "http://127.0.0.1:18001"
LABELS = dict.fromkeys((label for metric in (*SHARED, *NEWER, *CLASSIC) for label in metric.labels), "x")


def of(release):
    """The metrics of a release, without those of this process."""
    return SchedulerMetrics(has_profiles=release not in CLASSICS)


# --- Tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_everything_is_taken_and_shown(release):
    """Each feed is taken by every release, and what prometheus-client writes can be parsed."""
    metrics = of(release)
    for feed in get_args(Feed):
        metrics.feed(feed, 0.0015, **LABELS)
    families = list(text_string_to_metric_families(metrics.text().decode()))
    named = {metric.name for metric in (*SHARED, *(CLASSIC if release == "1.16" else NEWER))}
    assert named <= {family.name for family in families}


@pytest.mark.parametrize("release, table", [("1.15", CLASSIC), ("1.27", NEWER)])
def test_names_are_the_recorded_ones(release, table):
    """Most names that the original of a release shows are there, so that dashboards work."""
    text = str(
        next(exchange.answer for exchange in recorded(release, "a1-startup") if exchange.path == "/metrics")
    )
    theirs = {
        line.split()[2].removesuffix("_total")
        for line in text.splitlines()
        if line.startswith("# TYPE scheduler_")
    }
    ours = {metric.name for metric in (*SHARED, *table)}  # type: ignore[attr-defined]  # they are metrics
    latencies = {name for name in theirs if "latency_microseconds" in name or name.endswith("_evaluation")}
    missing = theirs - ours - latencies
    assert missing <= {
        "scheduler_volume_binder_cache_requests",
        "scheduler_equiv_cache_lookups",
        "scheduler_plugin_execution_duration_seconds",
        "scheduler_plugin_evaluation",
        "scheduler_scheduler_cache_size",
        "scheduler_pod_scheduling_duration_seconds",
    }


def test_watches_are_counted_and_not_measured():
    """A watch is a request without a time."""
    metrics = of("1.27")
    asked = Request("GET", "/api/v1/nodes")
    metrics.request(MeasuredRequest(asked, 200, 0.03), SERVER)
    metrics.request(MeasuredRequest(asked, 200, 30.0, is_stream=True), SERVER)
    metrics.request(MeasuredRequest(asked, 0, 1.0), SERVER)
    found = numbers(metrics)
    labels = 'host="127.0.0.1:18001"'
    assert found[f'rest_client_requests_total{{code="200",{labels},method="GET"}}'] == 2
    assert found[f'rest_client_requests_total{{code="<error>",{labels},method="GET"}}'] == 1
    assert found[f'rest_client_request_duration_seconds_count{{{labels},verb="GET"}}'] == 2


CLASSICS = ["1.12", "1.13", "1.14", "1.15", "1.16"]
PARTS = ("predicate_evaluation", "priority_evaluation", "preemption_evaluation", "binding")


def counts(found, name):
    """Labels -> the number of measurements of a histogram."""
    return {
        key.removeprefix(f"{name}_count"): value
        for key, value in found.items()
        if key.startswith(f"{name}_count")
    }


async def scheduled(site):
    """Metrics after four pods: two of one kind, one for which one node is feasible, one that fits nowhere and
    makes no room."""
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


@pytest.mark.parametrize("release", CLASSICS)
async def test_parts_with_predicates(release):
    """Predicates and priorities are measured for each pod that fits, preemption for the one that does not,
    bindings once a pod."""
    async with at(release) as site:
        found = await scheduled(site)
    named = {part: counts(found, f"scheduler_scheduling_algorithm_{part}_seconds")[""] for part in PARTS[:3]}
    tries = found["scheduler_total_preemption_attempts_total"]
    assert tries >= 1
    wanted = {"predicate_evaluation": 3, "priority_evaluation": 3, "preemption_evaluation": tries}
    assert named == wanted
    by_operation = {
        part: counts(found, "scheduler_scheduling_duration_seconds")[f'{{operation="{part}"}}']
        for part in PARTS
    }
    assert by_operation == {**wanted, "binding": 3}


@pytest.mark.parametrize(
    "release, has_failures", [("1.27", False), ("1.29", False), ("1.30", True), ("1.36", True)]
)
async def test_points_with_profiles(release, has_failures):
    """Each extension point of a cycle is measured with its status and profile, and so are those of
    bindings. From 1.30 on the time of failed decisions counts."""
    async with at(release) as site:
        found = await scheduled(site)
    by_point = counts(found, "scheduler_framework_extension_point_duration_seconds")
    label = '{{extension_point="{}",profile="default-scheduler",status="{}"}}'
    tries = by_point.get(label.format("PostFilter", "Unschedulable"), 0)
    assert tries >= 1
    points = ("PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PreFilter", "Filter")
    wanted = [3] * 6 + [3 + tries] * 2
    assert [by_point.get(label.format(point, "Success"), 0) for point in points] == wanted
    decisions = found["scheduler_scheduling_algorithm_duration_seconds_count"]
    assert decisions == 3 + tries * has_failures


async def test_the_queue_with_profiles():
    """Pods that come into parts of the queue, by event; pods by plugin that rejected them; attempts and time
    until a pod is bound."""
    seen = []
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
    numbers = [
        [found.get(f'{incoming}{{event="{event}",queue="{queue}"}}', 0) for event, queue in moves]
        for found in seen
    ]
    assert numbers == [[1, 1, 0], [1, 1, 1]]
    waiting = 'scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"}'
    assert [found[waiting] for found in seen] == [1, 0]
    attempts = [found.get("scheduler_pod_scheduling_attempts_count", 0) for found in seen]
    assert attempts == [0, 1]
    assert seen[1]["scheduler_pod_scheduling_attempts_sum"] >= 2
    durations = counts(seen[1], "scheduler_pod_scheduling_sli_duration_seconds")
    assert sum(durations.values()) == 1
    (labels,) = durations
    assert round(seen[1][f"scheduler_pod_scheduling_sli_duration_seconds_sum{labels}"], 6) >= 3
