"""The metrics of the releases after 1.28, where they differ from those before, in groups as in :mod:`.metrictables`.

Upstream: pkg/scheduler/metrics/metrics.go.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from .metrictables import COUNTER, GROUPS, HISTOGRAM, Feed, Metric, powers

_ALL, _SINCE = GROUPS["duration with all attempts"][0], GROUPS["duration since the first attempt"][0]
_POINTS = "(available only in PreFilter, Filter, PreScore, and Score)."

NEWER_GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "duration with all attempts, deprecated": (attrs.evolve(_ALL, help=f"(Deprecated since 1.29.0) {_ALL.help}"),),
    # Upstream: the text has this gap in it.
    "duration since the first attempt, first help": (attrs.evolve(_SINCE, help=_SINCE.help.replace("queue and", "queue an d")),),
    "framework, four points": tuple(
        attrs.evolve(metric, help=f"{metric.help.partition('(')[0]}{_POINTS}") if metric.feed is Feed.EVALUATION else metric
        for metric in GROUPS["framework"]
    ),
    "preemption in the background": (
        Metric(
            "scheduler_preemption_goroutines_duration_seconds", HISTOGRAM, "Duration in seconds for running goroutines for the preemption.",
            Feed.BACKGROUND_TIME, ("result",), powers(0.01, 2, 20),
        ),
        Metric(
            "scheduler_preemption_goroutines_execution_total", COUNTER, "Number of preemption goroutines executed.", Feed.BACKGROUND,
            ("result",),
        ),
    ),
}  # fmt: skip
"""Name of a group -> its metrics."""
