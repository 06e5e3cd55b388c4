"""What is asked for when somebody reads the metrics: the queue, the cache, what runs and with which gates."""

from __future__ import annotations

import platform
from collections import Counter

import attrs

from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.releases import ALL_PATCH_LEVELS
from ..client.http import user_agent
from ..scheduler.metrics import SchedulerMetrics
from ..scheduler.scheduler import LiveScheduler
from .metrictables import Feed, camel

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Processors that Go calls otherwise."""


def build_values(version: str) -> dict[str, str]:
    """Label of the metric ``kubernetes_build_info`` -> its value, for the release *version*; nothing here was built with Go.

    >>> found = build_values("1.15")
    >>> found["major"], found["minor"], found["git_version"].startswith("v1.15."), found["go_version"]
    ('1', '15', True, '')
    """
    major, _, minor = version.partition(".")
    empty = dict.fromkeys(("git_commit", "git_tree_state", "build_date", "go_version"), "")
    machine = platform.machine()
    return {
        **empty, "major": major, "minor": minor, "compiler": platform.python_implementation().lower(),
        "git_version": f"v{ALL_PATCH_LEVELS[version]}+{user_agent().replace('/', '.')}",
        "platform": f"{platform.system().lower()}/{_MACHINES.get(machine, machine)}",
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
        state, feed = self.scheduler.state, self.metrics.feed
        engine, cache = state.engine, state.engine.cache
        for queue, count in self._pending().items():
            feed(Feed.PENDING, count, queue=queue)
        feed(Feed.TASKS, self.scheduler.bindings.under_way, operation="binding", work="binding")
        for kind, count in zip(("nodes", "pods", "assumed_pods"), cache.counts, strict=True):
            feed(Feed.CACHE, count, type=kind)
        values = build_values(engine.release.version)
        feed(Feed.BUILD, 1, **(values | {camel(name): value for name, value in values.items()}))
        for name, gate in engine.release.gates.items():
            feed(Feed.GATE, int(engine.gates.get(name, gate.default)), name=name, stage=gate.stage)
        self._set_rejections()

    def _pending(self) -> dict[str, int]:
        """How many pods wait, by queue; releases that do not count gated pods count them nowhere."""
        queue, counts_gated = self.scheduler.state.queue, "pending, framework" in self.metrics.release.metrics
        found, gated = queue.pending, 0
        if found.unschedulable:
            gated = sum(queue.is_gated(pod) for pod in queue.contents().unschedulable)
        pending = {"active": found.active, "backoff": found.backoff, "unschedulable": found.unschedulable - gated}
        return pending | ({"gated": gated} if counts_gated else {})

    def _set_rejections(self) -> None:
        """How many pods of the queue each plugin rejected in their last attempts."""
        found: Counter[tuple[str, str]] = Counter()
        for item in self.scheduler.state.queue.entries():
            found.update((plugin, item.pod.spec.scheduler_name or DEFAULT_SCHEDULER) for plugin in item.plugins)
        for plugin, profile in self._rejecting | set(found):
            self.metrics.feed(Feed.REASON, found[plugin, profile], plugin=plugin, profile=profile)
        self._rejecting |= set(found)
