"""What a server counts and measures, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


@attrs.define(eq=False)
class Metrics:
    """The metrics of one server."""

    registry: CollectorRegistry = attrs.field(factory=CollectorRegistry)
    requests: Counter = attrs.field(init=False)
    seconds: Histogram = attrs.field(init=False)
    events: Counter = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        given: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter("kubeclassic_extender_requests", "Requests by path and status.", ["path", "code"], **given)
        self.seconds = Histogram(
            "kubeclassic_extender_request_duration_seconds", "Time from a request's headers to its answer.", ["path"],
            buckets=SECONDS, **given,
        )  # fmt: skip
        self.events = Counter("kubeclassic_extender_events", "Objects that the API server's watches brought, and deletions.", **given)

    def show(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number as it is when somebody asks."""
        Gauge(f"kubeclassic_extender_{name}", text, registry=self.registry).set_function(value)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All of them in Prometheus' text format."""
        return generate_latest(self.registry)
