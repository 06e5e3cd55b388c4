"""What a scheduler counts and measures, as prometheus-client writes it; and what is only known when somebody
reads it."""

from __future__ import annotations

import platform
from collections import Counter as Tally
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import prometheus_client
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    Summary,
    generate_latest,
)

from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.releases import ALL_PATCH_LEVELS
from ..client.api import MeasuredRequest
from ..client.http import user_agent
from ..process.metering import CLASSIC, NEWER, SHARED, Feed, Metering, Metric
from .scheduler import LiveScheduler

Instrument: TypeAlias = Counter | Gauge | Histogram | Summary


class SchedulerMetrics(Metering):
    """All metrics of one scheduler, in a registry of its own. Times are in seconds."""

    def __init__(self, *, has_profiles: bool, with_process: bool = True) -> None:
        """The metrics of a release, all 0; *with_process*: those of this process too, where the system has
        them."""
        super().__init__()
        self.has_profiles: bool = has_profiles
        self.scheduler: LiveScheduler | None = None
        """Of which more is read when the metrics are written."""
        self.registry: CollectorRegistry = CollectorRegistry()
        self._rejecting: set[tuple[str, str]] = set()
        """The plugins, with profiles, that had rejected pods at an earlier time."""
        self._fed: dict[str, list[tuple[Metric, Instrument]]] = {}
        for metric in (*SHARED, *(NEWER if has_profiles else CLASSIC)):
            more: dict[str, Any] = {"buckets": metric.buckets} if metric.buckets else {}
            kind = getattr(prometheus_client, metric.kind)
            made: Instrument = kind(metric.name, metric.help, metric.labels, registry=self.registry, **more)
            for value in metric.starts:
                made.labels(value)
            self._fed.setdefault(metric.feed, []).append((metric, made))
        if with_process:
            ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """What ``/metrics`` answers."""
        if self.scheduler is not None:
            self._read(self.scheduler)
        return generate_latest(self.registry)

    def feed(self, feed: Feed, value: float, **labels: str) -> None:
        """Count or measure *value* by *labels*, of which a metric takes those that it has."""
        for metric, instrument in self._fed.get(feed, ()):
            child = (
                instrument.labels(*(labels[name] for name in metric.labels)) if metric.labels else instrument
            )
            if isinstance(child, Gauge):
                child.set(value)
            elif isinstance(child, Counter):
                child.inc(value)
            else:
                child.observe(value)

    # --- requests -------------------------------------------------------------------------------------------

    def request(self, found: MeasuredRequest, server: str) -> None:
        """The API server at the URL *server* was asked. Watches are counted, and not measured."""
        method = found.request.method
        host = urlsplit(server).netloc
        self.feed(
            "request", 1, method=method, code=str(found.status) if found.status else "<error>", host=host
        )
        if not found.is_stream:
            self.feed("request time", found.seconds, verb=method, host=host)

    def _read(self, scheduler: LiveScheduler) -> None:
        """Set the numbers to what is so now."""
        engine = scheduler.state.engine
        queue = scheduler.state.queue
        found = queue.pending
        gated = 0
        if found.unschedulable:
            gated = sum(queue.is_gated(pod) for pod in queue.contents().unschedulable)
        self.feed("pending", found.active, queue="active")
        self.feed("pending", found.backoff, queue="backoff")
        self.feed("pending", found.unschedulable - gated, queue="unschedulable")
        if self.has_profiles:  # releases without profiles have no gated pods
            self.feed("pending", gated, queue="gated")
        self.feed("tasks", scheduler.under_way, operation="binding")
        for kind, count in zip(("nodes", "pods", "assumed_pods"), engine.cache.counts, strict=True):
            self.feed("cache", count, type=kind)
        self.feed("build", 1, **build_values(engine.release.version))
        for name, gate in engine.release.gates.items():
            self.feed("gate", int(engine.gates.get(name, gate.default)), name=name, stage=gate.stage)
        # How many pods of the queue each plugin rejected in their last attempts.
        rejected: Tally[tuple[str, str]] = Tally()
        for item in queue.entries():
            rejected.update(
                (plugin, item.pod.spec.scheduler_name or DEFAULT_SCHEDULER) for plugin in item.plugins
            )
        self._rejecting |= set(rejected)
        for plugin, profile in self._rejecting:
            self.feed("reason", rejected[plugin, profile], plugin=plugin, profile=profile)


def build_values(version: str) -> dict[str, str]:
    """Label of the metric ``kubernetes_build_info`` -> its value, for the release *version*.

    >>> found = build_values("1.15")
    >>> found["major"], found["minor"], found["git_version"].startswith("v1.15.")
    ('1', '15', True)
    """
    major, _, minor = version.partition(".")
    return {
        "major": major,
        "minor": minor,
        "git_version": f"v{ALL_PATCH_LEVELS[version]}+{user_agent().replace('/', '.')}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
