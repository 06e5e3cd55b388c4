"""Metrics against what the originals show at /metrics, and what a process measures of cycles, bindings and its queue."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import cache

import attrs
import pytest

from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.flow import SUCCESS, UNSCHEDULABLE, Phase
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.live.client.transport import MeasuredRequest, Request
from kubeclassic.live.process.metering import Metering
from kubeclassic.live.process.metrictables import HISTOGRAM, Feed, camel
from kubeclassic.live.process.middlemetrics import ALL_GROUPS, BUILD_LABELS, CLIENT_GROUPS
from kubeclassic.live.scheduler.metrics import ALWAYS, SchedulerMetrics, go_number
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.apiserver.answers import Answer
from tests.apiserver.transport import NO_FAULT, Fault
from tests.live.scheduler.worlds import Site, at
from tests.support.build import pod as a_pod
from tests.support.recordings import recorded

NAME = re.compile(r"([a-z0-9_]+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
OLD, NEW = "1.15", "1.27"
SERVER = "http://127.0.0.1:18001"
LABELS = {
    **dict.fromkeys(("result", "profile", "operation", "work", "extension_point", "status", "plugin", "queue", "event", "type"), "x"),
    **dict.fromkeys((*BUILD_LABELS, *map(camel, BUILD_LABELS), "attempts", "name", "stage"), "x"),
}


@attrs.define
class Family:
    """A metric as text shows it."""

    help: str
    kind: str = ""
    labels: set[str] = attrs.field(factory=set)
    bounds: list[str] = attrs.field(factory=list)
    values: dict[tuple[str, str], str] = attrs.field(factory=dict)


def families(text: str) -> Mapping[str, Family]:
    """The metrics of a text by their names."""
    found: dict[str, Family] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, help = line.split(" ", 3)
            found[name] = Family(help)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            found[name].kind = kind
        else:
            match = NAME.match(line)
            assert match, line
            suffix = match[1].removeprefix(name)
            assert suffix in ("", "_bucket", "_sum", "_count"), line
            labels = dict(LABEL.findall(match[2] or ""))
            found[name].labels |= set(labels)
            if "le" in labels and labels["le"] not in found[name].bounds:
                found[name].bounds.append(labels["le"])
            found[name].values[suffix, match[2] or ""] = match[3]
    return found


def shown(release: str) -> Mapping[str, Family]:
    """What the original showed."""
    exchanges = [e for e in recorded(release, "a1-startup") if e.path == "/metrics"]
    return families(str(exchanges[0].answer))


def filled(release: str) -> SchedulerMetrics:
    """Metrics with something in each of them."""
    metrics = SchedulerMetrics(LIVE_RELEASES[release], with_process=False)
    asked = Request("GET", "/api/v1/nodes/a", "limit=500")
    metrics.request(MeasuredRequest(asked, 200, 0.03, 10), SERVER)
    metrics.waited(asked, 0.5, SERVER)
    metrics.retried("GET", 429, SERVER)
    by_request = {metric.feed for group in CLIENT_GROUPS.values() for metric in group if metric.name.startswith("rest_client_")}
    for feed in set(Feed) - by_request:
        metrics.feed(feed, 0.0015, **LABELS)
    return metrics


@cache
def ours(release: str) -> Mapping[str, Family]:
    """What such metrics show."""
    return families(filled(release).text())


@pytest.mark.parametrize("release", [OLD, NEW])
class TestRecorded:
    def test_what_the_original_shows_is_shown(self, release: str) -> None:
        """Each metric of the scheduler and of leader election is there: name, type, help, labels, bounds."""
        for name, wanted in shown(release).items():
            if name.startswith(("scheduler_", "leader_election_", "rest_client_re", "rest_client_ra", "kubernetes_build")):
                found = ours(release)[name]
                assert (found.help, found.kind, found.bounds) == (wanted.help, wanted.kind, wanted.bounds), name
                assert found.labels == wanted.labels or not wanted.labels, name

    def test_nothing_else_is_shown(self, release: str) -> None:
        """A metric of the scheduler that the original did not show yet counts what had not happened in the recording."""
        more = {name for name in ours(release) if name.startswith("scheduler_")} - set(shown(release))
        volumes = {"scheduler_volume_binder_cache_requests_total", "scheduler_volume_scheduling_stage_error_total"}
        assert more == (volumes if release == OLD else {*volumes, "scheduler_permit_wait_duration_seconds"})

    def test_what_starts_with_0(self, release: str) -> None:
        """The metrics that are shown before anything happens are shown by the original too, with the same labels."""
        started = families(SchedulerMetrics(LIVE_RELEASES[release], with_process=False).text())
        wanted = shown(release)
        assert started.pop("kubeclassic_events_dropped_total").values == {("", ""): "0"}  # the original does not count them
        for name, family in started.items():
            assert set(family.values) <= set(wanted[name].values), name


class TestReleases:
    @pytest.mark.parametrize("release", LIVE_RELEASES)
    def test_each_release_takes_everything(self, release: str) -> None:
        """What a release does not show is taken all the same, and each of its metrics can be fed."""
        cells = LIVE_RELEASES[release]
        wanted = {metric.name for group in (*cells.metrics, *cells.client_metrics) for metric in ALL_GROUPS[group]}
        assert set(ours(release)) == wanted | {metric.name for group in ALWAYS for metric in ALL_GROUPS[group]}

    def test_every_group_is_of_a_release(self) -> None:
        """No group of metrics is left over, but for those that every release counts."""
        named = {name for release in LIVE_RELEASES.values() for name in (*release.metrics, *release.client_metrics)}
        assert named | set(ALWAYS) == set(ALL_GROUPS)

    @pytest.mark.parametrize(
        ("release", "name", "help"),
        [
            ("1.12", "scheduler_e2e_scheduling_latency_microseconds", "E2e scheduling latency (scheduling algorithm + binding)"),
            ("1.13", "scheduler_binding_latency_microseconds", "Binding latency"),
            ("1.14", "scheduler_binding_latency_microseconds", "(Deprecated) Binding latency in microseconds"),
            ("1.14", "scheduler_e2e_scheduling_duration_seconds", "E2e scheduling latency in seconds (scheduling algorithm + binding)"),
            ("1.16", "scheduler_binding_duration_seconds", "[ALPHA] Binding latency in seconds"),
            (
                "1.29", "scheduler_pod_scheduling_duration_seconds",
                "[STABLE] (Deprecated since 1.29.0) E2e latency for a pod being scheduled which may include multiple scheduling attempts.",
            ),
            ("1.20", "scheduler_binding_duration_seconds", "[ALPHA] (Deprecated since 1.20.0) Binding latency in seconds"),
        ],
    )
    def test_names_of_the_releases(self, release: str, name: str, help: str) -> None:
        """Latencies are in microseconds first, then in seconds too, and the help has its stability later."""
        assert ours(release)[name].help == help

    @pytest.mark.parametrize(
        ("name", "first", "last"),
        [
            ("scheduler_schedule_attempts_total", "1.13", "1.34"),
            ("scheduler_pending_pods", "1.15", "1.34"),
            ("scheduler_equiv_cache_lookups_total", "1.12", "1.13"),
            ("leader_election_master_status", "1.14", "1.34"),
            ("scheduler_pod_scheduling_sli_duration_seconds", "1.29", "1.34"),
            ("scheduler_pod_scheduling_duration_seconds", "1.17", "1.29"),
            ("scheduler_preemption_goroutines_execution_total", "1.32", "1.34"),
            ("scheduler_scheduler_cache_size", "1.17", "1.33"),
            ("scheduler_e2e_scheduling_duration_seconds", "1.14", "1.23"),
            ("scheduler_binding_duration_seconds", "1.14", "1.20"),
            ("scheduler_binding_latency_microseconds", "1.12", "1.16"),
            ("scheduler_scheduler_goroutines", "1.17", "1.26"),
            ("scheduler_goroutines", "1.26", "1.34"),
            ("scheduler_unschedulable_pods", "1.24", "1.34"),
            ("scheduler_pod_preemption_victims", "1.12", "1.19"),
            ("scheduler_preemption_victims", "1.20", "1.34"),
            ("rest_client_request_latency_seconds", "1.12", "1.16"),
            ("rest_client_request_duration_seconds", "1.14", "1.34"),
            ("rest_client_rate_limiter_duration_seconds", "1.22", "1.34"),
            ("rest_client_response_size_bytes", "1.24", "1.34"),
            ("rest_client_request_retries_total", "1.27", "1.34"),
            ("kubernetes_build_info", "1.12", "1.34"),
            ("kubernetes_feature_enabled", "1.26", "1.34"),
        ],
    )
    def test_who_has_it(self, name: str, first: str, last: str) -> None:
        """Metrics come and go with releases."""
        having = [release for release in LIVE_RELEASES if name in ours(release)]
        order = list(LIVE_RELEASES)
        assert having == order[order.index(first) : order.index(last) + 1]


class TestTheClient:
    @pytest.mark.parametrize(
        ("release", "name", "label"),
        [
            ("1.13", "request_latency_seconds", 'url="http://127.0.0.1:18001/%7Bprefix%7D",verb="GET"'),
            ("1.19", "request_duration_seconds", 'url="http://127.0.0.1:18001/%7Bprefix%7D",verb="GET"'),
            ("1.20", "request_duration_seconds", 'url="http://127.0.0.1:18001/api/v1/nodes/%7Bname%7D?limit=%7Bvalue%7D",verb="GET"'),
            ("1.22", "rate_limiter_duration_seconds", 'url="http://127.0.0.1:18001/api/v1/nodes/%7Bname%7D?limit=%7Bvalue%7D",verb="GET"'),
            ("1.24", "request_duration_seconds", 'host="127.0.0.1:18001",verb="GET"'),
            ("1.24", "request_size_bytes", 'host="127.0.0.1:18001",verb="GET"'),
        ],
    )
    def test_by_what_requests_are_told_apart(self, release: str, name: str, label: str) -> None:
        """First the URL counts without its path, then with placeholders for names, and later the host alone."""
        assert ours(release)[f"rest_client_{name}"].values["_count", label] == "1"

    def test_watches_are_counted_and_not_measured(self) -> None:
        """A watch has no duration, as it goes on; an answer that did not come has no size."""
        metrics = SchedulerMetrics(LIVE_RELEASES[NEW], with_process=False)
        asked = Request("GET", "/api/v1/nodes", "watch=true")
        metrics.request(MeasuredRequest(asked, 200, 0.03, is_stream=True), "http://a")
        metrics.request(MeasuredRequest(Request("POST", "/api/v1/nodes"), 0, 0.03), "http://a")
        found = families(metrics.text())
        assert len(found["rest_client_requests_total"].values) == 2
        assert [labels for _, labels in found["rest_client_request_duration_seconds"].values if "GET" in labels] == []
        assert "rest_client_response_size_bytes" not in found

    async def test_requests_that_are_sent_again(self) -> None:
        """Lists and bindings that the server puts off are counted by their status each time."""
        refusals = {"/api/v1/nodes": 2, "/api/v1/namespaces/default/pods/p/binding": 1}

        def busy(request: Request) -> Fault:
            left = refusals.get(request.path, 0)
            refusals[request.path] = left - 1
            return Fault(answer=Answer(429, "too many requests", {"retry-after": "1"})) if left > 0 else NO_FAULT

        async with at("1.34") as site:
            site.add_node("node-0")
            replica = site.start(leader_elect="false", faults=busy)
            site.add_pod("p")
            await asyncio.sleep(20.0)
            found = families(replica.process.metrics.text())["rest_client_request_retries_total"].values
            assert found == {("", f'code="429",host="there",verb="{verb}"'): str(count) for verb, count in (("GET", 2), ("POST", 1))}

    @pytest.mark.parametrize(("release", "prefix"), [("1.16", ""), ("1.17", "[ALPHA] ")])
    def test_their_stability(self, release: str, prefix: str) -> None:
        """1.16 has stability for the scheduler's metrics, and none for those of the client."""
        assert ours(release)["rest_client_requests_total"].help.startswith(f"{prefix}Number")

    async def test_the_recorded_gates(self) -> None:
        """A process shows the gates that the original shows, with their stages and values, and those of later patch levels."""
        wanted = shown(NEW)["kubernetes_feature_enabled"]
        later = {("", f'name="{name}",stage="BETA"') for name in ("SeparateCacheWatchRPC", "WatchFromStorageWithoutResourceVersion")}
        async with at("1.28") as site:
            replica = site.start(leader_elect="false")
            await asyncio.sleep(1.0)
            found = families(replica.process.metrics.text())["kubernetes_feature_enabled"]
            assert found.help == wanted.help
            assert {labels: value for labels, value in found.values.items() if labels not in later} == wanted.values


class TestNumbers:
    def test_a_latency_is_counted_in_both_units(self) -> None:
        """1.5 ms are in the second bucket of seconds and of whole microseconds."""
        found = ours(OLD)
        assert found["scheduler_scheduling_algorithm_duration_seconds"].values["_sum", ""] == "0.0015"
        micros = found["scheduler_scheduling_algorithm_latency_microseconds"]
        assert micros.values["_sum", ""] == "1500"
        assert [micros.values["_bucket", f'le="{bound}"'] for bound in ("1000", "2000", "+Inf")] == ["0", "1", "1"]

    def test_quantiles(self) -> None:
        """A summary shows its quantiles, sum and count."""
        metrics = SchedulerMetrics(LIVE_RELEASES[OLD], with_process=False)
        for i in range(1, 101):
            metrics.feed(Feed.OPERATION, i, operation="binding")
        values = families(metrics.text())["scheduler_scheduling_duration_seconds"].values
        assert {labels.rpartition("=")[2]: value for (suffix, labels), value in values.items() if not suffix} == {
            '"0.5"': "50",
            '"0.9"': "90",
            '"0.99"': "99",
        }
        assert (values["_sum", 'operation="binding"'], values["_count", 'operation="binding"']) == ("5050", "100")

    def test_gauges_are_set(self) -> None:
        """The number of pods that a plugin turned down is the last one."""
        metrics = SchedulerMetrics(LIVE_RELEASES[NEW], with_process=False)
        for count in (2, 2, 3):
            metrics.feed(Feed.REASON, count, plugin="NodeName", profile="p")
        assert families(metrics.text())["scheduler_unschedulable_pods"].values["", 'plugin="NodeName",profile="p"'] == "3"

    def test_attempts_are_capped(self) -> None:
        """From 15 attempts on a pod counts as one of 15 or more."""
        metrics = SchedulerMetrics(LIVE_RELEASES[NEW], with_process=False)
        for attempts in (14, 15):
            Metering(metrics.feed).bound(QueuedPod(a_pod("p"), attempts=attempts, entered=0.0), 1.0, 0.0, 0.0)
        values = families(metrics.text())["scheduler_pod_scheduling_duration_seconds"].values
        assert [labels for suffix, labels in values if suffix == "_count"] == ['attempts="14"', 'attempts="15+"']

    def test_reset(self) -> None:
        """After a reset everything is as at the start."""
        metrics = filled(OLD)
        metrics.reset()
        assert metrics.text() == SchedulerMetrics(LIVE_RELEASES[OLD], with_process=False).text()

    def test_the_process_is_shown(self) -> None:
        """Memory and processor time of this process are there by their usual names."""
        found = families(SchedulerMetrics(LIVE_RELEASES[OLD]).text())
        assert {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"} <= set(found)

    def test_label_values_are_escaped(self) -> None:
        """Quotes, backslashes and line ends in a label do not break the text."""
        metrics = SchedulerMetrics(LIVE_RELEASES[NEW], with_process=False)
        metrics.feed(Feed.TASKS, 1, operation='a"b\\c\nd')
        assert 'scheduler_goroutines{operation="a\\"b\\\\c\\nd"} 1\n' in metrics.text()

    def test_recorded_numbers_are_written_as_recorded(self) -> None:
        """Each number that the originals wrote is written by us with the same characters."""
        for release in (OLD, NEW):
            for family in shown(release).values():
                for value in family.values.values():
                    assert go_number(float(value)) == value
                for bound in family.bounds:
                    assert go_number(float(bound)) == bound

    def test_every_histogram_has_bounds(self) -> None:
        """Histograms have buckets, nothing else does."""
        for group in ALL_GROUPS.values():
            assert all(bool(metric.buckets) == (metric.kind == HISTOGRAM) for metric in group)


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
