"""What a scheduler counts and measures, as prometheus-client writes it; and what is only known when somebody reads it."""

from __future__ import annotations

import platform
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, Summary, generate_latest

from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.releases import ALL_PATCH_LEVELS
from ..client.http import user_agent
from ..client.transport import MeasuredRequest
from ..process.metering import CLASSIC, COUNTER, GAUGE, HISTOGRAM, NEWER, SHARED, SUMMARY, Feed, Metric
from .scheduler import LiveScheduler

Instrument: TypeAlias = Counter | Gauge | Histogram | Summary


class SchedulerMetrics:
    """All metrics of one scheduler, in a registry of its own. Times are in seconds."""

    def __init__(self, *, has_profiles: bool, with_process: bool = True) -> None:
        """The metrics of a release, all 0; *with_process*: those of this process too, where the system has them."""
        self.has_profiles: bool = has_profiles
        self.on_read: Callable[[], None] = lambda: None
        """Called before the metrics are written, to set what is only known then."""
        self.registry: CollectorRegistry = CollectorRegistry()
        self._fed: dict[Feed, list[tuple[Metric, Instrument]]] = {}
        for metric in (*SHARED, *(NEWER if has_profiles else CLASSIC)):
            self._fed.setdefault(metric.feed, []).append((metric, _instrument(metric, self.registry)))
        if with_process:
            ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """What ``/metrics`` answers."""
        self.on_read()
        return generate_latest(self.registry)

    def feed(self, feed: Feed, value: float, **labels: str) -> None:
        """Count or measure *value* by *labels*, of which a metric takes those that it has."""
        for metric, instrument in self._fed.get(feed, ()):
            child = instrument.labels(*(labels[name] for name in metric.labels)) if metric.labels else instrument
            if isinstance(child, Gauge):
                child.set(value)
            elif isinstance(child, Counter):
                child.inc(value)
            else:
                child.observe(value)

    # --- requests ---------------------------------------------------------------------------------------------------

    def request(self, found: MeasuredRequest, server: str) -> None:
        """The API server at the URL *server* was asked. Watches are counted, and not measured."""
        method, host = found.request.method, urlsplit(server).netloc
        self.feed(Feed.REQUEST, 1, method=method, code=str(found.status) if found.status else "<error>", host=host)
        if not found.is_stream:
            self.feed(Feed.REQUEST_TIME, found.seconds, verb=method, host=host)


KINDS: Mapping[str, type[Instrument]] = {COUNTER: Counter, GAUGE: Gauge, HISTOGRAM: Histogram, SUMMARY: Summary}


def _instrument(metric: Metric, registry: CollectorRegistry) -> Instrument:
    more: dict[str, Any] = {"buckets": metric.buckets} if metric.buckets else {}
    made = KINDS[metric.kind](metric.name, metric.help, metric.labels, registry=registry, **more)
    for value in metric.starts:
        made.labels(value)
    return made


# --- what is so now -------------------------------------------------------------------------------------------------


def build_values(version: str) -> dict[str, str]:
    """Label of the metric ``kubernetes_build_info`` -> its value, for the release *version*.

    >>> found = build_values("1.15")
    >>> found["major"], found["minor"], found["git_version"].startswith("v1.15.")
    ('1', '15', True)
    """
    major, _, minor = version.partition(".")
    return {
        "major": major, "minor": minor, "git_version": f"v{ALL_PATCH_LEVELS[version]}+{user_agent().replace('/', '.')}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }  # fmt: skip


@attrs.define(eq=False)
class Gauges:
    """Feeds *metrics* with what is so now."""

    metrics: SchedulerMetrics
    scheduler: LiveScheduler
    _rejecting: set[tuple[str, str]] = attrs.field(factory=set)
    """The plugins, with profiles, that had rejected pods at an earlier time."""

    def read(self) -> None:
        """Set the numbers to what is so now."""
        engine, feed = self.scheduler.state.engine, self.metrics.feed
        for queue, count in self._pending().items():
            feed(Feed.PENDING, count, queue=queue)
        feed(Feed.TASKS, self.scheduler.under_way, operation="binding")
        for kind, count in zip(("nodes", "pods", "assumed_pods"), engine.cache.counts, strict=True):
            feed(Feed.CACHE, count, type=kind)
        feed(Feed.BUILD, 1, **build_values(engine.release.version))
        for name, gate in engine.release.gates.items():
            feed(Feed.GATE, int(engine.gates.get(name, gate.default)), name=name, stage=gate.stage)
        # How many pods of the queue each plugin rejected in their last attempts.
        found: Tally[tuple[str, str]] = Tally()
        for item in self.scheduler.state.queue.entries():
            found.update((plugin, item.pod.spec.scheduler_name or DEFAULT_SCHEDULER) for plugin in item.plugins)
        for plugin, profile in self._rejecting | set(found):
            self.metrics.feed(Feed.REASON, found[plugin, profile], plugin=plugin, profile=profile)
        self._rejecting |= set(found)

    def _pending(self) -> dict[str, int]:
        """How many pods wait, by queue; releases without profiles have no gated pods."""
        queue, gated = self.scheduler.state.queue, 0
        found = queue.pending
        if found.unschedulable:
            gated = sum(queue.is_gated(pod) for pod in queue.contents().unschedulable)
        pending = {"active": found.active, "backoff": found.backoff, "unschedulable": found.unschedulable - gated}
        return pending | ({"gated": gated} if self.metrics.has_profiles else {})
